//! CRC16-XMODEM, without tables.
//!
//! A CRC is the remainder of a polynomial over GF(2), and the one that keys are hashed with has few terms:
//! p = x^16 + x^12 + x^5 + 1. Squaring is linear over GF(2), so modulo p also
//!
//! * x^64 = x^48 + x^20 + 1 (p squared twice): 64 bits move down onto the next 64 by a few shifts, and
//! * x^256 = x^192 + x^80 + 1 (twice more): 64 bits move down four words by two shifts, and all that the next word has to
//!   wait for is one exclusive-or.
//!
//! So a key is folded word by word into one word, whose remainder again takes a few shifts. That is about one instruction a
//! byte, where the usual tables take four; it leaves the caches alone, and it is the same code at compile time.
//!
//! Zero bytes in front do not change a CRC that starts at 0, so a word that is partly filled is filled from the left.

/// The CRC16 that Valkey and Redis hash keys with: polynomial 0x1021, initial value 0, nothing reflected.
///
/// ```
/// assert_eq!(echomq_keyspace::crc16(b"123456789"), 0x31C3);
/// ```
#[inline]
pub const fn crc16(bytes: &[u8]) -> u16 {
    remainder(match bytes.len() {
        0..=7 => short_word(bytes),
        8..=32 => fold_words(bytes),
        _ => fold_blocks(bytes),
    })
}

/// The CRC of a word: the remainder of word · x^16 by p.
///
/// With s = x^-4 + x^-11 + x^-16 the quotient is word / (1 + s) = word · (1 + s)(1 + s^2)(1 + s^4)(1 + s^8) less what falls
/// below the point; the terms that leave nothing of 64 bits are not written. The remainder is the low end of quotient · p,
/// because that of word · x^16 is zero.
#[inline]
pub(crate) const fn remainder(word: u64) -> u16 {
    let mut quotient = word;
    quotient ^= (quotient >> 4) ^ (quotient >> 11) ^ (quotient >> 16);
    quotient ^= (quotient >> 8) ^ (quotient >> 22) ^ (quotient >> 32);
    quotient ^= (quotient >> 16) ^ (quotient >> 44);
    quotient ^= quotient >> 32;
    (quotient ^ (quotient << 5) ^ (quotient << 12)) as u16
}

/// One word that is equal, modulo p, to the two words `high` and `low`; the quotient as in [`remainder`], by x^64.
#[inline]
const fn fold(high: u64, low: u64) -> u64 {
    let mut quotient = high ^ (high >> 16) ^ (high >> 44);
    quotient ^= quotient >> 32;
    low ^ quotient ^ (quotient << 20) ^ (quotient << 48)
}

/// Up to 7 bytes as a word, filled from the left.
#[inline]
const fn short_word(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        // The halves overlap where they hold the same bytes.
        (Some(first), Some(last)) => {
            let above = 8 * (bytes.len() - 4);
            ((u32::from_be_bytes(*first) as u64) << above) | u32::from_be_bytes(*last) as u64
        }
        _ => match *bytes {
            [a] => a as u64,
            [a, b] => u16::from_be_bytes([a, b]) as u64,
            [a, b, c] => u32::from_be_bytes([0, a, b, c]) as u64,
            _ => 0,
        },
    }
}

/// Splits 8 bytes or more into a first word, filled from the left, and bytes that are whole words.
///
/// The word is in the byte order of the key: little-endian.
#[inline]
const fn split_head(bytes: &[u8]) -> (u64, &[u8]) {
    let head_len = (bytes.len() - 1) % 8 + 1;
    let head = match bytes.first_chunk() {
        Some(first) => u64::from_le_bytes(*first) << (8 * (8 - head_len)),
        None => 0,
    };
    (head, bytes.split_at(head_len).1)
}

/// Folds 8 bytes or more into one word, each word onto the next.
#[inline]
const fn fold_words(bytes: &[u8]) -> u64 {
    let (head, mut rest) = split_head(bytes);
    let mut word = head.swap_bytes();
    while let Some((next, tail)) = rest.split_first_chunk() {
        word = fold(word, u64::from_be_bytes(*next));
        rest = tail;
    }
    word
}

/// Folds 40 bytes or more into one word, each word onto the four after it, until four are left.
///
/// The words are in the byte order of the key, so that none has to be swapped before the end: x^80 is one word and two bytes.
#[inline]
const fn fold_blocks(bytes: &[u8]) -> u64 {
    let (mut a, mut rest) = split_head(bytes);
    let (mut b, mut c, mut d) = (0, 0, 0);
    if let Some((block, tail)) = rest.split_first_chunk::<24>() {
        (b, c, d) = (le_word(block, 0), le_word(block, 8), le_word(block, 16));
        rest = tail;
    }
    while let Some((block, tail)) = rest.split_first_chunk::<32>() {
        (a, b, c, d) = fold_onto_four(a, b, c, d, le_word(block, 0));
        (a, b, c, d) = fold_onto_four(a, b, c, d, le_word(block, 8));
        (a, b, c, d) = fold_onto_four(a, b, c, d, le_word(block, 16));
        (a, b, c, d) = fold_onto_four(a, b, c, d, le_word(block, 24));
        rest = tail;
    }
    while let Some((next, tail)) = rest.split_first_chunk() {
        (a, b, c, d) = fold_onto_four(a, b, c, d, u64::from_le_bytes(*next));
        rest = tail;
    }
    let word = fold(a.swap_bytes(), b.swap_bytes());
    fold(fold(word, c.swap_bytes()), d.swap_bytes())
}

#[inline]
const fn fold_onto_four(a: u64, b: u64, c: u64, d: u64, next: u64) -> (u64, u64, u64, u64) {
    (b ^ a, c ^ (a << 48), d ^ (a >> 16), next ^ a)
}

/// The word at `at` in a block, in the byte order of the key.
#[inline]
const fn le_word<const N: usize>(block: &[u8; N], at: usize) -> u64 {
    match block.split_at(at).1.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, bit by bit.
    fn bitwise(bytes: &[u8]) -> u16 {
        bytes.iter().fold(0, |crc, &byte| {
            (0..8).fold(crc ^ (u16::from(byte) << 8), |crc: u16, _| {
                if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
            })
        })
    }

    #[test]
    fn the_check_value_is_that_of_the_standard_also_at_compile_time() {
        const CHECK: u16 = crc16(b"123456789");
        assert_eq!((CHECK, crc16(b"123456789"), bitwise(b"123456789")), (0x31C3, 0x31C3, 0x31C3));
    }

    /// The CRC is linear, so one set bit at each place proves all keys of a length.
    #[test]
    fn each_single_bit_of_a_key_counts_as_the_definition_says() {
        for len in (0..=80).chain([200]) {
            let mut bytes = [0; 200];
            for bit in 0..len * 8 {
                bytes[bit / 8] = 0x80 >> (bit % 8);
                assert_eq!(crc16(&bytes[..len]), bitwise(&bytes[..len]), "bit {bit} of {len} bytes");
                bytes[bit / 8] = 0;
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_have_the_crc_of_the_definition(bytes in prop::collection::vec(any::<u8>(), 0..700)) {
            prop_assert_eq!(crc16(&bytes), bitwise(&bytes));
        }
    }
}
