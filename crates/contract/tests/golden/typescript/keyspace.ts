// Keys and their slots. Made from keyspace.toml by `echomq contract gen`; not edited by hand.

/** What the values of a field may be. */
type Field = {
  name: string;
  minBytes: number;
  maxBytes: number;
  ranges: [number, number][];
  alphabet: string;
};

/** Why a value can not be part of a key. The text quotes it escaped and states the rule. */
export class Refused extends Error {}

function checked(field: Field, value: string): string {
  const bytes = new TextEncoder().encode(value);
  const within = bytes.every((byte) => field.ranges.some(([first, last]) => first <= byte && byte <= last));
  const fits = field.minBytes <= bytes.length && bytes.length <= field.maxBytes;
  // Half of a surrogate pair would be encoded as another character.
  if (fits && within && !/\p{Surrogate}/u.test(value)) {
    return value;
  }
  throw new Refused(
    `${field.name} ${JSON.stringify(value)} refused: use ${field.minBytes} to ${field.maxBytes} bytes of ${field.alphabet}`,
  );
}

/**
 * The slot of a key: CRC16 (XMODEM) of what is between the first { and the next }, if that is not nothing,
 * otherwise of the whole key; modulo 16384.
 */
export function slotOf(key: string): number {
  const start = key.indexOf("{") + 1;
  const end = start > 0 ? key.indexOf("}", start) : -1;
  const hashed = end > start ? key.slice(start, end) : key;
  let crc = 0;
  for (const byte of new TextEncoder().encode(hashed)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
    }
  }
  return crc % 16384;
}

/** An order: header, lines, totals, status and history change together */
export class OrderKeys {
    /** What each key holds, as the server's TYPE calls it. */
    static types: Record<string, string> = {
        head: "hash",
        items: "list",
        line: "hash",
        totals: "hash",
        status: "string",
        history: "stream",
        views: "string",
    };

    /** The value of the tag. */
    readonly value: string;

    /** Takes the value of the tag, or throws Refused. */
    constructor(order: string) {
        this.value = checked({ name: "order", minBytes: 4, maxBytes: 24, ranges: [[45, 45], [48, 57], [65, 90]], alphabet: "\\-0-9A-Z" }, order);
    }

    /** The slot of every key with the tag. */
    get slot(): number {
        return slotOf(this.value);
    }

    /** The keys that stand once and have the tag. */
    all(): string[] {
        return [this.head(), this.items(), this.totals(), this.status(), this.history()];
    }

    /** hash, order:{order}:head. Customer, currency, address */
    head(): string {
        return "order:{" + this.value + "}:head";
    }

    /** The names that head had before. */
    headLegacy(): string[] {
        return ["order:" + this.value];
    }

    /** list, order:{order}:items. The numbers of its lines */
    items(): string {
        return "order:{" + this.value + "}:items";
    }

    /** The names that items had before. */
    itemsLegacy(): string[] {
        return ["order:" + this.value + ":items"];
    }

    /** hash, order:{order}:line:<number>. One line */
    line(number: string): string {
        checked({ name: "number", minBytes: 1, maxBytes: 4, ranges: [[48, 57]], alphabet: "0-9" }, number);
        return "order:{" + this.value + "}:line:" + number;
    }

    /** The names that line had before. */
    lineLegacy(number: string): string[] {
        checked({ name: "number", minBytes: 1, maxBytes: 4, ranges: [[48, 57]], alphabet: "0-9" }, number);
        return ["order:" + this.value + ":line:" + number];
    }

    /** hash, order:{order}:totals. Net, tax, gross */
    totals(): string {
        return "order:{" + this.value + "}:totals";
    }

    /** string, order:{order}:status. Where it stands */
    status(): string {
        return "order:{" + this.value + "}:status";
    }

    /** stream, order:{order}:history. Each change of the status */
    history(): string {
        return "order:{" + this.value + "}:history";
    }

    /** string, views:<order>. A hot counter, on a slot of its own */
    views(): string {
        return "views:" + this.value;
    }
}

/** A stock item: what is there, reserved and sold */
export class StockKeys {
    /** What each key holds, as the server's TYPE calls it. */
    static types: Record<string, string> = {
        available: "string",
        reserved: "string",
        sold: "string",
        reservation: "hash",
        changes: "channel",
    };

    /** The value of the tag. */
    readonly value: string;

    /** Takes the value of the tag, or throws Refused. */
    constructor(sku: string) {
        this.value = checked({ name: "sku", minBytes: 3, maxBytes: 20, ranges: [[46, 46], [48, 57], [65, 90]], alphabet: ".0-9A-Z" }, sku);
    }

    /** The slot of every key with the tag. */
    get slot(): number {
        return slotOf("sku:" + this.value);
    }

    /** The keys that stand once and have the tag. */
    all(): string[] {
        return [this.available(), this.reserved(), this.sold(), this.changes()];
    }

    /** string, stock:{sku:<sku>}:available. How many can be sold */
    available(): string {
        return "stock:{sku:" + this.value + "}:available";
    }

    /** string, stock:{sku:<sku>}:reserved. How many are promised */
    reserved(): string {
        return "stock:{sku:" + this.value + "}:reserved";
    }

    /** string, stock:{sku:<sku>}:sold. How many are gone */
    sold(): string {
        return "stock:{sku:" + this.value + "}:sold";
    }

    /** hash, stock:{sku:<sku>}:reservation:<id>. Who was promised how many */
    reservation(id: string): string {
        checked({ name: "id", minBytes: 1, maxBytes: 256, ranges: [[0, 255]], alphabet: "\\x00-\\xff" }, id);
        return "stock:{sku:" + this.value + "}:reservation:" + id;
    }

    /** channel, stock:{sku:<sku>}:changes. Told at each change */
    changes(): string {
        return "stock:{sku:" + this.value + "}:changes";
    }
}

/** A session: exactly 32 hexadecimal digits */
export class SessionKeys {
    /** What each key holds, as the server's TYPE calls it. */
    static types: Record<string, string> = {
        data: "hash",
        user: "string",
        cart: "hash",
        expiry: "zset",
    };

    /** The value of the tag. */
    readonly value: string;

    /** Takes the value of the tag, or throws Refused. */
    constructor(session: string) {
        this.value = checked({ name: "session", minBytes: 32, maxBytes: 32, ranges: [[48, 57], [97, 102]], alphabet: "0-9a-f" }, session);
    }

    /** The slot of every key with the tag. */
    get slot(): number {
        return slotOf(this.value);
    }

    /** The keys that stand once and have the tag. */
    all(): string[] {
        return [this.data(), this.user(), this.cart(), this.expiry()];
    }

    /** hash, session:{session}:data. */
    data(): string {
        return "session:{" + this.value + "}:data";
    }

    /** string, session:{session}:user. */
    user(): string {
        return "session:{" + this.value + "}:user";
    }

    /** hash, session:{session}:cart. */
    cart(): string {
        return "session:{" + this.value + "}:cart";
    }

    /** zset, session:{session}:expiry. */
    expiry(): string {
        return "session:{" + this.value + "}:expiry";
    }
}
