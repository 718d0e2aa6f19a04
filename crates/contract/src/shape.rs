//! A pattern as it is held against one key: whether it spells the key, and with which values.

use crate::contract::{Family, Field, Pattern};
use echomq_keyspace::{Alphabet, Segment};

/// The pieces of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(Vec<u8>),
    Field { name: String, alphabet: Alphabet, min_bytes: usize, max_bytes: usize },
}

/// What a value of any kind may have between braces.
const BRACELESS: Alphabet = match Alphabet::parse(r"\x00-z|~-\xff") {
    Ok(alphabet) => alphabet,
    Err(_) => panic!("checked when this is compiled"),
};

/// The values of a key's fields, in the order of its pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Values<'k>(Vec<(String, &'k [u8])>);

impl<'k> Values<'k> {
    /// The value of a field; empty where the pattern has none of this name.
    pub(crate) fn of(&self, field: &str) -> &'k [u8] {
        self.0.iter().find(|(name, _)| name == field).map_or(&[], |(_, value)| value)
    }
}

impl Shape {
    /// The pieces of a family's pattern; none where it is blank.
    pub(crate) fn of(family: &Family, pattern: &Pattern) -> Option<Shape> {
        let pieces = pattern.template()?.segments().map(|segment| match segment {
            Segment::Text(text) => Piece::Text(text.as_bytes().to_vec()),
            Segment::Field(name) => {
                let Field { alphabet, min_bytes, max_bytes, .. } = family.field(name);
                Piece::Field { name: name.to_owned(), alphabet, min_bytes, max_bytes }
            }
        });
        Some(Shape { pieces: pieces.collect() })
    }

    /// The same without braces in its fixed text.
    pub(crate) fn braceless(&self) -> Shape {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => Piece::Text(without_braces(text)),
            field => field.clone(),
        });
        Shape { pieces: pieces.collect() }
    }

    /// The same where this field may have any value without braces, or none.
    pub(crate) fn with_any(&self, field: &str) -> Shape {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Field { name, .. } if name == field => {
                Piece::Field { name: name.clone(), alphabet: BRACELESS, min_bytes: 0, max_bytes: usize::MAX }
            }
            piece => piece.clone(),
        });
        Shape { pieces: pieces.collect() }
    }

    /// The same up to the end of its tag, and any bytes behind it; none where it has no tag.
    pub(crate) fn up_to_tag(&self) -> Option<Shape> {
        let mut pieces = Vec::new();
        let mut is_open = false;
        for piece in &self.pieces {
            if let Piece::Text(text) = piece {
                is_open |= text.contains(&b'{');
                let close = text.iter().rposition(|&byte| byte == b'}').filter(|_| is_open);
                if let Some(close) = close {
                    pieces.push(Piece::Text(text[..=close].to_vec()));
                    let (name, alphabet) = (String::new(), Alphabet::ANY);
                    pieces.push(Piece::Field { name, alphabet, min_bytes: 0, max_bytes: usize::MAX });
                    return Some(Shape { pieces });
                }
            }
            pieces.push(piece.clone());
        }
        None
    }

    /// The values with which this spells the key; none where it does not. Where there are several ways, a field takes as
    /// many bytes as it can, from the front. A field that stands twice must have the same value in both places.
    pub(crate) fn read<'k>(&self, key: &'k [u8]) -> Option<Values<'k>> {
        if !self.is_framed(key) {
            return None;
        }
        let reach = self.reach(key);
        let mut values = Vec::new();
        let mut at = 0;
        for (piece, ends) in self.pieces.iter().zip(&reach[1..]) {
            match piece {
                Piece::Text(text) => at += text.len(),
                Piece::Field { name, .. } => {
                    let end = (at..=key.len()).rev().find(|&end| ends[end] && piece.spells(&key[at..end]))?;
                    values.push((name.clone(), &key[at..end]));
                    at = end;
                }
            }
        }
        let agrees = |(name, value): &(String, &[u8])| values.iter().all(|(n, v)| n != name || v == value);
        (reach[0][0] && values.iter().all(agrees)).then_some(Values(values))
    }

    /// Whether the fixed text at both ends fits, which tells most keys apart at once.
    fn is_framed(&self, key: &[u8]) -> bool {
        let text = |piece: Option<&Piece>, fits: fn(&[u8], &[u8]) -> bool| match piece {
            Some(Piece::Text(text)) => fits(key, text),
            _ => true,
        };
        text(self.pieces.first(), <[u8]>::starts_with) && text(self.pieces.last(), <[u8]>::ends_with)
    }

    /// For each border between pieces, from the front: at which places of the key the pieces behind it can begin.
    fn reach(&self, key: &[u8]) -> Vec<Vec<bool>> {
        let mut after = vec![false; key.len() + 1];
        after[key.len()] = true;
        let mut reach = vec![after];
        for piece in self.pieces.iter().rev() {
            let after = &reach[reach.len() - 1];
            let begins = piece.begins(key, after);
            reach.push(begins);
        }
        reach.reverse();
        reach
    }
}

impl Piece {
    fn spells(&self, bytes: &[u8]) -> bool {
        match self {
            Piece::Text(text) => text == bytes,
            Piece::Field { alphabet, min_bytes, max_bytes, .. } => {
                (*min_bytes..=*max_bytes).contains(&bytes.len())
                    && bytes.iter().all(|byte| alphabet.contains(*byte))
            }
        }
    }

    /// Where the piece can begin so that it ends at a place of `after`.
    fn begins(&self, key: &[u8], after: &[bool]) -> Vec<bool> {
        let mut begins = vec![false; after.len()];
        match self {
            Piece::Text(text) => {
                for (at, begin) in begins.iter_mut().enumerate() {
                    *begin = key[at..].starts_with(text) && after[at + text.len()];
                }
            }
            Piece::Field { alphabet, min_bytes, max_bytes, .. } => {
                // How many bytes of the alphabet follow, and where the next good end is, both known from the back.
                let mut run = 0;
                let ends: Vec<usize> = (0..after.len()).filter(|&at| after[at]).collect();
                for at in (0..after.len()).rev() {
                    run = if at < key.len() && alphabet.contains(key[at]) { run + 1 } else { 0 };
                    let first = ends.partition_point(|&end| end < at + min_bytes);
                    begins[at] = ends.get(first).is_some_and(|&end| end - at <= run.min(*max_bytes));
                }
            }
        }
        begins
    }
}

pub(crate) fn without_braces(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|byte| !matches!(byte, b'{' | b'}')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contract;
    use crate::spelling::Spelling;
    use proptest::prelude::*;

    /// The shape and the spelling of a pattern with a tag field `a` of one to three of `xy:` and a field `n` of any bytes.
    fn both(pattern: &str) -> (Shape, Spelling) {
        let contract = Contract::parse(&format!(
            "contract = 1\n[family.f]\ntag = {{ field = \"a\", alphabet = \"xy:\", length = [1, 3], cardinality = 9 }}\n\
             fields.n = {{ alphabet = '\\x00-\\xff', length = [0, 2] }}\n\
             keys.k = {{ type = \"string\", pattern = '{pattern}' }}\n"
        ))
        .unwrap();
        let family = &contract.families[0];
        let pattern = &family.keys[0].pattern;
        (Shape::of(family, pattern).unwrap(), Spelling::of(family, pattern).unwrap())
    }

    #[test]
    fn the_values_of_a_key_are_those_that_made_it() {
        let (shape, _) = both("k:{a}:<n>");
        let values = shape.read(b"k:{x:y}:z").unwrap();
        assert_eq!((values.of("a"), values.of("n"), values.of("m")), (&b"x:y"[..], &b"z"[..], &b""[..]));
        assert_eq!(shape.read(b"k:{}:z"), None);
        assert_eq!(shape.read(b"k:{xyxy}:z"), None);
        assert_eq!(shape.read(b"k:{x}:zzz"), None);
        assert_eq!(shape.with_any("a").read(b"k:{q}:").unwrap().of("a"), b"q");
        assert_eq!(shape.with_any("a").read(b"k:{}:").unwrap().of("a"), b"");
        assert_eq!(shape.braceless().read(b"k:x:").unwrap().of("a"), b"x");
        assert_eq!(shape.up_to_tag().unwrap().read(b"k:{xy}\xff\n{}").unwrap().of("a"), b"xy");
        assert!(both("k:<a>").0.up_to_tag().is_none());
    }

    #[test]
    fn a_field_that_stands_twice_has_one_value() {
        let (shape, _) = both("{a}:<a>");
        assert_eq!(shape.read(b"{x}:x").unwrap().of("a"), b"x");
        assert_eq!(shape.read(b"{x}:y"), None);
    }

    proptest! {
        /// Two ways to say the same, one of which counts places and one of which walks them.
        #[test]
        fn a_shape_reads_what_its_pattern_spells(pattern in r"[xy:{}]{0,3}<a>[xy:{}]{0,2}(<n>)?x?", key in r"[xy:{}]{0,9}") {
            let (shape, spelling) = both(&pattern);
            match shape.read(key.as_bytes()) {
                Some(values) => {
                    prop_assert!(spelling.ways(key.as_bytes()) > 0);
                    let built: Vec<u8> = shape.pieces.iter().flat_map(|piece| match piece {
                        Piece::Text(text) => text.clone(),
                        Piece::Field { name, .. } => values.of(name).to_vec(),
                    }).collect();
                    prop_assert_eq!(built, key.as_bytes());
                }
                None => prop_assert_eq!(spelling.ways(key.as_bytes()), 0),
            }
        }
    }
}
