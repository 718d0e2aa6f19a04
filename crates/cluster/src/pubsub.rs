//! Sharded pub/sub: one connection per node, one SSUBSCRIBE per channel, set up again wherever its slot
//! lives after a failover or a move.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use echomq_keyspace::Slot;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, PushInfo, PushKind, Value};
use tokio::sync::{Notify, mpsc};

use crate::Address;
use crate::answer::{Answer, Class};
use crate::client::Shared;
use crate::node::{CONNECT_LIMIT, client};

/// How many notices wait for a subscriber that does not read; more are dropped, since each is a hint.
const BACKLOG: usize = 64;
/// How soon a channel without its subscription is tried again.
const RETRY: Duration = Duration::from_millis(100);
/// How often the owners of the channels' slots are compared with the map when all is well.
const CHECK: Duration = Duration::from_secs(1);

/// What a subscriber hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A message of the channel.
    Message(Vec<u8>),
    /// The subscription stands (again). Messages sent before may be missing.
    Resubscribed,
}

/// A subscription; dropping it ends it.
#[derive(Debug)]
pub struct Subscription {
    channel: Vec<u8>,
    notices: mpsc::Receiver<Notice>,
    wishes: Weak<Wishes>,
}

impl Subscription {
    /// The next notice; `None` when the client has gone.
    pub async fn next(&mut self) -> Option<Notice> {
        self.notices.recv().await
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.notices.close();
        if let Some(wishes) = self.wishes.upgrade() {
            let mut channels = wishes.lock();
            if let Some(subscribers) = channels.get_mut(&self.channel) {
                subscribers.retain(|subscriber| !subscriber.notices.is_closed());
                if subscribers.is_empty() {
                    channels.remove(&self.channel);
                }
            }
            wishes.changed.notify_one();
        }
    }
}

/// One who wants to hear a channel.
#[derive(Debug)]
struct Subscriber {
    notices: mpsc::Sender<Notice>,
    /// It knows that the subscription stands.
    told: bool,
}

/// Which channels somebody wants to hear.
#[derive(Debug, Default)]
struct Wishes {
    channels: Mutex<HashMap<Vec<u8>, Vec<Subscriber>>>,
    changed: Notify,
}

impl Wishes {
    fn lock(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Vec<Subscriber>>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands on a message. A full backlog loses nothing but hints.
    fn tell(&self, channel: &[u8], message: &[u8]) {
        for subscriber in self.lock().get(channel).into_iter().flatten() {
            let _ = subscriber.notices.try_send(Notice::Message(message.to_vec()));
        }
    }

    /// Tells that the subscription stands: everybody if it stands anew, else those who came later.
    fn stands(&self, channel: &[u8], anew: bool) {
        for subscriber in self.lock().get_mut(channel).into_iter().flatten() {
            if anew || !subscriber.told {
                subscriber.told = true;
                let _ = subscriber.notices.try_send(Notice::Resubscribed);
            }
        }
    }
}

#[derive(Default)]
pub(crate) struct Hub {
    wishes: Arc<Wishes>,
    started: std::sync::OnceLock<()>,
}

impl Hub {
    pub(crate) fn subscribe(&self, shared: &Arc<Shared>, channel: &[u8]) -> Subscription {
        let (sender, notices) = mpsc::channel(BACKLOG);
        let subscriber = Subscriber { notices: sender, told: false };
        self.wishes.lock().entry(channel.to_vec()).or_default().push(subscriber);
        self.wishes.changed.notify_one();
        self.started.get_or_init(|| {
            let (pushes, heard) = mpsc::unbounded_channel();
            let listener = Listener {
                shared: Arc::downgrade(shared),
                wishes: self.wishes.clone(),
                lines: HashMap::new(),
                pushes,
                opened: 0,
            };
            tokio::spawn(listener.run(heard));
        });
        Subscription { channel: channel.to_vec(), notices, wishes: Arc::downgrade(&self.wishes) }
    }
}

/// A push and the line (by its number) that it came over.
type Heard = (u64, PushInfo);

struct Line {
    number: u64,
    connection: MultiplexedConnection,
    channels: HashSet<Vec<u8>>,
}

struct Listener {
    shared: Weak<Shared>,
    wishes: Arc<Wishes>,
    lines: HashMap<Address, Line>,
    pushes: mpsc::UnboundedSender<Heard>,
    opened: u64,
}

impl Listener {
    async fn run(mut self, mut heard: mpsc::UnboundedReceiver<Heard>) {
        let wishes = self.wishes.clone();
        loop {
            let Some(shared) = self.shared.upgrade() else { return };
            let all_stand = self.set_up(&shared).await;
            drop(shared);
            let pause = if all_stand { CHECK } else { RETRY };
            tokio::select! {
                () = wishes.changed.notified() => {}
                () = tokio::time::sleep(pause) => {}
                Some(push) = heard.recv() => {
                    self.hear(push);
                    while let Ok(push) = heard.try_recv() {
                        self.hear(push);
                    }
                }
            }
        }
    }

    fn hear(&mut self, (number, push): Heard) {
        match (push.kind, &push.data[..]) {
            (PushKind::SMessage, [Value::BulkString(channel), Value::BulkString(message)]) => {
                self.wishes.tell(channel, message);
            }
            (PushKind::SUnsubscribe, [Value::BulkString(channel), ..]) => {
                // The slot has left that node, or we asked for it ourselves.
                for line in self.lines.values_mut().filter(|line| line.number == number) {
                    line.channels.remove(channel);
                }
                if let Some(shared) = self.shared.upgrade() {
                    shared.refresher.request();
                }
            }
            (PushKind::Disconnection, _) => {
                self.lines.retain(|_, line| line.number != number);
                if let Some(shared) = self.shared.upgrade() {
                    shared.refresher.request();
                }
            }
            _ => {}
        }
    }

    /// Subscribes what is wanted and does not stand, drops what is superfluous. True when all stands.
    async fn set_up(&mut self, shared: &Arc<Shared>) -> bool {
        let wanted: HashSet<Vec<u8>> = self.wishes.lock().keys().cloned().collect();
        let mut all_stand = true;
        for channel in &wanted {
            let Some(owner) = owner_of(shared, channel) else {
                shared.refresher.request();
                all_stand = false;
                continue;
            };
            let stood = self.stands_at(&owner, channel);
            if stood || self.subscribe(shared, &owner, channel).await {
                self.wishes.stands(channel, !stood);
            } else {
                all_stand = false;
            }
        }
        self.drop_superfluous(shared, &wanted).await;
        all_stand
    }

    fn stands_at(&self, node: &Address, channel: &[u8]) -> bool {
        self.lines.get(node).is_some_and(|line| line.channels.contains(channel))
    }

    /// Ends what nobody wants any more, and what stands at the owner of its slot too: a replica tells its
    /// subscribers what its primary is told, so that after a failover all would be heard twice.
    async fn drop_superfluous(&mut self, shared: &Shared, wanted: &HashSet<Vec<u8>>) {
        let is_superfluous = |node: &Address, channel: &Vec<u8>| {
            !wanted.contains(channel)
                || owner_of(shared, channel)
                    .is_some_and(|owner| owner != *node && self.stands_at(&owner, channel))
        };
        let mut superfluous = Vec::new();
        for (node, line) in &self.lines {
            let channels = line.channels.iter().filter(|channel| is_superfluous(node, channel));
            superfluous.extend(channels.map(|channel| (node.clone(), channel.clone())));
        }
        for (node, channel) in superfluous {
            let Some(line) = self.lines.get_mut(&node) else { continue };
            let mut cmd = Cmd::new();
            cmd.arg("SUNSUBSCRIBE").arg(&channel);
            match tokio::time::timeout(CONNECT_LIMIT, line.connection.send_packed_command(&cmd)).await {
                Ok(Ok(Value::Push { .. })) => drop(line.channels.remove(&channel)),
                // A replica refers us to its primary, a frozen node is silent: closing the line ends it as well.
                _ => drop(self.lines.remove(&node)),
            }
        }
    }

    async fn subscribe(&mut self, shared: &Arc<Shared>, owner: &Address, channel: &[u8]) -> bool {
        if !self.lines.contains_key(owner) {
            match self.open(shared, owner).await {
                Ok(line) => drop(self.lines.insert(owner.clone(), line)),
                Err(cause) => {
                    tracing::debug!(%owner, cause, "no connection for messages");
                    shared.refresher.request();
                    return false;
                }
            }
        }
        let Some(line) = self.lines.get_mut(owner) else { return false };
        let mut cmd = Cmd::new();
        cmd.arg("SSUBSCRIBE").arg(channel);
        match tokio::time::timeout(CONNECT_LIMIT, line.connection.send_packed_command(&cmd)).await {
            Ok(Ok(Value::Push { kind: PushKind::SSubscribe, data }))
                if data.first() == Some(&Value::BulkString(channel.to_vec())) =>
            {
                line.channels.insert(channel.to_vec());
                true
            }
            Ok(Ok(Value::ServerError(fault))) => {
                let answer = Answer::read(fault.code(), fault.details().unwrap_or_default(), owner);
                if let Class::Moved { slot, to } = answer.class {
                    shared.map.patch(slot, &to);
                }
                shared.refresher.request();
                false
            }
            // An unasked-for SUNSUBSCRIBE taken for our answer, a lost line, a frozen node: begin anew.
            _ => {
                self.lines.remove(owner);
                shared.refresher.request();
                false
            }
        }
    }

    async fn open(&mut self, shared: &Arc<Shared>, owner: &Address) -> Result<Line, String> {
        self.opened += 1;
        let (number, pushes) = (self.opened, self.pushes.clone());
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(None)
            .set_connection_timeout(Some(CONNECT_LIMIT))
            .set_push_sender(move |push| pushes.send((number, push)).map_err(|_| redis::aio::SendError));
        let connection = async {
            client(owner, &shared.seeds)?.get_multiplexed_async_connection_with_config(&config).await
        };
        let connection = connection.await.map_err(|cause| cause.to_string())?;
        Ok(Line { number, connection, channels: HashSet::new() })
    }
}

fn owner_of(shared: &Shared, channel: &[u8]) -> Option<Address> {
    shared.map.owner(Slot::of(channel)).map(|node| node.address.clone())
}
