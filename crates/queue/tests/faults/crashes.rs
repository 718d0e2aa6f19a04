//! Servers that are killed, forget their scripts, or hang up.

use std::time::Duration;

use echomq::{EchoMq, JobSpec};
use testkit::{Cluster, LIMIT};
use tokio::time::Instant;

use crate::scene::{Runs, add, queue, until};

const LEASE: Duration = Duration::from_millis(500);
/// The slow poll does not come within a test: what wakes a worker is a message.
const NEVER: Duration = Duration::from_secs(3_600);

/// From now on a restart of this node finds what was acknowledged before.
fn keep_data(cluster: &Cluster, node: usize) {
    cluster.raw(node, &["CONFIG", "SET", "appendonly", "yes"]).unwrap();
    cluster.raw(node, &["CONFIG", "REWRITE"]).unwrap();
    testkit::wait_until("the append-only file is there", LIMIT, || {
        cluster.info(node, "persistence", "aof_rewrite_in_progress").as_deref() == Some("0")
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_goes_on_by_itself_after_its_server_was_killed_and_started_again() {
    const JOBS: usize = 300;
    let cluster = testkit::cluster_with(1, 0);
    keep_data(&cluster, 0);
    let queue = EchoMq::connect(&cluster.url()).await.unwrap().queue("orders").unwrap();
    let runs = Runs::default();
    let handler = {
        let runs = runs.clone();
        move |job| {
            runs.note(job);
            async {
                tokio::time::sleep(Duration::from_millis(10)).await;
                Ok::<(), String>(())
            }
        }
    };
    let worker = queue.worker(handler).concurrency(5).lease(LEASE).poll(NEVER).start().await.unwrap();
    let ids = add(&queue, JOBS).await;
    for part in [JOBS / 4, JOBS / 2] {
        until("some of it is done", async || worker.report().done >= part as u64).await;
        cluster.kill(0);
        cluster.restart(0);
    }
    until("all is done", async || {
        queue.counts().await.is_ok_and(|counts| counts.done >= JOBS as u64 && counts.held() == 0)
    })
    .await;
    let by_id = runs.by_id();
    assert!(ids.iter().all(|id| by_id.contains_key(id)), "an acknowledged job was lost");
    assert_eq!(by_id.len(), JOBS);

    // It hears wake-ups again.
    let added = Instant::now();
    queue.enqueue(JobSpec::new("after")).await.unwrap();
    until("the job after it all is done", async || runs.by_id().len() == JOBS + 1).await;
    assert!(added.elapsed() < Duration::from_secs(5), "it took {:?}", added.elapsed());
    worker.stop(LIMIT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_goes_on_when_all_nodes_forget_their_scripts_again_and_again() {
    let (cluster, queue) = queue("flush").await;
    let runs = Runs::default();
    let worker = queue.worker(runs.noting()).poll(NEVER).start().await.unwrap();
    let mut ids = Vec::new();
    for round in 0..10 {
        cluster.script_flush_all();
        ids.extend(add(&queue, if round % 2 == 0 { 1 } else { 30 }).await);
        until("they are done", async || queue.counts().await.unwrap().done == ids.len() as u64).await;
    }
    let report = worker.stop(LIMIT).await;
    assert_eq!((report.done, report.lost), (ids.len() as u64, 0));
    runs.assert_once_each(&ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_connections_lose_no_job_and_a_worker_hears_again_afterwards() {
    let cluster = testkit::cluster_with(1, 0);
    let queue = EchoMq::connect(&cluster.url()).await.unwrap().queue("orders").unwrap();
    let runs = Runs::default();
    let worker = queue.worker(runs.noting()).lease(LEASE).poll(NEVER).start().await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..10 {
        assert!(cluster.cut_clients(0) > 0);
        // Whatever its fate, the caller is told which ids it is about.
        match queue.enqueue_many((0..20).map(|n| JobSpec::new(n.to_string())).collect()).await {
            Ok(added) => ids.extend(added.iter().map(|added| added.id().clone())),
            Err(error) => {
                assert!(error.is_unknown() && error.unknown_ids().len() == 20, "{error}");
                let mut there = Vec::new();
                for id in error.unknown_ids() {
                    if queue.job(id).await.unwrap().is_some() || runs.by_id().contains_key(id) {
                        there.push(id.clone());
                    }
                }
                assert!(there.is_empty() || there.len() == 20, "an enqueue is added whole");
                ids.extend(there);
            }
        }
    }
    until("all is done", async || queue.counts().await.unwrap().held() == 0).await;
    let by_id = runs.by_id();
    assert!(ids.iter().all(|id| by_id.contains_key(id)), "an acknowledged job was lost");
    worker.stop(LIMIT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_when_the_server_is_gone() {
    let cluster = testkit::cluster_with(1, 0);
    let mq = EchoMq::connect(&cluster.url()).await.unwrap();
    let queue = EchoMq::over(mq.client().with_deadline(Duration::from_secs(1))).queue("orders").unwrap();
    add(&queue, 3).await;
    let runs = Runs::default();
    let handler = {
        let runs = runs.clone();
        move |job| {
            runs.note(job);
            std::future::pending::<Result<(), String>>()
        }
    };
    let worker = queue.worker(handler).start().await.unwrap();
    until("they run", async || runs.count() == 3).await;
    cluster.kill(0);
    let began = Instant::now();
    let report = worker.stop(Duration::from_millis(100)).await;
    assert!(began.elapsed() < Duration::from_secs(6), "it took {:?}", began.elapsed());
    assert_eq!((report.done, report.released), (0, 0), "nobody has confirmed it");
}
