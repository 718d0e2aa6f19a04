//! What catches people in a set of keys.

use crate::escaped::Escaped;
use crate::renaming::{Basis, Renaming, without_braces};
use crate::slot::Slot;
use crate::trace::{Trace, Why};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::fmt;

/// Something about the names of keys that works on one server and fails on a cluster, or that works and does harm.
///
/// Positions count from 0 in the keys as they were given. The text names the keys and says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding<'a> {
    /// A key is empty. It is on slot 0, where no other key of the command is likely to be.
    EmptyKey {
        /// Where it stands.
        position: usize,
    },
    /// `{}` is no tag: the whole key is hashed.
    EmptyTag {
        /// Where the key stands.
        position: usize,
        /// The key.
        key: &'a [u8],
    },
    /// A `{` without a `}` after it is no tag: the whole key is hashed.
    NeverClosed {
        /// Where the key stands.
        position: usize,
        /// The key.
        key: &'a [u8],
    },
    /// A key has two tags, and only the first braces count.
    SecondTag {
        /// Where the key stands.
        position: usize,
        /// The key.
        key: &'a [u8],
        /// The tag that does not count.
        ignored: &'a [u8],
    },
    /// The braces are around a field that the keys do not have in common, while they share another.
    WrongPlace {
        /// Where the key stands.
        position: usize,
        /// The key.
        key: &'a [u8],
        /// What is in its braces.
        tag: &'a [u8],
        /// What the keys share.
        shared: Vec<u8>,
    },
    /// Different entities carry the same tag, which looks like a constant: all of them, and all to come, are on one slot.
    ConstantTag {
        /// Where the keys stand.
        positions: Vec<usize>,
        /// The tag.
        tag: &'a [u8],
        /// The slot of everything.
        slot: Slot,
    },
    /// Keys of different entities share a slot only because their tags spell the same value.
    SameSpelling {
        /// Where the keys stand.
        positions: Vec<usize>,
        /// The tag of all.
        tag: &'a [u8],
        /// The slot they share.
        slot: Slot,
        /// A key of each entity.
        examples: Vec<&'a [u8]>,
    },
    /// Keys differ in nothing but braces: who reads one does not see what was written to the other.
    EqualUpToBraces {
        /// Where the keys stand.
        positions: Vec<usize>,
        /// The keys.
        keys: Vec<&'a [u8]>,
    },
}

impl Finding<'_> {
    /// A word that stays the same in every release, for programs, such as `empty-tag`.
    pub const fn code(&self) -> &'static str {
        match self {
            Finding::EmptyKey { .. } => "empty-key",
            Finding::EmptyTag { .. } => "empty-tag",
            Finding::NeverClosed { .. } => "never-closed",
            Finding::SecondTag { .. } => "second-tag",
            Finding::WrongPlace { .. } => "wrong-place",
            Finding::ConstantTag { .. } => "constant-tag",
            Finding::SameSpelling { .. } => "same-spelling",
            Finding::EqualUpToBraces { .. } => "equal-up-to-braces",
        }
    }

    /// Where the keys stand that it is about, in rising order.
    pub fn positions(&self) -> &[usize] {
        match self {
            Finding::EmptyKey { position }
            | Finding::EmptyTag { position, .. }
            | Finding::NeverClosed { position, .. }
            | Finding::SecondTag { position, .. }
            | Finding::WrongPlace { position, .. } => core::slice::from_ref(position),
            Finding::ConstantTag { positions, .. }
            | Finding::SameSpelling { positions, .. }
            | Finding::EqualUpToBraces { positions, .. } => positions,
        }
    }
}

/// All findings: key by key first, then those about several keys.
pub(crate) fn find_all<'a>(traces: &[Trace<'a>], renaming: Option<&Renaming<'a>>) -> Vec<Finding<'a>> {
    let mut findings: Vec<_> =
        traces.iter().enumerate().flat_map(|(i, trace)| of_one_key(i, trace)).collect();
    findings.extend(renaming.into_iter().flat_map(|renaming| wrong_places(traces, renaming)));
    findings
        .extend(by_tag(traces).into_iter().flat_map(|(tag, positions)| of_one_tag(traces, tag, positions)));
    findings.extend(equal_up_to_braces(traces));
    findings
}

fn of_one_key<'a>(position: usize, trace: &Trace<'a>) -> impl Iterator<Item = Finding<'a>> {
    let key = trace.key;
    let no_tag = match trace.why {
        Why::EmptyTag => Some(Finding::EmptyTag { position, key }),
        Why::NeverClosed => Some(Finding::NeverClosed { position, key }),
        Why::NoBrace if key.is_empty() => Some(Finding::EmptyKey { position }),
        Why::NoBrace | Why::Tag => None,
    };
    let second = (trace.why == Why::Tag).then_some(trace.later_tag).flatten();
    no_tag.into_iter().chain(second.map(|ignored| Finding::SecondTag { position, key, ignored }))
}

/// The tagged keys that a renaming by a shared field would tag elsewhere.
fn wrong_places<'a>(traces: &[Trace<'a>], renaming: &Renaming<'a>) -> Vec<Finding<'a>> {
    let moved = traces.iter().zip(&renaming.names).enumerate();
    let moved = moved.filter(|(_, (trace, name))| trace.why == Why::Tag && !name.stays());
    let finding = |(position, (trace, _)): (usize, (&Trace<'a>, _))| Finding::WrongPlace {
        position,
        key: trace.key,
        tag: trace.hashed,
        shared: renaming.tag.clone(),
    };
    if renaming.basis == Basis::Shared { moved.map(finding).collect() } else { Vec::new() }
}

/// Where the keys of each tag stand.
fn by_tag<'a>(traces: &[Trace<'a>]) -> BTreeMap<&'a [u8], Vec<usize>> {
    let mut tags: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (position, trace) in traces.iter().enumerate().filter(|(_, trace)| trace.why == Why::Tag) {
        tags.entry(trace.hashed).or_default().push(position);
    }
    tags
}

fn of_one_tag<'a>(traces: &[Trace<'a>], tag: &'a [u8], positions: Vec<usize>) -> Option<Finding<'a>> {
    let keys: Vec<_> = positions.iter().map(|&position| &traces[position]).collect();
    let slot = keys.first()?.slot;
    if is_constant(&keys) {
        return Some(Finding::ConstantTag { positions, tag, slot });
    }
    let mut entities = BTreeSet::new();
    let named = keys.iter().filter(|trace| trace.span.start > 1);
    let first_of_entity = named.filter(|trace| entities.insert(&trace.key[..trace.span.start]));
    let examples: Vec<_> = first_of_entity.map(|trace| trace.key).collect();
    (examples.len() > 1).then_some(Finding::SameSpelling { positions, tag, slot, examples })
}

/// Whether keys of one tag show that it is a constant: their own, later tags differ; or they begin with the tag, it is one
/// field without a digit, and two of them end in the same word and differ in a field between: `{app}:orders:pending`.
fn is_constant(keys: &[&Trace<'_>]) -> bool {
    let later: BTreeSet<_> = keys.iter().filter_map(|trace| trace.later_tag).collect();
    if later.len() > 1 {
        return true;
    }
    let mut middles: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for trace in keys.iter().filter(|trace| trace.span.start == 1 && is_word(trace.hashed)) {
        let fields: Vec<_> = trace.key[trace.span.end..].split(|byte| *byte == b':').skip(1).collect();
        if let Some((last, middle)) = fields.split_last().filter(|(last, _)| is_word(last)) {
            middles.entry((*last, middle.len())).or_default().insert(middle.to_vec());
        }
    }
    middles.values().any(|middles| middles.len() > 1)
}

/// One field that is not an id.
fn is_word(field: &[u8]) -> bool {
    !field.iter().any(|byte| byte.is_ascii_digit() || *byte == b':')
}

fn equal_up_to_braces<'a>(traces: &[Trace<'a>]) -> impl Iterator<Item = Finding<'a>> {
    let mut names: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (position, trace) in traces.iter().enumerate() {
        names.entry(without_braces(trace.key)).or_default().push((position, trace.key));
    }
    names.into_values().filter_map(|same| {
        let spellings: BTreeSet<_> = same.iter().map(|(_, key)| key).collect();
        if spellings.len() < 2 {
            return None;
        }
        let (positions, keys) = same.into_iter().unzip();
        Some(Finding::EqualUpToBraces { positions, keys })
    })
}

impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::EmptyKey { position } => write!(
                f,
                "key {} is empty: it is on slot 0. Leave the key out, or give it a name.",
                position + 1
            ),
            Finding::EmptyTag { key, .. } => write!(
                f,
                "{}: nothing stands between the first braces, so the whole key is hashed. Put the shared text there.",
                Escaped(key)
            ),
            Finding::NeverClosed { key, .. } => write!(
                f,
                "{}: the brace is never closed, so the whole key is hashed. Close it after the shared text.",
                Escaped(key)
            ),
            Finding::SecondTag { key, ignored, .. } => write!(
                f,
                "{}: only the first braces count; \"{}\" is not looked at. Leave one pair, around the shared text.",
                Escaped(key),
                Escaped(ignored)
            ),
            Finding::WrongPlace { key, tag, shared, .. } => write!(
                f,
                "{}: the tag is at the wrong place. The braces are around \"{}\", but what the keys share is \"{}\".",
                Escaped(key),
                Escaped(tag),
                Escaped(shared)
            ),
            Finding::ConstantTag { tag, slot, positions } => write!(
                f,
                "co-located, but every entity shares slot {slot}: {} keys carry the tag \"{}\", which looks like a constant. \
                 One node would hold them all. Tag what tells the entities apart instead.",
                positions.len(),
                Escaped(tag)
            ),
            Finding::SameSpelling { tag, slot, examples, .. } => {
                list(f, examples)?;
                write!(
                    f,
                    " are different entities that share slot {slot} only because their tags spell \"{}\". To spread them, \
                     take what stands before into the tag.",
                    Escaped(tag)
                )
            }
            Finding::EqualUpToBraces { keys, .. } => {
                list(f, keys)?;
                f.write_str(
                    " are equal but for the braces, and are different keys: who reads one does not see what was written to \
                     the other. Keep one spelling.",
                )
            }
        }
    }
}

/// How many keys a finding names.
const SHOWN_MAX: usize = 4;

fn list(f: &mut fmt::Formatter<'_>, keys: &[&[u8]]) -> fmt::Result {
    for (i, key) in keys.iter().take(SHOWN_MAX).enumerate() {
        let before = match i {
            0 => "",
            _ if i + 1 == keys.len() => " and ",
            _ => ", ",
        };
        write!(f, "{before}{}", Escaped(key))?;
    }
    match keys.len().saturating_sub(SHOWN_MAX) {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}
