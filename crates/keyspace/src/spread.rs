//! A tag for a wanted slot: the reverse of hashing.

use crate::crc::crc16;
use crate::escaped::Quoted;
use crate::id::BASE62;
use crate::slot::Slot;
use alloc::boxed::Box;
use core::fmt;

/// Three characters of `0-9`, `A-Z`, `a-z` that move a tag to another slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Suffix([u8; Suffix::BYTES]);

impl Suffix {
    /// The length of every suffix, in bytes.
    pub const BYTES: usize = 3;

    /// The characters as text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The suffix with these characters, when they are three of the alphabet.
    pub(crate) fn from_chars(chars: &[u8]) -> Option<Suffix> {
        let chars: [u8; Suffix::BYTES] = chars.try_into().ok()?;
        chars.iter().all(u8::is_ascii_alphanumeric).then_some(Suffix(chars))
    }
}

/// The suffix that makes `prefix` + suffix, set in braces, a tag for `slot`. Every slot has one, for any prefix; where several
/// fit it is the first in byte order, so the answer never changes.
///
/// ```
/// use echomq_keyspace::{Slot, tag_for};
///
/// let slot = Slot::new(9000).unwrap();
/// let tag = format!("cart:{}", tag_for("cart:", slot)?);
/// assert_eq!(Slot::of(format!("{{{tag}}}:items").as_bytes()), slot);
/// # Ok::<(), echomq_keyspace::TagError>(())
/// ```
///
/// # Errors
///
/// When the prefix has a `}`: the tag would end there, before the suffix.
pub fn tag_for(prefix: impl AsRef<[u8]>, slot: Slot) -> Result<Suffix, TagError> {
    let prefix = prefix.as_ref();
    if prefix.contains(&b'}') {
        return Err(TagError(prefix.into()));
    }
    Ok(suffix_for(prefix, slot))
}

/// As [`tag_for`], for a prefix that is known to hold no `}`.
///
/// The CRC is linear: that of prefix + suffix is that of the prefix before three zero bytes, exclusive-or that of the
/// suffix alone. So one table of what suffixes add would do for all prefixes.
pub(crate) fn suffix_for(prefix: &[u8], slot: Slot) -> Suffix {
    let mut padded = prefix.to_vec();
    padded.extend([0; Suffix::BYTES]);
    let wanted = Slot::from_crc(crc16(&padded) ^ slot.get());
    for a in BASE62 {
        for b in BASE62 {
            for c in BASE62 {
                if Slot::from_crc(crc16(&[*a, *b, *c])) == wanted {
                    return Suffix([*a, *b, *c]);
                }
            }
        }
    }
    unreachable!()
}

/// A prefix that no suffix can turn into a tag, because it has a `}`.
#[derive(Clone, PartialEq, Eq)]
pub struct TagError(Box<[u8]>);

impl TagError {
    /// The prefix that was refused, as it was given.
    pub fn input(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for TagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "tag prefix {} refused: a tag ends at its first \"}}\"; use a prefix without one",
            Quoted(&self.0)
        )
    }
}

impl fmt::Debug for TagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TagError({self})")
    }
}

impl core::error::Error for TagError {}

impl fmt::Display for Suffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Suffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Suffix({self})")
    }
}
