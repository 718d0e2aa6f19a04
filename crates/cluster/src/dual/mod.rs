//! Names that change while the system runs: read under the new name and then under the old, write under the new and
//! delete the old.
//!
//! A key that gets a tag gets another slot, so no transaction spans its two names. What holds instead is an order of steps,
//! each of which may be the last one before a crash:
//!
//! | call | steps | after a crash between them |
//! |---|---|---|
//! | read | new, then old; new once more when none had it | – |
//! | write | new, then delete old | both are there; the new one is read, and what comes next deletes the old |
//! | delete | old, then new | the new one is there: nothing was deleted. The other way round, the old value would come back |
//! | relocate | copy to new unless it is there, with a mark beside it; delete old; delete the mark | as after a write |
//!
//! So **where both are there, the new one is right**, and the old one is a remnant. The last look at the new name is for a value
//! that was copied after the first look and deleted before the second.
//!
//! The mark (the new name with `:emq-relocating` behind it, on the same slot) keeps others from deleting the old value before whoever
//! copies has done so; else the copy could be taken for that of a deleted key. It ends by itself after two deadlines.
//!
//! # Rolling it out
//!
//! A program that knows the old name alone would miss what others write under the new one. Therefore there are two
//! [`Stage`]s, and each process says by an [`Announcement`] in which one it is ([`Writers`] has them all):
//!
//! 1. Every process gets [`Stage::Follow`]. Values stay where they are, so programs that know the old name alone may still run.
//! 2. When no such program is left ([`Writers::all_dual`], and the operator knows of no other), every process gets [`Stage::Lead`].
//! 3. When all lead ([`Writers::all_lead`]), whoever relocates may call [`Dual::relocate`] for each name of before that is left.
//! 4. When nothing was read under an old name for long enough and no scan finds one, [`Writers::may_switch_off`] says so, and
//!    the old names can be taken out of the program.
//!
//! # What it can not do
//!
//! * A delete, or the end of a time to live, that comes in the instant in which the same key is relocated may be undone for a
//!   moment: the copy is there and is taken away again. When whoever relocates dies in that moment, it stays.
//! * A remnant whose new value ends by its time to live is read again, as long as it lives itself.
//! * [`Dual::update`] is safe when all lead. While some follow, a key that another process brings over in that instant may lose
//!   the update: its command reads and writes the old name, and no step can see both.

mod marker;
mod relocate;
mod writers;

pub use marker::Announcement;
pub use relocate::Relocated;
use relocate::mark_of;
pub use writers::{LegacyKeys, Writer, Writers};

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use echomq_keyspace::{FamilyKey, Slot};
use redis::{ServerError, Value};
use tokio::time::Instant;

use crate::error::Call;
use crate::{Client, Command, Confirm, Error, Repeat, Transaction};

/// A key with the names that it had before.
///
/// ```
/// use echomq_cluster::dual::Renamed;
/// let cart = Renamed::new("cart:{42}", ["cart:42"]);
/// assert_eq!(cart.new_name(), b"cart:{42}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Renamed {
    /// The new name, then the old ones, the youngest first.
    names: Vec<Vec<u8>>,
}

impl Renamed {
    /// The new name, and those of before, the youngest first.
    pub fn new<O: Into<Vec<u8>>>(new: impl Into<Vec<u8>>, old: impl IntoIterator<Item = O>) -> Renamed {
        let mut names = vec![new.into()];
        for old in old.into_iter().map(Into::into) {
            if !names.contains(&old) {
                names.push(old);
            }
        }
        Renamed { names }
    }

    /// How it is called today.
    pub fn new_name(&self) -> &[u8] {
        &self.names[0]
    }

    /// How it was called before, the youngest name first.
    pub fn old_names(&self) -> &[Vec<u8>] {
        &self.names[1..]
    }
}

/// The names of a key of a [`family!`](echomq_keyspace::family!) that has `legacy` names, which stand there youngest first.
impl From<&FamilyKey> for Renamed {
    fn from(key: &FamilyKey) -> Renamed {
        Renamed::new(key.as_bytes(), key.legacy().iter().cloned())
    }
}

/// How far a process is with the new names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Reads both names; writes where the value is: under the new name if that exists, else under the old.
    Follow,
    /// Reads both names; writes the new one and deletes the old.
    Lead,
}

/// What a read came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The reply under the name that has a value; where none has, that under the new name.
    pub reply: Value,
    /// Which name has the value.
    pub held: Held,
}

/// Which name of a key has its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Held {
    /// The new one.
    New,
    /// An old one.
    Old,
    /// None: there is no such key.
    Nowhere,
}

/// What a write came to. It was carried out.
#[derive(Clone, Debug)]
#[must_use = "an old name that is left is to be deleted once, or its value may be read again"]
pub struct Written {
    /// The reply of the command.
    pub reply: Value,
    /// How many old names had a value, and were deleted.
    pub deleted: u64,
    /// Why an old name may be left. The write stands, and is not to be sent again; the next write, delete or relocation of the
    /// key deletes what is left.
    pub left: Option<Left>,
}

/// Why a write left the old names alone, or may have.
#[derive(Clone, Debug)]
pub enum Left {
    /// The write was not confirmed as was asked for ([`Dual::confirming`]).
    Unconfirmed,
    /// The command left nothing under the new name.
    NothingWritten,
    /// An old name could not be deleted, or its deletion was not answered.
    Failed(Error),
}

/// What a process did with renamed keys so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DualStats {
    /// Reads that the new name answered.
    pub read_new: u64,
    /// Reads that an old name answered.
    pub read_old: u64,
    /// Reads of keys that are not there.
    pub read_none: u64,
    /// Writes and updates.
    pub writes: u64,
    /// Writes after which an old name was deleted.
    pub writes_that_deleted: u64,
    /// Values that were brought over to the new name, by [`Dual::relocate`] or by an update.
    pub relocated: u64,
}

/// Reads and writes keys under their new and their old names. Cheap to clone; clones count together.
#[derive(Clone)]
pub struct Dual {
    client: Client,
    stage: Stage,
    confirm: Option<Confirm>,
    tally: Arc<Tally>,
}

#[derive(Default)]
struct Tally {
    read_new: AtomicU64,
    read_old: AtomicU64,
    read_none: AtomicU64,
    writes: AtomicU64,
    writes_that_deleted: AtomicU64,
    relocated: AtomicU64,
    /// When a value was last met under an old name.
    met_old: Mutex<Option<Instant>>,
}

impl Dual {
    /// Renamed keys over a client.
    pub fn new(client: &Client, stage: Stage) -> Dual {
        Dual { client: client.clone(), stage, confirm: None, tally: Arc::default() }
    }

    /// An old name is deleted only after what stands under the new one is confirmed so. Without it a failover that loses the
    /// new value after the old one was deleted on another node loses both.
    #[must_use]
    pub fn confirming(mut self, confirm: Confirm) -> Dual {
        self.confirm = Some(confirm);
        self
    }

    /// The stage.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Reads a key. `command` makes the command for a name; it must be one that only reads, of this key alone.
    ///
    /// ```no_run
    /// # async fn example(dual: &echomq_cluster::dual::Dual) -> Result<(), echomq_cluster::Error> {
    /// use echomq_cluster::dual::Renamed;
    /// use echomq_cluster::Command;
    /// let cart = Renamed::new("cart:{42}", ["cart:42"]);
    /// let answer = dual.read(&cart, |name| Command::new("HGETALL").key(name)).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Client::call`]; where one name can not be asked, nothing is said of the others.
    pub async fn read(&self, key: &Renamed, command: impl Fn(&[u8]) -> Command) -> Result<Answer, Error> {
        let (held, reply) = self.look(key.new_name(), &command).await?;
        if held {
            self.tally.read_new.fetch_add(1, Relaxed);
            return Ok(Answer { reply, held: Held::New });
        }
        for old in key.old_names() {
            let (held, reply) = self.look(old, &command).await?;
            if held {
                self.tally.read_old.fetch_add(1, Relaxed);
                self.tally.meet_old();
                return Ok(Answer { reply, held: Held::Old });
            }
        }
        // It may have been copied after the first look, and deleted before the second.
        let (held, reply) = self.look(key.new_name(), &command).await?;
        let (count, held) = match held {
            true => (&self.tally.read_new, Held::New),
            false => (&self.tally.read_none, Held::Nowhere),
        };
        count.fetch_add(1, Relaxed);
        Ok(Answer { reply, held })
    }

    /// Writes a value that takes the place of whatever was there, such as by `SET` without conditions. For a command whose
    /// effect depends on what is there see [`Dual::update`].
    ///
    /// An old name is deleted only when the command left something under the new one. If it did not, the command is sent once
    /// more.
    ///
    /// # Errors
    ///
    /// Those of [`Client::call`], of the write alone: then no old name was touched.
    pub async fn write(
        &self,
        key: &Renamed,
        command: impl Fn(&[u8]) -> Command,
        repeat: Repeat,
    ) -> Result<Written, Error> {
        let place = self.place(key).await?;
        let (name, rest) = (&key.names[place], &key.names[place + 1..]);
        let (mut reply, mut is_confirmed) = self.confirmed(command(name), repeat).await?;
        let mut exists = self.settle(name, place).await?;
        if !exists && place == 0 {
            // A copy that was taken away may have taken the same value with it, once.
            (reply, is_confirmed) = self.confirmed(command(name), repeat).await?;
            exists = self.settle(name, place).await?;
        }
        self.tally.writes.fetch_add(1, Relaxed);
        let left = match (exists, is_confirmed) {
            (false, _) => Some(Left::NothingWritten),
            (true, false) => Some(Left::Unconfirmed),
            (true, true) => None,
        };
        if left.is_some() && !rest.is_empty() {
            return Ok(Written { reply, deleted: 0, left });
        }
        let (deleted, failed) = self.delete_all(rest.iter()).await;
        if deleted > 0 {
            self.tally.writes_that_deleted.fetch_add(1, Relaxed);
            self.tally.meet_old();
        }
        Ok(Written { reply, deleted, left: failed.map(Left::Failed) })
    }

    /// Runs a command whose effect depends on what is there (`INCR`, `HSET` of some fields, `RPUSH`, `SET … NX`): first a value
    /// that is under an old name alone is brought over. For [`Stage::Lead`]; see the module on what it is worth before.
    ///
    /// # Errors
    ///
    /// Those of [`Dual::relocate`], with the command not sent, and those of [`Client::call`].
    pub async fn update(
        &self,
        key: &Renamed,
        command: impl Fn(&[u8]) -> Command,
        repeat: Repeat,
    ) -> Result<Value, Error> {
        let place = self.place(key).await?;
        if place == 0 && !self.exists(key.new_name()).await? {
            self.relocate(key).await?;
        }
        self.tally.writes.fetch_add(1, Relaxed);
        self.client.call(command(&key.names[place]), repeat).await
    }

    /// Deletes the key under all of its names, the new one last. True when there was one.
    ///
    /// # Errors
    ///
    /// Those of [`Client::call`]: then it may be there under a younger name, and is to be deleted again.
    pub async fn delete(&self, key: &Renamed) -> Result<bool, Error> {
        match self.delete_all(key.names.iter().rev()).await {
            (deleted, None) => Ok(deleted > 0),
            (_, Some(error)) => Err(error),
        }
    }

    /// What this process did so far.
    pub fn stats(&self) -> DualStats {
        let Tally { read_new, read_old, read_none, writes, writes_that_deleted, relocated, .. } =
            &*self.tally;
        DualStats {
            read_new: read_new.load(Relaxed),
            read_old: read_old.load(Relaxed),
            read_none: read_none.load(Relaxed),
            writes: writes.load(Relaxed),
            writes_that_deleted: writes_that_deleted.load(Relaxed),
            relocated: relocated.load(Relaxed),
        }
    }

    /// Which of the names is written.
    async fn place(&self, key: &Renamed) -> Result<usize, Error> {
        let follows = self.stage == Stage::Follow && !key.old_names().is_empty();
        Ok(usize::from(follows && !self.exists(key.new_name()).await?))
    }

    async fn exists(&self, name: &[u8]) -> Result<bool, Error> {
        let reply = self.client.call(Command::new("EXISTS").key(name), Repeat::Idempotent).await?;
        Ok(reply == Value::Int(1))
    }

    /// The reply under a name, and whether there is such a key. Most replies tell by themselves that there is; one that could
    /// come of no key as well is asked for again together with that question.
    async fn look(&self, name: &[u8], command: impl Fn(&[u8]) -> Command) -> Result<(bool, Value), Error> {
        let reply = self.client.call(command(name), Repeat::Idempotent).await?;
        if tells(&reply) {
            return Ok((true, reply));
        }
        let both = Transaction::of([Command::new("EXISTS").key(name), command(name)])?;
        match <[Value; 2]>::try_from(self.client.transaction(both, Repeat::Idempotent).await?) {
            Ok([_, Value::ServerError(fault)]) => Err(self.refused(name, &command(name), &fault)),
            Ok([exists, reply]) => Ok((exists == Value::Int(1), reply)),
            Err(replies) => Err(Error::reply("EXEC", &Value::Array(replies))),
        }
    }

    /// Runs a command, and says whether it was confirmed as was asked for.
    async fn confirmed(&self, command: Command, repeat: Repeat) -> Result<(Value, bool), Error> {
        match self.confirm {
            Some(confirm) => {
                let (reply, confirmation) = self.client.call_confirmed(command, repeat, confirm).await?;
                Ok((reply, confirmation.is_enough()))
            }
            None => Ok((self.client.call(command, repeat).await?, true)),
        }
    }

    /// Whether something stands under the name that was written. If that is the new one, it is no copy any more that could be
    /// taken away.
    async fn settle(&self, name: &[u8], place: usize) -> Result<bool, Error> {
        if place > 0 {
            return self.exists(name).await;
        }
        let unmark = Command::new("DEL").key(mark_of(name)?);
        let exists = Command::new("EXISTS").key(name);
        let answers = self.client.pipeline(vec![unmark, exists], Repeat::Idempotent).await;
        let answers = answers.into_iter().collect::<Result<Vec<Value>, Error>>()?;
        Ok(answers.last() == Some(&Value::Int(1)))
    }

    /// What a server said of one command of a transaction, as it would have said of the command alone.
    fn refused(&self, name: &[u8], command: &Command, fault: &ServerError) -> Error {
        match self.client.owner(Slot::of(name)) {
            Some(node) => {
                let call = Call { command: format!("{command:?}"), ..Call::default() };
                Error::server(fault.code(), fault.details().unwrap_or_default(), &node, call)
            }
            None => Error::reply(command.name(), &Value::ServerError(fault.clone())),
        }
    }

    /// Deletes names one after the other, up to the first that can not be. Returns how many had a value.
    async fn delete_all<'k>(&self, names: impl Iterator<Item = &'k Vec<u8>>) -> (u64, Option<Error>) {
        let mut deleted = 0;
        for name in names {
            match self.client.call(Command::new("DEL").key(name), Repeat::Idempotent).await {
                Ok(reply) => deleted += u64::from(reply == Value::Int(1)),
                Err(error) => return (deleted, Some(error)),
            }
        }
        (deleted, None)
    }
}

impl Tally {
    fn meet_old(&self) {
        *self.met_old.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn met_old(&self) -> Option<Instant> {
        *self.met_old.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a reply can only come of a key that is there.
fn tells(reply: &Value) -> bool {
    match reply {
        Value::Nil | Value::Int(..=0) | Value::Boolean(false) => false,
        Value::BulkString(bytes) => !bytes.is_empty(),
        // `TYPE` of nothing.
        Value::SimpleString(word) => word != "none",
        Value::Array(items) | Value::Set(items) => items.iter().any(tells),
        Value::Map(pairs) => !pairs.is_empty(),
        Value::Okay => false,
        _ => true,
    }
}
