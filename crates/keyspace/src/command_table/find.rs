//! Key specifications applied to arguments.

use super::{Begin, Count, Place, Spec, Unplaced, Use};
use alloc::vec::Vec;

/// The key at this place.
pub(super) const fn key(at: usize, used: Use) -> Spec {
    Spec { begin: Begin::At(at), count: Count::One, used }
}

/// The two keys that begin at this place.
pub(super) const fn two(at: usize, used: Use) -> Spec {
    Spec { begin: Begin::At(at), count: Count::Two, used }
}

/// Each `step`th argument from this place to the end, but for the last ones.
pub(super) const fn rest(at: usize, step: usize, but: usize, used: Use) -> Spec {
    Spec { begin: Begin::At(at), count: Count::Rest { step, but }, used }
}

/// As many as the number at this place says, at least one, each `step`th after it.
pub(super) const fn numbered(at: usize, step: usize, used: Use) -> Spec {
    Spec { begin: Begin::At(at), count: Count::Number { step, least: 1 }, used }
}

/// [`numbered`] of a script, which may have no keys.
pub(super) const fn numbered_or_none(at: usize, used: Use) -> Spec {
    Spec { begin: Begin::At(at), count: Count::Number { step: 1, least: 0 }, used }
}

/// The first half of what follows a word that stands at this place or later.
pub(super) const fn half_after(word: &'static str, from: usize, used: Use) -> Spec {
    Spec { begin: Begin::After(word, from), count: Count::Half, used }
}

impl Spec {
    /// Adds the keys that these arguments have by the specification.
    pub(super) fn find<A: AsRef<[u8]>>(&self, args: &[A], places: &mut Vec<Place>) -> Result<(), Unplaced> {
        let first = match self.begin {
            Begin::At(at) => at,
            Begin::After(word, from) => match after(word, from, args) {
                Some(first) => first,
                None => return Err(Unplaced::missing(args, word)),
            },
        };
        let (first, step, end) = match self.count {
            Count::One => (first, 1, first + 1),
            Count::Two => (first, 1, first + 2),
            Count::Rest { step, but } => (first, step, args.len().saturating_sub(but)),
            Count::Half => match args.len() - first {
                0 => return Err(Unplaced::nothing_after(args, first - 1)),
                left if left.is_multiple_of(2) => (first, 1, first + left / 2),
                left => return Err(Unplaced::no_halves(args, first, left)),
            },
            Count::Number { step, least } => {
                let number = number_at(args, first, step)?;
                if number < least {
                    return Err(Unplaced::none(args, first));
                }
                (first + 1, step, first + 1 + number * step)
            }
        };
        places.extend((first..end).step_by(step).map(|at| Place { at, used: self.used }));
        Ok(())
    }
}

/// What follows the first `word` that stands at `from` or later, in any case.
fn after<A: AsRef<[u8]>>(word: &str, from: usize, args: &[A]) -> Option<usize> {
    let mut words = args.iter().enumerate().skip(from);
    words.find(|(_, arg)| is_word(arg.as_ref(), word)).map(|(at, _)| at + 1)
}

/// Whether an argument is this word, in any case.
pub(super) fn is_word(arg: &[u8], word: &str) -> bool {
    arg.eq_ignore_ascii_case(word.as_bytes())
}

/// The number of keys that stands at `at`, when so many can follow it.
fn number_at<A: AsRef<[u8]>>(args: &[A], at: usize, step: usize) -> Result<usize, Unplaced> {
    let text = args.get(at).map(AsRef::as_ref).unwrap_or_default();
    let is_number = match text {
        [b'-', b'1'..=b'9', rest @ ..] | [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => text == b"0",
    };
    if !is_number {
        return Err(Unplaced::no_number(args, at));
    }
    if text[0] == b'-' {
        return Err(Unplaced::negative(args, at));
    }
    let left = (args.len() - at - 1).div_ceil(step);
    let number = core::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
    if number > left { Err(Unplaced::too_many(args, at, left)) } else { Ok(number) }
}
