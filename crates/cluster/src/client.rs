//! The face of the connector. A request becomes an [`Errand`]; what clients share stands here.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use echomq_keyspace::{Escaped, Slot};
use redis::{Cmd, Value};
use tokio::time::Instant;

use crate::answer::{Answer, Class, Step};
use crate::command::unfit_to_share;
use crate::dial::{self, CONNECT_LIMIT, Dialer};
use crate::errand::{Body, Errand, Lane};
use crate::error::{Call, Waiting};
use crate::map::SlotMap;
use crate::node::{Link, Node};
use crate::pacing::LONGEST;
use crate::pubsub::{Hub, Kind};
use crate::refresh::Refresher;
use crate::renewal::Renewal;
use crate::stats::{Counters, Stats};
use crate::{Address, Command, Confirm, Confirmation, Error, Repeat, Settings, Subscription, Transaction};

/// How long a request may take when nothing else is said.
pub const DEADLINE: Duration = Duration::from_secs(5);

/// A client of one cluster (or one server). Cheap to clone; all clones share its connections (see the crate's page).
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    deadline: Duration,
}

pub(crate) struct Shared {
    pub(crate) dialer: Dialer,
    pub(crate) map: SlotMap,
    pub(crate) refresher: Refresher,
    pub(crate) counters: Counters,
    pub(crate) hub: Hub,
    pub(crate) renewal: OnceLock<Renewal>,
}

impl Client {
    /// Connects to a cluster or a single server by URL; its form is told at [`Settings::from_url`].
    pub async fn connect(url: &str) -> Result<Client, Error> {
        Client::connect_with(Settings::from_url(url)?).await
    }

    /// Connects to a cluster or a single server. Asks the first node that answers for the topology.
    ///
    /// # Errors
    ///
    /// Settings that can not be used: a certificate's file that can not be read. [`Error::is_unreachable`] with what the last node said when none told the topology: it did not answer, or refused
    /// the login or the database, or is the replica of an unknown primary. [`Error::is_uncovered`] when a slot has no
    /// node and [`Settings::full_coverage`] asks for all.
    pub async fn connect_with(settings: Settings) -> Result<Client, Error> {
        let (credentials, full_coverage) = (settings.credentials.clone(), settings.full_coverage);
        let shared = Arc::new(Shared {
            dialer: Dialer::new(settings),
            map: SlotMap::new(),
            refresher: Refresher::default(),
            counters: Counters::default(),
            hub: Hub::default(),
            renewal: OnceLock::new(),
        });
        let seeds = &shared.dialer.settings.seeds;
        if let Some(tls) = &shared.dialer.settings.tls {
            dial::check(tls).await.map_err(Error::settings)?;
        }
        let login = shared.dialer.login().await.map_err(|cause| Error::no_node(seeds, cause))?;
        shared.refresh_now(true).await?;
        if let Some(hole) = shared.map.hole().filter(|_| full_coverage) {
            return Err(Error::deadline(Duration::ZERO, Some(hole), Waiting::NoOwner));
        }
        Shared::keep_fresh(&shared);
        if let (Some(credentials), Some(login)) = (credentials, login) {
            Shared::keep_logged_in(&shared, credentials, login);
        }
        Ok(Client { shared, deadline: DEADLINE })
    }

    /// The same connections with another deadline per request, of at most a year.
    #[must_use]
    pub fn with_deadline(&self, deadline: Duration) -> Client {
        Client { shared: self.shared.clone(), deadline: deadline.min(LONGEST) }
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
        let slot = self.proven(command.slot())?;
        let mut errand = self.errand(slot, Body::One(command), repeat, Lane::Shared);
        let value = errand.run().await?;
        Ok((value, errand.asked))
    }

    /// Like [`Client::call`] for an idempotent command, but does not wait while its keys are on two nodes:
    /// then the answer is `None`, at once.
    pub async fn call_whole(&self, command: Command) -> Result<Option<Value>, Error> {
        let slot = self.proven(command.slot())?;
        let mut errand = self.errand(slot, Body::One(command), Repeat::Idempotent, Lane::Shared);
        errand.patient = false;
        match errand.run().await {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_slot_moving() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends a command that may wait at the server for so long, such as `BLMOVE`, over a connection that it has for
    /// itself. The longest block that the command asks for is `block`; an answer that is more than a second later than that
    /// is waited for no longer, since the connection may have been dropped without a sign.
    pub async fn call_blocking(
        &self,
        command: Command,
        block: Duration,
        repeat: Repeat,
    ) -> Result<Value, Error> {
        let slot = self.proven(command.slot_apart())?;
        let block = block.min(LONGEST);
        self.errand(slot, Body::One(command), repeat, Lane::Apart { block }).run().await
    }

    /// Sends a command that reads to a replica of its slot's owner, and to the owner when no replica answers. What a replica
    /// says may be some milliseconds old, so that a decision must not rest on it.
    ///
    /// # Errors
    ///
    /// Those of [`Client::call`], and for a command of which the table does not say that it only reads.
    pub async fn read_replica(&self, command: Command) -> Result<Value, Error> {
        let slot = self.proven(command.slot())?;
        if !command.is_readonly() {
            return self
                .proven(Err(Error::refused(command.name(), "a replica only answers what only reads")));
        }
        self.errand(slot, Body::One(command), Repeat::Idempotent, Lane::Replica).run().await
    }

    /// Sends the transaction to the one node of its keys, in one write. The replies come in order; an error of a single
    /// command stands in its place as [`Value::ServerError`]. An empty one costs no round trip.
    pub async fn transaction(&self, transaction: Transaction, repeat: Repeat) -> Result<Vec<Value>, Error> {
        if transaction.is_empty() {
            return Ok(Vec::new());
        }
        let slot = transaction.slot();
        match self.errand(slot, Body::Transaction(transaction), repeat, Lane::Shared).run().await? {
            Value::Array(replies) => Ok(replies),
            other => Err(Error::reply("EXEC", &other)),
        }
    }

    /// Like [`Client::call`], and then waits until the write has got as far as `confirm` says. Writes and their WAIT go
    /// together, and all that gather while one WAIT is under way share the next. The deadline counts without the waiting.
    ///
    /// A [`Confirmation`] that came short is no error: the write stands, and sending it again would write twice.
    pub async fn call_confirmed(
        &self,
        command: Command,
        repeat: Repeat,
        confirm: Confirm,
    ) -> Result<(Value, Confirmation), Error> {
        let slot = self.proven(command.slot())?;
        self.confirmed(slot, Body::One(command), repeat, confirm).await
    }

    /// [`Client::transaction`], confirmed like [`Client::call_confirmed`].
    pub async fn transaction_confirmed(
        &self,
        transaction: Transaction,
        repeat: Repeat,
        confirm: Confirm,
    ) -> Result<(Vec<Value>, Confirmation), Error> {
        let slot = transaction.slot();
        match self.confirmed(slot, Body::Transaction(transaction), repeat, confirm).await? {
            (Value::Array(replies), confirmation) => Ok((replies, confirmation)),
            (other, _) => Err(Error::reply("EXEC", &other)),
        }
    }

    async fn confirmed(
        &self,
        slot: Slot,
        body: Body,
        repeat: Repeat,
        confirm: Confirm,
    ) -> Result<(Value, Confirmation), Error> {
        let mut errand = self.errand(slot, body, repeat, Lane::Confirming(confirm));
        let value = errand.run().await?;
        match errand.confirmation.take() {
            Some(confirmation) => Ok((value, confirmation)),
            None => Err(Error::reply("WAIT", &value)),
        }
    }

    /// Sends a command to one node by name, without routing. For what has no key.
    ///
    /// # Errors
    ///
    /// [`Error::is_refused`] for what would change the connection, which others share, or make them wait behind it
    /// (`MULTI`, `SUBSCRIBE`, `CLIENT REPLY`, `WAIT` …); those of [`Client::call`], without redirects.
    pub async fn call_node(&self, node: &Address, cmd: &Cmd) -> Result<Value, Error> {
        if let Some(why) = unfit_to_share(&words(cmd).collect::<Vec<_>>()) {
            return self.proven(Err(Error::refused(&shown(cmd), why)));
        }
        let node = self.shared.map.node(node);
        let until = Instant::now() + self.deadline;
        let link = self
            .shared
            .link(&node, until)
            .await
            .map_err(|cause| Error::no_node(std::slice::from_ref(&node.address), cause))?;
        let mut connection = link.connection.clone();
        let cause = match tokio::time::timeout_at(until, connection.send_packed_command(cmd)).await {
            Ok(Ok(Value::ServerError(fault))) => {
                let (code, detail) = (fault.code(), fault.details().unwrap_or_default());
                let answer = Answer::read(code, detail, &node.address);
                let call = Call::of(shown(cmd), &answer, &self.shared);
                return Err(Error::server(code, detail, &node.address, call));
            }
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(cause)) => cause.to_string(),
            Err(_) => "no answer in time".to_owned(),
        };
        node.forget(&link);
        Err(Error::unknown(None, &node.address, cause))
    }

    fn proven<T>(&self, proof: Result<T, Error>) -> Result<T, Error> {
        proof.inspect_err(|_| self.shared.counters.refused())
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
        self.shared.hub.subscribe(&self.shared, Kind::Sharded, channel)
    }

    /// Listens to a plain channel (`PUBLISH`), whose messages every node of a cluster hands to all others. Otherwise like
    /// [`Client::subscribe`]. All plain channels of a client share one connection, to some node.
    pub fn subscribe_plain(&self, channel: &[u8]) -> Subscription {
        self.shared.hub.subscribe(&self.shared, Kind::Plain, channel)
    }

    /// What this client did so far.
    pub fn stats(&self) -> Stats {
        self.shared.counters.read(&self.shared.map.nodes(), self.shared.dialer.open())
    }

    /// How many requests each slot got from this client, for those that got any: whose tag is hot.
    pub fn slot_requests(&self) -> Vec<(Slot, u64)> {
        self.shared.counters.slots()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    fn errand(&self, slot: Slot, body: Body, repeat: Repeat, lane: Lane) -> Errand<'_> {
        Errand::new(&self.shared, self.deadline, slot, body, repeat, lane)
    }
}

impl Shared {
    /// The connection to a node; the error says which node and why.
    ///
    /// Nobody waits longer than one attempt to connect takes: who stands in line behind the attempts of others at
    /// a node that hangs would not hear that its slots have another owner by now.
    pub(crate) async fn link(&self, node: &Node, until: Instant) -> Result<Link, String> {
        had(node, until, node.link(&self.dialer)).await
    }

    /// The connection for reads that a replica answers too.
    pub(crate) async fn reading_link(&self, node: &Node, until: Instant) -> Result<Link, String> {
        had(node, until, node.reading_link(&self.dialer)).await
    }

    /// A connection to a node that nobody else uses.
    pub(crate) async fn apart(&self, node: &Node) -> Result<Link, String> {
        had(node, Instant::now() + CONNECT_LIMIT, node.apart.take(&node.address, &self.dialer)).await
    }

    /// Tells the map, the counters and the refresher of a refusal; what is left is for the request that met it.
    pub(crate) fn heed(&self, answer: &Answer, repeat: Repeat, said: impl FnOnce() -> String) -> Next {
        match answer.step(repeat) {
            // Where there is to be one endpoint no redirect is followed.
            Step::Follow { .. } | Step::AskThere { .. } if self.dialer.settings.one_endpoint => Next::Tell,
            Step::Follow { slot, to } => {
                self.counters.moved();
                self.map.patch(slot, &to);
                self.refresher.request();
                Next::Hop(None)
            }
            Step::AskThere { to } => {
                self.counters.asked();
                Next::Hop(Some(self.map.node(&to)))
            }
            Step::Wait if answer.class == Class::TryAgain => {
                self.counters.try_again();
                Next::Pause(Waiting::SlotMoves)
            }
            Step::Wait => Next::Pause(Waiting::NotServing(said())),
            Step::RefreshAndWait => {
                self.refresher.request();
                Next::Pause(Waiting::NotServing(said()))
            }
            Step::SendText | Step::Tell => Next::Tell,
        }
    }

    /// Who is asking, as servers name them.
    pub(crate) fn user(&self) -> String {
        self.dialer.user()
    }
}

/// What a request does after a refusal.
pub(crate) enum Next {
    /// Tries again at once: at this node, once, or at the slot's owner.
    Hop(Option<Arc<Node>>),
    /// Tries again at the owner, a little later.
    Pause(Waiting),
    /// Tells its caller.
    Tell,
}

async fn had(
    node: &Node,
    until: Instant,
    link: impl Future<Output = Result<Link, String>>,
) -> Result<Link, String> {
    match tokio::time::timeout_at(until.min(Instant::now() + CONNECT_LIMIT), link).await {
        Ok(Ok(link)) => Ok(link),
        Ok(Err(cause)) => Err(format!("{}: {cause}", node.address)),
        Err(_) => Err(format!("{}: no connection in time", node.address)),
    }
}

/// The first words of a command that was built by hand.
fn shown(cmd: &Cmd) -> String {
    words(cmd).take(4).map(|word| Escaped(word).to_string()).collect::<Vec<_>>().join(" ")
}

fn words(cmd: &Cmd) -> impl Iterator<Item = &[u8]> {
    cmd.args_iter().filter_map(|arg| match arg {
        redis::Arg::Simple(word) => Some(word),
        _ => None,
    })
}
