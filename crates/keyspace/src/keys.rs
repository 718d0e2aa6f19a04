//! The key file: every key that EchoMQ stores is built here, by one function each, and read back here.
//!
//! A key is `<prefix>emq:{<tag>}:<kind>`, and for what belongs to one job `<prefix>emq:{<tag>}:<kind>:<id>`. The prefix has no
//! brace and the tag no brace or colon, so the tag is the first one, all keys of a part are on the part's slot, and no two
//! names spell the same key.

use crate::escaped::Quoted;
use crate::family::KeyType;
use crate::id::JobId;
use crate::names::{Prefix, QueueName};
use crate::part::Part;
use crate::pattern::escape_glob;
use crate::slot::Slot;
use crate::spread::Suffix;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// The keys of one [`Part`], built once; all are on [`PartKeys::slot`].
///
/// ```
/// use echomq_keyspace::{JobId, Part, PartKeys, Prefix, QueueName, Slot};
///
/// let part = Part::first(&QueueName::parse("orders")?);
/// let keys = PartKeys::new(&Prefix::none(), &part);
/// assert_eq!(keys.pending(), b"emq:{orders}:pending");
///
/// let row = keys.job(&JobId::parse("{billing}")?);
/// assert_eq!(row, b"emq:{orders}:job:{billing}");
/// assert_eq!(Slot::of(&row), keys.slot());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PartKeys {
    part: Part,
    pending: Box<[u8]>,
    active: Box<[u8]>,
    leases: Box<[u8]>,
    tries: Box<[u8]>,
    schedule: Box<[u8]>,
    dead: Box<[u8]>,
    unique: Box<[u8]>,
    uniqueof: Box<[u8]>,
    meta: Box<[u8]>,
    wake: Box<[u8]>,
    job_prefix: Box<[u8]>,
    mark_prefix: Box<[u8]>,
}

impl PartKeys {
    /// Builds the keys of a part under a prefix.
    pub fn new(prefix: &Prefix, part: &Part) -> PartKeys {
        let key = |kind| build(prefix, part.tag(), kind, b"").into_boxed_slice();
        PartKeys {
            part: part.clone(),
            pending: key(KeyKind::Pending),
            active: key(KeyKind::Active),
            leases: key(KeyKind::Leases),
            tries: key(KeyKind::Tries),
            schedule: key(KeyKind::Schedule),
            dead: key(KeyKind::Dead),
            unique: key(KeyKind::Unique),
            uniqueof: key(KeyKind::UniqueOf),
            meta: key(KeyKind::Meta),
            wake: key(KeyKind::Wake),
            job_prefix: key(KeyKind::Job),
            mark_prefix: key(KeyKind::Mark),
        }
    }

    /// The part whose keys these are.
    pub fn part(&self) -> &Part {
        &self.part
    }

    /// The slot of all of them.
    pub fn slot(&self) -> Slot {
        self.part.slot()
    }

    /// Sorted set, `emq:{q}:pending`: the id of each waiting job → its rank (priority and sequence, exact below 2^53).
    pub fn pending(&self) -> &[u8] {
        &self.pending
    }

    /// Sorted set, `emq:{q}:active`: the id of each claimed job → the token of the claim call that took it.
    pub fn active(&self) -> &[u8] {
        &self.active
    }

    /// Sorted set, `emq:{q}:leases`: `token:owner` → deadline in Unix milliseconds, one entry per claim call.
    pub fn leases(&self) -> &[u8] {
        &self.leases
    }

    /// Hash, `emq:{q}:tries`: id → attempts, leases lost, priority, last error; only of jobs past their first, plain run.
    pub fn tries(&self) -> &[u8] {
        &self.tries
    }

    /// Sorted set, `emq:{q}:schedule`: the id of each job that is to run later → when it is due, in Unix milliseconds.
    pub fn schedule(&self) -> &[u8] {
        &self.schedule
    }

    /// Sorted set, `emq:{q}:dead`: the id of each buried job → when it died, in Unix milliseconds.
    pub fn dead(&self) -> &[u8] {
        &self.dead
    }

    /// Hash, `emq:{q}:unique`: digest of a uniqueness lock → the id that holds it and until when. It has no time to live:
    /// eviction and expiry can not free a lock.
    pub fn unique(&self) -> &[u8] {
        &self.unique
    }

    /// Hash, `emq:{q}:uniqueof`: id → the digest of the uniqueness lock that it holds.
    pub fn uniqueof(&self) -> &[u8] {
        &self.uniqueof
    }

    /// Hash, `emq:{q}:meta`: layout version, last token, sequence, pause, epoch, last sweep, counters, and the highest
    /// sequence of each producer.
    pub fn meta(&self) -> &[u8] {
        &self.meta
    }

    /// Sharded pub/sub channel, `emq:{q}:wake`: a message is a hint that there may be work. It stores nothing.
    pub fn wake(&self) -> &[u8] {
        &self.wake
    }

    /// String, `emq:{q}:job:<id>`: envelope and payload of one job, written once and never changed.
    pub fn job(&self, id: &JobId) -> Vec<u8> {
        [&*self.job_prefix, id.as_bytes()].concat()
    }

    /// String, `emq:{q}:mark:<id>`: lives only inside one enqueue transaction; while it is there, nothing is written.
    pub fn mark(&self, id: &JobId) -> Vec<u8> {
        [&*self.mark_prefix, id.as_bytes()].concat()
    }

    /// The keys that a part has once and that store something, each with its kind.
    pub fn fixed(&self) -> [(KeyKind, &[u8]); 9] {
        [
            (KeyKind::Pending, self.pending()),
            (KeyKind::Active, self.active()),
            (KeyKind::Leases, self.leases()),
            (KeyKind::Tries, self.tries()),
            (KeyKind::Schedule, self.schedule()),
            (KeyKind::Dead, self.dead()),
            (KeyKind::Unique, self.unique()),
            (KeyKind::UniqueOf, self.uniqueof()),
            (KeyKind::Meta, self.meta()),
        ]
    }

    /// What stands before the id in [`PartKeys::job`]: `emq:{q}:job:`.
    pub fn job_prefix(&self) -> &[u8] {
        &self.job_prefix
    }
}

/// The one place where a key is put together.
fn build(prefix: &Prefix, tag: &str, kind: KeyKind, id: &[u8]) -> Vec<u8> {
    let separator: &[u8] = if kind.has_id() { b":" } else { b"" };
    [prefix.as_str().as_bytes(), HEAD, tag.as_bytes(), b"}:", kind.word().as_bytes(), separator, id].concat()
}

/// What stands between the prefix and the tag.
const HEAD: &[u8] = b"emq:{";

/// What a key of a queue holds; each is one function of [`PartKeys`], where its type is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum KeyKind {
    /// [`PartKeys::pending`].
    Pending,
    /// [`PartKeys::active`].
    Active,
    /// [`PartKeys::leases`].
    Leases,
    /// [`PartKeys::tries`].
    Tries,
    /// [`PartKeys::schedule`].
    Schedule,
    /// [`PartKeys::dead`].
    Dead,
    /// [`PartKeys::unique`].
    Unique,
    /// [`PartKeys::uniqueof`].
    UniqueOf,
    /// [`PartKeys::meta`].
    Meta,
    /// [`PartKeys::wake`], a channel.
    Wake,
    /// [`PartKeys::job`], one per job.
    Job,
    /// [`PartKeys::mark`], one per transaction.
    Mark,
}

impl KeyKind {
    /// Every kind.
    pub const ALL: [KeyKind; 12] = [
        KeyKind::Pending,
        KeyKind::Active,
        KeyKind::Leases,
        KeyKind::Tries,
        KeyKind::Schedule,
        KeyKind::Dead,
        KeyKind::Unique,
        KeyKind::UniqueOf,
        KeyKind::Meta,
        KeyKind::Wake,
        KeyKind::Job,
        KeyKind::Mark,
    ];

    /// The word in the key, such as `pending`.
    pub const fn word(self) -> &'static str {
        match self {
            KeyKind::Pending => "pending",
            KeyKind::Active => "active",
            KeyKind::Leases => "leases",
            KeyKind::Tries => "tries",
            KeyKind::Schedule => "schedule",
            KeyKind::Dead => "dead",
            KeyKind::Unique => "unique",
            KeyKind::UniqueOf => "uniqueof",
            KeyKind::Meta => "meta",
            KeyKind::Wake => "wake",
            KeyKind::Job => "job",
            KeyKind::Mark => "mark",
        }
    }

    /// What a key of this kind holds.
    pub const fn key_type(self) -> KeyType {
        match self {
            KeyKind::Pending | KeyKind::Active | KeyKind::Leases | KeyKind::Schedule | KeyKind::Dead => {
                KeyType::SortedSet
            }
            KeyKind::Tries | KeyKind::Unique | KeyKind::UniqueOf | KeyKind::Meta => KeyType::Hash,
            KeyKind::Wake => KeyType::Channel,
            KeyKind::Job | KeyKind::Mark => KeyType::String,
        }
    }

    /// Whether the key names one job: `:<id>` follows the word.
    pub const fn has_id(self) -> bool {
        matches!(self, KeyKind::Job | KeyKind::Mark)
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A key taken apart: the inverse of [`PartKeys`].
///
/// ```
/// use echomq_keyspace::{KeyKind, KeyName, Prefix};
///
/// let name = KeyName::parse(&Prefix::none(), b"emq:{orders~0vQ}:job:ORD0NgWEfAEJfs")?;
/// assert_eq!((name.queue.as_str(), name.kind), ("orders", KeyKind::Job));
/// assert_eq!(name.suffix.unwrap().as_str(), "0vQ");
/// assert_eq!(name.id.unwrap().as_bytes(), b"ORD0NgWEfAEJfs");
/// # Ok::<(), echomq_keyspace::KeyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct KeyName {
    /// The logical queue.
    pub queue: QueueName,
    /// The suffix of the part; none for the first.
    pub suffix: Option<Suffix>,
    /// What the key holds.
    pub kind: KeyKind,
    /// The job, for a kind that names one.
    pub id: Option<JobId>,
}

impl KeyName {
    /// Takes a key of EchoMQ apart.
    ///
    /// # Errors
    ///
    /// When no function of [`PartKeys`] under this prefix builds the key; the error says where it differs.
    pub fn parse(prefix: &Prefix, key: &[u8]) -> Result<KeyName, KeyError> {
        let refuse = |fault| KeyError(Box::new(Refusal { prefix: prefix.clone(), key: key.into(), fault }));
        let rest = key
            .strip_prefix(prefix.as_str().as_bytes())
            .and_then(|rest| rest.strip_prefix(HEAD))
            .ok_or_else(|| refuse(Fault::Head))?;
        let close = rest.iter().position(|&b| b == b'}').ok_or_else(|| refuse(Fault::NeverClosed))?;
        let part = core::str::from_utf8(&rest[..close]).ok().and_then(|tag| Part::from_tag(tag).ok());
        let part = part.ok_or_else(|| refuse(Fault::Tag))?;
        let field = rest[close + 1..].strip_prefix(b":").ok_or_else(|| refuse(Fault::Kind))?;
        let (word, id) = match field.iter().position(|&b| b == b':') {
            Some(colon) => (&field[..colon], Some(&field[colon + 1..])),
            None => (field, None),
        };
        let kind = KeyKind::ALL
            .into_iter()
            .find(|kind| kind.word().as_bytes() == word && kind.has_id() == id.is_some());
        let kind = kind.ok_or_else(|| refuse(Fault::Kind))?;
        let id = id.map(JobId::parse).transpose().map_err(|_| refuse(Fault::Id))?;
        Ok(KeyName { queue: part.queue().clone(), suffix: part.suffix(), kind, id })
    }

    /// The MATCH pattern for the keys of one kind of all queues under a prefix, such as `emq:{*}:meta`. What it finds may
    /// still be none of EchoMQ's: [`KeyName::parse`] tells.
    pub fn pattern(prefix: &Prefix, kind: KeyKind) -> Vec<u8> {
        let id: &[u8] = if kind.has_id() { b"*" } else { b"" };
        [escape_glob(prefix.as_str().as_bytes()), build(&Prefix::none(), "*", kind, id)].concat()
    }

    /// The part that the key belongs to.
    pub fn part(&self) -> Part {
        Part::new(self.queue.clone(), self.suffix)
    }

    /// The key with this name under a prefix: the inverse of [`KeyName::parse`].
    pub fn build(&self, prefix: &Prefix) -> Vec<u8> {
        build(prefix, self.part().tag(), self.kind, self.id.as_ref().map_or(b"", JobId::as_bytes))
    }
}

/// Why a key is not one of EchoMQ's. The text quotes the key escaped.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyError(Box<Refusal>);

#[derive(Clone, PartialEq, Eq)]
struct Refusal {
    prefix: Prefix,
    key: Box<[u8]>,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    Head,
    NeverClosed,
    Tag,
    Kind,
    Id,
}

impl KeyError {
    /// The key that was refused, as it was given.
    pub fn key(&self) -> &[u8] {
        &self.0.key
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { ref prefix, ref key, fault } = *self.0;
        write!(f, "key {} is none of EchoMQ's: ", Quoted(key))?;
        match fault {
            Fault::Head => write!(f, "it does not begin with \"{prefix}emq:{{\""),
            Fault::NeverClosed => f.write_str("the brace of its tag is never closed"),
            Fault::Tag => f.write_str("its tag is not that of a queue or of a part"),
            Fault::Kind => f.write_str(
                "what follows the tag is not the word of a key, such as \":pending\" or \":job:<id>\"",
            ),
            Fault::Id => f.write_str("what follows \":job:\" or \":mark:\" is not a job id"),
        }
    }
}

impl fmt::Debug for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyError({self})")
    }
}

impl core::error::Error for KeyError {}
