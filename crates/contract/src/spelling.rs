//! Which keys a pattern can spell, and whether two patterns can spell the same one.
//!
//! A pattern is a row of pieces, each a set of bytes repeated between two counts: a fixed byte once, a field as its alphabet
//! and length say. Two patterns are walked side by side, byte by byte, over all places where they can be at the same time;
//! there are finitely many, so the answer is exact, and the walk to the end spells a witness.

use crate::contract::{Family, Pattern};
use echomq_keyspace::{Alphabet, Segment};
use std::collections::{HashMap, VecDeque};

/// The keys that a pattern can spell. A field that stands twice is taken for two fields.
#[derive(Clone, Debug)]
pub(crate) struct Spelling {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
struct Piece {
    bytes: Bytes,
    min: usize,
    max: usize,
}

#[derive(Clone, Copy, Debug)]
enum Bytes {
    Fixed(u8),
    Any(Alphabet),
}

/// Where a walk stands: so many bytes of this piece are spelt, and all of those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct At {
    piece: usize,
    count: usize,
}

const START: At = At { piece: 0, count: 0 };

impl Spelling {
    /// The keys of a family's pattern; none where it is blank.
    pub(crate) fn of(family: &Family, pattern: &Pattern) -> Option<Spelling> {
        let mut pieces = Vec::new();
        for segment in pattern.template()?.segments() {
            match segment {
                Segment::Text(text) => {
                    pieces.extend(text.bytes().map(|byte| Piece {
                        bytes: Bytes::Fixed(byte),
                        min: 1,
                        max: 1,
                    }));
                }
                Segment::Field(name) => {
                    let field = family.field(name);
                    let bytes = Bytes::Any(field.alphabet);
                    pieces.push(Piece { bytes, min: field.min_bytes, max: field.max_bytes });
                }
            }
        }
        Some(Spelling { pieces })
    }

    /// A shortest key that both can spell.
    pub(crate) fn meet(&self, other: &Spelling) -> Option<Vec<u8>> {
        walk(self, other, false)
    }

    /// A shortest key that this can spell in two ways: with different values of its fields.
    pub(crate) fn spelt_twice(&self) -> Option<Vec<u8>> {
        walk(self, self, true)
    }

    /// The ways on from a place: the piece that takes the next byte, and where that leads.
    fn steps(&self, at: At) -> impl Iterator<Item = (Bytes, At)> + '_ {
        let mut count = at.count;
        let mut done = false;
        self.pieces
            .iter()
            .enumerate()
            .skip(at.piece)
            .map_while(move |(piece, own)| {
                if done {
                    return None;
                }
                let step = (count < own.max).then_some((own.bytes, At { piece, count: count + 1 }));
                done = count < own.min;
                count = 0;
                Some(step)
            })
            .flatten()
    }

    /// Whether the key may end at a place.
    fn is_end(&self, at: At) -> bool {
        let mut counts = std::iter::once(at.count).chain(std::iter::repeat(0));
        self.pieces.iter().skip(at.piece).all(|piece| counts.next().is_some_and(|count| count >= piece.min))
    }
}

/// Walks two spellings side by side, to a shortest key that both spell; if `apart`, in two different ways.
fn walk(left: &Spelling, right: &Spelling, apart: bool) -> Option<Vec<u8>> {
    type Pair = (At, At, bool);
    let start: Pair = (START, START, !apart);
    let mut before: HashMap<Pair, Option<(Pair, u8)>> = HashMap::from([(start, None)]);
    let mut open = VecDeque::from([start]);
    while let Some(pair) = open.pop_front() {
        let (l, r, differs) = pair;
        if differs && left.is_end(l) && right.is_end(r) {
            return Some(spell(&before, pair));
        }
        for (bytes, l) in left.steps(l) {
            for (others, r) in right.steps(r) {
                let next = (l, r, differs || l.piece != r.piece);
                if let Some(byte) = common(bytes, others)
                    && !before.contains_key(&next)
                {
                    before.insert(next, Some((pair, byte)));
                    open.push_back(next);
                }
            }
        }
    }
    None
}

/// The bytes on the way to a place.
fn spell<P: Copy + Eq + std::hash::Hash>(before: &HashMap<P, Option<(P, u8)>>, end: P) -> Vec<u8> {
    let way = std::iter::successors(before.get(&end).copied().flatten(), |(pair, _)| {
        before.get(pair).copied().flatten()
    });
    let mut key: Vec<u8> = way.map(|(_, byte)| byte).collect();
    key.reverse();
    key
}

/// A byte that both have, one that reads well if there is one.
fn common(a: Bytes, b: Bytes) -> Option<u8> {
    match (a, b) {
        (Bytes::Fixed(a), Bytes::Fixed(b)) => (a == b).then_some(a),
        (Bytes::Fixed(byte), Bytes::Any(set)) | (Bytes::Any(set), Bytes::Fixed(byte)) => {
            set.contains(byte).then_some(byte)
        }
        (Bytes::Any(a), Bytes::Any(b)) => readable(&a.meet(&b)),
    }
}

/// A member of a set, a letter or a digit if there is one.
pub(crate) fn readable(set: &Alphabet) -> Option<u8> {
    let ranks: [fn(&u8) -> bool; 4] =
        [u8::is_ascii_lowercase, u8::is_ascii_alphanumeric, u8::is_ascii_graphic, |_| true];
    ranks.iter().find_map(|is_wanted| set.bytes().find(is_wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Contract;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A pattern of text, a field `x` of one or two bytes of `ab`, and a field `y` of none to two of `b:`.
    fn spelling(pattern: &str) -> Spelling {
        let text = format!(
            "contract = 1\n[family.f]\ntag = {{ field = \"t\", alphabet = \"a\", length = [1], cardinality = 1 }}\n\
             keys.k = {{ type = \"set\", pattern = \"{pattern}\" }}\n[family.f.fields]\n\
             x = {{ alphabet = \"ab\", length = [1, 2] }}\ny = {{ alphabet = \"b:\", length = [0, 2] }}\n"
        );
        let contract = Contract::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let family = &contract.families[0];
        Spelling::of(family, &family.keys[0].pattern).unwrap()
    }

    /// Every key that a pattern spells, and in how many ways; the definition.
    fn keys(pattern: &[&str]) -> BTreeMap<Vec<u8>, usize> {
        let values = |piece: &str| -> Vec<String> {
            match piece {
                "<x>" => ["a", "b", "aa", "ab", "ba", "bb"].map(str::to_owned).to_vec(),
                "<y>" => ["", "b", ":", "bb", "b:", ":b", "::"].map(str::to_owned).to_vec(),
                text => vec![text.to_owned()],
            }
        };
        let mut keys = vec![String::new()];
        for piece in pattern {
            keys = keys
                .iter()
                .flat_map(|key| values(piece).into_iter().map(move |value| format!("{key}{value}")))
                .collect();
        }
        let mut counts = BTreeMap::new();
        for key in keys {
            *counts.entry(key.into_bytes()).or_default() += 1;
        }
        counts
    }

    fn pieces() -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(prop::sample::select(&["a", "b", ":", "<x>", "<y>"][..]), 1..6)
    }

    proptest! {
        #[test]
        fn two_patterns_meet_where_some_key_is_spelt_by_both(a in pieces(), b in pieces()) {
            let (left, right) = (keys(&a), keys(&b));
            let met = spelling(&a.concat()).meet(&spelling(&b.concat()));
            let shortest = left.keys().filter(|key| right.contains_key(*key)).map(Vec::len).min();
            prop_assert_eq!(met.as_ref().map(Vec::len), shortest);
            prop_assert!(met.is_none_or(|key| left.contains_key(&key) && right.contains_key(&key)));
        }

        #[test]
        fn a_pattern_is_spelt_twice_where_two_sets_of_values_make_one_key(a in pieces()) {
            let keys = keys(&a);
            let twice = spelling(&a.concat()).spelt_twice();
            let shortest = keys.iter().filter(|(_, ways)| **ways > 1).map(|(key, _)| key.len()).min();
            prop_assert_eq!(twice.as_ref().map(Vec::len), shortest);
            prop_assert!(twice.is_none_or(|key| keys[&key] > 1));
        }
    }

    #[test]
    fn fields_of_the_greatest_length_are_walked_to_the_end() {
        let text = "contract = 1\n[family.f]\ntag = { field = \"t\", alphabet = \"a\", length = [1], cardinality = 1 }\n\
                    keys.k = { type = \"set\", pattern = \"<m><n>\" }\nkeys.l = { type = \"set\", pattern = \"<n><m>x\" }\n\
                    [family.f.fields]\nm = { alphabet = \"a-z\", length = [1, 512] }\nn = { alphabet = \"a-w\", length = [500, 512] }\n";
        let contract = Contract::parse(text).unwrap();
        let [first, second] = &contract.families[0].keys[..] else { panic!("two keys") };
        let spelling = |key: &crate::Key| Spelling::of(&contract.families[0], &key.pattern).unwrap();
        let met = spelling(first).meet(&spelling(second));
        assert_eq!(met, None);
    }
}
