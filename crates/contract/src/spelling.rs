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
