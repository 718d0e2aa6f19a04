//! Keys and their slots.
//!
//! Made from keyspace.toml by `echomq contract gen`; not edited by hand.

use std::fmt;

/// What the values of a field may be.
struct Field {
    name: &'static str,
    min_bytes: usize,
    max_bytes: usize,
    ranges: &'static [(u8, u8)],
    alphabet: &'static str,
}

/// Why a value can not be part of a key. The text quotes it escaped and states the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

fn checked<'a>(field: &Field, value: &'a [u8]) -> Result<&'a [u8], Refused> {
    let within = |byte: &u8| field.ranges.iter().any(|(first, last)| (first..=last).contains(&byte));
    if (field.min_bytes..=field.max_bytes).contains(&value.len()) && value.iter().all(within) {
        return Ok(value);
    }
    Err(Refused(format!(
        "{} \"{}\" refused: use {} to {} bytes of {}",
        field.name,
        value.escape_ascii(),
        field.min_bytes,
        field.max_bytes,
        field.alphabet
    )))
}

/// The slot of a key: CRC16 (XMODEM) of what is between the first `{` and the next `}`, if that is not nothing, otherwise of the
/// whole key; modulo 16384.
pub fn slot_of(key: &[u8]) -> u16 {
    let tag = key.iter().position(|byte| *byte == b'{').and_then(|open| {
        let rest = &key[open + 1..];
        rest.iter().position(|byte| *byte == b'}').filter(|len| *len > 0).map(|len| &rest[..len])
    });
    let crc = tag.unwrap_or(key).iter().fold(0_u16, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    });
    crc % 16384
}

/// An order: header, lines, totals, status and history change together
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderKeys {
    value: Vec<u8>,
}

impl OrderKeys {
    /// What each key holds, as the server's `TYPE` calls it.
    pub const TYPES: &'static [(&'static str, &'static str)] = &[
        ("head", "hash"),
        ("items", "list"),
        ("line", "hash"),
        ("totals", "hash"),
        ("status", "string"),
        ("history", "stream"),
        ("views", "string"),
    ];

    /// Takes the value of the tag, or says what is wrong with it.
    pub fn new(order: impl AsRef<[u8]>) -> Result<Self, Refused> {
        const TAG: Field = Field { name: "order", min_bytes: 4, max_bytes: 24, ranges: &[(45, 45), (48, 57), (65, 90)], alphabet: "\\-0-9A-Z" };
        Ok(Self { value: checked(&TAG, order.as_ref())?.to_vec() })
    }

    /// The slot of every key with the tag.
    pub fn slot(&self) -> u16 {
        slot_of(&[&self.value[..]].concat())
    }

    /// The keys that stand once and have the tag.
    pub fn all(&self) -> Vec<Vec<u8>> {
        vec![self.head(), self.items(), self.totals(), self.status(), self.history()]
    }

    /// hash, `order:{order}:head`. Customer, currency, address
    pub fn head(&self) -> Vec<u8> {
        [&b"order:{"[..], &self.value, b"}:head"].concat()
    }

    /// The names that `head` had before.
    pub fn head_legacy(&self) -> Vec<Vec<u8>> {
        vec![[&b"order:"[..], &self.value].concat()]
    }

    /// list, `order:{order}:items`. The numbers of its lines
    pub fn items(&self) -> Vec<u8> {
        [&b"order:{"[..], &self.value, b"}:items"].concat()
    }

    /// The names that `items` had before.
    pub fn items_legacy(&self) -> Vec<Vec<u8>> {
        vec![[&b"order:"[..], &self.value, b":items"].concat()]
    }

    /// hash, `order:{order}:line:<number>`. One line
    pub fn line(&self, number: impl AsRef<[u8]>) -> Result<Vec<u8>, Refused> {
        const FIELD_0: Field = Field { name: "number", min_bytes: 1, max_bytes: 4, ranges: &[(48, 57)], alphabet: "0-9" };
        let number = checked(&FIELD_0, number.as_ref())?;
        Ok([&b"order:{"[..], &self.value, b"}:line:", number].concat())
    }

    /// The names that `line` had before.
    pub fn line_legacy(&self, number: impl AsRef<[u8]>) -> Result<Vec<Vec<u8>>, Refused> {
        const FIELD_0: Field = Field { name: "number", min_bytes: 1, max_bytes: 4, ranges: &[(48, 57)], alphabet: "0-9" };
        let number = checked(&FIELD_0, number.as_ref())?;
        Ok(vec![[&b"order:"[..], &self.value, b":line:", number].concat()])
    }

    /// hash, `order:{order}:totals`. Net, tax, gross
    pub fn totals(&self) -> Vec<u8> {
        [&b"order:{"[..], &self.value, b"}:totals"].concat()
    }

    /// string, `order:{order}:status`. Where it stands
    pub fn status(&self) -> Vec<u8> {
        [&b"order:{"[..], &self.value, b"}:status"].concat()
    }

    /// stream, `order:{order}:history`. Each change of the status
    pub fn history(&self) -> Vec<u8> {
        [&b"order:{"[..], &self.value, b"}:history"].concat()
    }

    /// string, `views:<order>`. A hot counter, on a slot of its own
    pub fn views(&self) -> Vec<u8> {
        [&b"views:"[..], &self.value].concat()
    }
}

/// A stock item: what is there, reserved and sold
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockKeys {
    value: Vec<u8>,
}

impl StockKeys {
    /// What each key holds, as the server's `TYPE` calls it.
    pub const TYPES: &'static [(&'static str, &'static str)] = &[
        ("available", "string"),
        ("reserved", "string"),
        ("sold", "string"),
        ("reservation", "hash"),
        ("changes", "channel"),
    ];

    /// Takes the value of the tag, or says what is wrong with it.
    pub fn new(sku: impl AsRef<[u8]>) -> Result<Self, Refused> {
        const TAG: Field = Field { name: "sku", min_bytes: 3, max_bytes: 20, ranges: &[(46, 46), (48, 57), (65, 90)], alphabet: ".0-9A-Z" };
        Ok(Self { value: checked(&TAG, sku.as_ref())?.to_vec() })
    }

    /// The slot of every key with the tag.
    pub fn slot(&self) -> u16 {
        slot_of(&[&b"sku:"[..], &self.value].concat())
    }

    /// The keys that stand once and have the tag.
    pub fn all(&self) -> Vec<Vec<u8>> {
        vec![self.available(), self.reserved(), self.sold(), self.changes()]
    }

    /// string, `stock:{sku:<sku>}:available`. How many can be sold
    pub fn available(&self) -> Vec<u8> {
        [&b"stock:{sku:"[..], &self.value, b"}:available"].concat()
    }

    /// string, `stock:{sku:<sku>}:reserved`. How many are promised
    pub fn reserved(&self) -> Vec<u8> {
        [&b"stock:{sku:"[..], &self.value, b"}:reserved"].concat()
    }

    /// string, `stock:{sku:<sku>}:sold`. How many are gone
    pub fn sold(&self) -> Vec<u8> {
        [&b"stock:{sku:"[..], &self.value, b"}:sold"].concat()
    }

    /// hash, `stock:{sku:<sku>}:reservation:<id>`. Who was promised how many
    pub fn reservation(&self, id: impl AsRef<[u8]>) -> Result<Vec<u8>, Refused> {
        const FIELD_0: Field = Field { name: "id", min_bytes: 1, max_bytes: 256, ranges: &[(0, 255)], alphabet: "\\x00-\\xff" };
        let id = checked(&FIELD_0, id.as_ref())?;
        Ok([&b"stock:{sku:"[..], &self.value, b"}:reservation:", id].concat())
    }

    /// channel, `stock:{sku:<sku>}:changes`. Told at each change
    pub fn changes(&self) -> Vec<u8> {
        [&b"stock:{sku:"[..], &self.value, b"}:changes"].concat()
    }
}

/// A session: exactly 32 hexadecimal digits
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionKeys {
    value: Vec<u8>,
}

impl SessionKeys {
    /// What each key holds, as the server's `TYPE` calls it.
    pub const TYPES: &'static [(&'static str, &'static str)] = &[
        ("data", "hash"),
        ("user", "string"),
        ("cart", "hash"),
        ("expiry", "zset"),
    ];

    /// Takes the value of the tag, or says what is wrong with it.
    pub fn new(session: impl AsRef<[u8]>) -> Result<Self, Refused> {
        const TAG: Field = Field { name: "session", min_bytes: 32, max_bytes: 32, ranges: &[(48, 57), (97, 102)], alphabet: "0-9a-f" };
        Ok(Self { value: checked(&TAG, session.as_ref())?.to_vec() })
    }

    /// The slot of every key with the tag.
    pub fn slot(&self) -> u16 {
        slot_of(&[&self.value[..]].concat())
    }

    /// The keys that stand once and have the tag.
    pub fn all(&self) -> Vec<Vec<u8>> {
        vec![self.data(), self.user(), self.cart(), self.expiry()]
    }

    /// hash, `session:{session}:data`.
    pub fn data(&self) -> Vec<u8> {
        [&b"session:{"[..], &self.value, b"}:data"].concat()
    }

    /// string, `session:{session}:user`.
    pub fn user(&self) -> Vec<u8> {
        [&b"session:{"[..], &self.value, b"}:user"].concat()
    }

    /// hash, `session:{session}:cart`.
    pub fn cart(&self) -> Vec<u8> {
        [&b"session:{"[..], &self.value, b"}:cart"].concat()
    }

    /// zset, `session:{session}:expiry`.
    pub fn expiry(&self) -> Vec<u8> {
        [&b"session:{"[..], &self.value, b"}:expiry"].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_a_server() {
        assert_eq!(slot_of(b"123456789"), 12739);
        assert_eq!(slot_of(b"foo{bar}"), 5061);
        assert_eq!(slot_of(b"foo{{bar}}zap"), 4015);
        assert_eq!(slot_of(b"foo{}{bar}"), 8363);
        assert_eq!(slot_of(b"foo{bar}{zap}"), 5061);
        assert_eq!(slot_of(b"{never:closed"), 12);
        assert_eq!(slot_of(b"}{a}"), 15495);
        assert_eq!(slot_of(b""), 0);
    }

    #[test]
    fn order_keys_are_as_the_contract_spells_them() {
        let keys = OrderKeys::new("4HU7").unwrap();
        assert_eq!(keys.slot(), 9706);
        assert_eq!(keys.all().len(), 5);
        assert!(keys.all().iter().all(|key| slot_of(key) == keys.slot()));
        let key = keys.head();
        assert_eq!(key, b"order:{4HU7}:head");
        assert_eq!(slot_of(&key), keys.slot());
        assert_eq!(keys.head_legacy(), [b"order:4HU7".to_vec()]);
        let key = keys.items();
        assert_eq!(key, b"order:{4HU7}:items");
        assert_eq!(slot_of(&key), keys.slot());
        assert_eq!(keys.items_legacy(), [b"order:4HU7:items".to_vec()]);
        let key = keys.line("4703").unwrap();
        assert_eq!(key, b"order:{4HU7}:line:4703");
        assert_eq!(slot_of(&key), keys.slot());
        assert_eq!(keys.line_legacy("4703").unwrap(), [b"order:4HU7:line:4703".to_vec()]);
        let key = keys.totals();
        assert_eq!(key, b"order:{4HU7}:totals");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.status();
        assert_eq!(key, b"order:{4HU7}:status");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.history();
        assert_eq!(key, b"order:{4HU7}:history");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.views();
        assert_eq!(key, b"views:4HU7");
        let keys = OrderKeys::new("6JW9MZ").unwrap();
        assert_eq!(keys.slot(), 2726);
        assert_eq!(keys.all().len(), 5);
        assert!(keys.all().iter().all(|key| slot_of(key) == keys.slot()));
        let key = keys.head();
        assert_eq!(key, b"order:{6JW9MZ}:head");
        assert_eq!(slot_of(&key), keys.slot());
        assert_eq!(keys.head_legacy(), [b"order:6JW9MZ".to_vec()]);
        let key = keys.items();
        assert_eq!(key, b"order:{6JW9MZ}:items");
        assert_eq!(slot_of(&key), keys.slot());
        assert_eq!(keys.items_legacy(), [b"order:6JW9MZ:items".to_vec()]);
        let key = keys.line("4703").unwrap();
        assert_eq!(key, b"order:{6JW9MZ}:line:4703");
        assert_eq!(slot_of(&key), keys.slot());
        assert_eq!(keys.line_legacy("4703").unwrap(), [b"order:6JW9MZ:line:4703".to_vec()]);
        let key = keys.totals();
        assert_eq!(key, b"order:{6JW9MZ}:totals");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.status();
        assert_eq!(key, b"order:{6JW9MZ}:status");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.history();
        assert_eq!(key, b"order:{6JW9MZ}:history");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.views();
        assert_eq!(key, b"views:6JW9MZ");
        let keys = OrderKeys::new("O1ER4HU7KXAN0DQ3GT6JW9MZ").unwrap();
        assert_eq!(keys.slot(), 12186);
        assert_eq!(keys.all().len(), 5);
        assert!(keys.all().iter().all(|key| slot_of(key) == keys.slot()));
        let key = keys.head();
        assert_eq!(key, b"order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:head");
        assert_eq!(slot_of(&key), keys.slot());
        assert_eq!(keys.head_legacy(), [b"order:O1ER4HU7KXAN0DQ3GT6JW9MZ".to_vec()]);
        let key = keys.items();
        assert_eq!(key, b"order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:items");
        assert_eq!(slot_of(&key), keys.slot());
        assert_eq!(keys.items_legacy(), [b"order:O1ER4HU7KXAN0DQ3GT6JW9MZ:items".to_vec()]);
        let key = keys.line("4703").unwrap();
        assert_eq!(key, b"order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:line:4703");
        assert_eq!(slot_of(&key), keys.slot());
        assert_eq!(keys.line_legacy("4703").unwrap(), [b"order:O1ER4HU7KXAN0DQ3GT6JW9MZ:line:4703".to_vec()]);
        let key = keys.totals();
        assert_eq!(key, b"order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:totals");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.status();
        assert_eq!(key, b"order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:status");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.history();
        assert_eq!(key, b"order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:history");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.views();
        assert_eq!(key, b"views:O1ER4HU7KXAN0DQ3GT6JW9MZ");
    }

    #[test]
    fn order_values_that_could_break_a_key_are_refused() {
        assert!(OrderKeys::new(b"").is_err());
        assert!(OrderKeys::new("0".repeat(3)).is_err());
        assert!(OrderKeys::new("0".repeat(25)).is_err());
        assert!(OrderKeys::new(b"000{").is_err());
        assert!(OrderKeys::new(b"000}").is_err());
        assert!(OrderKeys::new(b"000 ").is_err());
        assert!(OrderKeys::new(b"000\x0a").is_err());
        assert!(OrderKeys::new(b"000\xc3\xa9").is_err());
    }

    #[test]
    fn stock_keys_are_as_the_contract_spells_them() {
        let keys = StockKeys::new("3GT").unwrap();
        assert_eq!(keys.slot(), 10261);
        assert_eq!(keys.all().len(), 4);
        assert!(keys.all().iter().all(|key| slot_of(key) == keys.slot()));
        let key = keys.available();
        assert_eq!(key, b"stock:{sku:3GT}:available");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.reserved();
        assert_eq!(key, b"stock:{sku:3GT}:reserved");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.sold();
        assert_eq!(key, b"stock:{sku:3GT}:sold");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.reservation("Oj4Pk5Ql6Rm7Sn8To9UpAVqB").unwrap();
        assert_eq!(key, b"stock:{sku:3GT}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.changes();
        assert_eq!(key, b"stock:{sku:3GT}:changes");
        assert_eq!(slot_of(&key), keys.slot());
        let keys = StockKeys::new("6JW9MZ").unwrap();
        assert_eq!(keys.slot(), 2567);
        assert_eq!(keys.all().len(), 4);
        assert!(keys.all().iter().all(|key| slot_of(key) == keys.slot()));
        let key = keys.available();
        assert_eq!(key, b"stock:{sku:6JW9MZ}:available");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.reserved();
        assert_eq!(key, b"stock:{sku:6JW9MZ}:reserved");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.sold();
        assert_eq!(key, b"stock:{sku:6JW9MZ}:sold");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.reservation("Oj4Pk5Ql6Rm7Sn8To9UpAVqB").unwrap();
        assert_eq!(key, b"stock:{sku:6JW9MZ}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.changes();
        assert_eq!(key, b"stock:{sku:6JW9MZ}:changes");
        assert_eq!(slot_of(&key), keys.slot());
        let keys = StockKeys::new("KXAN0DQ3GT6JW9MZCP2F").unwrap();
        assert_eq!(keys.slot(), 11319);
        assert_eq!(keys.all().len(), 4);
        assert!(keys.all().iter().all(|key| slot_of(key) == keys.slot()));
        let key = keys.available();
        assert_eq!(key, b"stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:available");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.reserved();
        assert_eq!(key, b"stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reserved");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.sold();
        assert_eq!(key, b"stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:sold");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.reservation("Oj4Pk5Ql6Rm7Sn8To9UpAVqB").unwrap();
        assert_eq!(key, b"stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.changes();
        assert_eq!(key, b"stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:changes");
        assert_eq!(slot_of(&key), keys.slot());
    }

    #[test]
    fn stock_values_that_could_break_a_key_are_refused() {
        assert!(StockKeys::new(b"").is_err());
        assert!(StockKeys::new("0".repeat(2)).is_err());
        assert!(StockKeys::new("0".repeat(21)).is_err());
        assert!(StockKeys::new(b"00{").is_err());
        assert!(StockKeys::new(b"00}").is_err());
        assert!(StockKeys::new(b"00 ").is_err());
        assert!(StockKeys::new(b"00\x0a").is_err());
        assert!(StockKeys::new(b"00\xc3\xa9").is_err());
    }

    #[test]
    fn session_keys_are_as_the_contract_spells_them() {
        let keys = SessionKeys::new("05af49e38d27c16b05af49e38d27c16b").unwrap();
        assert_eq!(keys.slot(), 891);
        assert_eq!(keys.all().len(), 4);
        assert!(keys.all().iter().all(|key| slot_of(key) == keys.slot()));
        let key = keys.data();
        assert_eq!(key, b"session:{05af49e38d27c16b05af49e38d27c16b}:data");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.user();
        assert_eq!(key, b"session:{05af49e38d27c16b05af49e38d27c16b}:user");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.cart();
        assert_eq!(key, b"session:{05af49e38d27c16b05af49e38d27c16b}:cart");
        assert_eq!(slot_of(&key), keys.slot());
        let key = keys.expiry();
        assert_eq!(key, b"session:{05af49e38d27c16b05af49e38d27c16b}:expiry");
        assert_eq!(slot_of(&key), keys.slot());
    }

    #[test]
    fn session_values_that_could_break_a_key_are_refused() {
        assert!(SessionKeys::new(b"").is_err());
        assert!(SessionKeys::new("0".repeat(31)).is_err());
        assert!(SessionKeys::new("0".repeat(33)).is_err());
        assert!(SessionKeys::new(b"0000000000000000000000000000000{").is_err());
        assert!(SessionKeys::new(b"0000000000000000000000000000000}").is_err());
        assert!(SessionKeys::new(b"0000000000000000000000000000000 ").is_err());
        assert!(SessionKeys::new(b"0000000000000000000000000000000\x0a").is_err());
    }
}
