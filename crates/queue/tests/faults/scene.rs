//! What the tests of this folder begin with.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use echomq::{EchoMq, Enqueued, Job, JobId, JobSpec, Queue};
use testkit::{Cluster, LIMIT};
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// A queue of the test's own on the cluster that all share.
pub(crate) async fn queue(label: &str) -> (Arc<Cluster>, Queue) {
    let cluster = tokio::task::spawn_blocking(testkit::cluster).await.unwrap();
    let queue = again(&cluster.url(), &testkit::unique_queue(label)).await;
    (cluster, queue)
}

/// The queue through connections of its own, as another process has them.
pub(crate) async fn again(url: &str, name: &str) -> Queue {
    EchoMq::connect(url).await.unwrap().queue(name).unwrap()
}

/// Looks every few milliseconds until it holds.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let limit = Instant::now() + LIMIT;
    while !holds().await {
        assert!(Instant::now() < limit, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A job that is added is worked off, once.
pub(crate) async fn goes_through(queue: &Queue) {
    let added = queue.enqueue(JobSpec::new("x")).await.unwrap();
    let runs = Runs::default();
    let worker = queue.worker(runs.noting()).start().await.unwrap();
    until("it is done", async || queue.counts().await.unwrap().done == 1).await;
    worker.stop(LIMIT).await;
    runs.assert_once_each(&[added.id().clone()]);
}

/// Adds so many jobs, each with its number as its payload.
pub(crate) async fn add(queue: &Queue, jobs: usize) -> Vec<JobId> {
    let specs = (0..jobs).map(|n| JobSpec::new(n.to_string())).collect();
    let added = queue.enqueue_many(specs).await.unwrap();
    assert!(added.iter().all(Enqueued::is_added));
    added.iter().map(|added| added.id().clone()).collect()
}

/// What handlers were given, kept outside of any server.
#[derive(Clone, Default)]
pub(crate) struct Runs(Arc<Mutex<Vec<Job>>>);

impl Runs {
    pub(crate) fn note(&self, job: Job) {
        self.0.lock().unwrap().push(job);
    }

    pub(crate) fn all(&self) -> Vec<Job> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// How often each job was handled.
    pub(crate) fn by_id(&self) -> HashMap<JobId, usize> {
        let mut runs = HashMap::new();
        self.all().into_iter().for_each(|job| *runs.entry(job.id).or_default() += 1);
        runs
    }

    /// Each of these jobs was handled just once, and no other was.
    pub(crate) fn assert_once_each(&self, ids: &[JobId]) {
        let runs = self.by_id();
        let wrong: Vec<_> = ids.iter().filter(|id| runs.get(*id) != Some(&1)).collect();
        assert!(wrong.is_empty(), "lost or doubled: {wrong:?}");
        assert_eq!(runs.len(), ids.len(), "jobs that nobody added");
    }

    /// A handler that notes each job and is content.
    pub(crate) fn noting(
        &self,
    ) -> impl Fn(Job) -> std::future::Ready<Result<(), String>> + Send + Sync + use<> {
        let runs = self.clone();
        move |job| {
            runs.note(job);
            std::future::ready(Ok(()))
        }
    }
}

/// Handlers wait at it until it is opened.
#[derive(Clone)]
pub(crate) struct Gate(Arc<Semaphore>);

impl Gate {
    pub(crate) fn closed() -> Gate {
        Gate(Arc::new(Semaphore::new(0)))
    }

    pub(crate) fn open(&self) {
        self.0.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    pub(crate) async fn pass(&self) {
        drop(self.0.acquire().await.unwrap());
    }
}
