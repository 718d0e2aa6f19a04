//! The router: brings a request to the node that owns its slot, through redirects and failures, and ends
//! at the deadline with an error that says what it was waiting for.

use std::sync::Arc;
use std::time::Duration;

use echomq_keyspace::Slot;
use redis::{Cmd, Pipeline, RedisError, Value};
use tokio::time::Instant;

use crate::address::Seeds;
use crate::error::Waiting;
use crate::map::SlotMap;
use crate::node::Node;
use crate::pubsub::Hub;
use crate::redirect::Refusal;
use crate::refresh::Refresher;
use crate::stats::{Counters, Stats};
use crate::{Address, Command, Error, Repeat, Subscription};

/// How long a request may take when nothing else is said.
pub const DEADLINE: Duration = Duration::from_secs(5);

/// A request that may be repeated waits no longer than this for one node's answer, so that a frozen node
/// costs seconds and not the whole deadline.
const ATTEMPT: Duration = Duration::from_secs(2);

/// A client of one cluster (or one server). Cheap to clone; all clones share one connection per node.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    deadline: Duration,
}

pub(crate) struct Shared {
    pub(crate) seeds: Seeds,
    pub(crate) map: SlotMap,
    pub(crate) refresher: Refresher,
    pub(crate) counters: Counters,
    hub: Hub,
}

/// What is written to the wire in one go, and how its replies are read.
enum Body {
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

impl Client {
    /// Connects to a cluster or a single server: `redis://[user[:password]@]host:port[,host:port…]` or `unix:/path`.
    /// Asks the first node that answers for the topology.
    pub async fn connect(url: &str) -> Result<Client, Error> {
        let shared = Arc::new(Shared {
            seeds: Seeds::parse(url)?,
            map: SlotMap::new(),
            refresher: Refresher::default(),
            counters: Counters::default(),
            hub: Hub::default(),
        });
        shared.refresh_now().await?;
        Shared::keep_fresh(&shared);
        Ok(Client { shared, deadline: DEADLINE })
    }

    /// The same connections with another deadline per request.
    #[must_use]
    pub fn with_deadline(&self, deadline: Duration) -> Client {
        Client { shared: self.shared.clone(), deadline }
    }

    /// The deadline of each request.
    pub fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Sends one command to the node of its keys and returns the reply; a refusal by the server is an error.
    pub async fn call(&self, command: Command, repeat: Repeat) -> Result<Value, Error> {
        Ok(self.call_traced(command, repeat).await?.0)
    }

    /// Like [`Client::call`], and tells whether the answer came from the other side of a slot that is being
    /// moved. There, "no such key" may mean "not here yet".
    pub async fn call_traced(&self, command: Command, repeat: Repeat) -> Result<(Value, bool), Error> {
        let slot = command.slot().inspect_err(|_| self.shared.counters.refused())?;
        let mut errand = self.errand(slot, Body::One(command), repeat);
        let value = errand.run().await?;
        Ok((value, errand.asked))
    }

    /// Like [`Client::call`] for an idempotent command, but does not wait while its keys are on two nodes:
    /// then the answer is `None`, at once.
    pub async fn call_whole(&self, command: Command) -> Result<Option<Value>, Error> {
        let slot = command.slot().inspect_err(|_| self.shared.counters.refused())?;
        let mut errand = self.errand(slot, Body::One(command), Repeat::Idempotent);
        errand.patient = false;
        match errand.run().await {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_slot_moving() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends the commands as one MULTI … EXEC to the one node of all their keys, in one write. The replies come
    /// in order; an error of a single command stands in its place as [`Value::ServerError`].
    ///
    /// Scripts must be sent by text here, see [`Command::script_text`].
    pub async fn transaction(&self, commands: Vec<Command>, repeat: Repeat) -> Result<Vec<Value>, Error> {
        let slot = Command::common_slot(&commands).inspect_err(|_| self.shared.counters.refused())?;
        match self.errand(slot, Body::Transaction(commands), repeat).run().await? {
            Value::Array(replies) => Ok(replies),
            other => Err(Error::reply("EXEC", &other)),
        }
    }

    /// Sends a command to one node by name, without routing. For what has no key.
    pub async fn call_node(&self, node: &Address, cmd: &Cmd) -> Result<Value, Error> {
        let node = self.shared.map.node(node);
        let until = Instant::now() + self.deadline;
        let link = self
            .link(&node, until)
            .await
            .map_err(|cause| Error::no_node(std::slice::from_ref(&node.address), cause))?;
        let mut connection = link.connection.clone();
        let answer = tokio::time::timeout_at(until, connection.send_packed_command(cmd)).await;
        match answer {
            Ok(Ok(Value::ServerError(fault))) => {
                Err(Error::server(fault.code(), fault.details().unwrap_or_default(), &node.address))
            }
            Ok(Ok(value)) => Ok(value),
            Ok(Err(cause)) => {
                node.forget(&link);
                Err(Error::no_node(std::slice::from_ref(&node.address), cause))
            }
            Err(_) => {
                node.forget(&link);
                Err(Error::deadline(self.deadline, None, Waiting::Answer))
            }
        }
    }

    /// The nodes that own slots.
    pub fn primaries(&self) -> Vec<Address> {
        self.shared.map.primaries().iter().map(|node| node.address.clone()).collect()
    }

    /// The node that owns a slot, as far as the client knows. No round trip.
    pub fn owner(&self, slot: Slot) -> Option<Address> {
        self.shared.map.owner(slot).map(|node| node.address.clone())
    }

    /// Listens to a sharded channel. A message is a hint: after a reconnect some may be missing, and the
    /// subscription says so by [`Notice::Resubscribed`](crate::Notice::Resubscribed).
    pub fn subscribe(&self, channel: &[u8]) -> Subscription {
        self.shared.hub.subscribe(&self.shared, channel)
    }

    /// What this client did so far.
    pub fn stats(&self) -> Stats {
        self.shared.counters.read(&self.shared.map.nodes())
    }

    fn errand(&self, slot: Slot, body: Body, repeat: Repeat) -> Errand<'_> {
        let started = Instant::now();
        let until = started + self.deadline;
        Errand {
            client: self,
            slot,
            body,
            repeat,
            started,
            until,
            hops: 0,
            tries: 0,
            asked: false,
            patient: true,
        }
    }

    async fn link(&self, node: &Node, until: Instant) -> Result<crate::node::Link, String> {
        match tokio::time::timeout_at(until, node.link(&self.shared.seeds)).await {
            Ok(Ok(link)) => Ok(link),
            Ok(Err(cause)) => Err(format!("{}: {cause}", node.address)),
            Err(_) => Err(format!("{}: no connection in time", node.address)),
        }
    }
}

/// One request on its way.
struct Errand<'c> {
    client: &'c Client,
    slot: Slot,
    body: Body,
    repeat: Repeat,
    started: Instant,
    until: Instant,
    hops: u32,
    tries: u32,
    /// The last attempt was an ASK's.
    asked: bool,
    /// Waits while the keys are on two nodes.
    patient: bool,
}

impl Errand<'_> {
    async fn run(&mut self) -> Result<Value, Error> {
        let shared = &self.client.shared;
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
                    if self.repeat == Repeat::Never || Instant::now() >= self.until {
                        return Err(Error::unknown(self.slot, &node.address, cause));
                    }
                    self.pause(Waiting::Answer)
                        .await
                        .map_err(|_| Error::unknown(self.slot, &node.address, cause))?;
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
        let shared = &self.client.shared;
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

    /// Waits before the next attempt: 2 ms, doubling to 50, and never past the deadline.
    async fn pause(&mut self, reason: Waiting) -> Result<(), Error> {
        let pause = Duration::from_millis((2u64 << self.tries.min(5)).min(50));
        self.tries += 1;
        let jitter = pause.mul_f64(0.75 + 0.5 * fastrand::f64());
        if Instant::now() + jitter >= self.until {
            tokio::time::sleep_until(self.until).await;
            return Err(Error::deadline(self.started.elapsed(), Some(self.slot), reason));
        }
        tokio::time::sleep(jitter).await;
        Ok(())
    }

    /// One attempt at one node. `Err` means that nothing was sent.
    async fn attempt(&self, node: &Node) -> Result<Attempt, String> {
        let link = self.client.link(node, self.until).await?;
        let limit = match self.repeat {
            Repeat::Idempotent => self.until.min(Instant::now() + ATTEMPT),
            Repeat::Never => self.until,
        };
        node.count();
        let mut attempt = self.send(&link, limit, node, false).await;
        if matches!(&attempt, Attempt::Refused(Refusal::NoScript, _)) {
            self.client.shared.counters.no_script();
            attempt = self.send(&link, limit, node, true).await;
        }
        if let Attempt::Lost(_) = attempt {
            node.forget(&link);
        }
        Ok(attempt)
    }

    async fn send(&self, link: &crate::node::Link, limit: Instant, node: &Node, by_text: bool) -> Attempt {
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
