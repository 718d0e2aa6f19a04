//! The face of the connector. A request becomes an [`Errand`]; what clients share stands here.

use std::sync::Arc;
use std::time::Duration;

use echomq_keyspace::Slot;
use redis::{Cmd, Value};
use tokio::time::Instant;

use crate::address::Seeds;
use crate::errand::{Body, Errand};
use crate::error::Waiting;
use crate::map::SlotMap;
use crate::node::{CONNECT_LIMIT, Link, Node};
use crate::pubsub::Hub;
use crate::refresh::Refresher;
use crate::stats::{Counters, Stats};
use crate::{Address, Command, Error, Repeat, Subscription};

/// How long a request may take when nothing else is said.
pub const DEADLINE: Duration = Duration::from_secs(5);

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

    /// Sends one command to the node of its keys and returns the reply, in the shapes of RESP3; a refusal by the
    /// server is an error.
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
            .shared
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

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    fn errand(&self, slot: Slot, body: Body, repeat: Repeat) -> Errand<'_> {
        Errand::new(&self.shared, self.deadline, slot, body, repeat)
    }
}

impl Shared {
    /// The connection to a node; the error says which node and why.
    ///
    /// Nobody waits longer than one attempt to connect takes: who stands in line behind the attempts of others at
    /// a node that hangs would not hear that its slots have another owner by now.
    pub(crate) async fn link(&self, node: &Node, until: Instant) -> Result<Link, String> {
        let limit = until.min(Instant::now() + CONNECT_LIMIT);
        match tokio::time::timeout_at(limit, node.link(&self.seeds)).await {
            Ok(Ok(link)) => Ok(link),
            Ok(Err(cause)) => Err(format!("{}: {cause}", node.address)),
            Err(_) => Err(format!("{}: no connection in time", node.address)),
        }
    }
}
