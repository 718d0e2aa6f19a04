//! Replicas that take over with all that their primary knew, or without the latest of it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use echomq::{EchoMq, Job, Queue};
use testkit::{Cluster, LIMIT, wait_until};

use crate::scene::{Gate, Runs, add, again, until};

/// Longer than a test: what a worker holds stays held by it.
const LEASE: Duration = Duration::from_secs(60);

/// A cluster with replicas, and a queue whose slot is at its first primary; node 3 is that one's replica.
async fn replicated(label: &str) -> (Arc<Cluster>, Queue) {
    let cluster = Arc::new(tokio::task::spawn_blocking(|| testkit::cluster_with(3, 1)).await.unwrap());
    let mq = EchoMq::connect(&cluster.url()).await.unwrap();
    let queue = loop {
        let queue = mq.queue(testkit::unique_queue(label)).unwrap();
        if cluster.owner_of(queue.slot().get()) == 0 {
            break queue;
        }
    };
    (cluster, queue)
}

/// Notes each job and waits at the gate.
fn waiting(
    runs: &Runs,
    gate: &Gate,
) -> impl Fn(Job) -> futures_util::future::BoxFuture<'static, Result<(), String>> + Send + Sync + use<> {
    let (runs, gate) = (runs.clone(), gate.clone());
    move |job| {
        let gate = gate.clone();
        runs.note(job);
        Box::pin(async move {
            gate.pass().await;
            Ok(())
        })
    }
}

fn tokens(runs: &Runs) -> HashSet<u64> {
    runs.all().iter().map(|job| job.token).collect()
}

/// Worker A's claims are acknowledged, and the node that takes over has never heard of them.
async fn two_workers_and_a_failover_that_forgets(label: &str, promote: fn(&Cluster, usize)) {
    const JOBS: usize = 40;
    let (cluster, queue) = replicated(label).await;
    let ids = add(&queue, JOBS).await;
    wait_until("the replica has all of it", LIMIT, || {
        let offset = |node, field| cluster.info(node, "replication", field);
        offset(0, "master_repl_offset") == offset(3, "slave_repl_offset")
    });
    cluster.pause_replication(3);

    let [(a_runs, a_gate), (b_runs, b_gate)] = [(); 2].map(|()| (Runs::default(), Gate::closed()));
    let a = queue.worker(waiting(&a_runs, &a_gate)).concurrency(JOBS / 2).lease(LEASE).owner("a");
    let a = a.start().await.unwrap();
    until("A has its hands full", async || a_runs.count() == JOBS / 2).await;
    promote(&cluster, 3);

    let other = again(&cluster.url(), queue.name().as_str()).await;
    let counts = other.counts().await.unwrap();
    assert_eq!((counts.pending, counts.active), (JOBS as u64, 0), "the claims were not forgotten");
    let b = other.worker(waiting(&b_runs, &b_gate)).concurrency(JOBS).lease(LEASE).owner("b");
    let b = b.start().await.unwrap();
    until("B has all jobs", async || b_runs.count() == JOBS).await;
    assert!(tokens(&a_runs).is_disjoint(&tokens(&b_runs)), "two workers held the same token");
    assert!(tokens(&a_runs).iter().max() < tokens(&b_runs).iter().min(), "a later token is higher");

    a_gate.open();
    let a_report = a.stop(LIMIT).await;
    assert_eq!((a_report.done, a_report.lost), (0, JOBS as u64 / 2), "the stale worker is refused");
    let counts = other.counts().await.unwrap();
    assert_eq!((counts.active, counts.done), (JOBS as u64, 0), "and has changed nothing");
    b_gate.open();
    until("B has completed all", async || other.counts().await.unwrap().done == JOBS as u64).await;
    let b_report = b.stop(LIMIT).await;
    assert_eq!((b_report.done, b_report.lost), (JOBS as u64, 0));
    b_runs.assert_once_each(&ids);
    assert_eq!(other.counts().await.unwrap().held(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_takeover_that_forgets_claims_gives_the_jobs_to_another_under_another_token() {
    two_workers_and_a_failover_that_forgets("takeover", Cluster::failover_takeover).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forced_failover_that_forgets_claims_gives_the_jobs_to_another_under_another_token() {
    two_workers_and_a_failover_that_forgets("forced", Cluster::failover_force).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agreed_failover_between_claim_and_completion_loses_nothing_and_repeats_nothing() {
    const JOBS: usize = 200;
    let (cluster, queue) = replicated("agreed").await;
    let mut ids = add(&queue, JOBS).await;
    let (runs, gate) = (Runs::default(), Gate::closed());
    let worker = queue.worker(waiting(&runs, &gate)).concurrency(50).lease(LEASE).start().await.unwrap();
    until("fifty are claimed", async || runs.count() == 50).await;
    cluster.failover(3);
    gate.open();
    // The other way too, with the work going on.
    cluster.wait_ready();
    ids.extend(add(&queue, JOBS).await);
    cluster.failover(0);
    until("all is done", async || queue.counts().await.unwrap().done == ids.len() as u64).await;
    let report = worker.stop(LIMIT).await;
    assert_eq!((report.done, report.lost), (ids.len() as u64, 0));
    runs.assert_once_each(&ids);
    assert_eq!(queue.counts().await.unwrap().held(), 0);
}

/// The frozen node's connections stay open: only that nothing comes back tells the worker.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_worker_finds_the_replica_that_took_over_from_a_frozen_primary() {
    let (cluster, queue) = replicated("frozen").await;
    let runs = Runs::default();
    let never = Duration::from_secs(3_600);
    let worker = queue.worker(runs.noting()).lease(Duration::from_millis(500)).poll(never);
    let worker = worker.start().await.unwrap();
    let mut ids = add(&queue, 1).await;
    until("it is idle", async || worker.report().done == 1).await;
    cluster.freeze(0);
    wait_until("the replica has taken over", LIMIT, || cluster.owner_of(queue.slot().get()) == 3);

    let producer = again(&format!("redis://{}", cluster.addresses()[1]), queue.name().as_str()).await;
    for _ in 0..2 {
        ids.extend(add(&producer, 1).await);
        until("it is done", async || runs.count() == ids.len()).await;
    }
    cluster.thaw(0);
    cluster.wait_ready();
    ids.extend(add(&producer, 1).await);
    until("it is done", async || runs.count() == ids.len()).await;
    worker.stop(LIMIT).await;
    runs.assert_once_each(&ids);
}
