//! Workers that were away for longer than their lease.
//!
//! The timelines are those of `testdata/cases/queue/lease-timelines.tsv` with real workers, sixty times as fast: a lease
//! of 30 s is one of 500 ms, a sweep every 5 s is one every 83 ms. Where a line says *at 36 s*, the test waits for what
//! the line before it must have brought about.

use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use echomq::{Job, JobId, JobSpec, Queue, Report, State};
use testkit::LIMIT;

use crate::scene::{Gate, Runs, add, again, queue, until};

const LEASE: Duration = Duration::from_millis(500);

/// A worker whose whole process stands still, as after SIGSTOP, from the moment its handler begins until it is thawed:
/// nothing is renewed, nothing is heard.
struct Frozen {
    claimed: mpsc::Receiver<Job>,
    thaw: mpsc::Sender<Result<(), String>>,
    thread: JoinHandle<Report>,
}

impl Frozen {
    fn start(url: String, name: String) -> Frozen {
        let (tell, claimed) = mpsc::channel();
        let (thaw, thawed) = mpsc::channel();
        // The handler blocks the one thread that all of this worker's tasks share.
        let handler_ends = std::sync::Mutex::new(thawed);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let queue = again(&url, &name).await;
                let (ended, mut end) = tokio::sync::mpsc::unbounded_channel();
                let handler = move |job| {
                    tell.send(job).unwrap();
                    let outcome = handler_ends.lock().unwrap().recv().unwrap();
                    ended.send(()).unwrap();
                    async { outcome }
                };
                let worker =
                    queue.worker(handler).concurrency(1).lease(LEASE).owner("a").start().await.unwrap();
                end.recv().await;
                worker.stop(LIMIT).await
            })
        });
        Frozen { claimed, thaw, thread }
    }

    /// Lets it go on with this outcome, and returns what became of it.
    fn thaw(self, outcome: Result<(), String>) -> Report {
        self.thaw.send(outcome).unwrap();
        self.thread.join().unwrap()
    }
}

/// A queue with a worker that sweeps, and that takes the one job when it is let to.
struct Timeline {
    queue: Queue,
    job: JobId,
    a: Frozen,
    /// The run of worker A.
    first: Job,
    b: echomq::Worker,
    b_runs: Runs,
    b_ends: Gate,
}

impl Timeline {
    /// Up to 36 s: A has claimed and is frozen, its lease has run out, the job is back, and B has it.
    async fn until_b_has_the_job(label: &str) -> Timeline {
        let (cluster, queue) = queue(label).await;
        let (b_runs, b_claims, b_ends) = (Runs::default(), Gate::closed(), Gate::closed());
        let handler = {
            let (runs, claims, ends) = (b_runs.clone(), b_claims.clone(), b_ends.clone());
            move |job: Job| {
                let gate = if job.payload == b"keeps B busy" { claims.clone() } else { ends.clone() };
                runs.note(job);
                async move {
                    gate.pass().await;
                    Ok::<(), String>(())
                }
            }
        };
        queue.enqueue(JobSpec::new("keeps B busy")).await.unwrap();
        let b = queue.worker(handler).concurrency(1).lease(LEASE).owner("b").start().await.unwrap();
        until("B is busy", async || b_runs.count() == 1).await;
        let job = queue.enqueue(JobSpec::new("job 1")).await.unwrap().id().clone();
        let a = Frozen::start(cluster.url(), queue.name().to_string());
        let first = tokio::task::block_in_place(|| a.claimed.recv_timeout(LIMIT)).unwrap();
        assert_eq!((&first.id, first.attempt), (&job, 1));

        until("the job is back", async || queue.counts().await.unwrap().pending == 1).await;
        let back = queue.job(&job).await.unwrap().unwrap();
        let tries = back.tries.unwrap();
        assert_eq!((back.state, tries.lost, tries.failures), (State::Pending, 1, 0));
        b_claims.open();
        until("B has the job", async || b_runs.count() == 2).await;
        let second = b_runs.all().pop().unwrap();
        assert_eq!((&second.id, second.attempt), (&job, 2));
        assert!(second.token > first.token);
        Timeline { queue, job, a, first, b, b_runs, b_ends }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c044_a_worker_frozen_for_longer_than_its_lease_completes_nothing_and_the_other_ones_run_stands() {
    let Timeline { queue, job, a, first, b, b_runs, b_ends, .. } =
        Timeline::until_b_has_the_job("c044").await;
    let before = queue.job(&job).await.unwrap().unwrap();
    let report = tokio::task::block_in_place(|| a.thaw(Ok(())));
    assert_eq!((report.done, report.lost), (0, 1));
    let after = queue.job(&job).await.unwrap().unwrap();
    assert_eq!((after.state, after.score, after.tries), (before.state, before.score, before.tries));
    assert_eq!(after.score, Some(b_runs.all()[1].token as f64), "B holds it");
    assert_ne!(after.score, Some(first.token as f64));

    b_ends.open();
    until("B has completed it", async || queue.job(&job).await.unwrap().is_none()).await;
    let report = b.stop(LIMIT).await;
    assert_eq!((report.done, report.lost), (2, 0));
    let counts = queue.counts().await.unwrap();
    assert_eq!((counts.done, counts.lost, counts.held()), (2, 1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn c045_a_stale_failure_changes_nothing_of_a_job_that_another_has_completed() {
    let Timeline { queue, job, a, b, b_ends, .. } = Timeline::until_b_has_the_job("c045").await;
    b_ends.open();
    until("B has completed it", async || queue.counts().await.unwrap().done == 2).await;
    b.stop(LIMIT).await;
    let report = tokio::task::block_in_place(|| a.thaw(Err("the order is gone".to_owned())));
    assert_eq!((report.retried, report.buried, report.lost), (0, 0, 1));
    assert!(queue.job(&job).await.unwrap().is_none());
    let counts = queue.counts().await.unwrap();
    assert_eq!((counts.done, counts.retried, counts.dead, counts.held()), (2, 0, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_renewed_for_as_long_as_the_handler_runs() {
    let (cluster, queue) = queue("renew").await;
    let other = again(&cluster.url(), queue.name().as_str()).await;
    let ids = add(&queue, 3).await;
    let runs = Runs::default();
    let handler = |runs: &Runs| {
        let runs = runs.clone();
        move |job| {
            runs.note(job);
            async {
                tokio::time::sleep(4 * LEASE).await;
                Ok::<(), String>(())
            }
        }
    };
    let worker = queue.worker(handler(&runs)).lease(LEASE).start().await.unwrap();
    until("all three run", async || runs.count() == 3).await;
    let sweeper = other.worker(handler(&runs)).lease(LEASE).start().await.unwrap();
    until("they are done", async || queue.counts().await.unwrap().done == 3).await;
    sweeper.stop(LIMIT).await;
    let report = worker.stop(LIMIT).await;
    assert_eq!((report.done, report.lost), (3, 0));
    runs.assert_once_each(&ids);
    assert_eq!(queue.counts().await.unwrap().lost, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn c046_five_workers_that_sweep_at_once_bring_back_each_of_a_thousand_jobs_once() {
    const JOBS: usize = 1_000;
    let (cluster, queue) = queue("c046").await;
    let ids = add(&queue, JOBS).await;
    let dies = queue.worker(|_| std::future::pending::<Result<(), String>>());
    let dies = dies.concurrency(JOBS).lease(LEASE).start().await.unwrap();
    until("it holds all", async || queue.counts().await.unwrap().active == JOBS as u64).await;
    // What comes back stays to be looked at.
    queue.pause("test").await.unwrap();
    drop(dies);

    let runs = Runs::default();
    let mut sweepers = Vec::new();
    for _ in 0..5 {
        let queue = again(&cluster.url(), queue.name().as_str()).await;
        sweepers.push(queue.worker(runs.noting()).concurrency(100).lease(LEASE));
    }
    let started =
        futures_util::future::join_all(sweepers.into_iter().map(echomq::WorkerBuilder::start)).await;
    until("all are back", async || queue.counts().await.unwrap().pending == JOBS as u64).await;
    let counts = queue.counts().await.unwrap();
    assert_eq!((counts.lost, counts.held(), counts.claims), (JOBS as u64, JOBS as u64, 0));
    for id in &ids {
        let tries = queue.job(id).await.unwrap().unwrap().tries.unwrap();
        assert_eq!((tries.claims, tries.lost, tries.failures), (1, 1, 0), "{id}");
    }
    queue.resume().await.unwrap();
    until("all are done", async || queue.counts().await.unwrap().done == JOBS as u64).await;
    for worker in started {
        assert_eq!(worker.unwrap().stop(LIMIT).await.lost, 0);
    }
    runs.assert_once_each(&ids);
    assert!(runs.all().iter().all(|job| job.attempt == 2), "the attempt went up by one");
}

#[tokio::test(flavor = "multi_thread")]
async fn c059_a_lease_below_a_second_is_kept_or_refused_with_the_least_that_is_taken() {
    let (_cluster, queue) = queue("c059").await;
    for refused in [Duration::ZERO, Duration::from_millis(50)] {
        let started = queue.worker(|_| async { Ok::<(), String>(()) }).lease(refused).start().await;
        let error = started.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(&format!("{refused:?}")) && error.contains("100 ms"), "{error:?}");
    }
    let ids = add(&queue, 1).await;
    let runs = Runs::default();
    let worker = queue.worker(runs.noting()).lease(Duration::from_millis(800)).start().await.unwrap();
    until("it is done", async || queue.counts().await.unwrap().done == 1).await;
    worker.stop(LIMIT).await;
    runs.assert_once_each(&ids);
}
