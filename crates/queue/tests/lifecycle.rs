//! A job's life through the public face, on a real cluster.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use echomq::{Backoff, EchoMq, Enqueued, JobId, JobSpec, Queue, State};

async fn queue(label: &str) -> (Arc<testkit::Cluster>, Queue) {
    let cluster = tokio::task::spawn_blocking(testkit::cluster).await.unwrap();
    let mq = EchoMq::connect(&cluster.url()).await.unwrap();
    let queue = mq.queue(testkit::unique_queue(label)).unwrap();
    (cluster, queue)
}

async fn until(what: &str, mut done: impl AsyncFnMut() -> bool) {
    let limit = tokio::time::Instant::now() + Duration::from_secs(20);
    while !done().await {
        assert!(tokio::time::Instant::now() < limit, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_enqueued_is_worked_off_once_and_comes_out_as_it_went_in() {
    let (_cluster, queue) = queue("life").await;
    let payloads: Vec<Vec<u8>> = (0..500u32).map(|n| n.to_be_bytes().repeat(1 + n as usize % 40)).collect();
    let jobs = payloads.iter().map(|payload| JobSpec::new(payload.clone())).collect();
    let added = queue.enqueue_many(jobs).await.unwrap();
    assert!(added.iter().all(Enqueued::is_added));
    assert_eq!(queue.counts().await.unwrap().pending, 500);

    let seen: Arc<Mutex<HashMap<JobId, Vec<u8>>>> = Arc::default();
    let handler = {
        let seen = seen.clone();
        move |job: echomq::Job| {
            let seen = seen.clone();
            async move {
                assert!(seen.lock().unwrap().insert(job.id, job.payload).is_none(), "a job ran twice");
                Ok::<(), String>(())
            }
        }
    };
    let worker = queue.worker(handler).concurrency(50).start().await.unwrap();
    until("all is done", async || queue.counts().await.unwrap().done == 500).await;
    let report = worker.stop(Duration::from_secs(5)).await;
    assert_eq!((report.done, report.lost), (500, 0));
    let seen = seen.lock().unwrap().clone();
    for (added, payload) in added.iter().zip(&payloads) {
        assert_eq!(&seen[added.id()], payload);
    }
    let counts = queue.counts().await.unwrap();
    assert_eq!((counts.held(), counts.claims), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_job_is_retried_with_backoff_and_ends_in_the_dead_set_with_its_last_error() {
    let (_cluster, queue) = queue("fail").await;
    let backoff = Backoff { base_ms: 20, cap_ms: 100, jitter: false };
    let added = queue.enqueue(JobSpec::new("x").attempts(3).backoff(backoff)).await.unwrap();
    let attempts: Arc<Mutex<Vec<(u32, u64)>>> = Arc::default();
    let handler = {
        let attempts = attempts.clone();
        move |job: echomq::Job| {
            attempts.lock().unwrap().push((job.attempt, job.token));
            async move { Err::<(), _>(format!("no luck in run {}", job.attempt)) }
        }
    };
    let worker = queue.worker(handler).start().await.unwrap();
    until("it is dead", async || queue.counts().await.unwrap().dead == 1).await;
    worker.stop(Duration::from_secs(5)).await;
    let attempts = attempts.lock().unwrap().clone();
    assert_eq!(attempts.iter().map(|(attempt, _)| *attempt).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(attempts.is_sorted_by(|a, b| a.1 < b.1), "tokens grow: {attempts:?}");
    let job = queue.job(added.id()).await.unwrap().unwrap();
    assert_eq!(job.state, State::Dead);
    let tries = job.tries.unwrap();
    assert_eq!((tries.failures, tries.lost, tries.error.as_slice()), (3, 0, &b"no luck in run 3"[..]));
    assert_eq!(job.envelope.unwrap().payload, b"x");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delayed_job_is_claimed_when_it_is_due_and_not_before() {
    let (_cluster, queue) = queue("delay").await;
    let begun = tokio::time::Instant::now();
    let ran: Arc<Mutex<Option<Duration>>> = Arc::default();
    let handler = {
        let ran = ran.clone();
        move |_| {
            *ran.lock().unwrap() = Some(begun.elapsed());
            async { Ok::<(), String>(()) }
        }
    };
    let worker = queue.worker(handler).start().await.unwrap();
    queue.enqueue(JobSpec::new("later").delay(Duration::from_millis(300))).await.unwrap();
    until("it ran", async || ran.lock().unwrap().is_some()).await;
    worker.stop(Duration::from_secs(5)).await;
    let late = ran.lock().unwrap().unwrap();
    assert!(late >= Duration::from_millis(300), "{late:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_job_under_an_id_is_refused_and_changes_nothing() {
    let (_cluster, queue) = queue("twice").await;
    let id = JobId::parse("order:42").unwrap();
    let first = queue.enqueue(JobSpec::new("first").id(id.clone())).await.unwrap();
    assert_eq!(first, Enqueued::Added(id.clone()));
    let many = (0..20)
        .map(|n| JobSpec::new("second").id(JobId::parse(format!("order:{}", n + 30)).unwrap()))
        .collect();
    let results = queue.enqueue_many(many).await.unwrap();
    for (n, result) in results.iter().enumerate() {
        assert_eq!(result.is_added(), n != 12, "{result:?}");
    }
    assert_eq!(queue.job(&id).await.unwrap().unwrap().envelope.unwrap().payload, b"first");
    assert_eq!(queue.counts().await.unwrap().pending, 20);
}

/// Somebody else adds the same ids, one by one, while they are added in one call.
#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_nobody_else_has_is_never_called_a_duplicate() {
    let (cluster, queue) = queue("contended").await;
    let id = |n: u32| JobId::parse(format!("shared-{n}")).unwrap();
    let mut rivals = Vec::new();
    for share in 0..4 {
        let rival = EchoMq::connect(&cluster.url()).await.unwrap().queue(queue.name().as_str()).unwrap();
        rivals.push(tokio::spawn(async move {
            for n in share * 100..share * 100 + 100 {
                rival.enqueue(JobSpec::new("x").id(id(n))).await.unwrap();
            }
        }));
    }
    until("the rivals are at it", async || queue.counts().await.unwrap().pending > 3).await;
    let mut jobs: Vec<JobSpec> = (0..400).rev().map(|n| JobSpec::new("x").id(id(n))).collect();
    jobs.push(JobSpec::new("x").id(JobId::parse("mine-alone").unwrap()));
    jobs.push(JobSpec::new("minted"));
    let results = queue.enqueue_many(jobs).await.unwrap();
    assert!(results[400].is_added() && results[401].is_added(), "{:?}", &results[400..]);
    for rival in rivals {
        rival.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn options_beyond_all_measure_are_cut_and_the_worker_works() {
    let (_cluster, queue) = queue("no-poll").await;
    let worker = queue
        .worker(|_| async { Ok::<(), String>(()) })
        .poll(Duration::MAX)
        .concurrency(usize::MAX)
        .start()
        .await
        .unwrap();
    until("it is idle", async || queue.counts().await.unwrap().layout.is_some()).await;
    queue.enqueue(JobSpec::new("x")).await.unwrap();
    until("it is done", async || queue.counts().await.unwrap().done == 1).await;
    worker.stop(Duration::from_secs(1)).await;
}
