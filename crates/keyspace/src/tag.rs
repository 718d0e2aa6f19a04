//! The hash tag: which bytes of a key are hashed.

use crate::crc::{crc16, remainder};

/// The bytes of `key` that are hashed: the span between the first `{` and the next `}` after it, when that span is not
/// empty; otherwise the whole key.
///
/// ```
/// use echomq_keyspace::hash_tag;
///
/// assert_eq!(hash_tag(b"emq:{orders}:pending"), b"orders");
/// assert_eq!(hash_tag(b"foo{{bar}}zap"), b"{bar");
/// assert_eq!(hash_tag(b"foo{}{bar}"), b"foo{}{bar}");
/// assert_eq!(hash_tag(b"emq:{orders"), b"emq:{orders");
/// ```
pub const fn hash_tag(key: &[u8]) -> &[u8] {
    match find(key, b'{') {
        Some(open) => hash_tag_from(key, open),
        None => key,
    }
}

/// [`hash_tag`] of a key whose first `{` is at `open`.
const fn hash_tag_from(key: &[u8], open: usize) -> &[u8] {
    let after = key.split_at(open + 1).1;
    match find(after, b'}') {
        None | Some(0) => key,
        Some(len) => after.split_at(len).0,
    }
}

/// The CRC of [`hash_tag`]: what a slot is made of.
///
/// Most tags begin in the first word of a key, and many end in the word after the brace: those are hashed on the spot. So are
/// keys of up to two words without a brace.
pub(crate) const fn hashed_crc(key: &[u8]) -> u16 {
    if let [b'{', ..] = key {
        return tagged_crc(key, 0);
    }
    if let (Some(first), Some(last)) = (key.first_chunk(), key.last_chunk()) {
        if let Some(open) = first_match(u64::from_le_bytes(*first), b'{') {
            return tagged_crc(key, open);
        }
        if key.len() <= 16 && first_match(u64::from_le_bytes(*last), b'{').is_none() {
            return crc16(key);
        }
    }
    searched_crc(key)
}

/// [`hashed_crc`] of a key whose first `{` may be anywhere; apart, so that the usual way needs no stack.
const fn searched_crc(key: &[u8]) -> u16 {
    match find(key, b'{') {
        Some(open) => tagged_crc(key, open),
        None => crc16(key),
    }
}

/// [`hashed_crc`] of a key whose first `{` is at `open`.
#[inline]
const fn tagged_crc(key: &[u8], open: usize) -> u16 {
    let word = word_at(key, open + 1);
    match first_match(word, b'}') {
        None => crc16(hash_tag_from(key, open)),
        Some(0) => crc16(key),
        Some(len) => remainder((word << (64 - 8 * len)).swap_bytes()),
    }
}

/// The first place of `needle`.
pub(crate) const fn find(bytes: &[u8], needle: u8) -> Option<usize> {
    let mut rest = bytes;
    while let Some((block, tail)) = rest.split_first_chunk() {
        if block_has(block, needle) {
            break;
        }
        rest = tail;
    }
    while let Some((next, tail)) = rest.split_first_chunk() {
        if let Some(at) = first_match(u64::from_le_bytes(*next), needle) {
            return Some(bytes.len() - rest.len() + at);
        }
        rest = tail;
    }
    while let [first, tail @ ..] = rest {
        if *first == needle {
            return Some(bytes.len() - rest.len());
        }
        rest = tail;
    }
    None
}

/// Whether `needle` is in the block; written so that it compiles to vector instructions.
#[inline]
const fn block_has(block: &[u8; 32], needle: u8) -> bool {
    let mut has = false;
    let mut i = 0;
    while i < block.len() {
        has |= block[i] == needle;
        i += 1;
    }
    has
}

/// The first place of `needle` in a little-endian word.
///
/// A byte that is `needle` becomes zero, and of all bytes below the first zero none loses its top bit to the subtraction.
#[inline]
const fn first_match(word: u64, needle: u8) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xff;
    let differs = word ^ (ONES * needle as u64);
    match differs.wrapping_sub(ONES) & !differs & (ONES << 7) {
        0 => None,
        zeros => Some(zeros.trailing_zeros() as usize / 8),
    }
}

/// The eight bytes at `at` as a little-endian word, with zeros past the end of the key; all zeros in a key under eight bytes.
#[inline]
const fn word_at(key: &[u8], at: usize) -> u64 {
    let rest = match key.split_at_checked(at) {
        Some((_, rest)) => rest,
        None => &[],
    };
    match (rest.first_chunk(), key.last_chunk()) {
        (Some(next), _) => u64::from_le_bytes(*next),
        (None, Some(last)) if !rest.is_empty() => u64::from_le_bytes(*last) >> (8 * (8 - rest.len())),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    /// The rule, byte by byte.
    fn definition(key: &[u8]) -> &[u8] {
        let position = |bytes: &[u8], needle| bytes.iter().position(|&b| b == needle);
        let tag = position(key, b'{').and_then(|open| {
            let after = &key[open + 1..];
            position(after, b'}').map(|len| &after[..len])
        });
        tag.filter(|tag| !tag.is_empty()).unwrap_or(key)
    }

    fn assert_as_defined(key: &[u8]) {
        assert_eq!(hash_tag(key), definition(key), "{}", key.escape_ascii());
        assert_eq!(hashed_crc(key), crc16(definition(key)), "{}", key.escape_ascii());
    }

    #[test]
    fn a_tag_is_found_wherever_its_braces_stand() {
        for len in 0..80 {
            for open in 0..=len {
                for close in 0..=len {
                    let mut key = vec![0xfa; len];
                    key.iter_mut().skip(open).take(1).for_each(|b| *b = b'{');
                    key.iter_mut().skip(close).take(1).for_each(|b| *b = b'}');
                    assert_as_defined(&key);
                }
            }
        }
    }

    #[test]
    fn bytes_next_to_a_brace_in_value_are_no_braces() {
        for byte in 0..=u8::MAX {
            assert_as_defined(&[b'{', byte, b'}', byte, b'{', byte, byte, b'}', byte, byte]);
            assert_as_defined(&[byte; 40]);
        }
    }

    proptest! {
        #[test]
        fn any_key_is_hashed_by_the_rule(key in prop::collection::vec(prop_oneof![Just(b'{'), Just(b'}'), any::<u8>()], 0..120)) {
            assert_as_defined(&key);
        }
    }
}
