//! Which keys a pattern can spell, and whether two patterns can spell the same one.
//!
//! A pattern is a row of pieces, each a set of bytes repeated between two counts: a fixed byte once, a field as its alphabet
//! and length say. Two patterns are walked side by side, byte by byte, over all places where they can be at the same time;
//! there are finitely many, so the answer is exact, and the walk to the end spells a witness.
//!
//! Long fields make many places, so a first walk counts no field beyond its shortest value. Where that walk reaches no end
//! there is none; where it does, its key is most often a witness already, and only otherwise is there a second, full walk.

use crate::contract::{Family, Pattern};
use echomq_keyspace::{Alphabet, Escaped, Segment};
use std::collections::{HashMap, VecDeque};
use std::fmt;

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

    /// A key that both can spell.
    pub(crate) fn meet(&self, other: &Spelling) -> Option<Witness> {
        common_key(self, other, false)
    }

    /// A key that this can spell in two ways: with different values of its fields.
    pub(crate) fn spelt_twice(&self) -> Option<Witness> {
        common_key(self, self, true)
    }

    /// The ways on from a place: the piece that takes the next byte, and where that leads.
    fn steps(&self, at: At, counting: Counting) -> impl Iterator<Item = At> + '_ {
        let mut count = at.count;
        let mut done = false;
        let ways = self.pieces.iter().enumerate().skip(at.piece).map_while(move |(piece, own)| {
            if done {
                return None;
            }
            let is_loose = counting == Counting::ToShortest && own.max > own.min;
            let next = if is_loose { (count + 1).min(own.min) } else { count + 1 };
            let step = (is_loose || count < own.max).then_some(At { piece, count: next });
            done = count < own.min;
            count = 0;
            Some(step)
        });
        ways.flatten()
    }

    /// Whether the key may end at a place.
    fn is_end(&self, at: At) -> bool {
        let mut counts = std::iter::once(at.count).chain(std::iter::repeat(0));
        self.pieces.iter().skip(at.piece).all(|piece| counts.next().is_some_and(|count| count >= piece.min))
    }

    /// In how many ways this spells a key, 2 for all above.
    pub(crate) fn ways(&self, key: &[u8]) -> usize {
        let mut places = HashMap::from([(START, 1)]);
        for &byte in key {
            let mut next = HashMap::new();
            for (at, ways) in places {
                for at in self.steps(at, Counting::Exact).filter(|at| self.pieces[at.piece].bytes.has(byte)) {
                    let sum: &mut usize = next.entry(at).or_default();
                    *sum = (*sum + ways).min(2);
                }
            }
            places = next;
        }
        places.into_iter().filter(|(at, _)| self.is_end(*at)).map(|(_, ways)| ways).sum::<usize>().min(2)
    }
}

/// A key that two patterns spell, or one in two ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Witness {
    key: Vec<u8>,
    /// Whether it is one. Otherwise longest fields alone can keep the patterns apart, and there were too many places to see
    /// whether they do.
    is_certain: bool,
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = if self.is_certain { "" } else { "for all that can be told, " };
        write!(f, "{before}`{}`", Escaped(&self.key))
    }
}

/// How far a walk counts the bytes of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    /// To its shortest value; it may then go on for ever.
    ToShortest,
    /// To its longest value.
    Exact,
}

/// How a walk ends.
enum Walked {
    /// With a key.
    To(Vec<u8>),
    /// Nowhere.
    Nowhere,
    /// After too many places.
    TooFar,
}

fn common_key(left: &Spelling, right: &Spelling, apart: bool) -> Option<Witness> {
    let Walked::To(key) = walk(left, right, apart, Counting::ToShortest) else { return None };
    let is_witness = if apart { left.ways(&key) == 2 } else { left.ways(&key) > 0 && right.ways(&key) > 0 };
    if is_witness {
        return Some(Witness { key, is_certain: true });
    }
    match walk(left, right, apart, Counting::Exact) {
        Walked::To(key) => Some(Witness { key, is_certain: true }),
        Walked::Nowhere => None,
        Walked::TooFar => Some(Witness { key, is_certain: false }),
    }
}

/// Where two walks stand, and whether they have gone different ways.
type Pair = (At, At, bool);

/// The most places that a walk sees: some 30 MB, well under a second.
const PLACES_MAX: usize = 1 << 18;

/// Walks two spellings side by side, to a shortest key that both spell; if `apart`, in two different ways.
fn walk(left: &Spelling, right: &Spelling, apart: bool, counting: Counting) -> Walked {
    let start = (START, START, !apart);
    let mut before: HashMap<Pair, Option<Pair>> = HashMap::from([(start, None)]);
    let mut open = VecDeque::from([start]);
    while let Some(pair) = open.pop_front() {
        let (l, r, differs) = pair;
        if differs && left.is_end(l) && right.is_end(r) {
            return Walked::To(spell(left, right, &before, pair));
        }
        if before.len() > PLACES_MAX {
            return Walked::TooFar;
        }
        for l in left.steps(l, counting) {
            for r in right.steps(r, counting) {
                let next = (l, r, differs || l.piece != r.piece);
                if left.pieces[l.piece].bytes.meets(right.pieces[r.piece].bytes)
                    && !before.contains_key(&next)
                {
                    before.insert(next, Some(pair));
                    open.push_back(next);
                }
            }
        }
    }
    Walked::Nowhere
}

/// The bytes on the way to a place: each place but the first tells by its pieces which bytes led there.
fn spell(left: &Spelling, right: &Spelling, before: &HashMap<Pair, Option<Pair>>, end: Pair) -> Vec<u8> {
    let mut key = Vec::new();
    let mut at = end;
    while let Some(from) = before.get(&at).copied().flatten() {
        key.extend(common(left.pieces[at.0.piece].bytes, right.pieces[at.1.piece].bytes));
        at = from;
    }
    key.reverse();
    key
}

impl Bytes {
    fn has(self, byte: u8) -> bool {
        match self {
            Bytes::Fixed(own) => own == byte,
            Bytes::Any(set) => set.contains(byte),
        }
    }

    fn meets(self, other: Bytes) -> bool {
        match (self, other) {
            (Bytes::Fixed(byte), other) | (other, Bytes::Fixed(byte)) => other.has(byte),
            (Bytes::Any(a), Bytes::Any(b)) => a.meet(&b).len() > 0,
        }
    }
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
            prop_assert_eq!(met.as_ref().map(|witness| witness.key.len()), shortest);
            let both = |key: &Vec<u8>| left.contains_key(key) && right.contains_key(key);
            prop_assert!(met.is_none_or(|witness| witness.is_certain && both(&witness.key)));
        }

        #[test]
        fn a_pattern_is_spelt_twice_where_two_sets_of_values_make_one_key(a in pieces()) {
            let keys = keys(&a);
            let twice = spelling(&a.concat()).spelt_twice();
            let shortest = keys.iter().filter(|(_, ways)| **ways > 1).map(|(key, _)| key.len()).min();
            prop_assert_eq!(twice.as_ref().map(|witness| witness.key.len()), shortest);
            prop_assert!(twice.is_none_or(|witness| witness.is_certain && keys[&witness.key] > 1));
        }
    }

    /// Whether two patterns of fields of any bytes meet; `n` is of 1 to 512 bytes, `m` of 500 to 512, `o` of 1 to 4.
    fn long(first: &str, second: &str) -> Option<bool> {
        let text = format!(
            "contract = 1\n[family.f]\ntag = {{ field = \"t\", alphabet = \"a\", length = [1], cardinality = 1 }}\n\
             keys.k = {{ type = \"set\", pattern = '{first}' }}\nkeys.l = {{ type = \"set\", pattern = '{second}' }}\n\
             [family.f.fields]\nn = {{ alphabet = ' -~', length = [1, 512] }}\n\
             m = {{ alphabet = ' -~', length = [500, 512] }}\no = {{ alphabet = ' -~', length = [1, 4] }}\n"
        );
        let contract = Contract::parse(&text).unwrap();
        let [first, second] = &contract.families[0].keys[..] else { panic!("two keys") };
        let spelling = |key: &crate::Key| Spelling::of(&contract.families[0], &key.pattern).unwrap();
        spelling(first).meet(&spelling(second)).map(|witness| witness.is_certain)
    }

    #[test]
    fn long_fields_are_told_apart_without_a_walk_over_all_their_lengths() {
        assert_eq!(long("<n>:<n>:x", "<n>:<n>:y"), None);
        assert_eq!(long("<n>:<n>:<n>:x", "<n>:<n>:<n>"), Some(true));
        assert_eq!(long("<m>:<m>:x", "<n>:<m>:y"), None);
        assert_eq!(long("<o>:x", "<m>:x"), None);
        assert_eq!(long("<o>:<o>", "<m>"), None);
        // 16 more bytes than the second can have: only a walk over all lengths could tell.
        let much = "x".repeat(528);
        assert_eq!(long(&format!("<n>:{much}"), "<n><o>"), None);
        assert_eq!(long(&format!("<n>:<n>:{much}:{much}:{much}"), "<n><n>:<n>"), Some(false));
    }
}
