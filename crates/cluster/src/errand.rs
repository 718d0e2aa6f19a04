//! One request on its way: tried at the owner of its slot, through redirects and failures, until it is
//! answered or its deadline has come.

use std::sync::Arc;
use std::time::Duration;

use echomq_keyspace::Slot;
use redis::{Cmd, Pipeline, RedisError, Value};
use tokio::time::Instant;

use crate::client::Shared;
use crate::error::Waiting;
use crate::node::{Link, Node};
use crate::redirect::Refusal;
use crate::{Address, Command, Error, Repeat};

/// A request that may be repeated waits no longer than this for one node's answer, so that a frozen node
/// costs seconds and not the whole deadline.
const ATTEMPT: Duration = Duration::from_secs(2);

/// The last quarter of a request's time, but no more than this, is left to the answer of its last attempt: one that
/// is under way when the deadline comes turns the certainty that nothing was written into an unknown fate.
const ANSWER_TIME: Duration = Duration::from_millis(500);

/// What is written to the wire in one go, and how its replies are read.
pub(crate) enum Body {
    One(Command),
    Transaction(Vec<Command>),
}

/// What one attempt came to.
enum Attempt {
    Done(Value),
    Refused(Refusal, RedisFault),
    /// Sent, and no answer: it may have happened.
    Lost(String),
}

struct RedisFault {
    code: String,
    detail: String,
}

/// One request on its way.
pub(crate) struct Errand<'c> {
    shared: &'c Shared,
    slot: Slot,
    body: Body,
    repeat: Repeat,
    started: Instant,
    until: Instant,
    hops: u32,
    tries: u32,
    /// An earlier attempt may have happened: whatever is waited for since, it is not certain that nothing was written.
    lost: Option<Error>,
    /// The last attempt was an ASK's.
    pub(crate) asked: bool,
    /// Waits while the keys are on two nodes.
    pub(crate) patient: bool,
}

impl<'c> Errand<'c> {
    pub(crate) fn new(
        shared: &'c Shared,
        deadline: Duration,
        slot: Slot,
        body: Body,
        repeat: Repeat,
    ) -> Errand<'c> {
        let started = Instant::now();
        let until = started + deadline;
        Errand {
            shared,
            slot,
            body,
            repeat,
            started,
            until,
            hops: 0,
            tries: 0,
            lost: None,
            asked: false,
            patient: true,
        }
    }

    pub(crate) async fn run(&mut self) -> Result<Value, Error> {
        let shared = self.shared;
        // An ASK holds for one attempt; the next one begins at the owner again.
        let mut asked: Option<Arc<Node>> = None;
        loop {
            let Some(node) = asked.clone().or_else(|| shared.map.owner(self.slot)) else {
                shared.refresher.request();
                self.pause(Waiting::NoOwner).await?;
                continue;
            };
            self.asked = asked.take().is_some();
            let attempt = match self.attempt(&node).await {
                Ok(attempt) => attempt,
                Err(cause) => {
                    shared.refresher.request();
                    self.pause(Waiting::Connect(cause)).await?;
                    continue;
                }
            };
            match attempt {
                Attempt::Done(value) => return Ok(value),
                Attempt::Lost(cause) => {
                    shared.refresher.request();
                    let lost = Error::unknown(self.slot, &node.address, cause);
                    if self.repeat == Repeat::Never {
                        return Err(lost);
                    }
                    self.lost = Some(lost);
                    self.pause(Waiting::Answer).await?;
                }
                Attempt::Refused(refusal, fault) => {
                    asked = self.redirected(refusal, fault, &node).await?;
                }
            }
        }
    }

    /// Acts on a refusal; returns the node to ask for the next attempt alone, if it is not the owner.
    async fn redirected(
        &mut self,
        refusal: Refusal,
        fault: RedisFault,
        node: &Node,
    ) -> Result<Option<Arc<Node>>, Error> {
        let shared = self.shared;
        match refusal {
            Refusal::Moved { slot, to } => {
                shared.counters.moved();
                shared.map.patch(slot, &to);
                shared.refresher.request();
                self.hops += 1;
                // While an atomic migration ends, MOVED may bounce between two nodes for some milliseconds.
                if self.hops > 1 {
                    self.pause(Waiting::SlotMoves).await?;
                }
            }
            Refusal::Ask { to } => {
                shared.counters.asked();
                return Ok(Some(shared.map.node(&to)));
            }
            Refusal::TryAgain => {
                shared.counters.try_again();
                if !self.patient {
                    return Err(Error::deadline(self.started.elapsed(), Some(self.slot), Waiting::SlotMoves));
                }
                self.pause(Waiting::SlotMoves).await?;
            }
            Refusal::NotServing(said) => {
                shared.refresher.request();
                self.pause(Waiting::NotServing(said)).await?;
            }
            Refusal::BadRedirect(said) => {
                shared.refresher.request();
                self.pause(Waiting::NotServing(said)).await?;
            }
            Refusal::NoScript | Refusal::ExecAbort | Refusal::Other => {
                return Err(Error::server(&fault.code, &fault.detail, &node.address));
            }
        }
        Ok(None)
    }

    /// Waits before the next attempt: 2 ms, doubling to 50. Where that is too late for another attempt, waits for the
    /// deadline, since the caller was promised that long.
    async fn pause(&mut self, reason: Waiting) -> Result<(), Error> {
        let pause = Duration::from_millis((2u64 << self.tries.min(5)).min(50));
        self.tries += 1;
        let jitter = pause.mul_f64(0.75 + 0.5 * fastrand::f64());
        let answer_time = ((self.until - self.started) / 4).min(ANSWER_TIME);
        if Instant::now() + jitter + answer_time >= self.until {
            tokio::time::sleep_until(self.until).await;
            let deadline = || Error::deadline(self.started.elapsed(), Some(self.slot), reason);
            return Err(self.lost.take().unwrap_or_else(deadline));
        }
        tokio::time::sleep(jitter).await;
        Ok(())
    }

    /// One attempt at one node. `Err` means that nothing was sent.
    async fn attempt(&self, node: &Node) -> Result<Attempt, String> {
        let link = self.shared.link(node, self.until).await?;
        let limit = match self.repeat {
            Repeat::Idempotent => self.until.min(Instant::now() + ATTEMPT),
            Repeat::Never => self.until,
        };
        node.count();
        let mut attempt = self.send(&link, limit, node, false).await;
        if matches!(&attempt, Attempt::Refused(Refusal::NoScript, _)) {
            self.shared.counters.no_script();
            attempt = self.send(&link, limit, node, true).await;
        }
        if let Attempt::Lost(_) = attempt {
            node.forget(&link);
        }
        Ok(attempt)
    }

    async fn send(&self, link: &Link, limit: Instant, node: &Node, by_text: bool) -> Attempt {
        let mut connection = link.connection.clone();
        let text = match &self.body {
            Body::One(command) if by_text => command.by_text(),
            _ => None,
        };
        let answer = match &self.body {
            Body::One(command) if !self.asked => {
                let cmd = text.as_ref().unwrap_or_else(|| command.cmd());
                let answer = tokio::time::timeout_at(limit, connection.send_packed_command(cmd)).await;
                answer.map(|answer| answer.map(|value| vec![value]))
            }
            body => {
                let pipeline = packed(body, self.asked, text.as_ref());
                let answer = connection.send_packed_commands(&pipeline, 0, pipeline.len());
                tokio::time::timeout_at(limit, answer).await
            }
        };
        match answer {
            Ok(Ok(replies)) => read(&self.body, replies, self.asked, &node.address),
            Ok(Err(cause)) => lost_or_refused(cause, &node.address),
            Err(_) => Attempt::Lost("no answer in time".to_owned()),
        }
    }
}

/// `[ASKING, cmd]` or `[ASKING, MULTI, …, EXEC]` as one contiguous write: an ASKING awaited alone would
/// lend its one-shot flag to whatever another task sends next on the shared connection.
fn packed(body: &Body, asking: bool, by_text: Option<&Cmd>) -> Pipeline {
    let mut pipeline = Pipeline::new();
    if asking {
        pipeline.cmd("ASKING");
    }
    match body {
        Body::One(command) => {
            pipeline.add_command(by_text.cloned().unwrap_or_else(|| command.clone().into_cmd()));
        }
        Body::Transaction(commands) => {
            pipeline.cmd("MULTI");
            for command in commands {
                pipeline.add_command(command.clone().into_cmd());
            }
            pipeline.cmd("EXEC");
        }
    }
    pipeline
}

/// The last reply is the answer. In a transaction the first error while queueing is the true reason for
/// the EXECABORT at its end.
fn read(body: &Body, mut replies: Vec<Value>, asking: bool, from: &Address) -> Attempt {
    let Some(last) = replies.pop() else { return Attempt::Lost("an empty answer".to_owned()) };
    let queued = match body {
        Body::One(_) => &[][..],
        Body::Transaction(_) => &replies[usize::from(asking)..],
    };
    let first_fault = queued.iter().find_map(|reply| match reply {
        Value::ServerError(fault) => Some(fault.clone()),
        _ => None,
    });
    match (first_fault, last) {
        (Some(fault), Value::ServerError(_)) | (None, Value::ServerError(fault)) => {
            let (code, detail) = (fault.code().to_owned(), fault.details().unwrap_or_default().to_owned());
            Attempt::Refused(Refusal::read(&code, &detail, from), RedisFault { code, detail })
        }
        (_, value) => Attempt::Done(value),
    }
}

fn lost_or_refused(cause: RedisError, from: &Address) -> Attempt {
    match (cause.code(), cause.is_unrecoverable_error() || cause.is_io_error()) {
        (Some(code), false) => {
            let (code, detail) = (code.to_owned(), cause.detail().unwrap_or_default().to_owned());
            Attempt::Refused(Refusal::read(&code, &detail, from), RedisFault { code, detail })
        }
        _ => Attempt::Lost(cause.to_string()),
    }
}
