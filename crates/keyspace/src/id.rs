//! Job ids: those that EchoMQ mints, and those that a caller gives.

use crate::escaped::{Escaped, Quoted};
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::borrow::Borrow;
use core::fmt;
use core::str::FromStr;

/// The digits of a minted id, in the order of their bytes, so that byte order is number order.
pub(crate) const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// What a minted id is about: three upper-case letters, such as `ORD`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind([u8; 3]);

impl Kind {
    /// Takes three letters `A` to `Z`.
    ///
    /// # Errors
    ///
    /// When the bytes are anything else.
    pub fn parse(letters: impl AsRef<[u8]>) -> Result<Kind, IdError> {
        let letters = letters.as_ref();
        Kind::from_letters(letters).ok_or_else(|| IdError::new(letters, Fault::NotAKind))
    }

    fn from_letters(letters: &[u8]) -> Option<Kind> {
        let letters: [u8; 3] = letters.try_into().ok()?;
        letters.iter().all(u8::is_ascii_uppercase).then_some(Kind(letters))
    }

    /// The three letters.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// The id of a job: 1 to 256 bytes without control bytes (0x00 to 0x1f, 0x7f), kept exactly as given.
///
/// The bytes need not be UTF-8, and braces and colons are harmless: an id stands last in a key, after the queue's tag, so
/// it can neither move the key to another slot nor spell another key. Cloning shares the bytes. Order is byte order.
///
/// EchoMQ's own ids are 14 characters: a [`Kind`], then eleven base-62 digits of a 64-bit number, as [`IdSource`] makes it.
///
/// ```
/// use echomq_keyspace::{JobId, Kind};
///
/// let id = JobId::parse("ORD0NgWEfAEJfs")?;
/// assert_eq!((id.kind(), id.serial()), (Some(Kind::parse("ORD")?), Some(320636799581945856)));
/// assert_eq!(JobId::from_serial(Kind::parse("ORD")?, 320636799581945856), id);
///
/// assert_eq!(JobId::parse("order:{42}")?.kind(), None);
/// assert!(JobId::parse("").is_err());
/// # Ok::<(), echomq_keyspace::IdError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(Arc<[u8]>);

impl JobId {
    /// The longest id, in bytes.
    pub const MAX_BYTES: usize = 256;

    /// The length of an id that EchoMQ minted, in bytes.
    pub const MINTED_BYTES: usize = 14;

    /// Takes the id, or says what is wrong with it.
    ///
    /// # Errors
    ///
    /// When it is empty, over 256 bytes, or has a control byte.
    pub fn parse(id: impl AsRef<[u8]>) -> Result<JobId, IdError> {
        let id = id.as_ref();
        let fault = match id.len() {
            0 => Some(Fault::Empty),
            1..=Self::MAX_BYTES => id.iter().position(u8::is_ascii_control).map(|at| Fault::Control { at }),
            _ => Some(Fault::TooLong),
        };
        match fault {
            Some(fault) => Err(IdError::new(id, fault)),
            None => Ok(JobId(id.into())),
        }
    }

    /// The minted id of this kind and number. Byte order is number order within a kind.
    pub fn from_serial(kind: Kind, serial: u64) -> JobId {
        let mut id = [0; Self::MINTED_BYTES];
        let (letters, digits) = id.split_at_mut(kind.0.len());
        letters.copy_from_slice(&kind.0);
        let mut rest = serial;
        for digit in digits.iter_mut().rev() {
            *digit = BASE62[(rest % 62) as usize];
            rest /= 62;
        }
        JobId(id.as_slice().into())
    }

    /// The kind, when the id has the form of a minted one.
    pub fn kind(&self) -> Option<Kind> {
        self.minted().map(|(kind, _)| kind)
    }

    /// The 64-bit number, when the id has the form of a minted one.
    pub fn serial(&self) -> Option<u64> {
        self.minted().map(|(_, serial)| serial)
    }

    /// When it was minted, in ms since 1970, when it has the form of a minted one.
    pub fn minted_ms(&self) -> Option<u64> {
        self.serial().map(|serial| serial >> (IdSource::NODE_BITS + IdSource::SEQUENCE_BITS))
    }

    /// The bytes as they were given.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn minted(&self) -> Option<(Kind, u64)> {
        let (kind, digits) = self.0.split_first_chunk::<3>()?;
        let digits: &[u8; 11] = digits.try_into().ok()?;
        let serial = digits.iter().try_fold(0_u64, |number, digit| {
            let value = BASE62.binary_search(digit).ok()?;
            number.checked_mul(62)?.checked_add(value as u64)
        })?;
        Some((Kind::from_letters(kind)?, serial))
    }
}

/// Mints the numbers of job ids: 42 bits of Unix milliseconds, 10 bits of node, 12 bits of sequence, high to low.
///
/// The numbers of one source strictly grow, whatever the clock does: within a millisecond the sequence counts on, when it
/// is used up the next millisecond is borrowed, and a clock that went back is not followed.
///
/// ```
/// use echomq_keyspace::IdSource;
///
/// let mut ids = IdSource::new(7);
/// let first = ids.next(1_700_000_000_000);
/// assert_eq!((first >> 22, first >> 12 & 1023, first & 4095), (1_700_000_000_000, 7, 0));
/// assert_eq!(ids.next(1_600_000_000_000), first + 1);
/// ```
#[derive(Clone, Debug)]
pub struct IdSource {
    node: u16,
    last: Option<u64>,
}

impl IdSource {
    const SEQUENCE_BITS: u32 = 12;
    const NODE_BITS: u32 = 10;
    const MS_MAX: u64 = (1 << 42) - 1;

    /// A source for this node. Sources of different nodes never give the same number; the low ten bits of `node` count.
    pub fn new(node: u16) -> IdSource {
        IdSource { node: node % (1 << Self::NODE_BITS), last: None }
    }

    /// The next number. `now_ms` is Unix time in milliseconds, best aligned with the server's clock; a time beyond 42 bits
    /// (the year 2109) counts as no news of the clock.
    pub fn next(&mut self, now_ms: u64) -> u64 {
        let fresh = self.at(if now_ms > Self::MS_MAX { 0 } else { now_ms });
        let next = match self.last {
            Some(last) if fresh <= last => self.after(last),
            _ => fresh,
        };
        self.last = Some(next);
        next
    }

    /// The first number of this node in a millisecond.
    fn at(&self, ms: u64) -> u64 {
        (ms << (Self::NODE_BITS + Self::SEQUENCE_BITS)) | (u64::from(self.node) << Self::SEQUENCE_BITS)
    }

    fn after(&self, last: u64) -> u64 {
        let sequence_mask = (1 << Self::SEQUENCE_BITS) - 1;
        if last & sequence_mask < sequence_mask {
            last + 1
        } else {
            let ms = last >> (Self::NODE_BITS + Self::SEQUENCE_BITS);
            self.at((ms + 1).min(Self::MS_MAX))
        }
    }
}

/// What a job id or a kind was refused for. The text quotes the input escaped and states the rule.
#[derive(Clone, PartialEq, Eq)]
pub struct IdError(Box<Refusal>);

#[derive(Clone, PartialEq, Eq)]
struct Refusal {
    input: Box<[u8]>,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    Empty,
    TooLong,
    Control { at: usize },
    NotAKind,
}

impl IdError {
    fn new(input: &[u8], fault: Fault) -> IdError {
        IdError(Box::new(Refusal { input: input.into(), fault }))
    }

    /// The bytes that were refused, as they were given.
    pub fn input(&self) -> &[u8] {
        &self.0.input
    }
}

impl fmt::Display for IdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { ref input, fault } = *self.0;
        if fault == Fault::NotAKind {
            return write!(f, "kind {} refused: use three letters A to Z, such as \"ORD\"", Quoted(input));
        }
        write!(f, "job id {} refused: ", Quoted(input))?;
        match fault {
            Fault::Control { at } => write!(f, "it has a control byte at byte {at}")?,
            Fault::TooLong => write!(f, "it has {} bytes", input.len())?,
            Fault::Empty | Fault::NotAKind => f.write_str("it is empty")?,
        }
        f.write_str("; use 1 to 256 bytes without control bytes")
    }
}

impl fmt::Debug for IdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdError({self})")
    }
}

impl core::error::Error for IdError {}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Escaped(&self.0), f)
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobId(\"{self}\")")
    }
}

impl FromStr for JobId {
    type Err = IdError;

    fn from_str(id: &str) -> Result<JobId, IdError> {
        JobId::parse(id)
    }
}

impl AsRef<[u8]> for JobId {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<[u8]> for JobId {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({self})")
    }
}

impl FromStr for Kind {
    type Err = IdError;

    fn from_str(letters: &str) -> Result<Kind, IdError> {
        Kind::parse(letters)
    }
}
