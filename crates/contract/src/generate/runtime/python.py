
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
