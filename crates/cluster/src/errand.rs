//! One request on its way: tried at the owner of its slot, through redirects and failures, until it is
//! answered or its deadline has come.

use std::sync::Arc;
use std::time::Duration;

use echomq_keyspace::Slot;
use redis::{Cmd, Pipeline, RedisError, Value};
use tokio::time::Instant;
use tracing::{Instrument, field};

use crate::answer::{Answer, Class};
use crate::client::{Next, Shared};
use crate::confirm::{self, Confirmation, Failed};
use crate::error::{Call, Waiting};
use crate::node::{Link, Node};
use crate::pacing::Pacing;
use crate::silence::{CONNECTING, SILENCE, Silent};
use crate::{Address, Command, Confirm, Error, Repeat, Transaction};

/// How much longer than its block time a blocking call may keep silent.
const BLOCK_MARGIN: Duration = Duration::from_secs(1);

/// A request that may be repeated waits no longer than this for one node's answer, so that a frozen node
/// costs seconds and not the whole deadline.
pub(crate) const ATTEMPT: Duration = Duration::from_secs(2);

/// What is written to the wire in one go, and how its replies are read.
pub(crate) enum Body {
    One(Command),
    Transaction(Transaction),
}

/// Which connection carries a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// The one that all share.
    Shared,
    /// One to a replica, that all share; the owner's when there is no replica that answers.
    Replica,
    /// One of its own for as long as it takes: the server may keep silent for so long.
    Apart { block: Duration },
    /// That of writes which wait for a confirmation.
    Confirming(Confirm),
}

/// What one attempt came to.
enum Attempt {
    Done(Value),
    Refused(Answer, Fault),
    /// Sent, and no answer: it may have happened.
    Lost(String),
}

struct Fault {
    code: String,
    detail: String,
    /// Which of a transaction's words it is about: 0 for MULTI, then its commands; none for EXEC.
    place: Option<usize>,
}

/// One request on its way.
pub(crate) struct Errand<'c> {
    shared: &'c Arc<Shared>,
    slot: Slot,
    body: Body,
    repeat: Repeat,
    lane: Lane,
    pacing: Pacing,
    /// An earlier attempt may have happened: whatever is waited for since, it is not certain that nothing was written.
    lost: Option<Error>,
    /// The last attempt was an ASK's.
    pub(crate) asked: bool,
    /// Waits while the keys are on two nodes.
    pub(crate) patient: bool,
    /// How the write was confirmed, on the lane for it.
    pub(crate) confirmation: Option<Confirmation>,
}

impl<'c> Errand<'c> {
    pub(crate) fn new(
        shared: &'c Arc<Shared>,
        deadline: Duration,
        slot: Slot,
        body: Body,
        repeat: Repeat,
        lane: Lane,
    ) -> Errand<'c> {
        let silence = match lane {
            Lane::Apart { block } => block,
            Lane::Confirming(confirm) => confirm.within(),
            Lane::Shared | Lane::Replica => Duration::ZERO,
        };
        Errand {
            shared,
            slot,
            body,
            repeat,
            lane,
            pacing: Pacing::new(deadline + silence),
            lost: None,
            asked: false,
            patient: true,
            confirmation: None,
        }
    }

    pub(crate) async fn run(&mut self) -> Result<Value, Error> {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return self.go().await;
        }
        let span = tracing::debug_span!(
            "request",
            slot = self.slot.get(),
            command = self.body.name(),
            node = field::Empty
        );
        Box::pin(self.go().instrument(span)).await
    }

    async fn go(&mut self) -> Result<Value, Error> {
        let shared = self.shared;
        // An ASK holds for one attempt; the next one begins at the owner again.
        let mut asked: Option<Arc<Node>> = None;
        loop {
            let known = asked.clone().or_else(|| self.first_to_ask());
            let node = match known {
                Some(node) => node,
                None => {
                    let owner = shared.owner_after_a_look(self.slot, self.pacing.until).await;
                    owner.ok_or_else(|| self.late(Waiting::NoOwner))?
                }
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
                    let lost = Error::unknown(Some(self.slot), &node.address, cause);
                    if self.repeat == Repeat::Never {
                        return Err(lost);
                    }
                    self.lost = Some(lost);
                    self.pause(Waiting::Answer).await?;
                }
                Attempt::Refused(answer, fault) => {
                    asked = self.refused(answer, fault, &node).await?;
                }
            }
        }
    }

    /// A replica, for the first attempt of a read that asks for one; else the owner.
    fn first_to_ask(&mut self) -> Option<Arc<Node>> {
        if self.lane == Lane::Replica {
            if let (true, Some(replica)) = (self.pacing.is_fresh(), self.shared.map.replica(self.slot)) {
                return Some(replica);
            }
            self.lane = Lane::Shared;
        }
        self.shared.map.owner(self.slot)
    }

    /// Acts on a refusal; returns the node to ask for the next attempt alone, if it is not the owner.
    async fn refused(
        &mut self,
        answer: Answer,
        fault: Fault,
        node: &Node,
    ) -> Result<Option<Arc<Node>>, Error> {
        let said = || format!("{} {}", fault.code, fault.detail).trim_end().to_owned();
        match self.shared.heed(&answer, self.repeat, said) {
            // The first hop costs nothing, but two nodes may send a request to and fro.
            Next::Hop(node) if self.pacing.hop().await => Ok(node),
            Next::Hop(_) => Err(self.late(Waiting::SlotMoves)),
            Next::Pause(reason) if reason == Waiting::SlotMoves && !self.patient => {
                Err(Error::deadline(self.pacing.elapsed(), Some(self.slot), reason))
            }
            Next::Pause(reason) => self.pause(reason).await.map(|()| None),
            Next::Tell => {
                let call = Call::of(self.body.describe(fault.place), &answer, self.shared);
                Err(Error::server(&fault.code, &fault.detail, &node.address, call))
            }
        }
    }

    /// Waits before the next attempt, or says for what the deadline was waited for.
    async fn pause(&mut self, reason: Waiting) -> Result<(), Error> {
        if self.pacing.pause().await { Ok(()) } else { Err(self.late(reason)) }
    }

    fn late(&mut self, reason: Waiting) -> Error {
        let deadline = || Error::deadline(self.pacing.elapsed(), Some(self.slot), reason);
        self.lost.take().unwrap_or_else(deadline)
    }

    /// One attempt at one node. `Err` means that nothing was sent.
    async fn attempt(&mut self, node: &Arc<Node>) -> Result<Attempt, String> {
        tracing::Span::current().record("node", field::display(&node.address));
        let mut link = match self.lane {
            Lane::Shared => Some(self.connected(node).await?),
            Lane::Replica => Some(self.shared.reading_link(node, self.pacing.until).await?),
            Lane::Apart { .. } => Some(self.shared.apart(node).await?),
            Lane::Confirming(_) => None,
        };
        node.count();
        self.shared.counters.slot(self.slot);
        let limit = self.limit();
        let mut attempt = self.send(link.as_mut(), limit, node, false).await?;
        if let Attempt::Refused(Answer { class: Class::NoScript, .. }, _) = &attempt
            && let Body::One(command) = &self.body
            && let Some(sha) = command.script_sha()
        {
            self.shared.counters.no_script(&node.address, sha);
            attempt = self.send(link.as_mut(), limit, node, true).await?;
        }
        let bad = match &attempt {
            Attempt::Lost(_) => true,
            // Who has to log in begins with a new connection.
            Attempt::Refused(answer, _) => answer.class == Class::NotLoggedIn,
            Attempt::Done(_) => false,
        };
        match (link, self.lane) {
            (Some(link), Lane::Apart { .. }) if !bad => node.apart.give_back(link),
            (Some(link), _) if bad => node.forget(&link),
            _ => {}
        }
        Ok(attempt)
    }

    /// The shared connection. Whoever waits for one to a node that hangs hears when the slot has another owner.
    async fn connected(&self, node: &Node) -> Result<Link, String> {
        let link = self.shared.link(node, self.pacing.until);
        match self.asked {
            true => link.await,
            false => {
                let heard = self.shared.heard(self.slot, node, CONNECTING, self.pacing.until, link).await;
                heard.unwrap_or_else(Silent::say)
            }
        }
    }

    /// Waits for an answer until `limit`, or until it is clear that there will be none.
    async fn heard<T>(
        &self,
        node: &Node,
        limit: Instant,
        answer: impl Future<Output = T>,
    ) -> Result<T, Silent> {
        // Who was asked for once, or as a replica, need not own the slot, and a blocking call is silent by nature.
        match self.lane {
            Lane::Shared if !self.asked => self.shared.heard(self.slot, node, SILENCE, limit, answer).await,
            _ => tokio::time::timeout_at(limit, answer).await.map_err(|_| Silent::Late),
        }
    }

    /// Until when one attempt waits for its answer.
    fn limit(&self) -> Instant {
        let silence = match self.lane {
            Lane::Apart { block } => return self.pacing.until.min(Instant::now() + block + BLOCK_MARGIN),
            Lane::Confirming(confirm) => confirm.within(),
            Lane::Shared | Lane::Replica => Duration::ZERO,
        };
        match self.repeat {
            Repeat::Idempotent => self.pacing.until.min(Instant::now() + ATTEMPT + silence),
            Repeat::Never => self.pacing.until,
        }
    }

    /// `Err` means that nothing was sent.
    async fn send(
        &mut self,
        link: Option<&mut Link>,
        limit: Instant,
        node: &Arc<Node>,
        by_text: bool,
    ) -> Result<Attempt, String> {
        let text = match &self.body {
            Body::One(command) if by_text => command.by_text(),
            _ => None,
        };
        let answer = match (&self.body, link, self.lane) {
            (body, None, Lane::Confirming(confirm)) => {
                let request = packed(body, self.asked, text.as_ref());
                let slot = (!self.asked).then_some(self.slot);
                match confirm::send(self.shared, node, slot, request, confirm, limit).await {
                    Ok((replies, confirmation)) => {
                        self.confirmation = Some(confirmation);
                        Ok(Ok(replies))
                    }
                    Err(Failed::Unsent(cause)) => return Err(cause),
                    Err(Failed::Lost(cause)) => return Ok(Attempt::Lost(cause)),
                }
            }
            (_, None, _) => return Err("no connection".to_owned()),
            (Body::One(command), Some(link), _) if !self.asked => {
                let cmd = text.as_ref().unwrap_or_else(|| command.cmd());
                let answer = self.heard(node, limit, link.connection.send_packed_command(cmd)).await;
                answer.map(|answer| answer.map(|value| vec![value]))
            }
            (body, Some(link), _) => {
                let pipeline = packed(body, self.asked, text.as_ref());
                let answer = link.connection.send_packed_commands(&pipeline, 0, pipeline.len());
                self.heard(node, limit, answer).await
            }
        };
        Ok(match answer {
            Ok(Ok(replies)) => read(&self.body, replies, self.asked, &node.address),
            Ok(Err(cause)) => lost_or_refused(cause, &node.address),
            Err(silent) => Attempt::Lost(silent.cause().to_owned()),
        })
    }
}

impl Body {
    fn name(&self) -> &str {
        match self {
            Body::One(command) => command.name(),
            Body::Transaction(_) => "MULTI",
        }
    }

    /// What an error says was asked for.
    fn describe(&self, place: Option<usize>) -> String {
        match (self, place) {
            (Body::One(command), _) => format!("{command:?}"),
            (Body::Transaction(_), None) => "EXEC".to_owned(),
            (Body::Transaction(transaction), Some(place)) => {
                match place.checked_sub(1).and_then(|at| transaction.commands().get(at)) {
                    Some(command) => format!("{command:?} in a transaction"),
                    None => "MULTI".to_owned(),
                }
            }
        }
    }
}

/// `[ASKING, cmd]` or `[ASKING, MULTI, …, EXEC]` as one contiguous write: an ASKING awaited alone would
/// lend its one-shot flag to whatever another task sends next on the shared connection.
pub(crate) fn packed(body: &Body, asking: bool, by_text: Option<&Cmd>) -> Pipeline {
    let mut pipeline = Pipeline::new();
    if asking {
        pipeline.cmd("ASKING");
    }
    match body {
        Body::One(command) => {
            pipeline.add_command(by_text.unwrap_or_else(|| command.cmd()).clone());
        }
        Body::Transaction(transaction) => {
            pipeline.cmd("MULTI");
            for command in transaction.commands() {
                pipeline.add_command(command.cmd().clone());
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
        Body::Transaction(_) => replies.get(usize::from(asking)..).unwrap_or_default(),
    };
    let first_fault = queued.iter().enumerate().find_map(|(place, reply)| match reply {
        Value::ServerError(fault) => Some((Some(place), fault.clone())),
        _ => None,
    });
    let (place, fault) = match (first_fault, last) {
        (Some(first), Value::ServerError(_)) => first,
        (None, Value::ServerError(fault)) => (None, fault),
        (_, value) => return Attempt::Done(value),
    };
    let (code, detail) = (fault.code().to_owned(), fault.details().unwrap_or_default().to_owned());
    let mut answer = Answer::read(&code, &detail, from);
    // Where MULTI itself was refused, what followed it was carried out, or refused, one by one.
    answer.partly |= place == Some(0);
    Attempt::Refused(answer, Fault { code, detail, place })
}

fn lost_or_refused(cause: RedisError, from: &Address) -> Attempt {
    match (cause.code(), cause.is_unrecoverable_error() || cause.is_io_error()) {
        (Some(code), false) => {
            let (code, detail) = (code.to_owned(), cause.detail().unwrap_or_default().to_owned());
            Attempt::Refused(Answer::read(&code, &detail, from), Fault { code, detail, place: None })
        }
        _ => Attempt::Lost(cause.to_string()),
    }
}
