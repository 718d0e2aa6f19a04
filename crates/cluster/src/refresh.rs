//! Keeps the slot map fresh: one refresh at a time, in the background, with a pause after each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use echomq_keyspace::Slot;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use redis::{Cmd, Value};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::client::Shared;
use crate::node::{Link, Node};
use crate::topology::{self, Shard};
use crate::{Address, Error};

/// How long one node may take to tell the topology.
const ANSWER_LIMIT: Duration = Duration::from_secs(1);
/// When a node has not answered so soon, another one is asked side by side; the first answer counts.
const PATIENCE: Duration = Duration::from_millis(250);
/// The pause after a refresh, failed or not. It doubles up to [`LONGEST_PAUSE`] while nothing new is heard; up to half
/// as much again is added at random.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(300);
/// How soon the task notices that its client has gone.
const BREATH: Duration = Duration::from_secs(1);
/// A slot that had no node so recently has none.
const HOLE_TRUST: Duration = Duration::from_secs(1);

/// A bell: however many requests ring it meanwhile, one refresh follows.
pub(crate) struct Refresher {
    bell: Notify,
    /// When the topology was told last.
    told: watch::Sender<Option<Instant>>,
    /// CLUSTER SLOTS is refused to us, CLUSTER SHARDS is not.
    by_shards: AtomicBool,
}

impl Default for Refresher {
    fn default() -> Refresher {
        Refresher { bell: Notify::new(), told: watch::Sender::new(None), by_shards: AtomicBool::new(false) }
    }
}

impl Refresher {
    pub(crate) fn request(&self) {
        self.bell.notify_one();
    }
}

impl Shared {
    /// Starts the background task; it ends when the last client has gone.
    pub(crate) fn keep_fresh(shared: &Arc<Shared>) {
        let weak = Arc::downgrade(shared);
        tokio::spawn(async move {
            let (mut pause, mut looked) = (PAUSE, Instant::now());
            while let Some(shared) = weak.upgrade() {
                let calm = shared.dialer.settings.look_every;
                let rung = timeout(BREATH.min(calm), shared.refresher.bell.notified()).await.is_ok();
                if !rung {
                    pause = PAUSE;
                    if looked.elapsed() < calm {
                        continue;
                    }
                }
                looked = Instant::now();
                pause = match shared.refresh_now(pause == PAUSE).await {
                    Ok(true) => PAUSE,
                    Ok(false) => (pause * 2).min(LONGEST_PAUSE),
                    Err(error) => {
                        tracing::debug!(%error, "the topology could not be refreshed");
                        (pause * 2).min(LONGEST_PAUSE)
                    }
                };
                drop(shared);
                sleep(pause.mul_f64(1.0 + 0.5 * fastrand::f64())).await;
            }
        });
    }

    /// The node of a slot that had none: after another look at the topology, if the last one is not quite fresh.
    pub(crate) async fn owner_after_a_look(&self, slot: Slot, until: Instant) -> Option<Arc<Node>> {
        let mut told = self.refresher.told.subscribe();
        let is_fresh = told.borrow_and_update().is_some_and(|told| told.elapsed() < HOLE_TRUST);
        if !is_fresh {
            self.refresher.request();
            let _ = timeout_at(until, told.changed()).await;
        }
        self.map.owner(slot)
    }

    /// Asks for the topology and takes it over; true if it has changed. The `first` time nodes with a connection are
    /// preferred, since they answer soonest; when they had nothing new, one of them may be cut off from the cluster.
    pub(crate) async fn refresh_now(&self, first: bool) -> Result<bool, Error> {
        self.counters.refreshed();
        let candidates = self.candidates(first);
        let told = self.first_told(&candidates).await.map_err(|last| Error::no_node(&candidates, last))?;
        let changed = self.map.replace(&told);
        self.refresher.told.send_replace(Some(Instant::now()));
        Ok(changed)
    }

    /// Whom to ask: two nodes of the last topology, then the seeds (whose names are looked up anew), then the others.
    fn candidates(&self, connected_first: bool) -> Vec<Address> {
        let seeds = &self.dialer.settings.seeds;
        if self.dialer.settings.one_endpoint {
            return seeds.clone();
        }
        let mut known = self.map.nodes();
        fastrand::shuffle(&mut known);
        if connected_first {
            known.sort_by_key(|node| !node.is_connected());
        }
        let mut known: Vec<Address> = known.iter().map(|node| node.address.clone()).collect();
        let others = known.split_off(known.len().min(2));
        let mut candidates: Vec<Address> = Vec::new();
        for address in known.iter().chain(seeds).chain(&others) {
            if !candidates.contains(address) {
                candidates.push(address.clone());
            }
        }
        candidates
    }

    /// The first whole answer. One with a hole is believed when a second node has none that is fuller. The error is
    /// what the last one said.
    async fn first_told(&self, candidates: &[Address]) -> Result<Vec<Shard>, String> {
        let mut waiting = candidates.iter();
        let mut asked = FuturesUnordered::new();
        let mut fullest: Option<Vec<Shard>> = None;
        let mut last = String::new();
        loop {
            asked.extend(waiting.next().map(|address| self.ask(address)));
            let others_wait = waiting.len() > 0;
            let answer = tokio::select! {
                answer = asked.next() => answer,
                () = sleep(PATIENCE), if others_wait => continue,
            };
            match answer {
                Some(Ok(told)) => {
                    let is_second = fullest.is_some();
                    let covered = topology::covered(&told);
                    if fullest.as_ref().is_none_or(|fullest| topology::covered(fullest) < covered) {
                        fullest = Some(told);
                    }
                    if is_second || covered == usize::from(Slot::COUNT) {
                        break;
                    }
                }
                Some(Err(cause)) => last = cause,
                None if others_wait => {}
                None => break,
            }
        }
        fullest.ok_or(last)
    }

    async fn ask(&self, address: &Address) -> Result<Vec<Shard>, String> {
        let node = self.map.node(address);
        let until = Instant::now() + ANSWER_LIMIT;
        let link = self.link(&node, until).await?;
        if self.dialer.settings.one_endpoint {
            let said = said(&node, &link, until, &["PING"]).await?;
            return said.map(|_| topology::single(address)).map_err(|fault| refused(address, &fault));
        }
        let by_shards = self.refresher.by_shards.load(Ordering::Relaxed);
        let first = if by_shards { "SHARDS" } else { "SLOTS" };
        let other = if by_shards { "SLOTS" } else { "SHARDS" };
        match said(&node, &link, until, &["CLUSTER", first]).await? {
            Ok(answer) => self.read(first, &answer, address),
            Err(fault) if fault.contains("cluster support disabled") => {
                self.ask_role(&node, &link, until).await
            }
            Err(fault) if is_not_to_be_had(&fault) => {
                match said(&node, &link, until, &["CLUSTER", other]).await? {
                    Ok(answer) => {
                        self.refresher.by_shards.store(!by_shards, Ordering::Relaxed);
                        self.read(other, &answer, address)
                    }
                    Err(_) => Err(format!(
                        "{}. If the service hides its nodes, say so: one-endpoint=true in the URL, or Settings::one_endpoint",
                        refused(address, &fault)
                    )),
                }
            }
            Err(fault) => Err(refused(address, &fault)),
        }
    }

    fn read(&self, form: &str, answer: &Value, from: &Address) -> Result<Vec<Shard>, String> {
        let shards = match form {
            "SLOTS" => topology::parse_slots(answer, from),
            _ => topology::parse_shards(answer, from, self.dialer.settings.tls.is_some()),
        };
        match shards.map_err(|error| format!("{from}: {error}"))? {
            shards if shards.is_empty() => Err(format!("{from} knows no slot that has a node")),
            shards => Ok(shards),
        }
    }

    /// A single server owns every slot, if it is no replica: that one would refuse each write, or send it away.
    async fn ask_role(&self, node: &Node, link: &Link, until: Instant) -> Result<Vec<Shard>, String> {
        // Who may not ask takes it for a primary.
        let role = said(node, link, until, &["ROLE"]).await?.unwrap_or(Value::Nil);
        match topology::followed(&role) {
            Some(primary) => Err(format!(
                "{} is a replica of {primary}, and no primary is known: name the primary in the URL",
                node.address
            )),
            None => Ok(topology::single(&node.address)),
        }
    }
}

/// One command on a connection that stands; the inner error is the server's refusal.
async fn said(
    node: &Node,
    link: &Link,
    until: Instant,
    words: &[&str],
) -> Result<Result<Value, String>, String> {
    let mut cmd = Cmd::new();
    cmd.arg(words);
    let mut connection = link.connection.clone();
    let address = &node.address;
    match timeout_at(until, connection.send_packed_command(&cmd)).await {
        Ok(Ok(Value::ServerError(fault))) => {
            Ok(Err(format!("{} {}", fault.code(), fault.details().unwrap_or_default())))
        }
        Ok(Ok(answer)) => Ok(Ok(answer)),
        Ok(Err(cause)) => {
            node.forget(link);
            Err(format!("{address}: {cause}"))
        }
        Err(_) => {
            // Whatever it leads to is silent: the name may have another address by now.
            node.forget(link);
            Err(format!("{address} did not answer within {} s", ANSWER_LIMIT.as_secs()))
        }
    }
}

fn refused(address: &Address, fault: &str) -> String {
    format!("{address} answered {}", fault.trim_end())
}

/// This user may not ask that, or this server does not know it.
fn is_not_to_be_had(fault: &str) -> bool {
    fault.starts_with("NOPERM") || fault.to_ascii_lowercase().contains("unknown")
}
