//! Whether keys can be used together on a cluster, and if not, why and what to do.

use crate::escaped::{Escaped, column_width};
use crate::finding::{Finding, find_all};
use crate::group::{SlotGroup, group_by_slot};
use crate::renaming::{Renaming, propose};
use crate::slot::Slot;
use crate::trace::{Trace, Why, trace};
use alloc::vec::Vec;
use core::fmt;

/// Judges whether keys can meet in one command, transaction or script.
///
/// ```
/// use echomq_keyspace::judge;
///
/// let verdict = judge(&["user:{123}:profile", "user:123:{profile}"]);
/// assert_eq!(verdict.slot(), None);
/// assert_eq!(verdict.findings[0].code(), "wrong-place");
/// assert_eq!(verdict.renaming.as_ref().unwrap().names[1].to, b"user:{123}:profile");
/// println!("{verdict}");
///
/// assert_eq!(judge(&["{a}:1", "{a}:2"]).slot().map(|slot| slot.get()), Some(15495));
/// ```
pub fn judge<K: AsRef<[u8]>>(keys: &[K]) -> Verdict<'_> {
    let traces: Vec<_> = keys.iter().map(|key| trace(key.as_ref())).collect();
    let one_slot = traces.windows(2).all(|pair| pair[0].slot == pair[1].slot);
    let renaming = if one_slot { None } else { propose(&traces) };
    let findings = find_all(&traces, renaming.as_ref());
    Verdict { traces, findings, renaming }
}

/// What [`judge`] found. Its text is a report of several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict<'a> {
    /// The slot and the reason of each key, in the order given.
    pub traces: Vec<Trace<'a>>,
    /// What catches people.
    pub findings: Vec<Finding<'a>>,
    /// Names that would bring the keys together, when they are not.
    pub renaming: Option<Renaming<'a>>,
}

impl<'a> Verdict<'a> {
    /// The slot of all keys, when there is one; none also when there are no keys.
    pub fn slot(&self) -> Option<Slot> {
        let slot = self.traces.first()?.slot;
        self.traces.iter().all(|trace| trace.slot == slot).then_some(slot)
    }

    /// The keys by slot: more than one group when they disagree.
    pub fn groups(&self) -> Vec<SlotGroup<&'a [u8]>> {
        group_by_slot(self.traces.iter().map(|trace| trace.key))
    }

    /// Whether the keys can be used together and nothing else was found either.
    pub fn is_clean(&self) -> bool {
        self.groups().len() < 2 && self.findings.is_empty()
    }
}

impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (keys, groups) = (self.traces.len(), self.groups());
        let noun = if keys == 1 { "key" } else { "keys" };
        match groups.as_slice() {
            [] => return f.write_str("No keys."),
            [group] if keys == 1 => writeln!(f, "1 key, on slot {}.", group.slot)?,
            [group] => writeln!(f, "{keys} {noun} on slot {}: they can be used together.", group.slot)?,
            groups => writeln!(
                f,
                "{keys} {noun} on {} slots: a cluster refuses a command, transaction or script that uses them together\n\
                 (CROSSSLOT), even where one node has all these slots.",
                groups.len()
            )?,
        }
        let names: Vec<_> = self.traces.iter().map(|trace| Escaped(trace.key)).collect();
        let width = column_width(&names);
        for (trace, name) in self.traces.iter().zip(&names) {
            write!(
                f,
                "\n  slot {:>5}  {name}{:pad$}  ",
                trace.slot,
                "",
                pad = width.saturating_sub(name.width())
            )?;
            match trace.why {
                Why::Tag => write!(f, "tag \"{}\"", Escaped(trace.hashed))?,
                why => write!(f, "{why}; the whole key is hashed")?,
            }
        }
        for (i, finding) in self.findings.iter().enumerate() {
            write!(f, "{}\n- {finding}", if i == 0 { "\n" } else { "" })?;
        }
        match &self.renaming {
            Some(renaming) => write!(f, "\n\n{renaming}"),
            None => Ok(()),
        }
    }
}
