//! Bringing a value from an old name to the new one, which is on another slot.
//!
//! Whoever brings a value over is the only one until it has ended: beside the copy stands a *mark* with a token of its own. While
//! the mark is there, others leave the old name alone. If the old name turns out to be deleted already, somebody has deleted or
//! written the key meanwhile; the copy is taken away again, unless it was written or changed since, which the mark and its bytes tell.

use std::sync::LazyLock;
use std::sync::atomic::Ordering::Relaxed;

use echomq_keyspace::{Colocated, Slot, hash_tag};
use redis::Value;

use super::{Dual, Renamed};
use crate::{Command, Error, Repeat, Script, Transaction};

static COPY: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("copy.lua")));
static TAKE_BACK: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("take_back.lua")));
static REWRITE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("rewrite.lua")));

/// What became of the old names of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relocated {
    /// No old name had a value.
    Nothing,
    /// The value is under the new name now, with its time to live.
    Moved,
    /// The new name had a value; what was left under an old one was a remnant, and is deleted.
    Remnant,
    /// The new name has a value that another process is just bringing over, or was when it died: call again later, at the
    /// latest after two deadlines of its client.
    Busy,
    /// Meanwhile the key was written or deleted; the copy was taken away again if nobody had used it.
    Overtaken,
    /// What stood under the new name was not confirmed as was asked for ([`Dual::confirming`]), so the old value is left, and a
    /// copy was taken away again.
    Unconfirmed,
}

/// The step that a relocation ended with on the slot of the new name.
enum Copied {
    Done,
    There,
    Busy,
}

impl Dual {
    /// Brings the value of a key from its old names to the new one, of whatever type it is, unless the new one has a value:
    /// then the old ones are deleted. Call it when all writers lead ([`Writers::all_lead`](super::Writers::all_lead)); a value
    /// that somebody still writes under an old name may be lost.
    ///
    /// It may be called by many at once and again at any time: each step may be the last before a crash. The whole value passes
    /// through this process (`DUMP` and `RESTORE`).
    ///
    /// # Errors
    ///
    /// Those of [`Client::call`](crate::Client::call). The value is there under the new name, an old one, or both.
    pub async fn relocate(&self, key: &Renamed) -> Result<Relocated, Error> {
        let mut outcome = Relocated::Nothing;
        for old in key.old_names() {
            let Some((dump, ttl_ms)) = self.dump(old).await? else { continue };
            self.tally.meet_old();
            let of_this = self.bring(key.new_name(), old, &dump, ttl_ms).await?;
            // A younger name's value is the one that counts.
            if outcome == Relocated::Nothing {
                outcome = of_this;
            }
            if matches!(of_this, Relocated::Unconfirmed | Relocated::Busy) {
                break;
            }
        }
        if outcome == Relocated::Moved {
            self.tally.relocated.fetch_add(1, Relaxed);
        }
        Ok(outcome)
    }

    async fn bring(&self, new: &[u8], old: &[u8], dump: &[u8], ttl_ms: i64) -> Result<Relocated, Error> {
        let mark = mark_of(new)?;
        let token = format!("{:016x}", fastrand::u64(..));
        let (copied, is_confirmed) = self.copy([new, &mark], dump, ttl_ms, &token).await?;
        match copied {
            Copied::Busy => return Ok(Relocated::Busy),
            Copied::Done if !is_confirmed => {
                self.take_back([new, &mark], dump, &token).await?;
                return Ok(Relocated::Unconfirmed);
            }
            Copied::There if !is_confirmed => return Ok(Relocated::Unconfirmed),
            Copied::Done | Copied::There => {}
        }
        // Sent once: a second deletion would answer that there was nothing, as if somebody else had deleted it.
        let deleted = self.client.call(Command::new("DEL").key(old), Repeat::Never).await?;
        match (copied, deleted == Value::Int(1)) {
            (Copied::Done, true) => {
                self.client.call(Command::new("DEL").key(&mark), Repeat::Idempotent).await?;
                Ok(Relocated::Moved)
            }
            (Copied::Done, false) => {
                self.take_back([new, &mark], dump, &token).await?;
                Ok(Relocated::Overtaken)
            }
            _ => Ok(Relocated::Remnant),
        }
    }

    /// Copies the value unless there is one, and says whether what is there is confirmed as was asked for.
    async fn copy(
        &self,
        keys: [&[u8]; 2],
        dump: &[u8],
        ttl_ms: i64,
        token: &str,
    ) -> Result<(Copied, bool), Error> {
        // A step takes no longer than the deadline, and there are two.
        let mark_ms = 2 * self.client.deadline().as_millis() as u64 + 1_000;
        let both = proof(&keys)?;
        let copy = Command::script(&COPY, &both).arg(dump).arg(ttl_ms).arg(token).arg(mark_ms);
        let (reply, is_confirmed) = self.confirmed(copy, Repeat::Never).await?;
        match &reply {
            Value::BulkString(word) if word == b"copied" => Ok((Copied::Done, is_confirmed)),
            Value::BulkString(word) if word == b"busy" => Ok((Copied::Busy, true)),
            Value::BulkString(word) if word == b"there" => {
                // Nothing was written, and only a write is confirmed.
                let rewrite = Command::script(&REWRITE, &proof(&keys[..1])?);
                let is_confirmed = match self.confirm {
                    Some(_) => self.confirmed(rewrite, Repeat::Idempotent).await?.1,
                    None => true,
                };
                Ok((Copied::There, is_confirmed))
            }
            other => Err(Error::reply("the copy", other)),
        }
    }

    async fn take_back(&self, keys: [&[u8]; 2], dump: &[u8], token: &str) -> Result<(), Error> {
        let take_back = Command::script(&TAKE_BACK, &proof(&keys)?).arg(dump).arg(token);
        self.client.call(take_back, Repeat::Idempotent).await.map(drop)
    }

    /// A value as `RESTORE` takes it, and how long it is to live, 0 for ever.
    async fn dump(&self, name: &[u8]) -> Result<Option<(Vec<u8>, i64)>, Error> {
        let both = Transaction::of([Command::new("DUMP").key(name), Command::new("PTTL").key(name)])?;
        let replies = self.client.transaction(both, Repeat::Idempotent).await?;
        match replies.as_slice() {
            [Value::BulkString(dump), Value::Int(ttl_ms)] => {
                // What has less than a millisecond left is not to live for ever.
                let ttl_ms = if *ttl_ms == -1 { 0 } else { (*ttl_ms).max(1) };
                Ok(Some((dump.clone(), ttl_ms)))
            }
            [Value::Nil, _] => Ok(None),
            _ => Err(Error::reply("DUMP", &Value::Array(replies))),
        }
    }
}

fn proof<'k>(keys: &[&'k [u8]]) -> Result<Colocated<'k>, Error> {
    Colocated::of(keys.iter().copied()).map_err(|apart| Error::refused("relocate", &apart.to_string()))
}

/// The key of the mark beside a name, on the same slot.
pub(super) fn mark_of(name: &[u8]) -> Result<Vec<u8>, Error> {
    const SUFFIX: &[u8] = b":emq-relocating";
    let mark = match hash_tag(name).len() < name.len() {
        true => [name, SUFFIX].concat(),
        false => [b"{", name, b"}", SUFFIX].concat(),
    };
    if Slot::of(&mark) == Slot::of(name) {
        return Ok(mark);
    }
    Err(Error::refused(
        "relocate",
        "the new name has braces and no tag: give it one, such as order:{7}:items",
    ))
}
