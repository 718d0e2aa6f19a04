//! The slot functions that are measured side by side, and the keys they are measured on.

/// A slot function under measurement.
pub trait Contender {
    /// The name in the report.
    const NAME: &'static str;

    /// What the function answers; some crates show no number.
    type Answer: PartialEq;

    /// The function.
    fn slot(key: &[u8]) -> Self::Answer;

    /// The answer that means this slot.
    fn answer(slot: u16) -> Self::Answer;
}

/// EchoMQ's own.
pub struct EchoMq;

impl Contender for EchoMq {
    const NAME: &'static str = "echomq";
    type Answer = Option<echomq_keyspace::Slot>;

    fn slot(key: &[u8]) -> Self::Answer {
        Some(echomq_keyspace::Slot::of(key))
    }

    fn answer(slot: u16) -> Self::Answer {
        echomq_keyspace::Slot::new(slot)
    }
}

/// Panics unless the contender gives each key the slot that EchoMQ does: only equals are compared.
pub fn assert_agrees<C: Contender>(keys: &[Vec<u8>]) {
    for key in keys {
        let slot = echomq_keyspace::Slot::of(key).get();
        assert!(C::slot(key) == C::answer(slot), "{} has another slot for {}", C::NAME, key.escape_ascii());
    }
}

/// The `redis` crate.
pub struct Redis;

impl Contender for Redis {
    const NAME: &'static str = "redis";
    type Answer = Option<redis::cluster_routing::Slot>;

    fn slot(key: &[u8]) -> Self::Answer {
        Some(redis::cluster_routing::Slot::for_key(key))
    }

    fn answer(slot: u16) -> Self::Answer {
        redis::cluster_routing::Slot::new(slot)
    }
}

/// A contender whose answer is the number.
macro_rules! contender {
    ($(#[$doc:meta])* $name:ident, $label:literal, $slot:expr) => {
        $(#[$doc])*
        pub struct $name;

        impl Contender for $name {
            const NAME: &'static str = $label;
            type Answer = u16;

            fn slot(key: &[u8]) -> u16 {
                ($slot)(key)
            }

            fn answer(slot: u16) -> u16 {
                slot
            }
        }
    };
}

contender! {
    /// The `redis-protocol` crate.
    RedisProtocol, "redis-protocol", redis_protocol::redis_keyslot
}
contender! {
    /// The `crc16` crate behind a `memchr` search.
    Crc16, "crc16", |key| crc16::State::<crc16::XMODEM>::calculate(tag(key)) % 16384
}
contender! {
    /// The `crc` crate with its widest table behind a `memchr` search.
    CrcTable16, "crc-table16", |key| TABLE_16.checksum(tag(key)) % 16384
}
contender! {
    /// The `crc-fast` crate behind a `memchr` search.
    CrcFast, "crc-fast", |key| crc_fast::checksum(crc_fast::CrcAlgorithm::Crc16Xmodem, tag(key)) as u16 % 16384
}

static TABLE_16: crc::Crc<u16, crc::Table<16>> = crc::Crc::<u16, crc::Table<16>>::new(&crc::CRC_16_XMODEM);

/// The tag of a key, for the crates that only know CRC16.
fn tag(key: &[u8]) -> &[u8] {
    let Some(open) = memchr::memchr(b'{', key) else { return key };
    let after = &key[open + 1..];
    match memchr::memchr(b'}', after) {
        None | Some(0) => key,
        Some(len) => &after[..len],
    }
}

/// A row of the report: keys of one length, whole or with a tag of one length.
pub struct Row {
    /// The length of each key, in bytes.
    pub key_bytes: usize,
    /// The length of each tag, in bytes; 0 for no tag.
    pub tag_bytes: usize,
    /// Whether the tag stands at the front (`{tag}:…`) or after `emq:`.
    pub place: Place,
}

/// Where the tag stands in a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// No tag.
    Nowhere,
    /// `{tag}:…`
    Front,
    /// `emq:{tag}:…`
    Inside,
}

/// How many different keys a row has.
pub const KEYS_PER_ROW: usize = 64;

/// Keys of 8 to 200 bytes, untagged and with tags of 6 and 36 bytes where they fit.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for key_bytes in [8, 16, 32, 64, 200] {
        rows.push(Row { key_bytes, tag_bytes: 0, place: Place::Nowhere });
        for tag_bytes in [6, 36] {
            for place in [Place::Front, Place::Inside] {
                let row = Row { key_bytes, tag_bytes, place };
                if row.fits() {
                    rows.push(row);
                }
            }
        }
    }
    rows
}

impl Row {
    /// The name in the report, such as `64 bytes, emq:{36}`.
    pub fn name(&self) -> String {
        match self.place {
            Place::Nowhere => format!("{} bytes, no tag", self.key_bytes),
            Place::Front => format!("{} bytes, {{{}}}…", self.key_bytes, self.tag_bytes),
            Place::Inside => format!("{} bytes, emq:{{{}}}…", self.key_bytes, self.tag_bytes),
        }
    }

    fn head(&self) -> &'static str {
        if self.place == Place::Inside { "emq:{" } else { "{" }
    }

    fn fits(&self) -> bool {
        self.head().len() + self.tag_bytes < self.key_bytes
    }

    /// The keys, each different, of letters, digits and colons as keys are.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        let mut state = 0x2545_f491_4f6c_dd1d;
        (0..KEYS_PER_ROW)
            .map(|_| {
                let mut key = Vec::with_capacity(self.key_bytes);
                if self.place != Place::Nowhere {
                    key.extend_from_slice(self.head().as_bytes());
                    key.extend((0..self.tag_bytes).map(|_| letter(&mut state)));
                    key.push(b'}');
                }
                key.resize_with(self.key_bytes, || letter(&mut state));
                key
            })
            .collect()
    }
}

/// The next letter of a xorshift sequence: the same keys in every run.
fn letter(state: &mut u64) -> u8 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    b"abcdefghijklmnopqrstuvwxyz0123456789:_"[(*state % 38) as usize]
}
