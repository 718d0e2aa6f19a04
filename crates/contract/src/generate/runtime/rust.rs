
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
