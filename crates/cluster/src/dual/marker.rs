//! The marker: a hash in which every process says how far it is, by the server's clock.

use std::sync::LazyLock;
use std::time::Duration;

use echomq_keyspace::Colocated;
use redis::Value;
use tokio::task::JoinHandle;

use super::{Dual, Stage, Writer, Writers};
use crate::{Client, Command, Error, Repeat, Script, Transaction};

/// Writes the entry of a process; the first time it also clears away those that ended long ago.
static ANNOUNCE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("announce.lua")));

/// The shortest time for which an announcement holds.
const HOLDS_MIN: Duration = Duration::from_millis(100);
/// The longest: the marker's key lives for a day without a word.
const HOLDS_MAX: Duration = Duration::from_secs(6 * 3600);

/// A process's word that it reads and writes renamed keys, which others can see ([`Writers::read`]). It is repeated in the
/// background until this is dropped; then, or when the process dies, it ends by itself.
pub struct Announcement {
    client: Client,
    marker: Vec<u8>,
    process: String,
    repeating: JoinHandle<()>,
}

impl Dual {
    /// Says under the key `marker` how far this process is: its name, which no other process may have, the version of the
    /// program, the stage, and when it last met an old name. Each word holds for `holds` (100 ms to 6 hours) and is repeated
    /// every third of that. Announce before the first write.
    ///
    /// # Errors
    ///
    /// When the first word could not be said: [`Client::call`].
    pub async fn announce(
        &self,
        marker: &[u8],
        process: &str,
        version: &str,
        holds: Duration,
    ) -> Result<Announcement, Error> {
        let holds = holds.clamp(HOLDS_MIN, HOLDS_MAX);
        let word =
            Word { marker: marker.to_vec(), process: process.to_owned(), version: version.to_owned(), holds };
        let since_ms = word.say(self, None).await?;
        let (dual, process, marker) = (self.clone(), process.to_owned(), marker.to_vec());
        let client = self.client.clone();
        let repeating = tokio::spawn(async move {
            loop {
                tokio::time::sleep(holds / 3).await;
                if let Err(error) = word.say(&dual, Some(since_ms)).await {
                    tracing::warn!(%error, process = word.process, "the announcement was not repeated");
                }
            }
        });
        Ok(Announcement { client, marker, process, repeating })
    }
}

impl Announcement {
    /// Takes the word back, for a process that ends in order.
    ///
    /// # Errors
    ///
    /// Those of [`Client::call`]; the word ends by itself then.
    pub async fn leave(self) -> Result<(), Error> {
        self.repeating.abort();
        let leave = Command::new("HDEL").key(&self.marker).arg(&self.process);
        self.client.call(leave, Repeat::Idempotent).await.map(drop)
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        self.repeating.abort();
    }
}

struct Word {
    marker: Vec<u8>,
    process: String,
    version: String,
    holds: Duration,
}

impl Word {
    /// Says it, and returns since when this process has said it, in the server's milliseconds.
    async fn say(&self, dual: &Dual, since_ms: Option<u64>) -> Result<u64, Error> {
        let proof = Colocated::of([&self.marker]).map_err(|_| Error::reply("the marker", &Value::Nil))?;
        let met_old = dual.tally.met_old().map(|at| at.elapsed().as_millis().to_string());
        let call = Command::script(&ANNOUNCE, &proof)
            .arg(&self.process)
            .arg(self.holds.as_millis() as u64)
            .arg(since_ms.map(|ms| ms.to_string()).unwrap_or_default())
            .arg(stage_word(dual.stage))
            .arg(met_old.unwrap_or_default())
            .arg(&self.version);
        match dual.client.call(call, Repeat::Idempotent).await? {
            Value::Int(since_ms) => Ok(since_ms.unsigned_abs()),
            other => Err(Error::reply("announce", &other)),
        }
    }
}

impl Writers {
    /// Who has announced itself under the marker, and whose word still holds.
    ///
    /// # Errors
    ///
    /// Those of [`Client::call`], and an entry that is none of ours.
    pub async fn read(client: &Client, marker: &[u8]) -> Result<Writers, Error> {
        let both = Transaction::of([Command::new("TIME"), Command::new("HGETALL").key(marker)])?;
        let replies = client.transaction(both, Repeat::Idempotent).await?;
        let malformed = || Error::reply("HGETALL of the marker", &Value::Array(replies.clone()));
        let [Value::Array(time), entries] = replies.as_slice() else { return Err(malformed()) };
        let now_ms = now_ms(time).ok_or_else(malformed)?;
        let pairs: Vec<(&Value, &Value)> = match entries {
            Value::Map(pairs) => pairs.iter().map(|(process, entry)| (process, entry)).collect(),
            Value::Array(flat) => flat.chunks_exact(2).map(|pair| (&pair[0], &pair[1])).collect(),
            _ => return Err(malformed()),
        };
        let writers = pairs.into_iter().map(|(process, entry)| writer(process, entry).ok_or_else(malformed));
        let mut writers = writers.collect::<Result<Vec<Writer>, _>>()?;
        writers.retain(|writer| writer.until_ms > now_ms);
        writers.sort_by(|a, b| a.process.cmp(&b.process));
        Ok(Writers { now_ms, list: writers })
    }
}

fn stage_word(stage: Stage) -> &'static str {
    match stage {
        Stage::Follow => "follow",
        Stage::Lead => "lead",
    }
}

fn now_ms(time: &[Value]) -> Option<u64> {
    let [seconds, micros] = time else { return None };
    let number = |value| text(value)?.parse::<u64>().ok();
    Some(number(seconds)? * 1_000 + number(micros)? / 1_000)
}

/// Reads `until since stage met_old version`, in which `met_old` may be `-`.
fn writer(process: &Value, entry: &Value) -> Option<Writer> {
    let mut words = text(entry)?.splitn(5, ' ');
    let mut number = || words.next()?.parse::<u64>().ok();
    let (until_ms, since_ms) = (number()?, number()?);
    let stage = match words.next()? {
        "follow" => Stage::Follow,
        "lead" => Stage::Lead,
        _ => return None,
    };
    let met_old_ms = match words.next()? {
        "-" => None,
        ms => Some(ms.parse().ok()?),
    };
    let (process, version) = (text(process)?.to_owned(), words.next()?.to_owned());
    Some(Writer { process, version, stage, since_ms, until_ms, met_old_ms })
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}
