//! What a worker does with handlers that succeed, fail, panic or do not end.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use echomq::{Backoff, EchoMq, Job, JobSpec, Queue, State};
use futures_util::poll;
use testkit::LIMIT;
use tokio::time::Instant;

use crate::scene::{Gate, Runs, add, again, queue, until};

const AT_ONCE: Backoff = Backoff { base_ms: 0, cap_ms: 0, jitter: false };
/// The slow poll does not come within a test: what wakes a worker is a message.
const NEVER: Duration = Duration::from_secs(3_600);

#[tokio::test(flavor = "multi_thread")]
async fn no_more_handlers_run_than_asked_for_and_no_more_jobs_are_held() {
    let (_cluster, queue) = queue("wide").await;
    let ids = add(&queue, 30).await;
    let (gate, runs) = (Gate::closed(), Runs::default());
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let handler = {
        let (gate, runs, now, most) = (gate.clone(), runs.clone(), now, most.clone());
        move |job: Job| {
            let (gate, runs, now, most) = (gate.clone(), runs.clone(), now.clone(), most.clone());
            async move {
                most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                gate.pass().await;
                // Those that came with it have their chance to run beside it.
                tokio::task::yield_now().await;
                now.fetch_sub(1, SeqCst);
                runs.note(job);
                Ok::<(), String>(())
            }
        }
    };
    let worker = queue.worker(handler).concurrency(4).start().await.unwrap();
    until("four run", async || worker.running() == 4).await;
    assert_eq!(queue.counts().await.unwrap().active, 4, "it holds jobs that it does not run");
    gate.open();
    until("all are done", async || queue.counts().await.unwrap().done == 30).await;
    assert_eq!(most.load(SeqCst), 4);
    worker.stop(LIMIT).await;
    runs.assert_once_each(&ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graceful_stop_waits_for_what_runs_and_claims_nothing_more() {
    let (_cluster, queue) = queue("stop").await;
    let first = add(&queue, 1).await;
    let (gate, runs) = (Gate::closed(), Runs::default());
    let handler = {
        let (gate, runs) = (gate.clone(), runs.clone());
        move |job| {
            let (gate, runs) = (gate.clone(), runs.clone());
            async move {
                gate.pass().await;
                runs.note(job);
                Ok::<(), String>(())
            }
        }
    };
    let worker = queue.worker(handler).concurrency(4).start().await.unwrap();
    until("it runs", async || worker.running() == 1).await;
    let mut stop = pin!(worker.stop(LIMIT));
    assert!(poll!(&mut stop).is_pending(), "it did not wait for the handler");
    add(&queue, 5).await;
    gate.open();
    let report = stop.await;
    assert_eq!((report.done, report.released, report.lost), (1, 0, 0));
    runs.assert_once_each(&first);
    let counts = queue.counts().await.unwrap();
    assert_eq!((counts.done, counts.pending, counts.active, counts.claims), (1, 5, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stop_does_not_wait_for_is_handed_back_and_its_attempt_does_not_count() {
    let (_cluster, queue) = queue("back").await;
    let added = queue.enqueue(JobSpec::new("x").backoff(AT_ONCE)).await.unwrap();
    let tries = async || queue.job(added.id()).await.unwrap().unwrap().tries;
    assert_eq!(stopped_at_attempt(&queue, 1).await, [1]);
    assert_eq!(stopped_at_attempt(&queue, 1).await, [1]);
    assert_eq!(tries().await, None);
    assert_eq!(stopped_at_attempt(&queue, 2).await, [1, 2], "the first one fails now");
    assert_eq!(stopped_at_attempt(&queue, 2).await, [2]);
    let tries = tries().await.unwrap();
    assert_eq!((tries.failures, tries.lost), (1, 0));
}

/// Fails the one job of the queue up to this attempt, hangs there until the worker is stopped, and returns the
/// attempts that it was given.
async fn stopped_at_attempt(queue: &Queue, last: u32) -> Vec<u32> {
    let runs = Runs::default();
    let handler = {
        let runs = runs.clone();
        move |job: Job| {
            let fails = job.attempt < last;
            runs.note(job);
            async move { if fails { Err("try again") } else { std::future::pending().await } }
        }
    };
    let worker = queue.worker(handler).start().await.unwrap();
    until("it hangs", async || runs.all().last().is_some_and(|job| job.attempt == last)).await;
    let report = worker.stop(Duration::from_millis(20)).await;
    assert_eq!((report.released, report.done, report.lost), (1, 0, 0));
    let counts = queue.counts().await.unwrap();
    assert_eq!((counts.pending, counts.active, counts.claims), (1, 0, 0));
    runs.all().iter().map(|job| job.attempt).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_panics_has_failed_and_the_worker_goes_on() {
    let (_cluster, queue) = queue("panic").await;
    let bad = queue.enqueue(JobSpec::new("bad").attempts(2).backoff(AT_ONCE)).await.unwrap();
    let good = add(&queue, 3).await;
    let runs = Runs::default();
    let handler = {
        let runs = runs.clone();
        move |job: Job| {
            let runs = runs.clone();
            async move {
                assert_ne!(job.payload, b"bad", "no such order");
                runs.note(job);
                Ok::<(), String>(())
            }
        }
    };
    let worker = queue.worker(handler).concurrency(1).start().await.unwrap();
    until("the bad one is dead, the others done", async || {
        let counts = queue.counts().await.unwrap();
        (counts.dead, counts.done) == (1, 3)
    })
    .await;
    let report = worker.stop(LIMIT).await;
    assert_eq!((report.done, report.retried, report.buried), (3, 1, 1));
    runs.assert_once_each(&good);
    let job = queue.job(bad.id()).await.unwrap().unwrap();
    assert_eq!(job.state, State::Dead);
    let error = String::from_utf8(job.tries.unwrap().error).unwrap();
    assert!(error.starts_with("the handler panicked: ") && error.contains("no such order"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_share_the_jobs_and_no_job_is_handled_twice() {
    let (cluster, queue) = queue("share").await;
    let other = again(&cluster.url(), queue.name().as_str()).await;
    let runs = [Runs::default(), Runs::default()];
    let gate = Gate::closed();
    let handler = |runs: &Runs| {
        let (runs, gate) = (runs.clone(), gate.clone());
        move |job| {
            let (runs, gate) = (runs.clone(), gate.clone());
            async move {
                gate.pass().await;
                runs.note(job);
                Ok::<(), String>(())
            }
        }
    };
    let workers = [
        queue.worker(handler(&runs[0])).concurrency(5).start().await.unwrap(),
        other.worker(handler(&runs[1])).concurrency(5).start().await.unwrap(),
    ];
    let ids = add(&queue, 500).await;
    until("both have their hands full", async || workers.iter().all(|worker| worker.running() == 5)).await;
    gate.open();
    until("all is done", async || queue.counts().await.unwrap().done == 500).await;
    let both = Runs::default();
    for (worker, runs) in workers.into_iter().zip(&runs) {
        assert_eq!(worker.stop(LIMIT).await.done, runs.count() as u64);
        assert!(runs.count() >= 5);
        runs.all().into_iter().for_each(|job| both.note(job));
    }
    both.assert_once_each(&ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn c070_a_pause_holds_for_a_worker_that_waits_already_and_a_resume_wakes_it() {
    let cluster = testkit::cluster();
    let mq = EchoMq::connect(&cluster.url()).await.unwrap();
    let queue = mq.queue(testkit::unique_queue("c070")).unwrap();
    let operator = again(&cluster.url(), queue.name().as_str()).await;
    let runs = Runs::default();
    let worker = queue.worker(runs.noting()).poll(NEVER).start().await.unwrap();
    let first = add(&operator, 1).await;
    until("it is idle again", async || operator.counts().await.unwrap().done == 1).await;

    assert!(operator.pause("ann").await.unwrap());
    assert!(!operator.pause("bob").await.unwrap(), "it is paused already");
    let sent = || mq.client().stats().requests.iter().map(|(_, sent)| sent).sum::<u64>();
    let before = sent();
    let rest = add(&operator, 3).await;
    until("the worker has been woken and has asked for jobs", async || sent() > before).await;
    let counts = operator.counts().await.unwrap();
    assert_eq!((counts.pending, counts.active, counts.done), (3, 0, 1));
    assert_eq!(counts.paused.unwrap().1, "ann");
    assert_eq!(runs.count(), 1);

    let resumed = Instant::now();
    assert!(operator.resume().await.unwrap());
    assert!(!operator.resume().await.unwrap(), "it is not paused any more");
    until("the rest is done", async || operator.counts().await.unwrap().done == 4).await;
    assert!(resumed.elapsed() < Duration::from_secs(2), "it was woken after {:?}", resumed.elapsed());
    worker.stop(LIMIT).await;
    runs.assert_once_each(&[first, rest].concat());
}
