//! Which slots hold more than their share, and which tag is to blame.
//!
//! Keys of one tag can not be parted, so a slot that holds more than a shard's even share makes that shard the fullest,
//! wherever the slot goes.

use std::fmt;

use echomq_contract::Title;
use echomq_keyspace::{NoTag, Slot, hash_tag};
use serde::Serialize;

use super::probe::Fact;
use crate::shown::Name;

/// Below so many keys a share means nothing.
const KEYS_MIN: u64 = 100;

/// The slots that hold more than a shard's even share of the keys that were seen, or of their memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Hot {
    /// Of so many shards a share is taken: as the contract says there will be at most.
    pub shards: u32,
    /// How many bytes all keys take that told; an estimate of the server's.
    pub memory_bytes: u64,
    /// The slots, the fullest first.
    pub slots: Vec<HotSlot>,
}

/// A slot with more than its share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HotSlot {
    /// The slot.
    pub slot: u16,
    /// The node that owns it.
    pub node: Option<String>,
    /// How many of its keys were seen.
    pub keys: u64,
    /// Of 10,000 keys, how many it holds.
    pub keys_per_10000: u64,
    /// How many bytes those take that told.
    pub memory_bytes: u64,
    /// Of 10,000 bytes, how many it holds.
    pub memory_per_10000: u64,
    /// The tag, when all of its keys have the same.
    pub tag: Option<Name>,
    /// Whether the contract puts a constant into the tag, so that every entity shares the slot.
    pub constant: bool,
    /// One of its keys.
    pub example: Name,
}

/// `slot 105 (tag "prod"): 100.0 % of the keys, 99.0 % of the memory …`, and what to do.
impl fmt::Display for HotSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |of_10000: u64| of_10000 as f64 / 100.0;
        write!(f, "slot {}", self.slot)?;
        if let Some(tag) = &self.tag {
            write!(f, " (tag \"{tag}\")")?;
        }
        write!(
            f,
            " holds {:.1} % of the keys and {:.1} % of the memory that were seen, such as {}: ",
            percent(self.keys_per_10000),
            percent(self.memory_per_10000),
            self.example
        )?;
        f.write_str(match (self.constant, &self.tag) {
            (true, _) => {
                "co-located, but every entity shares it; put what tells the entities apart between the braces"
            }
            (false, Some(_)) => {
                "one tag can not be spread; take a finer field for the tag, or part the entity (a queue has parts)"
            }
            (false, None) => "several tags meet there by their hash; give the largest a slot of its own",
        })
    }
}

/// What was seen of each slot.
pub(super) struct Heat {
    slots: Vec<Seen>,
}

#[derive(Clone, Default)]
struct Seen {
    keys: u64,
    bytes: u64,
    example: Option<Vec<u8>>,
    many_tags: bool,
    constant: bool,
}

impl Heat {
    pub(super) fn new() -> Heat {
        Heat { slots: vec![Seen::default(); usize::from(Slot::COUNT)] }
    }

    pub(super) fn note(&mut self, key: &[u8], title: Option<Title<'_>>, fact: &Fact) {
        let seen = &mut self.slots[usize::from(Slot::of(key).get())];
        seen.keys += 1;
        seen.bytes += fact.bytes.unwrap_or(0);
        let has_constant = |title: Title<'_>| {
            title
                .key
                .pattern
                .template()
                .is_some_and(|pattern| matches!(pattern.tag(), Err(NoTag::Constant(_))))
        };
        seen.constant |= title.is_some_and(has_constant);
        match &seen.example {
            Some(example) => seen.many_tags |= hash_tag(example) != hash_tag(key),
            None => seen.example = Some(key.to_vec()),
        }
    }

    /// How many slots had a key.
    pub(super) fn slots_seen(&self) -> u64 {
        self.slots.iter().filter(|seen| seen.keys > 0).count() as u64
    }

    pub(super) fn finish(self, shards: u32, node_of: impl Fn(Slot) -> Option<String>) -> Hot {
        let sum = |of: fn(&Seen) -> u64| self.slots.iter().map(of).sum::<u64>();
        let (keys, bytes) = (sum(|seen| seen.keys), sum(|seen| seen.bytes));
        let share =
            |part: u64, whole: u64| (u128::from(part) * 10_000).checked_div(u128::from(whole)).unwrap_or(0);
        let is_hot = |per_10000: u128| per_10000 * u128::from(shards) > 10_000;
        let mut hot = Vec::new();
        for (slot, seen) in Slot::all().zip(self.slots) {
            let (of_keys, of_bytes) = (share(seen.keys, keys), share(seen.bytes, bytes));
            let Some(example) =
                seen.example.filter(|_| keys >= KEYS_MIN && (is_hot(of_keys) || is_hot(of_bytes)))
            else {
                continue;
            };
            let tag = hash_tag(&example);
            let tag = (!seen.many_tags && tag.len() < example.len()).then(|| Name::from(tag));
            hot.push(HotSlot {
                slot: slot.get(),
                node: node_of(slot),
                keys: seen.keys,
                keys_per_10000: of_keys as u64,
                memory_bytes: seen.bytes,
                memory_per_10000: of_bytes as u64,
                tag,
                constant: seen.constant,
                example: Name(example),
            });
        }
        hot.sort_by_key(|slot| std::cmp::Reverse(slot.keys_per_10000.max(slot.memory_per_10000)));
        Hot { shards, memory_bytes: bytes, slots: hot }
    }
}
