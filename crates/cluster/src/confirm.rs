//! Writes whose replication or persistence is waited for: a write and its WAIT in one go, one WAIT for all that gathered
//! while the one before was under way.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use echomq_keyspace::Slot;
use redis::{Cmd, Pipeline, Value};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::client::Shared;
use crate::node::{Link, Node};
use crate::pacing::LONGEST;
use crate::silence::{SILENCE, Silent};

/// What a write waits for before it counts as confirmed.
///
/// WAIT makes a loss less likely, and is no consensus: a failover prefers the replica that knows most, but a confirmed
/// write is lost when all who had it are lost, or when a replica that did not have it is promoted all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirm {
    replicas: u32,
    synced: bool,
    within: Duration,
}

impl Confirm {
    /// So many replicas have it in memory (`WAIT`).
    pub fn replicas(replicas: u32, within: Duration) -> Confirm {
        Confirm { replicas, synced: false, within: within.min(LONGEST) }
    }

    /// The primary has it in its append-only file on disk, and so many replicas too (`WAITAOF`, Valkey 7.2 and later, with
    /// `appendonly yes`).
    pub fn synced(replicas: u32, within: Duration) -> Confirm {
        Confirm { replicas, synced: true, within: within.min(LONGEST) }
    }

    /// The longest that the confirmation is waited for.
    pub(crate) fn within(&self) -> Duration {
        self.within
    }

    fn command(&self) -> Cmd {
        let mut cmd = Cmd::new();
        match self.synced {
            false => cmd.arg("WAIT").arg(self.replicas),
            true => cmd.arg("WAITAOF").arg(1).arg(self.replicas),
        };
        // 0 would wait for ever.
        cmd.arg(self.within.as_millis().max(1) as u64);
        cmd
    }

    /// Reads what WAIT or WAITAOF answered.
    fn read(&self, answer: &Value) -> Confirmation {
        let (on_disk, replicas) = match answer {
            Value::Int(replicas) => (false, *replicas),
            Value::Array(counts) => match counts[..] {
                [Value::Int(local), Value::Int(replicas)] => (local > 0, replicas),
                _ => (false, 0),
            },
            _ => (false, 0),
        };
        let replicas = u32::try_from(replicas).unwrap_or(0);
        let refused = match answer {
            Value::ServerError(fault) => {
                Some(format!("{} {}", fault.code(), fault.details().unwrap_or_default()))
            }
            _ => None,
        };
        let enough = replicas >= self.replicas && (on_disk || !self.synced);
        Confirmation { replicas, on_disk, enough, refused }
    }
}

/// How far a write got that **was** carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a write that is not confirmed may be lost in a failover"]
pub struct Confirmation {
    /// How many replicas said in time that they have it.
    pub replicas: u32,
    /// The primary said in time that it is in its append-only file on disk.
    pub on_disk: bool,
    enough: bool,
    refused: Option<String>,
}

impl Confirmation {
    /// Whether what was asked for was reached in time. If not, the write stands all the same: do not send it again.
    pub fn is_enough(&self) -> bool {
        self.enough
    }

    /// What the server said when it refused to wait at all, for instance a server without `WAITAOF`.
    pub fn refusal(&self) -> Option<&str> {
        self.refused.as_deref()
    }
}

/// Requests that wait for their turn on a node's confirming connection.
#[derive(Default)]
pub(crate) struct Confirming(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    running: bool,
    tickets: u64,
}

struct Waiting {
    ticket: u64,
    request: Pipeline,
    confirm: Confirm,
    answer: oneshot::Sender<Answer>,
}

/// The replies to a request and how it was confirmed; an error when the connection failed, or could not be had.
type Answer = Result<(Vec<Value>, Confirmation), Failed>;

/// Why there are no replies.
#[derive(Clone, Debug)]
pub(crate) enum Failed {
    /// Nothing was sent.
    Unsent(String),
    /// It was sent.
    Lost(String),
}

/// How many requests share one WAIT at most.
const BATCH: usize = 1_000;

/// Sends a request over the node's confirming connection, together with others that want the same. Where a slot is named,
/// the node is waited for only as long as it owns it.
pub(crate) async fn send(
    shared: &Arc<Shared>,
    node: &Arc<Node>,
    slot: Option<Slot>,
    request: Pipeline,
    confirm: Confirm,
    limit: Instant,
) -> Answer {
    let (answer, answered) = oneshot::channel();
    let (ticket, start) = {
        let mut queue = node.confirming.lock();
        queue.tickets += 1;
        let ticket = queue.tickets;
        queue.waiting.push_back(Waiting { ticket, request, confirm, answer });
        (ticket, !std::mem::replace(&mut queue.running, true))
    };
    if start {
        tokio::spawn(run(shared.clone(), Runner { node: node.clone(), is_done: false }));
    }
    let heard = match slot {
        Some(slot) => shared.heard(slot, node, confirm.within + SILENCE, limit, answered).await,
        None => timeout_at(limit, answered).await.map_err(|_| Silent::Late),
    };
    match heard {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(Failed::Lost("the client has ended".to_owned())),
        Err(_) if node.confirming.withdraw(ticket) => {
            Err(Failed::Unsent("earlier writes still wait for their confirmation".to_owned()))
        }
        Err(silent) => Err(Failed::Lost(silent.cause().to_owned())),
    }
}

impl Confirming {
    fn lock(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back a request that still waits for its turn; false when it was sent.
    fn withdraw(&self, ticket: u64) -> bool {
        let mut queue = self.lock();
        let before = queue.waiting.len();
        queue.waiting.retain(|waiting| waiting.ticket != ticket);
        queue.waiting.len() < before
    }

    /// The next requests, all with the same wish; `None` when there are none, and the runner ends.
    fn next(&self) -> Option<Vec<Waiting>> {
        let mut queue = self.lock();
        // Who has gone meanwhile is not sent: nobody would hear of it.
        queue.waiting.retain(|waiting| !waiting.answer.is_closed());
        let Some(confirm) = queue.waiting.front().map(|first| first.confirm) else {
            queue.running = false;
            return None;
        };
        let same = queue.waiting.iter().take(BATCH).take_while(|waiting| waiting.confirm == confirm).count();
        Some(queue.waiting.drain(..same).collect())
    }
}

/// The one who serves a node's requests. When it ends before its time, as it does with its runtime, those who wait try again,
/// and the first of them starts another.
struct Runner {
    node: Arc<Node>,
    is_done: bool,
}

impl Drop for Runner {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        let waiting = {
            let mut queue = self.node.confirming.lock();
            queue.running = false;
            std::mem::take(&mut queue.waiting)
        };
        refuse(waiting, &Failed::Unsent("who sends confirmed writes has ended".to_owned()));
    }
}

/// Serves a node's requests, batch by batch, until none waits.
async fn run(shared: Arc<Shared>, mut runner: Runner) {
    let node = runner.node.clone();
    let mut link: Option<Link> = None;
    while let Some(batch) = node.confirming.next() {
        let standing = match link.take().filter(|link| !link.has_ended()) {
            Some(link) => Ok(link),
            None => shared.apart(&node).await,
        };
        match standing {
            Ok(mut standing) => {
                if exchange(&mut standing, batch).await {
                    link = Some(standing);
                }
            }
            Err(cause) => refuse(batch, &Failed::Unsent(cause)),
        }
    }
    runner.is_done = true;
    if let Some(link) = link {
        node.apart.give_back(link);
    }
}

/// One write for the batch and its WAIT; true when the connection is still good.
async fn exchange(link: &mut Link, mut batch: Vec<Waiting>) -> bool {
    let Some(confirm) = batch.first().map(|first| first.confirm) else { return true };
    let mut pipeline = Pipeline::new();
    for waiting in &batch {
        for cmd in waiting.request.cmd_iter() {
            pipeline.add_command(cmd.clone());
        }
    }
    pipeline.add_command(confirm.command());
    let sent = link.connection.send_packed_commands(&pipeline, 0, pipeline.len());
    let answered = tokio::select! {
        biased;
        answered = tokio::time::timeout(confirm.within + MARGIN, sent) => answered,
        // Nobody wants to know any more: others do not wait for it.
        () = all_gone(&mut batch) => return false,
    };
    let failed = match answered {
        Ok(Ok(mut replies)) if replies.len() == pipeline.len() => {
            let confirmation = replies.pop().map(|answer| confirm.read(&answer));
            let Some(confirmation) = confirmation else { return false };
            let mut replies = replies.into_iter();
            for waiting in batch {
                let own: Vec<Value> = replies.by_ref().take(waiting.request.len()).collect();
                let _ = waiting.answer.send(Ok((own, confirmation.clone())));
            }
            return true;
        }
        Ok(Ok(replies)) => format!("{} replies to {} commands", replies.len(), pipeline.len()),
        Ok(Err(cause)) => cause.to_string(),
        Err(_) => "no answer in time".to_owned(),
    };
    refuse(batch, &Failed::Lost(failed));
    false
}

async fn all_gone(batch: &mut [Waiting]) {
    for waiting in batch {
        waiting.answer.closed().await;
    }
}

/// How long an answer may take beyond what is waited for.
const MARGIN: Duration = Duration::from_secs(2);

fn refuse(batch: impl IntoIterator<Item = Waiting>, why: &Failed) {
    for waiting in batch {
        let _ = waiting.answer.send(Err(why.clone()));
    }
}
