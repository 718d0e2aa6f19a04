//! The transitions of one part of a queue, a function each. The only file that talks to the server.

mod types;

use echomq_cluster::{Client, Command, Error, Repeat, Script, Transaction, Value};
use echomq_keyspace::{Colocated, JobId, PartKeys};

use crate::clock::Clock;
use crate::reply::{Reply, bytes, integer};
use crate::scripts;
use crate::tries::Tries;

pub(crate) use self::types::Mistyped;

/// The stored layout that this release speaks.
pub(crate) const LAYOUT: u32 = 1;
/// Up to so many jobs and bytes, bodies go through the script: one command is then cheaper than a transaction.
const SMALL_JOBS: usize = 8;
const SMALL_BYTES: usize = 8 * 1024;
/// The most ids in one call; well below the 7,900 arguments that Lua can unpack, with three arguments an id.
pub(crate) const MOST_IDS: usize = 1_000;

/// When a job may be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Now,
    InMs(u64),
    AtMs(u64),
}

/// A job ready to be stored.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) id: JobId,
    pub(crate) due: Due,
    pub(crate) body: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    All,
    Full,
    Taken,
}

/// A claim: the token fences every transition, the lease says how long it holds without a sign of life, the owner is
/// for people.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lease {
    pub(crate) token: u64,
    pub(crate) lease_ms: u64,
    pub(crate) owner: String,
    /// How many jobs the claim took.
    pub(crate) jobs: usize,
}

impl Lease {
    /// Reads what [`Lease::entry`] wrote, but for the number of jobs.
    fn read(entry: &[u8]) -> Option<Lease> {
        let mut fields = std::str::from_utf8(entry).ok()?.splitn(3, ':');
        let token = fields.next()?.parse().ok()?;
        let lease_ms = fields.next()?.parse().ok()?;
        Some(Lease { token, lease_ms, owner: fields.next()?.to_owned(), jobs: 0 })
    }

    /// Its member of the set `leases`.
    pub(crate) fn entry(&self) -> String {
        format!("{}:{}:{}", self.token, self.lease_ms, self.owner)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Claimed {
    Jobs { lease: Lease, jobs: Vec<(JobId, Tries)> },
    Empty,
    Paused,
}

/// A job's row as a reader found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Here(Vec<u8>),
    /// The owner of the slot has no such row.
    Gone,
    /// The slot is being moved and the row was on neither side when asked: not now.
    Away,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    Open { producer: u64, kind: Option<String>, now_ms: u64 },
    Layout(String),
    Kind(String),
}

/// What one sweep did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reclaimed {
    /// Jobs that went back to pending.
    pub(crate) back: u64,
    /// Jobs that went to the dead set.
    pub(crate) dead: u64,
    /// Claims that got one more lease, since they ran out while nobody swept.
    pub(crate) extended: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Promoted {
    pub(crate) jobs: u64,
    pub(crate) next_in_ms: Option<u64>,
}

/// Why a job goes to the dead set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    Failed,
    Undecodable,
    Gone,
}

impl Class {
    fn word(self) -> &'static str {
        match self {
            Class::Failed => "failed",
            Class::Undecodable => "undecodable",
            Class::Gone => "gone",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) pending: u64,
    pub(crate) active: u64,
    pub(crate) schedule: u64,
    pub(crate) dead: u64,
    pub(crate) next_due_ms: Option<u64>,
    pub(crate) claims: u64,
    pub(crate) meta: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) state: String,
    pub(crate) score: Option<f64>,
    pub(crate) tries: Option<Tries>,
}

#[derive(Clone)]
pub(crate) struct Store {
    pub(crate) client: Client,
    pub(crate) keys: PartKeys,
    pub(crate) clock: Clock,
}

impl Store {
    pub(crate) async fn open(&self, kind: &str) -> Result<Opened, Error> {
        let keys = [self.keys.meta()];
        let call = script(&scripts::OPEN, keys)?.arg(LAYOUT).arg(kind);
        let reply = self.run("open", call, Repeat::Idempotent).await?;
        match reply.parts()? {
            ("open", [producer, kind, now]) => Ok(Opened::Open {
                producer: reply.integer(Some(producer))?,
                kind: Some(reply.text(Some(kind))?).filter(|kind| !kind.is_empty()),
                now_ms: reply.integer(Some(now))?,
            }),
            ("layout", [stored]) => Ok(Opened::Layout(reply.text(Some(stored))?)),
            ("kind", [fixed]) => Ok(Opened::Kind(reply.text(Some(fixed))?)),
            _ => Err(reply.unexpected()),
        }
    }

    /// Adds all rows or none: `Taken` when a row of one of the ids is there already.
    pub(crate) async fn enqueue(&self, rows: &[Row]) -> Result<Added, Error> {
        let size: usize = rows.iter().map(|row| row.body.len()).sum();
        let reply = if rows.len() <= SMALL_JOBS && size <= SMALL_BYTES {
            self.enqueue_small(rows).await?
        } else {
            self.enqueue_large(rows).await?
        };
        match reply.parts()?.0 {
            "added" => Ok(Added::All),
            "full" => Ok(Added::Full),
            "taken" => Ok(Added::Taken),
            _ => Err(reply.unexpected()),
        }
    }

    async fn enqueue_small(&self, rows: &[Row]) -> Result<Reply, Error> {
        let row_keys: Vec<Vec<u8>> = rows.iter().map(|row| self.keys.job(&row.id)).collect();
        let mut keys = vec![self.keys.pending(), self.keys.schedule(), self.keys.meta()];
        keys.extend(row_keys.iter().map(Vec::as_slice));
        let mut call = script(&scripts::ENQUEUE, keys)?
            .arg(self.clock.argument())
            .arg(self.first_id_byte())
            .arg(self.keys.wake());
        for row in rows {
            call = call.arg(due_argument(row.due)).arg(&row.body);
        }
        self.run("enqueue", call, Repeat::Never).await
    }

    /// gate, MSETNX, list and defer in one transaction.
    async fn enqueue_large(&self, rows: &[Row]) -> Result<Reply, Error> {
        let mark = self.keys.mark(&rows[0].id);
        let (pending, meta) = (self.keys.pending(), self.keys.meta());
        let gate = script(&scripts::GATE, [pending, meta, &mark])?.arg(rows.len());
        let mut write = Command::new("MSETNX");
        for row in rows {
            write = write.key(self.keys.job(&row.id)).arg(&row.body);
        }
        let mut commands = vec![gate, write.key(&mark).arg("ok")];
        let (now, later): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.due == Due::Now);
        if !now.is_empty() {
            commands.push(self.list_call(&now, &mark)?);
        }
        if !later.is_empty() {
            commands.push(self.defer_call(&later, &mark)?);
        }
        commands.push(Command::new("DEL").key(&mark));
        let mut replies = self.client.transaction(Transaction::of(commands)?, Repeat::Never).await?;
        // list and defer see the same mark, so either's word is the answer.
        replies.pop();
        match replies.pop() {
            Some(reply @ Value::ServerError(_)) => Err(Error::reply("list", &reply)),
            Some(reply) => Ok(Reply::new("list", reply)),
            None => Err(Error::reply("EXEC", &Value::Array(replies))),
        }
    }

    fn list_call(&self, rows: &[&Row], mark: &[u8]) -> Result<Command, Error> {
        let keys = [self.keys.pending(), self.keys.meta(), mark];
        let in_order = rows.is_sorted_by(|a, b| a.id.as_bytes() < b.id.as_bytes());
        let call =
            script(&scripts::LIST, keys)?.arg(if in_order { "same" } else { "each" }).arg(self.keys.wake());
        Ok(rows.iter().fold(call, |call, row| call.arg(row.id.as_bytes())))
    }

    fn defer_call(&self, rows: &[&Row], mark: &[u8]) -> Result<Command, Error> {
        let call = script(&scripts::DEFER, [self.keys.schedule(), mark])?
            .arg(self.clock.argument())
            .arg(self.keys.wake());
        Ok(rows.iter().fold(call, |call, row| call.arg(due_argument(row.due)).arg(row.id.as_bytes())))
    }

    /// Which of these ids have a row.
    pub(crate) async fn taken(&self, ids: &[&JobId]) -> Result<Vec<bool>, Error> {
        let checks = ids.iter().map(|id| Command::new("EXISTS").key(self.keys.job(id)));
        let replies = self.client.transaction(Transaction::of(checks)?, Repeat::Idempotent).await?;
        Ok(replies.iter().map(|reply| *reply == Value::Int(1)).collect())
    }

    pub(crate) async fn claim(&self, most: usize, lease_ms: u64, owner: &str) -> Result<Claimed, Error> {
        let keys = [
            self.keys.pending(),
            self.keys.active(),
            self.keys.leases(),
            self.keys.meta(),
            self.keys.tries(),
        ];
        let call = script(&scripts::CLAIM, keys)?
            .arg(most.min(MOST_IDS))
            .arg(lease_ms)
            .arg(owner)
            .arg(self.clock.argument());
        let reply = self.run("claim", call, Repeat::Never).await?;
        match reply.parts()? {
            ("empty", _) => Ok(Claimed::Empty),
            ("paused", _) => Ok(Claimed::Paused),
            ("claimed", [token, ids, tries @ ..]) => {
                let token = reply.integer(Some(token))?;
                let ids = reply.ids(Some(ids))?;
                let tries = match tries {
                    [Value::Array(tries)] => tries.as_slice(),
                    _ => &[],
                };
                let tries =
                    |at: usize| tries.get(at).and_then(bytes).and_then(Tries::parse).unwrap_or_default();
                let jobs: Vec<_> = ids.into_iter().enumerate().map(|(at, id)| (id, tries(at))).collect();
                let lease = Lease { token, lease_ms, owner: owner.to_owned(), jobs: jobs.len() };
                Ok(Claimed::Jobs { lease, jobs })
            }
            _ => Err(reply.unexpected()),
        }
    }

    /// The rows of these ids, in order. While the slot moves they are asked one by one, since each may be on
    /// the other side.
    pub(crate) async fn bodies(&self, ids: &[JobId]) -> Result<Vec<Body>, Error> {
        let rows: Vec<Vec<u8>> = ids.iter().map(|id| self.keys.job(id)).collect();
        let all = Command::new("MGET").keys(rows.iter().map(Vec::as_slice));
        match self.client.call_whole(all).await {
            Ok(Some(Value::Array(values))) if !values.contains(&Value::Nil) => {
                values.into_iter().map(here).collect()
            }
            Ok(_) => {
                let mut bodies = Vec::with_capacity(rows.len());
                for row in &rows {
                    bodies.push(self.body(row).await?);
                }
                Ok(bodies)
            }
            Err(error) => Err(error),
        }
    }

    async fn body(&self, row: &[u8]) -> Result<Body, Error> {
        let (value, asked) =
            self.client.call_traced(Command::new("GET").key(row), Repeat::Idempotent).await?;
        match value {
            Value::Nil if asked => Ok(Body::Away),
            Value::Nil => Ok(Body::Gone),
            value => here(value),
        }
    }

    /// One row, for people who look.
    pub(crate) async fn row(&self, id: &JobId) -> Result<Option<Vec<u8>>, Error> {
        match self.body(&self.keys.job(id)).await? {
            Body::Here(row) => Ok(Some(row)),
            Body::Gone | Body::Away => Ok(None),
        }
    }

    /// Ends jobs well. Each id must be one that this claim handed out, and stand here once.
    pub(crate) async fn complete(&self, lease: &Lease, ids: &[JobId]) -> Result<Vec<JobId>, Error> {
        let rows: Vec<Vec<u8>> = ids.iter().map(|id| self.keys.job(id)).collect();
        let mut keys = self.claim_keys();
        keys.extend(rows.iter().map(Vec::as_slice));
        let call = script(&scripts::COMPLETE, keys)?
            .arg(lease.token)
            .arg(lease.entry())
            .arg(self.first_id_byte())
            .arg(lease.jobs);
        self.settle("complete", call).await
    }

    /// Puts failed jobs back for later: (id, delay in ms, error).
    pub(crate) async fn retry(
        &self,
        lease: &Lease,
        jobs: &[(JobId, u64, String)],
    ) -> Result<Vec<JobId>, Error> {
        let mut keys = self.claim_keys();
        keys.push(self.keys.schedule());
        let mut call = script(&scripts::RETRY, keys)?
            .arg(lease.token)
            .arg(lease.entry())
            .arg(self.clock.argument())
            .arg(self.keys.wake());
        for (id, delay_ms, error) in jobs {
            call = call.arg(id.as_bytes()).arg(*delay_ms).arg(error);
        }
        self.settle("retry", call).await
    }

    /// Puts jobs into the dead set: (id, reason).
    pub(crate) async fn bury(
        &self,
        lease: &Lease,
        class: Class,
        jobs: &[(JobId, String)],
    ) -> Result<Vec<JobId>, Error> {
        let mut keys = self.claim_keys();
        keys.push(self.keys.dead());
        let mut call = script(&scripts::BURY, keys)?
            .arg(lease.token)
            .arg(lease.entry())
            .arg(self.clock.argument())
            .arg(class.word());
        for (id, reason) in jobs {
            call = call.arg(id.as_bytes()).arg(reason);
        }
        self.settle("bury", call).await
    }

    /// Hands jobs back unrun; no attempt is counted.
    pub(crate) async fn release(&self, lease: &Lease, ids: &[JobId]) -> Result<Vec<JobId>, Error> {
        let keys = [self.keys.active(), self.keys.leases(), self.keys.pending(), self.keys.tries()];
        let mut call =
            script(&scripts::RELEASE, keys)?.arg(lease.token).arg(lease.entry()).arg(self.keys.wake());
        for id in ids {
            call = call.arg(id.as_bytes());
        }
        self.settle("release", call).await
    }

    /// The claims that this owner holds by the server's word, with their jobs. Claims of the last moments stand at the
    /// end of the leases, so a bounded look there is enough.
    pub(crate) async fn claims_of(&self, owner: &str) -> Result<Vec<(Lease, Vec<JobId>)>, Error> {
        let look = Command::new("ZRANGE").key(self.keys.leases()).arg(0).arg(MOST_IDS - 1).arg("REV");
        let entries = self.client.call(look, Repeat::Idempotent).await?;
        let Value::Array(entries) = &entries else { return Err(Error::reply("ZRANGE", &entries)) };
        let mut claims = Vec::new();
        for mut lease in
            entries.iter().filter_map(bytes).filter_map(Lease::read).filter(|lease| lease.owner == owner)
        {
            let jobs = Command::new("ZRANGE").key(self.keys.active()).arg(lease.token).arg(lease.token);
            let jobs = jobs.arg("BYSCORE").arg("LIMIT").arg(0).arg(MOST_IDS);
            let jobs = Reply::new("ZRANGE", self.client.call(jobs, Repeat::Idempotent).await?);
            let ids = jobs.whole_ids()?;
            lease.jobs = ids.len();
            claims.push((lease, ids));
        }
        Ok(claims)
    }

    /// Lets the leases begin anew; returns those that hold nothing any more.
    pub(crate) async fn extend(&self, leases: &[Lease], lease_ms: u64) -> Result<Vec<Lease>, Error> {
        let mut call =
            script(&scripts::EXTEND, [self.keys.leases()])?.arg(self.clock.argument()).arg(lease_ms);
        for lease in leases {
            call = call.arg(lease.entry());
        }
        let reply = self.run("extend", call, Repeat::Idempotent).await?;
        match reply.parts()? {
            ("extended", _) => Ok(Vec::new()),
            ("lost", [Value::Array(lost)]) => {
                let lost: Vec<&[u8]> = lost.iter().filter_map(bytes).collect();
                Ok(leases.iter().filter(|lease| lost.contains(&lease.entry().as_bytes())).cloned().collect())
            }
            _ => Err(reply.unexpected()),
        }
    }

    /// Moves due jobs to pending, `most` at most.
    pub(crate) async fn promote(&self, most: usize) -> Result<Promoted, Error> {
        let keys = [self.keys.schedule(), self.keys.pending(), self.keys.meta(), self.keys.tries()];
        let call = script(&scripts::PROMOTE, keys)?
            .arg(self.clock.argument())
            .arg(most.min(MOST_IDS))
            .arg(self.keys.wake());
        let reply = self.run("promote", call, Repeat::Idempotent).await?;
        match reply.parts()? {
            ("promoted", [jobs, next]) => {
                Ok(Promoted { jobs: reply.integer(Some(jobs))?, next_in_ms: integer(Some(next)) })
            }
            _ => Err(reply.unexpected()),
        }
    }

    /// Takes jobs from workers whose lease ran out, `most` at most.
    pub(crate) async fn reclaim(
        &self,
        most: usize,
        lost_limit: u32,
        lease_ms: u64,
    ) -> Result<Reclaimed, Error> {
        let mut keys = self.claim_keys();
        keys.extend([self.keys.pending(), self.keys.dead()]);
        let call = script(&scripts::RECLAIM, keys)?
            .arg(self.clock.argument())
            .arg(most.min(MOST_IDS))
            .arg(lost_limit)
            .arg(lease_ms)
            .arg(self.keys.wake());
        let reply = self.run("reclaim", call, Repeat::Idempotent).await?;
        match reply.parts()? {
            ("reclaimed", [back, dead, extended]) => Ok(Reclaimed {
                back: reply.integer(Some(back))?,
                dead: reply.integer(Some(dead))?,
                extended: reply.integer(Some(extended))?,
            }),
            _ => Err(reply.unexpected()),
        }
    }

    /// True when this call paused the queue, false when it was paused already.
    pub(crate) async fn pause(&self, who: &str) -> Result<bool, Error> {
        let call = script(&scripts::PAUSE, [self.keys.meta()])?.arg(self.clock.argument()).arg(who);
        self.changed("pause", call, "paused").await
    }

    /// True when this call resumed the queue, false when it was not paused.
    pub(crate) async fn resume(&self) -> Result<bool, Error> {
        let call = script(&scripts::RESUME, [self.keys.meta()])?.arg(self.keys.wake());
        self.changed("resume", call, "resumed").await
    }

    /// How many jobs may wait.
    pub(crate) async fn bound(&self, most: Option<u64>) -> Result<bool, Error> {
        let most = most.map(|most| most.to_string()).unwrap_or_default();
        let call = script(&scripts::BOUND, [self.keys.meta()])?.arg(most);
        self.changed("bound", call, "bound").await
    }

    pub(crate) async fn counts(&self) -> Result<Counted, Error> {
        let keys = [
            self.keys.pending(),
            self.keys.active(),
            self.keys.schedule(),
            self.keys.dead(),
            self.keys.leases(),
            self.keys.meta(),
        ];
        let reply = self.run("counts", script(&scripts::COUNTS, keys)?, Repeat::Idempotent).await?;
        match reply.parts()? {
            ("counts", [pending, active, schedule, dead, due, claims, Value::Array(meta)]) => Ok(Counted {
                pending: reply.integer(Some(pending))?,
                active: reply.integer(Some(active))?,
                schedule: reply.integer(Some(schedule))?,
                dead: reply.integer(Some(dead))?,
                next_due_ms: integer(Some(due)),
                claims: reply.integer(Some(claims))?,
                meta: meta
                    .chunks_exact(2)
                    .map(|pair| Ok((reply.text(Some(&pair[0]))?, reply.text(Some(&pair[1]))?)))
                    .collect::<Result<_, Error>>()?,
            }),
            _ => Err(reply.unexpected()),
        }
    }

    pub(crate) async fn find(&self, id: &JobId) -> Result<Option<Found>, Error> {
        let row = self.keys.job(id);
        let keys = [
            self.keys.pending(),
            self.keys.active(),
            self.keys.schedule(),
            self.keys.dead(),
            self.keys.tries(),
            &row,
        ];
        let call = script(&scripts::FIND, keys)?.arg(id.as_bytes());
        let reply = self.run("find", call, Repeat::Idempotent).await?;
        match reply.parts()? {
            ("absent", _) => Ok(None),
            ("found", [state, score, tries]) => Ok(Some(Found {
                state: reply.text(Some(state))?,
                score: reply.text(Some(score))?.parse().ok(),
                tries: bytes(tries).and_then(Tries::parse),
            })),
            _ => Err(reply.unexpected()),
        }
    }

    fn claim_keys(&self) -> Vec<&[u8]> {
        vec![self.keys.active(), self.keys.leases(), self.keys.meta(), self.keys.tries()]
    }

    /// Lua counts from 1.
    fn first_id_byte(&self) -> usize {
        self.keys.job_prefix().len() + 1
    }

    async fn run(&self, script: &'static str, call: Command, repeat: Repeat) -> Result<Reply, Error> {
        Ok(Reply::new(script, self.client.call(call, repeat).await?))
    }

    async fn changed(&self, script: &'static str, call: Command, changed: &str) -> Result<bool, Error> {
        let reply = self.run(script, call, Repeat::Idempotent).await?;
        match reply.parts()? {
            (word, _) if word == changed => Ok(true),
            ("already", _) => Ok(false),
            _ => Err(reply.unexpected()),
        }
    }

    /// Settling twice is the same as once, since the second finds the token gone.
    async fn settle(&self, script: &'static str, call: Command) -> Result<Vec<JobId>, Error> {
        let reply = self.run(script, call, Repeat::Idempotent).await?;
        match reply.parts()? {
            ("settled", _) => Ok(Vec::new()),
            ("lost", [ids]) => reply.ids(Some(ids)),
            _ => Err(reply.unexpected()),
        }
    }
}

fn due_argument(due: Due) -> String {
    match due {
        Due::Now => String::new(),
        Due::InMs(ms) => format!("+{ms}"),
        Due::AtMs(ms) => ms.to_string(),
    }
}

fn here(value: Value) -> Result<Body, Error> {
    match value {
        Value::BulkString(row) => Ok(Body::Here(row)),
        other => Err(Error::reply("GET", &other)),
    }
}

fn script<'k>(script: &'static Script, keys: impl IntoIterator<Item = &'k [u8]>) -> Result<Command, Error> {
    Ok(Command::script(script, &Colocated::of(keys)?))
}
