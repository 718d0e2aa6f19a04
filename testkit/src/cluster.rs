//! A cluster, and the plain ways to look at it and to hurt it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use echomq_local::{Launch, Local, Node};
use redis::{FromRedisValue, ToRedisArgs, Value};

use crate::names::engine;
use crate::wait::{LIMIT, wait_until};

/// A cluster on loopback. Nodes are named by their place: first the primaries as they were at the start, then the
/// replicas, then those that were added.
#[derive(Debug)]
pub struct Cluster {
    local: Local,
    /// Held while a slot changes its owner: see [`Cluster::change_owner`].
    changing: Mutex<()>,
    /// Held while keys move: see [`Cluster::move_keys`].
    pub(crate) migrating: Mutex<()>,
}

/// The cluster of three primaries that the tests of this process share.
///
/// It runs until the process ends. A test on it leaves it as it was: it uses names of its own ([`unique_queue`]),
/// moves only slots of its own, and kills nothing. If nobody uses it and it is not whole any more, the next caller
/// gets a new one.
///
/// [`unique_queue`]: crate::unique_queue
///
/// # Panics
///
/// When it does not start.
#[track_caller]
pub fn cluster() -> Arc<Cluster> {
    static SHARED: Mutex<Option<Arc<Cluster>>> = Mutex::new(None);
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cluster) = &*shared
        && (Arc::strong_count(cluster) > 1 || cluster.local.wait_ready(Duration::ZERO).is_ok())
    {
        return Arc::clone(cluster);
    }
    let cluster = Arc::new(cluster_with(3, 0));
    *shared = Some(Arc::clone(&cluster));
    cluster
}

/// A cluster of the test's own, with so many replicas for each primary; it ends when it is dropped.
///
/// # Panics
///
/// When it does not start.
#[track_caller]
pub fn cluster_with(primaries: usize, replicas: usize) -> Cluster {
    cluster_configured(primaries, replicas, &[])
}

/// [`cluster_with`] these settings of the servers' configuration.
///
/// # Panics
///
/// When it does not start.
#[track_caller]
pub fn cluster_configured(primaries: usize, replicas: usize, settings: &[(&str, &str)]) -> Cluster {
    let launch = Launch::cluster(primaries)
        .replicas(replicas)
        .engine(engine().clone())
        .config("enable-debug-command", "local");
    let launch = settings.iter().fold(launch, |launch, (key, value)| launch.config(*key, *value));
    let local = launch.start().unwrap_or_else(|error| panic!("{error}"));
    Cluster { local, changing: Mutex::new(()), migrating: Mutex::new(()) }
}

impl Cluster {
    /// `redis://` and the addresses of all nodes, separated by commas.
    pub fn url(&self) -> String {
        self.local.url()
    }

    /// The address of each node.
    pub fn addresses(&self) -> Vec<String> {
        self.local.nodes().iter().map(Node::address).collect()
    }

    /// Node `i`.
    #[track_caller]
    pub fn node(&self, i: usize) -> &Node {
        self.local.nodes().get(i).unwrap_or_else(|| panic!("there is no node {i}"))
    }

    /// Sends one command to node `i` on a connection of its own: a slice of strings, or a tuple if an argument is
    /// of another type. A node that does not answer within two seconds counts as silent.
    ///
    /// # Errors
    ///
    /// What the server or the system said, as text: `MOVED …` too, nothing is followed.
    #[track_caller]
    pub fn raw(&self, i: usize, command: impl ToRedisArgs) -> Result<Value, String> {
        self.node(i).ask(command)
    }

    /// Sends a command that must succeed.
    #[track_caller]
    pub(crate) fn must<T: FromRedisValue>(&self, i: usize, command: impl ToRedisArgs) -> T {
        let said = self.node(i).ask(command);
        said.unwrap_or_else(|error| panic!("node {i} ({}): {error}", self.node(i).address()))
    }

    /// The slot of a key, as a server computes it.
    #[track_caller]
    pub fn slot_of(&self, key: impl AsRef<[u8]>) -> u16 {
        self.must(self.answering(), ("CLUSTER", "KEYSLOT", key.as_ref()))
    }

    /// The node that owns a slot, as the first node that is up sees it.
    ///
    /// # Panics
    ///
    /// When the slot has no owner.
    #[track_caller]
    pub fn owner_of(&self, slot: u16) -> usize {
        let owner = self.view(self.answering()).into_iter().find(|seen| seen.owns(slot));
        owner.unwrap_or_else(|| panic!("slot {slot} has no owner")).node
    }

    /// The nodes that are primaries now, be they up or not.
    #[track_caller]
    pub fn primaries(&self) -> Vec<usize> {
        let view = self.view(self.answering());
        let mut primaries: Vec<usize> =
            view.iter().filter(|seen| seen.primary.is_none()).map(|seen| seen.node).collect();
        primaries.sort_unstable();
        primaries
    }

    /// The nodes that follow node `i` now, be they up or not.
    #[track_caller]
    pub fn replicas_of(&self, i: usize) -> Vec<usize> {
        let view = self.view(self.answering());
        let id = view.iter().find(|seen| seen.node == i).map(|seen| seen.id.clone());
        let mut replicas: Vec<usize> = view
            .iter()
            .filter(|seen| seen.primary.is_some() && seen.primary == id)
            .map(|seen| seen.node)
            .collect();
        replicas.sort_unstable();
        replicas
    }

    /// Ends a node as a crash does and returns when it is gone.
    #[track_caller]
    pub fn kill(&self, i: usize) {
        self.node(i).kill();
    }

    /// Stops a node's process: its connections stay open and it answers nothing, until [`Cluster::thaw`].
    #[track_caller]
    pub fn freeze(&self, i: usize) {
        self.node(i).freeze().unwrap_or_else(|error| panic!("{error}"));
    }

    /// Lets a stopped node go on.
    #[track_caller]
    pub fn thaw(&self, i: usize) {
        self.node(i).thaw().unwrap_or_else(|error| panic!("{error}"));
    }

    /// Starts a node again on its ports, after ending it if it runs, and returns when it answers. It has its slots,
    /// but no keys, unless it can copy them from a node that was promoted meanwhile.
    #[track_caller]
    pub fn restart(&self, i: usize) {
        self.local.restart(i).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Starts one more node, which joins without slots, and returns its place.
    #[track_caller]
    pub fn add_node(&mut self) -> usize {
        self.local.add_node().unwrap_or_else(|error| panic!("{error}"));
        self.local.nodes().len() - 1
    }

    /// Takes the node that was added last out of the cluster and ends it.
    ///
    /// # Panics
    ///
    /// When it owns slots, or when no node was added.
    #[track_caller]
    pub fn remove_node(&mut self) {
        self.local.remove_node().unwrap_or_else(|error| panic!("{error}"));
    }

    /// The slots that node `i` owns, as it says itself.
    #[track_caller]
    pub fn slots_of(&self, i: usize) -> Vec<u16> {
        let own = self.view(i).into_iter().filter(|seen| seen.node == i);
        own.flat_map(|seen| seen.slots).flat_map(|(first, last)| first..=last).collect()
    }

    /// Waits until the cluster is whole and at rest: all nodes up and agreed, all replicas in sync.
    #[track_caller]
    pub fn wait_ready(&self) {
        self.local.wait_ready(LIMIT).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Cuts all connections of clients to node `i`, subscribers too, and returns how many it cut. The node goes on
    /// and they may connect again at once.
    #[track_caller]
    pub fn cut_clients(&self, i: usize) -> u64 {
        let cut = |kind| self.must::<u64>(i, &["CLIENT", "KILL", "TYPE", kind]);
        cut("normal") + cut("pubsub")
    }

    /// Makes every node that is up forget all scripts, as a restart or an operator does.
    #[track_caller]
    pub fn script_flush_all(&self) {
        for i in self.up() {
            self.must::<()>(i, &["SCRIPT", "FLUSH", "SYNC"]);
        }
    }

    /// The nodes that are neither killed nor stopped.
    pub(crate) fn up(&self) -> impl Iterator<Item = usize> {
        (0..self.local.nodes().len()).filter(|i| self.is_up(*i))
    }

    /// The node is neither killed nor stopped.
    pub(crate) fn is_up(&self, i: usize) -> bool {
        self.local.nodes().get(i).is_some_and(|node| node.is_running() && !node.is_frozen())
    }

    #[track_caller]
    pub(crate) fn id_of(&self, i: usize) -> String {
        self.must(i, &["CLUSTER", "MYID"])
    }

    /// A node that answers.
    #[track_caller]
    fn answering(&self) -> usize {
        self.up().next().unwrap_or_else(|| panic!("no node of {} is up", self.url()))
    }

    /// Makes a change after which `owner` owns the slot, and waits until every node that is up agrees; unless `change`
    /// says `false`, for not now, which is handed on.
    ///
    /// One change at a time, and each to its very end: a new owner takes an epoch above those it has heard of. If the
    /// old owner could take a higher one meanwhile, for another slot, its next heartbeat would take this slot back,
    /// and the new owner would delete the keys.
    #[track_caller]
    pub(crate) fn change_owner(&self, slot: u16, owner: usize, change: impl FnOnce() -> bool) -> bool {
        let _one = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        if !change() {
            return false;
        }
        wait_until(&format!("all agree that node {owner} owns slot {slot}"), LIMIT, || {
            let views: Vec<Vec<Seen>> = self.up().map(|i| self.view(i)).collect();
            let owns = |view: &Vec<Seen>| view.iter().any(|seen| seen.node == owner && seen.owns(slot));
            views.iter().all(owns) && views.windows(2).all(|pair| epochs(&pair[0]) == epochs(&pair[1]))
        });
        true
    }

    /// What node `i` says of all nodes of this cluster.
    #[track_caller]
    pub(crate) fn view(&self, i: usize) -> Vec<Seen> {
        let text: String = self.must(i, &["CLUSTER", "NODES"]);
        text.lines().filter_map(|line| self.seen(line)).collect()
    }

    /// Reads one line of `CLUSTER NODES`; nodes that are not of this cluster's starting are left out.
    fn seen(&self, line: &str) -> Option<Seen> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [id, address, _, primary, _, _, epoch, _, slots @ ..] = words.as_slice() else { return None };
        let address = address.split('@').next()?;
        let node = self.local.nodes().iter().position(|node| node.address() == address)?;
        let range = |slot: &&str| {
            let (first, last) = slot.split_once('-').unwrap_or((slot, slot));
            Some((first.parse().ok()?, last.parse().ok()?))
        };
        Some(Seen {
            node,
            id: (*id).to_owned(),
            primary: Some((*primary).to_owned()).filter(|primary| primary != "-"),
            epoch: epoch.parse().ok()?,
            slots: slots.iter().filter_map(range).collect(),
        })
    }
}

/// One node in the view of another.
pub(crate) struct Seen {
    pub(crate) node: usize,
    pub(crate) id: String,
    pub(crate) primary: Option<String>,
    epoch: u64,
    slots: Vec<(u16, u16)>,
}

fn epochs(view: &[Seen]) -> BTreeMap<usize, u64> {
    view.iter().map(|seen| (seen.node, seen.epoch)).collect()
}

impl Seen {
    pub(crate) fn owns(&self, slot: u16) -> bool {
        self.slots.iter().any(|(first, last)| (*first..=*last).contains(&slot))
    }
}
