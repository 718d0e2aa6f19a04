//! What a verification came to.

use std::fmt;

use echomq_cluster::dual::LegacyKeys;
use echomq_cluster::{Address, Error};
use echomq_keyspace::{Escaped, SlotSet};
use serde::Serialize;

use super::heat::Hot;
use crate::shown::Name;

/// What a [`Verifier`](super::Verifier) found. The fields are those of its JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verification {
    /// How much was looked at.
    pub coverage: Coverage,
    /// The keys of each name of the contract, in its order.
    pub families: Vec<Counted>,
    /// The slot of sampled keys by our rule and by the server's word.
    pub comparison: Comparison,
    /// How many keys hold another type than the contract says.
    pub mistyped_keys: u64,
    /// The first of them.
    pub mistyped: Vec<Mistyped>,
    /// Names that keys had before, by pattern.
    pub before: Vec<BeforeGroup>,
    /// Keys that no family claims, by pattern, the most frequent first.
    pub strangers: Vec<StrangerGroup>,
    /// Keys that no family claims, of patterns beyond those that are kept.
    pub ungrouped_keys: u64,
    /// Slots with more than their share. They work, and so are no finding.
    pub hot: Hot,
    /// What could not be checked, and why.
    pub shortfalls: Vec<Shortfall>,
}

impl Verification {
    /// Whether nothing that was seen differs from the contract.
    pub fn is_fine(&self) -> bool {
        self.mistyped_keys == 0
            && self.before.is_empty()
            && self.strangers.is_empty()
            && self.ungrouped_keys == 0
            && self.comparison.wrong.is_empty()
    }

    /// Whether names from before are left, for [`Writers::may_switch_off`](echomq_cluster::dual::Writers::may_switch_off).
    pub fn legacy_keys(&self) -> LegacyKeys {
        match self.before.iter().map(|group| group.keys).sum() {
            0 if self.coverage.whole && self.is_complete() => LegacyKeys::None,
            0 => LegacyKeys::Unknown,
            keys => LegacyKeys::Found(keys),
        }
    }

    /// Whether nothing was left out but by the limits.
    pub fn is_complete(&self) -> bool {
        !self.shortfalls.iter().any(|shortfall| shortfall.needed)
    }
}

/// How much was looked at. A key may be seen twice: a scan gives some twice while a server's tables grow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Coverage {
    /// Keys that were looked at.
    pub keys: u64,
    /// Of them, those that were not there (any more).
    pub gone: u64,
    /// Keys passed over, since they do not begin with the prefix.
    pub passed_over: u64,
    /// How many different slots the keys had.
    pub slots: u64,
    /// How many keys the primaries have, by their own count; none without a scan, or where one did not say.
    pub there: Option<u64>,
    /// How many primaries were scanned.
    pub nodes: usize,
    /// Whether a scan came to its end everywhere.
    pub whole: bool,
    /// Slots whose keys a scan could not see, as ranges.
    pub unseen_slots: Vec<String>,
}

/// How many keys a name of the contract has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counted {
    /// The name, such as `order.items`.
    pub name: String,
    /// How many keys were seen.
    pub keys: u64,
}

/// Slots by our rule, compared with `CLUSTER KEYSLOT`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// How many keys were compared.
    pub compared: u64,
    /// Those on which the server differs.
    pub wrong: Vec<WrongSlot>,
}

/// A key whose slot the server computes otherwise. A proxy, or a server that is none of Valkey or Redis, may do so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WrongSlot {
    /// The key.
    pub key: Name,
    /// Its slot by our rule.
    pub ours: u16,
    /// Its slot by the server's word.
    pub theirs: u16,
}

/// A key of another type than the contract says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Mistyped {
    /// The key.
    pub key: Name,
    /// Its name in the contract, such as `order.items`.
    pub name: String,
    /// What it holds, as `TYPE` says.
    pub found: String,
    /// What it is to hold.
    pub expected: &'static str,
}

/// Keys under a name from before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BeforeGroup {
    /// The name of the key today, such as `order.items`.
    pub name: String,
    /// The pattern from before.
    pub pattern: String,
    /// How many there are.
    pub keys: u64,
    /// Some of them.
    pub examples: Vec<Moved>,
}

/// A key under a name from before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Moved {
    /// The key.
    pub key: Name,
    /// Its name of today.
    pub today: Name,
}

/// Keys that no family claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StrangerGroup {
    /// Their pattern ([`generalise`](crate::generalise)).
    pub pattern: String,
    /// What they look like.
    pub like: Stranger,
    /// How many there are.
    pub keys: u64,
    /// Some of them.
    pub examples: Vec<Name>,
    /// What the first of them is like, in words.
    pub text: String,
}

/// What a key that no family claims looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stranger {
    /// A key of the contract with white space or control characters at its ends.
    Blanks,
    /// A key of the contract without its braces, or with braces elsewhere.
    Braces,
    /// A key of the contract with nothing between its braces.
    EmptyTag,
    /// A key of the contract with a tag value that the family does not allow.
    TagValue,
    /// A key of an entity that has no such key.
    UnknownKey,
    /// Nothing of the contract.
    Unclaimed,
}

/// Something that could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Shortfall {
    /// What was to be done: `scan`, `type`, `keyslot`, `memory` or `count`.
    pub check: &'static str,
    /// Whether the verification is incomplete without it.
    pub needed: bool,
    /// How often it failed so.
    pub times: u64,
    /// Why, the first time, and what to do.
    pub text: String,
}

impl Shortfall {
    fn new(check: &'static str, needed: bool, text: String) -> Shortfall {
        Shortfall { check, needed, times: 1, text }
    }

    pub(super) fn scan(node: &Address, error: &Error) -> Shortfall {
        let remedy = match error.server_code() {
            Some("NOPERM") => {
                "; allow the user SCAN (ACL SETUSER … +scan), or give the keys on standard input (--stdin)"
            }
            _ => "",
        };
        Shortfall::new("scan", true, format!("the keys of {node} were not seen to the end: {error}{remedy}"))
    }

    pub(super) fn no_node() -> Shortfall {
        let text = "some slots have no node: their keys were not seen";
        Shortfall::new("scan", true, text.to_owned())
    }

    pub(super) fn moved(slots: &SlotSet) -> Shortfall {
        let shown: Vec<_> = slots.ranges().iter().take(5).map(ToString::to_string).collect();
        let text = format!(
            "{} slots changed their node meanwhile (such as {}): keys of theirs may have been missed; run it again when the cluster is at rest",
            slots.len(),
            shown.join(", ")
        );
        Shortfall::new("scan", true, text)
    }

    pub(super) fn types(key: &[u8], error: &Error) -> Shortfall {
        let remedy = match error.server_code() {
            Some("NOPERM") => "; allow the user TYPE of these keys (ACL SETUSER … +type %R~PATTERN)",
            _ => "",
        };
        Shortfall::new(
            "type",
            true,
            format!("the type of \"{}\" was not told: {error}{remedy}", Escaped(key)),
        )
    }

    pub(super) fn slots(error: &Error) -> Shortfall {
        let remedy = match error.server_code() {
            Some("NOPERM") => "; allow the user this command (ACL SETUSER … +cluster|keyslot)",
            _ => "",
        };
        Shortfall::new("keyslot", true, format!("slots were not compared: {error}{remedy}"))
    }

    pub(super) fn no_slots(error: &Error) -> Shortfall {
        let text = format!("slots were not compared: this server computes none ({error})");
        Shortfall::new("keyslot", false, text)
    }

    pub(super) fn memory(error: &Error) -> Shortfall {
        Shortfall::new("memory", false, format!("the size of some keys was not told: {error}"))
    }

    pub(super) fn count(error: &Error) -> Shortfall {
        Shortfall::new("count", false, format!("how many keys there are was not told: {error}"))
    }

    /// Whether this is the same again.
    pub(super) fn is_like(&self, other: &Shortfall) -> bool {
        // Of each node that was not scanned there is a text of its own.
        self.check == other.check
            && self.needed == other.needed
            && (self.check != "scan" || self.text == other.text)
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shortfall { check, times, text, .. } = self;
        write!(f, "not checked ({check}): {text}")?;
        if *times > 1 { write!(f, " ({times} times)") } else { Ok(()) }
    }
}
