
/** What the values of a field may be. */
«type Field = {
  name: string;
  minBytes: number;
  maxBytes: number;
  ranges: [number, number][];
  alphabet: string;
};
»
/** Why a value can not be part of a key. The text quotes it escaped and states the rule. */
export class Refused extends Error {}

function checked(field«: Field», value«: string»)«: string» {
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
export function slotOf(key«: string»)«: number» {
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
