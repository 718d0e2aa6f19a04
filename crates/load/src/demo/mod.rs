//! The demo: 10,000 orders through a private cluster that is hurt meanwhile, with an audit at the end.
//!
//! 1. A cluster of three nodes starts. Four queues stand on its nodes, each with a worker.
//! 2. Orders come in at a steady pace. Meanwhile all connections of a node are cut, and the slot of a busy
//!    queue moves to another node.
//! 3. The rest of the orders comes in at once.
//! 4. When the queues are empty, every order is accounted for.

mod faults;
mod orders;
mod report;
mod shop;

use std::sync::Arc;
use std::time::Duration;

use echomq::{EchoMq, Queue, Worker};
use echomq_local::{Engine, EngineName, Launch, Local};
use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, MissedTickBehavior, interval};

pub use self::faults::{Cut, Moved};
pub use self::report::{QueueReport, Report, Stretch};
use self::shop::Shop;

const NODES: usize = 3;
/// The steady stretch: so many orders, in so many calls, one call in so long.
const STEADY: (usize, usize, Duration) = (4_000, 160, Duration::from_millis(25));
/// When so many orders are in, the connections are cut, and later the slot moves.
const CUT_AT: usize = 1_000;
const MOVE_AT: usize = 2_200;
/// Where the blows land, by their places among the queues: a queue on the node that is cut, one that moves.
const CUT_QUEUE: usize = 0;
const MOVED_QUEUE: usize = 1;
/// How often the view is told.
const TICK: Duration = Duration::from_millis(100);
/// The demo ends after this, done or not.
const LIMIT: Duration = Duration::from_secs(50);
/// How long the workers may take to stop.
const GRACE: Duration = Duration::from_secs(5);

/// What happens, as it happens.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The cluster is ready.
    Ready {
        /// The server, as `Valkey 9.1.2`.
        engine: String,
        /// The addresses of its nodes.
        nodes: Vec<String>,
        /// How long its start took.
        took: Duration,
    },
    /// Orders come in at this pace from now on.
    Steady {
        /// How many will come.
        jobs: u64,
        /// How many in a second.
        per_second: u64,
    },
    /// Ten times a second.
    Progress(Progress),
    /// All connections of a node were cut, and work has gone on.
    Cut(Cut),
    /// The slot of a queue begins to move.
    Moving {
        /// The queue.
        queue: String,
        /// Its slot.
        slot: u16,
        /// The node that has it.
        from: String,
        /// The node that will have it.
        to: String,
    },
    /// The slot has moved, and work has gone on.
    Moved(Moved),
    /// The slot stays, since this server can not move it as a whole.
    Stays {
        /// The server, as `Redis 7.0.15`.
        engine: String,
    },
    /// The rest of the orders comes in at once.
    Burst {
        /// How many.
        jobs: u64,
    },
}

/// How far the demo is.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// How many jobs there will be in all.
    pub jobs: u64,
    /// Each queue.
    pub queues: Vec<QueueProgress>,
}

impl Progress {
    /// Orders done so far.
    pub fn done(&self) -> u64 {
        self.queues.iter().map(|queue| queue.done).sum()
    }
}

/// How far a queue is.
#[derive(Clone, Debug, Default)]
pub struct QueueProgress {
    /// Its name.
    pub name: String,
    /// Its slot.
    pub slot: u16,
    /// The node that owns the slot, as the client knows.
    pub node: String,
    /// Jobs that wait.
    pub pending: u64,
    /// Jobs that a worker holds.
    pub active: u64,
    /// Jobs that wait for their retry.
    pub schedule: u64,
    /// Jobs done.
    pub done: u64,
}

/// Why the demo could not go on. Nothing of it is left running.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No cluster.
    #[error(transparent)]
    Local(#[from] echomq_local::Error),
    /// A queue can not be used.
    #[error(transparent)]
    Queue(#[from] echomq::Error),
    /// The order file can not be read.
    #[error("{0}")]
    Orders(String),
    /// The cluster could not be hurt as planned.
    #[error("the cluster can not be changed as the demo wants: {0}")]
    Fault(String),
}

/// Runs the demo and tells `tell` what happens.
///
/// # Errors
///
/// When the cluster does not start or a step can not be done. Lost orders are no error: the report counts them.
pub async fn run(tell: &(dyn Fn(Event) + Sync)) -> Result<Report, Error> {
    let begun = Instant::now();
    let cluster = spawn_blocking(|| Launch::cluster(NODES).start()).await;
    let cluster = Arc::new(cluster.map_err(|error| Error::Fault(error.to_string()))??);
    let (engine, nodes) = (engine_text(cluster.engine()), addresses(&cluster));
    tell(Event::Ready { engine, nodes, took: begun.elapsed() });
    let result = work(&cluster, tell).await;
    // Ending servers takes a moment, in which nothing else must wait.
    let _ = spawn_blocking(move || drop(cluster)).await;
    result
}

async fn work(cluster: &Arc<Local>, tell: &(dyn Fn(Event) + Sync)) -> Result<Report, Error> {
    let url = cluster.url();
    let (producers, consumers) = (EchoMq::connect(&url).await?, EchoMq::connect(&url).await?);
    let shop = Arc::new(Shop::open(&producers)?);
    let homes_before: Vec<String> = shop.queues().map(home).collect();
    let workers = shop.hire(&consumers).await?;
    let begun = Instant::now();
    let acts = acts(cluster, &shop, tell);
    tokio::pin!(acts);
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut progress = Progress::default();
    let acts = loop {
        tokio::select! {
            ended = &mut acts => break Some(ended?),
            _ = ticks.tick() => {
                progress = shop.look(&progress).await;
                tell(Event::Progress(progress.clone()));
            }
            () = tokio::time::sleep_until(begun + LIMIT) => break None,
        }
    };
    let took = begun.elapsed();
    tell(Event::Progress(shop.look(&progress).await));
    join_all(workers.into_iter().map(|worker: Worker| worker.stop(GRACE))).await;
    report::draw(cluster, &shop, acts, &homes_before, took).await
}

/// What the two stretches and the two blows came to.
struct Acts {
    steady: Stretch,
    burst: Stretch,
    cut: Cut,
    moved: Option<Moved>,
}

async fn acts(cluster: &Arc<Local>, shop: &Shop, tell: &(dyn Fn(Event) + Sync)) -> Result<Acts, Error> {
    let (jobs, calls, pause) = STEADY;
    let fed = watch::Sender::new(0);
    let per_second = (jobs as f64 / (calls as f64 * pause.as_secs_f64())) as u64;
    tell(Event::Steady { jobs: jobs as u64, per_second });
    let begun = Instant::now();
    let (cut, moved, ()) = tokio::try_join!(
        cut_connections(cluster, shop, tell, fed.subscribe()),
        move_slot(cluster, shop, tell, fed.subscribe()),
        feed(shop, &fed),
    )?;
    shop.until_done(jobs as u64).await;
    let steady = Stretch::new(jobs, begun.elapsed(), shop.take_latencies());

    let rest = &shop.orders.all[jobs..];
    tell(Event::Burst { jobs: rest.len() as u64 });
    let begun = Instant::now();
    shop.enqueue(rest).await?;
    shop.until_done(shop.orders.all.len() as u64).await;
    let burst = Stretch::new(rest.len(), begun.elapsed(), shop.take_latencies());
    until_settled(shop).await?;
    Ok(Acts { steady, burst, cut, moved })
}

/// The steady stretch, in calls at equal distances.
async fn feed(shop: &Shop, fed: &watch::Sender<usize>) -> Result<(), Error> {
    let (jobs, calls, pause) = STEADY;
    let mut ticks = interval(pause);
    for call in shop.orders.all[..jobs].chunks(jobs / calls) {
        ticks.tick().await;
        shop.enqueue(call).await?;
        fed.send_modify(|sum| *sum += call.len());
    }
    Ok(())
}

async fn cut_connections(
    cluster: &Arc<Local>,
    shop: &Shop,
    tell: &(dyn Fn(Event) + Sync),
    mut fed: watch::Receiver<usize>,
) -> Result<Cut, Error> {
    let _ = fed.wait_for(|sum| *sum >= CUT_AT).await;
    let i = node_of(cluster, shop, CUT_QUEUE)?;
    let connections = faults::cut(cluster, i).await?;
    let moment = Instant::now();
    let on_again = shop.on_again(CUT_QUEUE, moment).await;
    let cut = Cut { node: addresses(cluster)[i].clone(), connections, on_again_ms: ms(on_again) };
    tell(Event::Cut(cut.clone()));
    Ok(cut)
}

async fn move_slot(
    cluster: &Arc<Local>,
    shop: &Shop,
    tell: &(dyn Fn(Event) + Sync),
    mut fed: watch::Receiver<usize>,
) -> Result<Option<Moved>, Error> {
    let _ = fed.wait_for(|sum| *sum >= MOVE_AT).await;
    if !cluster.engine().has_atomic_migration() {
        tell(Event::Stays { engine: engine_text(cluster.engine()) });
        return Ok(None);
    }
    let from = node_of(cluster, shop, MOVED_QUEUE)?;
    let to = (from + 1) % NODES;
    let Some(queue) = shop.queues().nth(MOVED_QUEUE) else { return Ok(None) };
    let (name, slot, nodes) = (queue.name().to_string(), queue.slot(), addresses(cluster));
    let (old, new) = (nodes[from].clone(), nodes[to].clone());
    tell(Event::Moving { queue: name.clone(), slot: slot.get(), from: old.clone(), to: new.clone() });
    let took = faults::migrate(cluster, slot, from, to).await?;
    let on_again = shop.on_again(MOVED_QUEUE, Instant::now()).await;
    let (took_ms, on_again_ms) = (ms(took), ms(on_again));
    let moved = Moved { queue: name, slot: slot.get(), from: old, to: new, took_ms, on_again_ms };
    tell(Event::Moved(moved.clone()));
    Ok(Some(moved))
}

/// Waits until the servers have heard of every outcome.
async fn until_settled(shop: &Shop) -> Result<(), Error> {
    for queue in shop.queues() {
        while queue.counts().await?.held() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    Ok(())
}

/// The node, by its place, that owns the slot of a queue.
fn node_of(cluster: &Local, shop: &Shop, place: usize) -> Result<usize, Error> {
    let home = shop.queues().nth(place).map(home);
    let found = addresses(cluster).iter().position(|address| Some(address) == home.as_ref());
    found.ok_or_else(|| Error::Fault("a queue has no node".to_owned()))
}

fn home(queue: &Queue) -> String {
    queue.node().map(|node| node.to_string()).unwrap_or_default()
}

fn addresses(cluster: &Local) -> Vec<String> {
    cluster.nodes().iter().map(echomq_local::Node::address).collect()
}

fn engine_text(engine: &Engine) -> String {
    let name = match engine.name() {
        EngineName::Valkey => "Valkey",
        EngineName::Redis => "Redis",
    };
    format!("{name} {}", engine.version())
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}
