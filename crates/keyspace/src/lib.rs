//! What a key of Valkey Cluster or Redis Cluster is: which bytes of it are hashed, which slot it is on and why, whether keys
//! can be used together, and the names and keys of EchoMQ's queues. Keys are bytes; nothing here does I/O.
//!
//! A cluster deals its 16384 slots out to its nodes, and a command, transaction or script may only use keys of one slot.
//! The slot is a CRC16 of the key, or of its *hash tag*: what stands between the first `{` and the next `}`, when that is
//! not nothing. Keys with the same tag are co-located.
//!
//! ```
//! use echomq_keyspace::{Slot, hash_tag};
//!
//! // The slot is known before a byte is sent, also at compile time.
//! const ORDERS: Slot = Slot::of(b"emq:{orders}:pending");
//! assert_eq!(ORDERS.get(), 105);
//! assert_eq!(hash_tag(b"emq:{orders}:pending"), b"orders");
//! ```
//!
//! [`trace`] tells why a key is on its slot, and [`judge`] whether keys can be used together, what is wrong with their
//! names, and which names would do:
//!
//! ```
//! use echomq_keyspace::{Why, judge, trace};
//!
//! assert_eq!(trace(b"foo{}{bar}").why, Why::EmptyTag);
//!
//! let verdict = judge(&["bull:orders:wait", "bull:orders:active"]);
//! assert_eq!(verdict.slot(), None);
//! assert_eq!(verdict.renaming.unwrap().names[0].to, b"bull:{orders}:wait");
//! ```
//!
//! [`group_by_slot`] splits keys into what can be asked at once, [`pattern`] tells which slot a MATCH pattern is bound to,
//! and [`tag_for`] finds a tag for a wanted slot.
//!
//! # The keys of a queue
//!
//! A [`QueueName`] cannot hold what would move a key. A queue has one [`Part`] or several, each on a slot of its own, and
//! [`PartKeys`] has one function per key; [`KeyName`] is the way back.
//!
//! ```
//! use echomq_keyspace::{JobId, KeyName, Part, PartCount, PartKeys, Prefix, QueueName};
//!
//! let prefix = Prefix::none();
//! let parts = Part::spread(&QueueName::parse("orders")?, PartCount::new(2).unwrap());
//! let keys = PartKeys::new(&prefix, &parts[1]);
//! let row = keys.job(&JobId::parse("ORD0NgWEfAEJfs")?);
//!
//! assert!(row.starts_with(b"emq:{orders~"));
//! assert_eq!(KeyName::parse(&prefix, &row)?.queue.as_str(), "orders");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The keys of an application
//!
//! [`family!`] declares all keys of one entity. Its constructor checks the value that becomes the tag, so all of them are on
//! one slot, whatever the value is; a key without the tag, or with two, does not compile.
//!
//! ```
//! echomq_keyspace::family! {
//!     /// What the shop knows of one article.
//!     pub struct StockKeys(sku: "A-Z0-9", 1..=12) {
//!         available: String = "stock:{sku}:available";
//!         reserved: String = "stock:{sku}:reserved";
//!     }
//! }
//!
//! let stock = StockKeys::new("MUG7")?;
//! assert_eq!(stock.reserved().as_bytes(), b"stock:{MUG7}:reserved");
//! assert!(StockKeys::new("").is_err());
//! # Ok::<(), echomq_keyspace::TagValueError>(())
//! ```
//!
//! # The keys of a command
//!
//! [`keys_of`] finds the keys among a command's arguments, by a table of all commands of Valkey 9.1 and Redis 7.0:
//!
//! ```
//! use echomq_keyspace::{judge, keys_of};
//!
//! let args = ["LMPOP", "2", "jobs:a", "jobs:b", "LEFT"];
//! let keys: Vec<_> = keys_of(&args)?.positions().map(|at| args[at]).collect();
//! assert_eq!(keys, ["jobs:a", "jobs:b"]);
//! assert_eq!(judge(&keys).slot(), None);
//! # Ok::<(), echomq_keyspace::Unplaced>(())
//! ```
//!
//! # What this crate does not do
//!
//! * It opens no socket and reads no clock. Which node has a slot is for a connector to ask; an [`IdSource`] is told the time.
//! * It does not know what a module's commands or a script's text touch: of a script it knows the keys that it is given.
//! * It does not trim, fold or replace anything. A name is taken as it is, or refused with an error that quotes it escaped.
//! * It needs no `std`, only `alloc`, and contains no `unsafe`.

#![no_std]

extern crate alloc;

mod alphabet;
mod colocated;
mod command_table;
mod crc;
mod escaped;
mod family;
mod finding;
mod group;
mod id;
mod judge;
mod keys;
mod names;
mod part;
mod pattern;
mod ranges;
mod renaming;
mod slot;
mod spread;
mod tag;
mod template;
mod trace;

pub use alphabet::{Alphabet, AlphabetError};
pub use colocated::{Apart, Colocated};
pub use command_table::{Command, Keys, Place, Unplaced, Use, keys_of};
pub use crc::crc16;
pub use escaped::Escaped;
pub use family::{Entity, Family, FamilyKey, KeySpec, KeyType, TagField, TagValueError};
pub use finding::Finding;
pub use group::{SlotGroup, group_by_slot};
pub use id::{IdError, IdSource, JobId, Kind};
pub use judge::{Verdict, judge};
pub use keys::{KeyError, KeyKind, KeyName, PartKeys};
pub use names::{NameError, Prefix, QueueName};
pub use part::{Part, PartCount};
pub use pattern::{PatternSlot, pattern};
pub use ranges::{SlotRange, SlotSet};
pub use renaming::{Basis, NewName, Renaming};
pub use slot::Slot;
pub use spread::{Suffix, TagError, tag_for};
pub use tag::hash_tag;
pub use template::{NoTag, Segment, TagText, Template, TemplateError};
pub use trace::{Note, Trace, Why, trace};

/// What [`family!`] needs where it is used.
#[doc(hidden)]
pub mod macros {
    pub use alloc::vec::Vec;
}
