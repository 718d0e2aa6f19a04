//! The pattern of a key that nobody has declared: its ids become fields.

use std::fmt::Write as _;

use echomq_keyspace::Escaped;

/// The pattern of a key, in the notation of contracts: `<n>` stands for a number, `<id>` for what looks minted or hashed,
/// and `<bytes>` for what is no printable ASCII. It is a guess, by the look of the key alone.
///
/// ```
/// use echomq_ops::generalise;
///
/// assert_eq!(generalise(b"user:10042:cart"), "user:<n>:cart");
/// assert_eq!(generalise(b"celery-task-meta-7f9c2ba4-e88f-4d1a-9d3b-0e6f3c1a2b4d"), "celery-task-meta-<id>");
/// assert_eq!(generalise(b"emq:{orders}:jobs:ORD0NgWEfAEJfs"), "emq:{orders}:jobs:<id>");
/// ```
pub fn generalise(key: &[u8]) -> String {
    let mut pattern = String::new();
    for word in words(key, |byte| b":/|{}<>,;#@=&?!*()[] ".contains(&byte)) {
        match word {
            Word::Between(byte) => write(&mut pattern, &[byte]),
            Word::Letters(word) => generalise_word(&mut pattern, word),
        }
    }
    pattern
}

/// What stands between two colons and the like.
fn generalise_word(pattern: &mut String, word: &[u8]) {
    if let Some((head, tail)) = split_uuid(word) {
        generalise_word(pattern, head);
        pattern.push_str("<id>");
        return generalise_word(pattern, tail);
    }
    for part in words(word, |byte| b"-_.".contains(&byte)) {
        match part {
            Word::Between(byte) => pattern.push(char::from(byte)),
            Word::Letters(part) => generalise_part(pattern, part),
        }
    }
}

/// The shortest word of letters and digits that is taken for an id.
const ID_BYTES: usize = 8;

fn generalise_part(pattern: &mut String, part: &[u8]) {
    let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
    let trailing = part.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    if !part.iter().all(u8::is_ascii_graphic) {
        pattern.push_str("<bytes>");
    } else if digits == part.len() && digits > 0 {
        pattern.push_str("<n>");
    } else if digits > 0 && part.len() >= ID_BYTES && trailing < digits || is_long_hex(part) {
        pattern.push_str("<id>");
    } else if digits > 0 && trailing == digits {
        write(pattern, &part[..part.len() - trailing]);
        pattern.push_str("<n>");
    } else {
        write(pattern, part);
    }
}

fn is_long_hex(part: &[u8]) -> bool {
    part.len() >= 2 * ID_BYTES && part.iter().all(u8::is_ascii_hexdigit)
}

/// The first UUID of a word, by what stands before and behind it.
fn split_uuid(word: &[u8]) -> Option<(&[u8], &[u8])> {
    const LEN: usize = 36;
    let is_uuid = |bytes: &[u8]| {
        bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    let at = word.windows(LEN).position(is_uuid)?;
    Some((&word[..at], &word[at + LEN..]))
}

enum Word<'k> {
    Between(u8),
    Letters(&'k [u8]),
}

fn words(key: &[u8], separates: impl Fn(u8) -> bool) -> impl Iterator<Item = Word<'_>> {
    let mut rest = key;
    std::iter::from_fn(move || {
        let (&first, tail) = rest.split_first()?;
        if separates(first) {
            rest = tail;
            return Some(Word::Between(first));
        }
        let end = rest.iter().position(|&byte| separates(byte)).unwrap_or(rest.len());
        let word = &rest[..end];
        rest = &rest[end..];
        Some(Word::Letters(word))
    })
}

fn write(pattern: &mut String, bytes: &[u8]) {
    let written = write!(pattern, "{}", Escaped(bytes));
    debug_assert!(written.is_ok(), "a string takes all text");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_fields_and_words_stay() {
        for (key, pattern) in [
            ("emq:orders:job:17", "emq:orders:job:<n>"),
            ("emq:{orders}:pending ", "emq:{orders}:pending "),
            ("bull:mail:repeat:5f4dcc3b5aa765d61d8327deb882cf99", "bull:mail:repeat:<id>"),
            ("user12:cart_7", "user<n>:cart_<n>"),
            ("v1.2/item-0042", "v<n>.<n>/item-<n>"),
            ("deadbeef", "deadbeef"),
            ("a:550e8400-e29b-41d4-a716-446655440000.tmp", "a:<id>.tmp"),
            ("{}:x", "{}:x"),
            ("", ""),
        ] {
            assert_eq!(generalise(key.as_bytes()), pattern, "{key}");
        }
        assert_eq!(generalise(b"a:\xff\x00:\n"), "a:<bytes>:<bytes>");
    }
}
