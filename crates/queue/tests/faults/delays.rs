//! When a delayed job is due.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use echomq::{DUE_MAX_MS, JobSpec, Queue};
use testkit::LIMIT;
use tokio::time::Instant;

use crate::scene::{Runs, queue, until};

/// The server's time in ms since 1970.
fn server_ms(cluster: &testkit::Cluster) -> u64 {
    let time = cluster.raw(0, &["TIME"]).unwrap();
    let [seconds, micros] = redis::from_redis_value::<[u64; 2]>(time).unwrap();
    seconds * 1_000 + micros / 1_000
}

#[tokio::test(flavor = "multi_thread")]
async fn c060_c061_every_delay_of_the_table_is_stored_to_the_millisecond_or_refused() {
    let (cluster, queue) = queue("c060").await;
    let table = include_str!("../../../../testdata/cases/queue/delays.tsv");
    let mut seen = 0;
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (given, expected) = line.split_once('\t').unwrap();
        let number = given.split(' ').next().unwrap();
        // What is no whole number of ms from 0 on can not be said to this API: a delay is a Duration, a time a u64.
        let Ok(ms) = number.parse::<u64>() else {
            assert!(expected.contains("refused") || expected == "the same", "{line}");
            continue;
        };
        let absolute = given.contains("absolute");
        let job = if absolute {
            JobSpec::new("x").run_at_ms(ms)
        } else {
            JobSpec::new("x").delay(Duration::from_millis(ms))
        };
        seen += 1;
        let earliest = server_ms(&cluster);
        let added = queue.enqueue(job).await;
        let latest = server_ms(&cluster);
        if expected.starts_with("refused") {
            let error = added.unwrap_err().to_string();
            assert!(error.contains(number), "{error}");
            continue;
        }
        let id = added.unwrap().id().clone();
        let view = queue.job(&id).await.unwrap().unwrap();
        match (expected.starts_with("ready at once"), absolute) {
            (true, _) => assert_eq!(view.state, echomq::State::Pending, "{line}"),
            (false, true) => assert_eq!(view.score, Some(ms as f64), "{line}"),
            (false, false) => {
                let due = view.score.unwrap() as u64;
                assert!((earliest + ms..=latest + ms).contains(&due), "{line}: due {due}");
            }
        }
    }
    assert_eq!(seen, 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn c061_a_part_of_a_millisecond_counts_as_one_and_what_is_too_far_is_refused_unsent() {
    let (_cluster, queue) = queue("c061").await;
    let due = async |delay: Duration| {
        let id = queue.enqueue(JobSpec::new("x").delay(delay)).await.unwrap().id().clone();
        queue.job(&id).await.unwrap().unwrap().score.unwrap()
    };
    let (one, two) = (due(Duration::from_secs(60)).await, due(Duration::from_micros(60_000_500)).await);
    assert!((1.0..2_000.0).contains(&(two - one)) && two.fract() == 0.0, "{one} {two}");
    let far = [
        JobSpec::new("x").delay(Duration::MAX),
        JobSpec::new("x").delay(Duration::from_millis(DUE_MAX_MS)),
        JobSpec::new("x").run_at_ms(u64::MAX),
        JobSpec::new("x").run_at_ms(DUE_MAX_MS + 1),
    ];
    for job in far {
        queue.enqueue(job).await.unwrap_err();
    }
    assert_eq!(queue.counts().await.unwrap().held(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn c060_a_delayed_job_runs_once_and_on_time_through_ten_restarts_of_its_worker() {
    const DELAY: Duration = Duration::from_millis(1_500);
    let (_cluster, queue) = queue("restarts").await;
    let added = Instant::now();
    let id = queue.enqueue(JobSpec::new("x").delay(DELAY)).await.unwrap().id().clone();
    let (runs, ran) = (Runs::default(), Arc::new(Mutex::new(None)));
    let handler = {
        let (runs, ran) = (runs.clone(), ran.clone());
        move |job| {
            ran.lock().unwrap().get_or_insert(added.elapsed());
            runs.note(job);
            async { Ok::<(), String>(()) }
        }
    };
    for _ in 0..10 {
        let worker = queue.worker(handler.clone()).start().await.unwrap();
        tokio::time::sleep(DELAY / 15).await;
        worker.stop(LIMIT).await;
    }
    let worker = queue.worker(handler).start().await.unwrap();
    until("it ran", async || runs.count() > 0).await;
    let ran = ran.lock().unwrap().unwrap();
    // The server counts whole milliseconds, so that a due time may lie a part of one early.
    let tick = Duration::from_millis(1);
    assert!(ran + tick > DELAY && ran < DELAY + Duration::from_secs(2), "it ran after {ran:?}");
    worker.stop(LIMIT).await;
    runs.assert_once_each(&[id]);
}

/// No client ever sends a time of its own: the same delay from anywhere is the same due time of the server.
#[tokio::test(flavor = "multi_thread")]
async fn c063_a_delay_counts_from_the_servers_time_and_so_does_the_time_of_making() {
    let (cluster, queue) = queue("c063").await;
    let earliest = server_ms(&cluster);
    let id = echomq::JobId::parse("own").unwrap();
    queue.enqueue(JobSpec::new("x").id(id.clone()).delay(Duration::from_millis(300))).await.unwrap();
    let latest = server_ms(&cluster);
    let view = queue.job(&id).await.unwrap().unwrap();
    assert!((earliest + 300..=latest + 300).contains(&(view.score.unwrap() as u64)), "{view:?}");
    let made = view.envelope.unwrap().created_ms;
    assert!(
        (earliest.saturating_sub(5)..=latest + 5).contains(&made),
        "made at {made}, not {earliest} to {latest}"
    );
    assert!(ran_at(&cluster, &queue).await >= earliest + 300);
}

async fn ran_at(cluster: &testkit::Cluster, queue: &Queue) -> u64 {
    let runs = Runs::default();
    let worker = queue.worker(runs.noting()).start().await.unwrap();
    until("it ran", async || runs.count() == 1).await;
    let ran = server_ms(cluster);
    worker.stop(LIMIT).await;
    ran
}
