//! What stands in a job's row: a small header and the payload, written once and never changed.
//!
//! ```text
//! 01                 version
//! len                length of the header's fields in bytes, a varint
//! (tag len bytes)*   fields; an unknown tag is skipped, so that an older reader can read a newer row
//! payload            to the end, as it was given
//! ```
//!
//! A varint is 7 bits a byte, lowest first, the top bit set on all but the last. Fields that have their
//! default value are not written.

use std::ops::Range;

use echomq_keyspace::JobId;

use crate::policy::Backoff;

const VERSION: u8 = 1;

/// The fields, by tag.
mod tag {
    pub(super) const NAME: u8 = 1;
    pub(super) const ATTEMPTS: u8 = 2;
    pub(super) const BACKOFF: u8 = 3;
    pub(super) const CREATED: u8 = 4;
}

/// A job as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// What kind of work it is, for the handler to tell apart; may be empty.
    pub name: String,
    /// After this many failed attempts the job is dead. At least 1.
    pub attempts: u32,
    /// How long to wait after each failure.
    pub backoff: Backoff,
    /// When it was enqueued, by the server's clock as the producer knew it, in ms since 1970. 0 where the id
    /// tells it, as a minted one does.
    pub created_ms: u64,
    /// The bytes that were given.
    pub payload: Vec<u8>,
}

impl Envelope {
    /// Attempts when nothing is said.
    pub const ATTEMPTS: u32 = 5;

    /// The row's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut fields = Vec::with_capacity(16 + self.name.len());
        if !self.name.is_empty() {
            field(&mut fields, tag::NAME, self.name.as_bytes());
        }
        if self.attempts != Self::ATTEMPTS {
            number_field(&mut fields, tag::ATTEMPTS, &[u64::from(self.attempts)]);
        }
        if self.backoff != Backoff::default() {
            let Backoff { base_ms, cap_ms, jitter } = self.backoff;
            number_field(&mut fields, tag::BACKOFF, &[base_ms, cap_ms, u64::from(jitter)]);
        }
        if self.created_ms != 0 {
            number_field(&mut fields, tag::CREATED, &[self.created_ms]);
        }
        let mut row = Vec::with_capacity(3 + fields.len() + self.payload.len());
        row.push(VERSION);
        varint(&mut row, fields.len() as u64);
        row.extend_from_slice(&fields);
        row.extend_from_slice(&self.payload);
        row
    }

    /// Reads a row; the error says what is wrong with it.
    pub fn decode(mut row: Vec<u8>) -> Result<Envelope, String> {
        let mut envelope = Envelope {
            name: String::new(),
            attempts: Self::ATTEMPTS,
            backoff: Backoff::default(),
            created_ms: 0,
            payload: Vec::new(),
        };
        let header = envelope.read_header(&row)?;
        row.drain(..header.end);
        envelope.payload = row;
        Ok(envelope)
    }

    /// When the job of this id was enqueued, in ms since 1970.
    pub fn created_at_ms(&self, id: &JobId) -> u64 {
        if self.created_ms == 0 { id.minted_ms().unwrap_or(0) } else { self.created_ms }
    }

    fn read_header(&mut self, row: &[u8]) -> Result<Range<usize>, String> {
        let cut = || "the row ends inside its header".to_owned();
        match row.first() {
            Some(&VERSION) => {}
            Some(other) => {
                return Err(format!("the row begins with byte {other:#04x}, not with version {VERSION}"));
            }
            None => return Err("the row is empty".to_owned()),
        }
        let mut rest = &row[1..];
        let length = read_varint(&mut rest).ok_or_else(cut)?;
        let start = row.len() - rest.len();
        let length = usize::try_from(length).ok().filter(|&length| length <= rest.len()).ok_or_else(cut)?;
        let mut fields = &rest[..length];
        while let Some((&tag, tail)) = fields.split_first() {
            fields = tail;
            let size = read_varint(&mut fields).and_then(|size| usize::try_from(size).ok());
            let size = size.filter(|&size| size <= fields.len()).ok_or_else(cut)?;
            let (value, tail) = fields.split_at(size);
            fields = tail;
            self.read_field(tag, value)
                .ok_or_else(|| format!("field {tag} of the header can not be read"))?;
        }
        Ok(0..start + length)
    }

    fn read_field(&mut self, tag: u8, mut value: &[u8]) -> Option<()> {
        match tag {
            tag::NAME => self.name = String::from_utf8(value.to_vec()).ok()?,
            tag::ATTEMPTS => {
                self.attempts = u32::try_from(read_varint(&mut value)?).ok().filter(|&n| n > 0)?
            }
            tag::CREATED => self.created_ms = read_varint(&mut value)?,
            tag::BACKOFF => {
                let (base_ms, cap_ms) = (read_varint(&mut value)?, read_varint(&mut value)?);
                self.backoff = Backoff { base_ms, cap_ms, jitter: read_varint(&mut value)? == 1 };
            }
            _ => {}
        }
        Some(())
    }
}

fn field(out: &mut Vec<u8>, tag: u8, value: &[u8]) {
    out.push(tag);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn number_field(out: &mut Vec<u8>, tag: u8, numbers: &[u64]) {
    let mut value = Vec::with_capacity(10 * numbers.len());
    numbers.iter().for_each(|&number| varint(&mut value, number));
    field(out, tag, &value);
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if shift == 63 && part > 1 {
            return None;
        }
        number |= part << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_goes_in_comes_out(
            name in "\\PC{0,20}", attempts in 1u32.., base_ms: u64, cap_ms: u64, jitter: bool, created_ms: u64,
            payload: Vec<u8>,
        ) {
            let envelope = Envelope { name, attempts, backoff: Backoff { base_ms, cap_ms, jitter }, created_ms, payload };
            prop_assert_eq!(Envelope::decode(envelope.encode()), Ok(envelope));
        }

        #[test]
        fn any_bytes_are_read_or_refused(row: Vec<u8>) {
            let _ = Envelope::decode(row);
        }

        #[test]
        fn a_field_of_a_later_release_is_skipped(value: Vec<u8>, payload: Vec<u8>) {
            let mut fields = Vec::new();
            field(&mut fields, 200, &value);
            number_field(&mut fields, tag::ATTEMPTS, &[7]);
            let mut row = vec![VERSION];
            varint(&mut row, fields.len() as u64);
            row.extend(fields);
            row.extend(&payload);
            let envelope = Envelope::decode(row).unwrap();
            prop_assert_eq!((envelope.attempts, envelope.payload), (7, payload));
        }
    }

    #[test]
    fn a_plain_job_costs_two_bytes() {
        let envelope = Envelope {
            name: String::new(),
            attempts: Envelope::ATTEMPTS,
            backoff: Backoff::default(),
            created_ms: 0,
            payload: Vec::new(),
        };
        assert_eq!(envelope.encode().len(), 2);
    }

    #[test]
    fn what_is_no_envelope_says_why() {
        for (row, why) in [
            (&b""[..], "empty"),
            (b"\xff\xfe", "0xff"),
            (b"{\"a\":1}", "0x7b"),
            (b"\x01\x05ab", "inside its header"),
        ] {
            let error = Envelope::decode(row.to_vec()).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
