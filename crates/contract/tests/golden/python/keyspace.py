"""Keys and their slots. Made from keyspace.toml by `echomq contract gen`; not edited by hand."""

from typing import Dict, List, NamedTuple, Tuple, Union

Value = Union[str, bytes]


class Refused(ValueError):
    """Why a value can not be part of a key. The text quotes it escaped and states the rule."""


class _Field(NamedTuple):
    name: str
    min_bytes: int
    max_bytes: int
    ranges: List[Tuple[int, int]]
    alphabet: str


def _checked(field: _Field, value: Value) -> bytes:
    raw = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else bytes(value)
    within = all(any(first <= byte <= last for first, last in field.ranges) for byte in raw)
    if field.min_bytes <= len(raw) <= field.max_bytes and within:
        return raw
    raise Refused(
        f"{field.name} {raw!r} refused: use {field.min_bytes} to {field.max_bytes} bytes of {field.alphabet}"
    )


def slot_of(key: bytes) -> int:
    """The slot of a key: CRC16 (XMODEM) of what is between the first { and the next }, if that is not
    nothing, otherwise of the whole key; modulo 16384."""
    start = key.find(b"{") + 1
    end = key.find(b"}", start) if start else -1
    if end > start:
        key = key[start:end]
    crc = 0
    for byte in key:
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc % 16384


class OrderKeys:
    """An order: header, lines, totals, status and history change together"""

    # What each key holds, as the server's TYPE calls it.
    TYPES: Dict[str, str] = {
        "head": "hash",
        "items": "list",
        "line": "hash",
        "totals": "hash",
        "status": "string",
        "history": "stream",
        "views": "string",
    }

    def __init__(self, order: Value) -> None:
        """Takes the value of the tag, or raises Refused."""
        self._value = _checked(_Field("order", 4, 24, [(45, 45), (48, 57), (65, 90)], "\\-0-9A-Z"), order)

    @property
    def slot(self) -> int:
        """The slot of every key with the tag."""
        return slot_of(self._value)

    def all(self) -> List[bytes]:
        """The keys that stand once and have the tag."""
        return [self.head(), self.items(), self.totals(), self.status(), self.history()]

    def head(self) -> bytes:
        """hash, order:{order}:head. Customer, currency, address"""
        return b"order:{" + self._value + b"}:head"

    def head_legacy(self) -> List[bytes]:
        """The names that head had before."""
        return [b"order:" + self._value]

    def items(self) -> bytes:
        """list, order:{order}:items. The numbers of its lines"""
        return b"order:{" + self._value + b"}:items"

    def items_legacy(self) -> List[bytes]:
        """The names that items had before."""
        return [b"order:" + self._value + b":items"]

    def line(self, number: Value) -> bytes:
        """hash, order:{order}:line:<number>. One line"""
        _number = _checked(_Field("number", 1, 4, [(48, 57)], "0-9"), number)
        return b"order:{" + self._value + b"}:line:" + _number

    def line_legacy(self, number: Value) -> List[bytes]:
        """The names that line had before."""
        _number = _checked(_Field("number", 1, 4, [(48, 57)], "0-9"), number)
        return [b"order:" + self._value + b":line:" + _number]

    def totals(self) -> bytes:
        """hash, order:{order}:totals. Net, tax, gross"""
        return b"order:{" + self._value + b"}:totals"

    def status(self) -> bytes:
        """string, order:{order}:status. Where it stands"""
        return b"order:{" + self._value + b"}:status"

    def history(self) -> bytes:
        """stream, order:{order}:history. Each change of the status"""
        return b"order:{" + self._value + b"}:history"

    def views(self) -> bytes:
        """string, views:<order>. A hot counter, on a slot of its own"""
        return b"views:" + self._value


class StockKeys:
    """A stock item: what is there, reserved and sold"""

    # What each key holds, as the server's TYPE calls it.
    TYPES: Dict[str, str] = {
        "available": "string",
        "reserved": "string",
        "sold": "string",
        "reservation": "hash",
        "changes": "channel",
    }

    def __init__(self, sku: Value) -> None:
        """Takes the value of the tag, or raises Refused."""
        self._value = _checked(_Field("sku", 3, 20, [(46, 46), (48, 57), (65, 90)], ".0-9A-Z"), sku)

    @property
    def slot(self) -> int:
        """The slot of every key with the tag."""
        return slot_of(b"sku:" + self._value)

    def all(self) -> List[bytes]:
        """The keys that stand once and have the tag."""
        return [self.available(), self.reserved(), self.sold(), self.changes()]

    def available(self) -> bytes:
        """string, stock:{sku:<sku>}:available. How many can be sold"""
        return b"stock:{sku:" + self._value + b"}:available"

    def reserved(self) -> bytes:
        """string, stock:{sku:<sku>}:reserved. How many are promised"""
        return b"stock:{sku:" + self._value + b"}:reserved"

    def sold(self) -> bytes:
        """string, stock:{sku:<sku>}:sold. How many are gone"""
        return b"stock:{sku:" + self._value + b"}:sold"

    def reservation(self, id: Value) -> bytes:
        """hash, stock:{sku:<sku>}:reservation:<id>. Who was promised how many"""
        _id = _checked(_Field("id", 1, 256, [(0, 255)], "\\x00-\\xff"), id)
        return b"stock:{sku:" + self._value + b"}:reservation:" + _id

    def changes(self) -> bytes:
        """channel, stock:{sku:<sku>}:changes. Told at each change"""
        return b"stock:{sku:" + self._value + b"}:changes"


class SessionKeys:
    """A session: exactly 32 hexadecimal digits"""

    # What each key holds, as the server's TYPE calls it.
    TYPES: Dict[str, str] = {
        "data": "hash",
        "user": "string",
        "cart": "hash",
        "expiry": "zset",
    }

    def __init__(self, session: Value) -> None:
        """Takes the value of the tag, or raises Refused."""
        self._value = _checked(_Field("session", 32, 32, [(48, 57), (97, 102)], "0-9a-f"), session)

    @property
    def slot(self) -> int:
        """The slot of every key with the tag."""
        return slot_of(self._value)

    def all(self) -> List[bytes]:
        """The keys that stand once and have the tag."""
        return [self.data(), self.user(), self.cart(), self.expiry()]

    def data(self) -> bytes:
        """hash, session:{session}:data."""
        return b"session:{" + self._value + b"}:data"

    def user(self) -> bytes:
        """string, session:{session}:user."""
        return b"session:{" + self._value + b"}:user"

    def cart(self) -> bytes:
        """hash, session:{session}:cart."""
        return b"session:{" + self._value + b"}:cart"

    def expiry(self) -> bytes:
        """zset, session:{session}:expiry."""
        return b"session:{" + self._value + b"}:expiry"
