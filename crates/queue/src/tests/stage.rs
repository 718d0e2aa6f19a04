//! A queue of a test's own on the shared cluster, with a clock that the test turns, and a view of its raw keys.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use echomq_cluster::{Client, Command, Notice, Repeat, Subscription, Transaction, Value};
use echomq_keyspace::{KeyKind, KeyName, Part, PartKeys, Prefix, QueueName, Slot};

use super::state::{Bytes, Fields, Scores, State};
use crate::clock::Clock;
use crate::reply::bytes;
use crate::store::Store;

/// More keys than any test puts into a slot.
const ALL: u32 = 1_000_000;
/// What an ear's own messages begin with.
const END: &[u8] = b"\0end ";

pub(super) struct Stage {
    pub(super) cluster: Arc<testkit::Cluster>,
    pub(super) name: String,
    pub(super) store: Store,
    clock: Arc<AtomicU64>,
}

impl Stage {
    /// A queue on the cluster that all tests share, at 1,000 ms by its clock.
    pub(super) async fn new(label: &str) -> Stage {
        let cluster = tokio::task::spawn_blocking(testkit::cluster).await.unwrap();
        Stage::on(cluster, label).await
    }

    pub(super) async fn on(cluster: Arc<testkit::Cluster>, label: &str) -> Stage {
        let (name, keys) = keys_alone_in_their_slot(label);
        let clock = Arc::new(AtomicU64::new(1_000));
        let client = Client::connect(&cluster.url()).await.unwrap();
        let store = Store { client, keys, clock: Clock::fixed(clock.clone()) };
        Stage { cluster, name, store, clock }
    }

    /// The same queue through connections of its own, as another process has them.
    pub(super) async fn other_process(&self) -> Store {
        Store { client: Client::connect(&self.cluster.url()).await.unwrap(), ..self.store.clone() }
    }

    /// The same queue by the server's clock.
    pub(super) fn by_the_servers_clock(&self) -> Store {
        Store { clock: Clock::default(), ..self.store.clone() }
    }

    pub(super) fn set_clock(&self, ms: u64) {
        self.clock.store(ms, Ordering::SeqCst);
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.clock.load(Ordering::SeqCst)
    }

    pub(super) fn advance(&self, ms: u64) {
        self.clock.fetch_add(ms, Ordering::SeqCst);
    }

    /// The node that owns the queue's slot.
    pub(super) fn node(&self) -> usize {
        self.cluster.owner_of(self.store.keys.slot().get())
    }

    /// Everything that is stored in the queue's slot.
    pub(super) async fn state(&self) -> State {
        let keys = &self.store.keys;
        let range = |key: &[u8]| Command::new("ZRANGE").key(key).arg("0").arg("-1").arg("WITHSCORES");
        let replies = self
            .together(vec![
                range(keys.pending()),
                range(keys.active()),
                range(keys.leases()),
                range(keys.schedule()),
                range(keys.dead()),
                Command::new("HGETALL").key(keys.tries()),
                Command::new("HGETALL").key(keys.meta()),
                keys_in_slot(keys.slot()),
            ])
            .await;
        let [pending, active, leases, schedule, dead, tries, meta, names] = &replies[..] else {
            panic!("eight commands were answered by {replies:?}")
        };
        let (job, foreign) = self.rows(list(names)).await;
        State {
            pending: scores(pending),
            active: scores(active),
            leases: scores(leases),
            schedule: scores(schedule),
            dead: scores(dead),
            tries: fields(tries),
            meta: fields(meta),
            job,
            foreign,
        }
    }

    /// The rows among these keys by id, and the keys that are nothing the queue knows.
    async fn rows(&self, names: Vec<Bytes>) -> (Fields, Fields) {
        let keys = &self.store.keys;
        let fixed = [
            keys.pending(),
            keys.active(),
            keys.leases(),
            keys.schedule(),
            keys.dead(),
            keys.tries(),
            keys.meta(),
        ];
        let (mut ids, mut rows, mut foreign) = (Vec::new(), Vec::new(), Fields::new());
        for name in names.into_iter().filter(|name| !fixed.contains(&name.as_slice())) {
            match KeyName::parse(&Prefix::none(), &name) {
                Ok(KeyName { kind: KeyKind::Job, id: Some(id), .. }) if keys.job(&id) == name => {
                    ids.push(id.as_bytes().to_vec());
                    rows.push(name);
                }
                _ => drop(foreign.insert(name, Bytes::new())),
            }
        }
        if rows.is_empty() {
            return (Fields::new(), foreign);
        }
        let bodies = self.must(Command::new("MGET").keys(rows.iter().map(Vec::as_slice))).await;
        (ids.into_iter().zip(list(&bodies)).collect(), foreign)
    }

    /// Stores just this and nothing else.
    pub(super) async fn put(&self, state: &State) {
        self.clear().await;
        let keys = &self.store.keys;
        let mut writes = Vec::new();
        let sets = [keys.pending(), keys.active(), keys.leases(), keys.schedule(), keys.dead()];
        for (key, (_, set)) in sets.into_iter().zip(state.sets()) {
            let add = |(member, score): (&Bytes, &f64)| Command::new("ZADD").key(key).arg(*score).arg(member);
            writes.extend(set.iter().map(add));
        }
        for (key, map) in [(keys.tries(), &state.tries), (keys.meta(), &state.meta)] {
            let set = |(field, value): (&Bytes, &Bytes)| Command::new("HSET").key(key).arg(field).arg(value);
            writes.extend(map.iter().map(set));
        }
        for (id, body) in &state.job {
            writes.push(Command::new("SET").key(keys.job(&super::call::id(id))).arg(body));
        }
        if !writes.is_empty() {
            self.together(writes).await;
        }
    }

    pub(super) async fn clear(&self) {
        let names = self.keys().await;
        if !names.is_empty() {
            self.must(Command::new("UNLINK").keys(names.iter().map(Vec::as_slice))).await;
        }
    }

    /// Every key of the slot with its value as the server serialises it.
    pub(super) async fn dumps(&self) -> BTreeMap<Bytes, Bytes> {
        let names = self.keys().await;
        if names.is_empty() {
            return BTreeMap::new();
        }
        let dumps = names.iter().map(|name| Command::new("DUMP").key(name)).collect();
        let values = self.together(dumps).await;
        names.into_iter().zip(values.iter().map(|value| bytes(value).unwrap().to_vec())).collect()
    }

    async fn keys(&self) -> Vec<Bytes> {
        // A command without a key takes its node from the one beside it.
        let beside = Command::new("EXISTS").key(self.store.keys.meta());
        let replies = self.together(vec![beside, keys_in_slot(self.store.keys.slot())]).await;
        list(&replies[1])
    }

    /// The server's time in ms.
    pub(super) async fn server_ms(&self) -> u64 {
        let beside = Command::new("EXISTS").key(self.store.keys.meta());
        let replies = self.together(vec![beside, Command::new("TIME")]).await;
        let time: Vec<u64> =
            list(&replies[1]).iter().map(|part| String::from_utf8_lossy(part).parse().unwrap()).collect();
        time[0] * 1_000 + time[1] / 1_000
    }

    pub(super) async fn must(&self, command: Command) -> Value {
        self.store.client.call(command, Repeat::Never).await.unwrap()
    }

    async fn together(&self, commands: Vec<Command>) -> Vec<Value> {
        let replies =
            self.store.client.transaction(Transaction::of(commands).unwrap(), Repeat::Never).await.unwrap();
        let fault = replies.iter().find(|reply| matches!(reply, Value::ServerError(_)));
        assert_eq!(fault, None);
        replies
    }

    /// Listens to the queue's wake-up messages from now on.
    pub(super) async fn ear(&self) -> Ear<'_> {
        let mut messages = self.store.client.subscribe(self.store.keys.wake());
        assert_eq!(messages.next().await, Some(Notice::Resubscribed));
        Ear { stage: self, messages, asked: 0 }
    }
}

/// Hears what is published on the queue's channel.
pub(super) struct Ear<'s> {
    stage: &'s Stage,
    messages: Subscription,
    asked: u32,
}

impl Ear<'_> {
    /// The messages since the last time; `None` when the subscription was cut meanwhile, by a test beside this one
    /// that hurts the cluster, and some may be missing. A message of the ear's own, which comes after all of them,
    /// ends the wait.
    pub(super) async fn heard(&mut self) -> Option<Vec<String>> {
        let mut heard = Some(Vec::new());
        let mut end = self.ask().await;
        loop {
            match self.messages.next().await? {
                Notice::Message(message) if message == end => return heard,
                Notice::Message(message) if message.starts_with(END) => {}
                Notice::Message(message) => {
                    let message = String::from_utf8_lossy(&message).into_owned();
                    heard.iter_mut().for_each(|heard| heard.push(message.clone()));
                }
                Notice::Resubscribed => {
                    heard = None;
                    end = self.ask().await;
                }
            }
        }
    }

    async fn ask(&mut self) -> Vec<u8> {
        self.asked += 1;
        let end = [END, self.asked.to_string().as_bytes()].concat();
        self.stage.must(Command::new("SPUBLISH").key(self.stage.store.keys.wake()).arg(&end)).await;
        end
    }
}

/// No other stage of this process is in the slot, so that all its keys are the stage's own.
fn keys_alone_in_their_slot(label: &str) -> (String, PartKeys) {
    static USED: Mutex<Option<HashSet<Slot>>> = Mutex::new(None);
    let mut used = USED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let used = used.get_or_insert_default();
    loop {
        let name = testkit::unique_queue(label);
        let keys = PartKeys::new(&Prefix::none(), &Part::first(&QueueName::parse(&name).unwrap()));
        if used.insert(keys.slot()) {
            return (name, keys);
        }
    }
}

fn keys_in_slot(slot: Slot) -> Command {
    Command::new("CLUSTER").arg("GETKEYSINSLOT").arg(slot.get()).arg(ALL)
}

/// The bytes of a reply in order, however it nests them: the two protocols differ in that.
pub(super) fn list(value: &Value) -> Vec<Bytes> {
    match value {
        Value::Array(items) => items.iter().flat_map(list).collect(),
        Value::Map(pairs) => {
            pairs.iter().flat_map(|(key, value)| [list(key), list(value)]).flatten().collect()
        }
        Value::Double(score) => vec![score.to_string().into_bytes()],
        other => vec![bytes(other).unwrap_or_else(|| panic!("{other:?} has no bytes")).to_vec()],
    }
}

fn fields(value: &Value) -> Fields {
    list(value).chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

fn scores(value: &Value) -> Scores {
    let score = |text: &Bytes| String::from_utf8_lossy(text).parse().unwrap();
    list(value).chunks_exact(2).map(|pair| (pair[0].clone(), score(&pair[1]))).collect()
}
