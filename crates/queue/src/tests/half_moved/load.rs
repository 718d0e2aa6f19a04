//! A queue at work while its slot moves: what is refused and for how long, and that nothing is lost, done twice, or
//! taken from a worker that could not renew.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use echomq_keyspace::JobId;
use testkit::{Cluster, LIMIT};

use crate::store::{Claimed, Lease, Store};
use crate::{EchoMq, JobSpec, Queue, Worker};

/// Jobs that wait when the move begins.
const JOBS: usize = 2_000;
/// Keys that go in one step, as resharding tools have it.
const STEP: usize = 10;
/// Longer than any of this takes.
const PROBE_LEASE_MS: u64 = 60_000;

/// Who handled which job, kept outside of the server.
type Effects = Arc<Mutex<HashMap<JobId, Vec<String>>>>;

/// A queue with its slot on node `from`, of a cluster of its own.
struct Scene {
    cluster: Cluster,
    queue: Queue,
    slot: u16,
    from: usize,
    to: usize,
    effects: Effects,
}

impl Scene {
    async fn new(label: &str) -> Scene {
        let cluster = testkit::cluster_with(3, 0);
        let mq = EchoMq::connect(&cluster.url()).await.unwrap();
        // Nobody gives up: how long a call took is how long it was refused.
        let mq = EchoMq::over(mq.client().with_deadline(LIMIT));
        let queue = mq.queue(testkit::unique_queue(label)).unwrap();
        let slot = queue.slot().get();
        let from = cluster.owner_of(slot);
        Scene { cluster, queue, slot, from, to: (from + 1) % 3, effects: Effects::default() }
    }

    fn store(&self) -> &Store {
        self.queue.first_part()
    }

    async fn worker(&self, name: &'static str, lease: Duration) -> Worker {
        let effects = self.effects.clone();
        let handler = move |job: crate::Job| {
            let effects = effects.clone();
            async move {
                tokio::time::sleep(Duration::from_millis(50)).await;
                effects.lock().unwrap().entry(job.id).or_default().push(format!("{name} {}", job.token));
                Ok::<(), String>(())
            }
        };
        self.queue.worker(handler).concurrency(20).lease(lease).owner(name).start().await.unwrap()
    }

    /// Waits until nothing is left to do, and compares what was acknowledged with what was handled.
    async fn audit(&self, acknowledged: &[JobId]) {
        eventually("all is done", async || {
            self.queue.counts().await.unwrap().done >= acknowledged.len() as u64
        })
        .await;
        let counts = self.queue.counts().await.unwrap();
        assert_eq!((counts.done, counts.held(), counts.lost), (acknowledged.len() as u64, 0, 0));
        let effects = self.effects.lock().unwrap();
        assert_eq!(effects.len(), acknowledged.len(), "other jobs than those acknowledged");
        for id in acknowledged {
            assert_eq!(effects.get(id).map(Vec::len), Some(1), "{id}: {:?}", effects.get(id));
        }
    }
}

/// The longest that one call of each kind took.
#[derive(Debug)]
struct Longest {
    enqueue: Duration,
    claim: Duration,
    extend: Duration,
}

/// Works, adds, claims and renews while the slot moves; then nothing may be lost or done twice. Returns how long the
/// move took as well.
async fn at_work_during(label: &str, move_slot: fn(&Scene)) -> (Longest, Duration) {
    let scene = Arc::new(Scene::new(label).await);
    let jobs = (0..JOBS).map(|n| JobSpec::new(format!("job {n}"))).collect();
    let added = scene.queue.enqueue_many(jobs).await.unwrap();
    let mut acknowledged: Vec<JobId> = added.iter().map(|added| added.id().clone()).collect();
    let workers = [scene.worker("w1", LIMIT).await, scene.worker("w2", LIMIT).await];

    let moving = scene.clone();
    let started = Instant::now();
    let moved = tokio::task::spawn_blocking(move || {
        move_slot(&moving);
        started.elapsed()
    });
    // A call that begins after the end shows that nothing is refused any more.
    let over = AtomicBool::new(false);
    let ((enqueue, more), claim, extend, took) =
        tokio::join!(enqueues(&scene, &over), claims(&scene, &over), renewals(&scene, &over), async {
            let took = moved.await.unwrap();
            over.store(true, Relaxed);
            took
        });
    acknowledged.extend(more);
    scene.audit(&acknowledged).await;
    for worker in workers {
        assert_eq!(worker.stop(LIMIT).await.lost, 0);
    }
    (Longest { enqueue, claim, extend }, took)
}

/// Calls every few milliseconds until the move is over, and once more; returns the longest call.
async fn longest(over: &AtomicBool, mut call: impl AsyncFnMut()) -> Duration {
    let mut longest = Duration::ZERO;
    let mut last = false;
    while !last {
        last = over.load(Relaxed);
        let started = Instant::now();
        call().await;
        longest = longest.max(started.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    longest
}

async fn enqueues(scene: &Scene, over: &AtomicBool) -> (Duration, Vec<JobId>) {
    let mut ids = Vec::new();
    let add = async || {
        let added = scene.queue.enqueue(JobSpec::new("meanwhile")).await.unwrap();
        assert!(added.is_added());
        ids.push(added.id().clone());
    };
    (longest(over, add).await, ids)
}

async fn claims(scene: &Scene, over: &AtomicBool) -> Duration {
    let mut claims = Vec::new();
    let claim = async || claims.extend(claim_one(scene).await);
    let longest = longest(over, claim).await;
    for (lease, id) in claims {
        settle(scene, lease, id).await;
    }
    longest
}

async fn renewals(scene: &Scene, over: &AtomicBool) -> Duration {
    let (lease, id) = claim_one(scene).await.expect("the jobs are not all gone yet");
    let held = [lease];
    let renew = async || assert_eq!(scene.store().extend(&held, PROBE_LEASE_MS).await.unwrap(), []);
    let longest = longest(over, renew).await;
    let [lease] = held;
    settle(scene, lease, id).await;
    longest
}

async fn claim_one(scene: &Scene) -> Option<(Lease, JobId)> {
    match scene.store().claim(1, PROBE_LEASE_MS, "probe").await.unwrap() {
        Claimed::Jobs { lease, jobs } => jobs.into_iter().next().map(|(id, _)| (lease, id)),
        Claimed::Empty | Claimed::Paused => None,
    }
}

async fn settle(scene: &Scene, lease: Lease, id: JobId) {
    scene.effects.lock().unwrap().entry(id.clone()).or_default().push(format!("probe {}", lease.token));
    assert_eq!(scene.store().complete(&lease, &[id]).await.unwrap(), []);
}

fn classic_move(scene: &Scene) {
    let Scene { cluster, slot, from, to, .. } = scene;
    cluster.begin_move(*slot, *from, *to);
    loop {
        let keys = cluster.keys_in(*from, *slot);
        if keys.is_empty() {
            break;
        }
        for step in keys.chunks(STEP) {
            cluster.move_keys(*from, *to, step);
        }
    }
    cluster.finish_move(*slot, *from, *to);
}

fn atomic_move(scene: &Scene) {
    scene.cluster.migrate_slots(scene.slot, scene.from, scene.to);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_at_work_in_a_classic_move_waits_and_loses_nothing() {
    let (longest, took) = at_work_during("classic", classic_move).await;
    report("classic", &longest, took);
    assert!(longest.enqueue < LIMIT && longest.claim < LIMIT && longest.extend < LIMIT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_at_work_in_an_atomic_move_is_refused_nothing_for_over_a_second() {
    if !testkit::valkey9("a_queue_at_work_in_an_atomic_move_is_refused_nothing_for_over_a_second") {
        return;
    }
    let (longest, took) = at_work_during("atomic", atomic_move).await;
    report("atomic", &longest, took);
    let second = Duration::from_secs(1);
    assert!(longest.enqueue < second && longest.claim < second && longest.extend < second, "{longest:?}");
}

/// The figures are what the test is there for; a harness that captures output shows them with `--nocapture`.
#[allow(clippy::print_stdout)]
fn report(kind: &str, longest: &Longest, took: Duration) {
    println!(
        "{kind} move of {JOBS} waiting jobs took {:.2} s; refused for at most: enqueue {:.2} s, claim {:.2} s, extend {:.2} s",
        took.as_secs_f64(),
        longest.enqueue.as_secs_f64(),
        longest.claim.as_secs_f64(),
        longest.extend.as_secs_f64(),
    );
}

/// Who could not be heard for a while is not therefore dead: after a move every lease holds for one more.
#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_ran_out_in_a_classic_move_is_not_reclaimed_before_one_more_lease() {
    const LEASE: Duration = Duration::from_millis(500);
    let scene = Scene::new("grace").await;
    let cluster = &scene.cluster;
    let held = scene.queue.enqueue(JobSpec::new("held")).await.unwrap().id().clone();
    let dies = scene.queue.worker(|_| std::future::pending::<Result<(), String>>());
    let dies = dies.lease(LEASE).start().await.unwrap();
    eventually("it is claimed", async || scene.queue.counts().await.unwrap().active == 1).await;
    let sweeper = scene.worker("sweeper", LEASE).await;
    eventually("sweeps are regular", async || {
        let counts = scene.store().counts().await.unwrap();
        let ms = |name| counts.meta.iter().find(|(field, _)| field == name)?.1.parse::<u64>().ok();
        ms("swept") > ms("until")
    })
    .await;

    drop(dies);
    cluster.begin_move(scene.slot, scene.from, scene.to);
    cluster.move_keys(scene.from, scene.to, &[scene.store().keys.leases()]);
    tokio::time::sleep(3 * LEASE).await;
    assert!(scene.effects.lock().unwrap().is_empty(), "it was reclaimed in a half moved slot");
    let whole = Instant::now();
    cluster.finish_move(scene.slot, scene.from, scene.to);
    eventually("the job is handled", async || scene.effects.lock().unwrap().contains_key(&held)).await;
    let waited = whole.elapsed();
    assert!(waited >= LEASE, "it was reclaimed {waited:?} after the move");
    sweeper.stop(LIMIT).await;
    assert_eq!(scene.queue.counts().await.unwrap().lost, 1);
}

pub(super) async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < LIMIT, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
