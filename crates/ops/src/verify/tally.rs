//! What was seen so far, in bounded memory.

use std::collections::BTreeMap;

use echomq_contract::{Contract, Entry, Likeness, Title};
use echomq_keyspace::{Escaped, Slot};

use super::heat::Heat;
use super::probe::Fact;
use super::report::{
    BeforeGroup, Comparison, Counted, Coverage, Mistyped, Moved, Shortfall, Stranger, StrangerGroup,
    Verification, WrongSlot,
};
use crate::generalise::generalise;
use crate::shown::Name;

/// So many mistyped keys and wrong slots are kept.
const KEPT: usize = 100;
/// So many patterns of keys that no family claims are kept.
const PATTERNS: usize = 200;

pub(super) struct Tally<'c> {
    contract: &'c Contract,
    examples: usize,
    pub(super) coverage: Coverage,
    pub(super) comparison: Comparison,
    today: BTreeMap<String, u64>,
    before: BTreeMap<(String, String), BeforeGroup>,
    strangers: BTreeMap<(String, Stranger), StrangerGroup>,
    ungrouped_keys: u64,
    mistyped_keys: u64,
    mistyped: Vec<Mistyped>,
    heat: Heat,
    shortfalls: Vec<Shortfall>,
}

impl<'c> Tally<'c> {
    pub(super) fn new(contract: &'c Contract, examples: usize) -> Tally<'c> {
        Tally {
            contract,
            examples,
            coverage: Coverage::default(),
            comparison: Comparison::default(),
            today: BTreeMap::new(),
            before: BTreeMap::new(),
            strangers: BTreeMap::new(),
            ungrouped_keys: 0,
            mistyped_keys: 0,
            mistyped: Vec::new(),
            heat: Heat::new(),
            shortfalls: Vec::new(),
        }
    }

    /// Notes a key, of which the contract says this. True while it is one of the first of its kind.
    pub(super) fn note(&mut self, key: &[u8], prefix: usize, entry: &Entry<'c>, fact: &Fact) -> bool {
        self.coverage.keys += 1;
        if fact.key_type.as_deref() == Some("none") {
            self.coverage.gone += 1;
            return false;
        }
        let title = match entry {
            Entry::Today(title) | Entry::Before { title, .. } => Some(*title),
            _ => None,
        };
        self.heat.note(key, title, fact);
        if let Some(title) = title {
            self.hold_type(key, title, fact);
        }
        let seen = match entry {
            Entry::Today(title) => {
                let keys = self.today.entry(title.to_string()).or_default();
                *keys += 1;
                *keys
            }
            Entry::Before { title, pattern, today } => {
                self.note_before(key, title, &pattern.text, &[&key[..prefix], today].concat())
            }
            Entry::Nobody(likeness) => self.note_stranger(key, &key[prefix..], likeness),
            _ => u64::MAX,
        };
        seen <= self.examples as u64
    }

    fn hold_type(&mut self, key: &[u8], title: Title<'_>, fact: &Fact) {
        let expected = title.key.key_type.word();
        let Some(found) = fact.key_type.as_ref().filter(|found| *found != expected) else { return };
        self.mistyped_keys += 1;
        if self.mistyped.len() < KEPT {
            let (key, name) = (Name::from(key), title.to_string());
            self.mistyped.push(Mistyped { key, name, found: found.clone(), expected });
        }
    }

    fn note_before(&mut self, key: &[u8], title: &Title<'_>, pattern: &str, today: &[u8]) -> u64 {
        let name = title.to_string();
        let new =
            || BeforeGroup { name: name.clone(), pattern: pattern.to_owned(), keys: 0, examples: Vec::new() };
        let group = self.before.entry((name.clone(), pattern.to_owned())).or_insert_with(new);
        group.keys += 1;
        if group.examples.len() < self.examples {
            group.examples.push(Moved { key: Name::from(key), today: Name::from(today) });
        }
        group.keys
    }

    fn note_stranger(&mut self, key: &[u8], name: &[u8], likeness: &Likeness<'_>) -> u64 {
        let (like, text) = described(name, likeness);
        let place = (generalise(key), like);
        if !self.strangers.contains_key(&place) && self.strangers.len() >= PATTERNS {
            self.ungrouped_keys += 1;
            return u64::MAX;
        }
        let pattern = place.0.clone();
        let new = || StrangerGroup { pattern, like, keys: 0, examples: Vec::new(), text };
        let group = self.strangers.entry(place).or_insert_with(new);
        group.keys += 1;
        if group.examples.len() < self.examples {
            group.examples.push(Name::from(key));
        }
        group.keys
    }

    /// Notes what the server says of a key's slot.
    pub(super) fn compare(&mut self, key: &[u8], ours: Slot, theirs: Slot) {
        self.comparison.compared += 1;
        if ours != theirs && self.comparison.wrong.len() < KEPT {
            let (ours, theirs) = (ours.get(), theirs.get());
            self.comparison.wrong.push(WrongSlot { key: Name::from(key), ours, theirs });
        }
    }

    /// Notes something without which the verification is incomplete, or not. The same again is counted.
    pub(super) fn shortfall(&mut self, shortfall: Shortfall) {
        match self.shortfalls.iter_mut().find(|noted| noted.is_like(&shortfall)) {
            Some(noted) => noted.times += 1,
            None => self.shortfalls.push(shortfall),
        }
    }

    pub(super) fn finish(mut self, node_of: impl Fn(Slot) -> Option<String>) -> Verification {
        self.coverage.slots = self.heat.slots_seen();
        let keys =
            self.contract.families.iter().flat_map(|family| family.keys.iter().map(move |key| (family, key)));
        let families = keys.map(|(family, key)| {
            let name = format!("{}.{}", family.name, key.name);
            let keys = self.today.get(&name).copied().unwrap_or(0);
            Counted { name, keys }
        });
        let families = families.collect();
        let mut strangers: Vec<_> = self.strangers.into_values().collect();
        strangers.sort_by(|a, b| b.keys.cmp(&a.keys).then_with(|| a.pattern.cmp(&b.pattern)));
        Verification {
            coverage: self.coverage,
            families,
            comparison: self.comparison,
            mistyped_keys: self.mistyped_keys,
            mistyped: self.mistyped,
            before: self.before.into_values().collect(),
            strangers,
            ungrouped_keys: self.ungrouped_keys,
            hot: self.heat.finish(self.contract.shards, node_of),
            shortfalls: self.shortfalls,
        }
    }
}

fn described(name: &[u8], likeness: &Likeness<'_>) -> (Stranger, String) {
    match likeness {
        Likeness::Blanks { title, meant } => (
            Stranger::Blanks,
            format!("but for white space at its ends it is {}, a key of {title}", Escaped(meant)),
        ),
        Likeness::Braces { title, meant } => {
            let what =
                if name.contains(&b'{') { "its braces are at the wrong place" } else { "it has no tag" };
            (Stranger::Braces, format!("{what}: looks like {}, a key of {title}", Escaped(meant)))
        }
        Likeness::Value { title, value } if value.is_empty() => (
            Stranger::EmptyTag,
            format!("its tag is empty, so the whole key is hashed: looks like a key of {title}"),
        ),
        Likeness::Value { title, value } => (
            Stranger::TagValue,
            format!(
                "looks like a key of {title}, whose {} may not be \"{}\"",
                title.family.tag.name,
                Escaped(value)
            ),
        ),
        Likeness::Entity { family, value } => {
            let text = format!("{} \"{}\" has no such key", family.name, Escaped(value));
            (Stranger::UnknownKey, text)
        }
        _ => (Stranger::Unclaimed, "no family has a name like it".to_owned()),
    }
}
