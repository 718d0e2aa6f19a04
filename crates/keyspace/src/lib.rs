//! What a Valkey or Redis Cluster key is: hash tag, slot, trace, verdict, names, and the key file of an EchoMQ queue.
#![no_std]

extern crate alloc;

mod crc;
mod escaped;
mod group;
mod id;
mod keys;
mod names;
mod part;
mod pattern;
mod ranges;
mod slot;
mod spread;
mod tag;
mod trace;

pub use crc::crc16;
pub use escaped::Escaped;
pub use group::{SlotGroup, group_by_slot};
pub use id::{IdError, IdSource, JobId, Kind};
pub use keys::{KeyError, KeyKind, KeyName, PartKeys};
pub use names::{NameError, Prefix, QueueName};
pub use part::{Part, PartCount};
pub use pattern::{PatternSlot, pattern};
pub use ranges::{SlotRange, SlotSet};
pub use slot::Slot;
pub use spread::{Suffix, TagError, tag_for};
pub use tag::hash_tag;
pub use trace::{Note, Trace, Why, trace};
