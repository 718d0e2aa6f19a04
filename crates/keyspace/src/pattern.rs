//! Which slot a MATCH pattern can hit.

use crate::slot::Slot;
use crate::trace::tag_of;
use alloc::vec::Vec;

/// The slots that keys of a pattern can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PatternSlot {
    /// Every key that matches is on this slot.
    One(Slot),
    /// Matching keys may be on any slot.
    Any,
}

/// The slot that a glob pattern is bound to, as SCAN, KEYS and PSUBSCRIBE take patterns (`*`, `?`, `[…]`, `\`).
///
/// A tag that is complete before the first wildcard decides; so does a pattern without one, which is a key. This is the
/// rule by which a cluster's SCAN looks into one slot only. An escaped character is the character.
///
/// ```
/// use echomq_keyspace::{PatternSlot, Slot, pattern};
///
/// assert_eq!(pattern(b"emq:{orders}:job:*"), PatternSlot::One(Slot::of(b"orders")));
/// assert_eq!(pattern(b"emq:{*}:meta"), PatternSlot::Any);
/// assert_eq!(pattern(br"emq:{a\*}:*"), PatternSlot::One(Slot::of(b"a*")));
/// ```
pub fn pattern(glob: &[u8]) -> PatternSlot {
    let mut literal = Vec::with_capacity(glob.len());
    let mut rest = glob;
    loop {
        rest = match rest {
            [] => return PatternSlot::One(Slot::of(&literal)),
            [b'*' | b'?' | b'[', ..] => break,
            [b'\\', escaped, tail @ ..] | [escaped, tail @ ..] => {
                literal.push(*escaped);
                tail
            }
        };
    }
    if tag_of(&literal).is_some() { PatternSlot::One(Slot::of(&literal)) } else { PatternSlot::Any }
}

/// A pattern that matches these bytes and nothing else.
pub(crate) fn escape_glob(text: &[u8]) -> Vec<u8> {
    let mut glob = Vec::with_capacity(text.len());
    for &byte in text {
        if matches!(byte, b'*' | b'?' | b'[' | b']' | b'\\') {
            glob.push(b'\\');
        }
        glob.push(byte);
    }
    glob
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::vec;

    /// Whether a glob of literals, `*`, `?`, `\` and classes without ranges matches; the definition, not fast.
    fn matches(glob: &[u8], key: &[u8]) -> bool {
        match (glob, key) {
            ([], _) => key.is_empty(),
            ([b'*', tail @ ..], _) => (0..=key.len()).any(|n| matches(tail, &key[n..])),
            ([b'?', tail @ ..], [_, rest @ ..]) => matches(tail, rest),
            ([b'[', class @ ..], [first, rest @ ..]) => {
                let end = class.iter().position(|&b| b == b']').unwrap_or(class.len());
                class[..end].contains(first) && matches(class.get(end + 1..).unwrap_or_default(), rest)
            }
            ([b'\\', literal, tail @ ..] | [literal, tail @ ..], [first, rest @ ..]) => {
                literal == first && matches(tail, rest)
            }
            (_, []) => false,
        }
    }

    /// Every word over an alphabet up to a length.
    fn words(alphabet: &[u8], max_len: usize) -> Vec<Vec<u8>> {
        let mut words = vec![vec![]];
        let mut longest = 0..1;
        for _ in 0..max_len {
            let start = words.len();
            for at in longest {
                words.extend(
                    alphabet.iter().map(|&byte| [words[at].as_slice(), &[byte]].concat()).collect::<Vec<_>>(),
                );
            }
            longest = start..words.len();
        }
        words
    }

    #[test]
    fn the_slot_of_a_pattern_is_that_of_every_key_it_matches() {
        let keys: Vec<_> = words(b"{}a*?\\", 4).into_iter().map(|key| (Slot::of(&key), key)).collect();
        let mut bound = 0;
        let classes = [b"a[a]".as_slice(), b"{a}[", b"{[a]}", b"{a}[{]"].map(<[u8]>::to_vec);
        for glob in words(b"{}a*?\\", 4).into_iter().chain(classes) {
            let slots: BTreeSet<_> =
                keys.iter().filter(|(_, key)| matches(&glob, key)).map(|(slot, _)| *slot).collect();
            match pattern(&glob) {
                PatternSlot::One(slot) => {
                    bound += 1;
                    assert!(slots.iter().all(|s| *s == slot), "{} has {slots:?}", glob.escape_ascii());
                }
                PatternSlot::Any if glob.contains(&b'[') => {}
                PatternSlot::Any => assert!(slots.len() > 1, "{} has only {slots:?}", glob.escape_ascii()),
            }
        }
        assert!(bound > 100, "{bound}");
    }

    #[test]
    fn an_escaped_text_matches_itself_alone() {
        for text in words(b"a*?[]\\", 3) {
            let glob = escape_glob(&text);
            assert!(matches(&glob, &text), "{}", text.escape_ascii());
            assert_eq!(pattern(&glob), PatternSlot::One(Slot::of(&text)));
        }
        assert!(!matches(&escape_glob(b"a*"), b"ab"));
    }
}
