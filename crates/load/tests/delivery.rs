//! The audit finds what was lost, and an enqueue whose answer was cut off is brought to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use echomq::{EchoMq, Enqueued, JobId, JobSpec, Queue, Worker};
use echomq_load::{Audit, Ledger, enqueue_surely};
use testkit::Cluster;

async fn queue(cluster: &Cluster, label: &str) -> Queue {
    let mq = EchoMq::connect(&cluster.url()).await.unwrap();
    mq.queue(testkit::unique_queue(label)).unwrap()
}

async fn shared_cluster() -> Arc<Cluster> {
    tokio::task::spawn_blocking(testkit::cluster).await.unwrap()
}

fn id(text: impl ToString) -> JobId {
    JobId::parse(text.to_string()).unwrap()
}

/// A worker that notes each effect, but fails the jobs whose payload says so.
async fn worker(queue: &Queue, ledger: &Arc<Ledger>) -> Worker {
    let ledger = ledger.clone();
    let handler = move |job: echomq::Job| {
        let ledger = ledger.clone();
        async move {
            if job.payload == b"fail" {
                return Err("as told");
            }
            ledger.effect(&job.id, job.token);
            Ok(())
        }
    };
    // A claim whose answer is cut off comes back when its lease has run out.
    queue.worker(handler).lease(Duration::from_secs(1)).start().await.unwrap()
}

async fn until(what: &str, mut done: impl AsyncFnMut() -> bool) {
    let limit = tokio::time::Instant::now() + Duration::from_secs(30);
    while !done().await {
        assert!(tokio::time::Instant::now() < limit, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Cuts all connections again and again, until it is dropped.
struct Cutting(Arc<AtomicBool>);

impl Cutting {
    fn every(pause: Duration, cluster: &Arc<Cluster>) -> Cutting {
        let (cluster, over) = (cluster.clone(), Arc::new(AtomicBool::new(false)));
        let cutting = Cutting(over.clone());
        tokio::task::spawn_blocking(move || {
            while !over.load(SeqCst) {
                cluster.raw(0, &["CLIENT", "KILL", "TYPE", "normal"]).unwrap();
                std::thread::sleep(pause);
            }
        });
        cutting
    }
}

impl Drop for Cutting {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_says_of_each_acknowledged_job_what_became_of_it() {
    let cluster = shared_cluster().await;
    let queue = queue(&cluster, "audit").await;
    let ledger = Arc::new(Ledger::default());
    let hour = Duration::from_secs(3_600);
    let jobs = vec![
        JobSpec::new("ok").id(id("done")),
        JobSpec::new("fail").id(id("dead")).attempts(1),
        JobSpec::new("ok").id(id("later")).delay(hour),
        JobSpec::new("ok").id(id("stolen")).delay(hour),
    ];
    for added in queue.enqueue_many(jobs).await.unwrap() {
        ledger.acknowledged(added.id());
    }
    let worker = worker(&queue, &ledger).await;
    until("both ran", async || {
        let counts = queue.counts().await.unwrap();
        (counts.done, counts.dead) == (1, 1)
    })
    .await;
    worker.stop(Duration::from_secs(5)).await;

    // What no transition does: the job vanishes behind the queue's back.
    let name = queue.name();
    let owner = cluster.owner_of(queue.slot().get());
    cluster.raw(owner, &["ZREM", &format!("emq:{{{name}}}:schedule"), "stolen"]).unwrap();
    cluster.raw(owner, &["DEL", &format!("emq:{{{name}}}:job:stolen")]).unwrap();

    let audit = ledger.audit(&queue).await.unwrap();
    let expected = Audit { acknowledged: 4, done: 1, dead: 1, waiting: 1, lost: 1, ..Audit::default() };
    assert_eq!(audit, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_are_enqueued_surely_are_in_although_connections_are_cut_all_the_while() {
    let cluster = Arc::new(tokio::task::spawn_blocking(|| testkit::cluster_with(1, 0)).await.unwrap());
    let queue = queue(&cluster, "sure").await;
    let ledger = Arc::new(Ledger::default());
    let cutting = Cutting::every(Duration::from_millis(7), &cluster);
    let worker = worker(&queue, &ledger).await;
    for call in 0..60 {
        let jobs = (0..20).map(|n| JobSpec::new("ok").id(id(call * 20 + n))).collect();
        for result in enqueue_surely(&queue, jobs, Duration::from_secs(20)).await.unwrap() {
            assert!(matches!(result, Enqueued::Added(_)), "{result:?}");
            ledger.acknowledged(result.id());
        }
    }
    drop(cutting);
    until("all is done", async || queue.counts().await.unwrap().held() == 0).await;
    worker.stop(Duration::from_secs(5)).await;
    let audit = ledger.audit(&queue).await.unwrap();
    assert_eq!((audit.acknowledged, audit.done, audit.lost, audit.twins), (1_200, 1_200, 0, 0), "{audit:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_duplicate_stays_a_duplicate() {
    let cluster = shared_cluster().await;
    let queue = queue(&cluster, "dup").await;
    let job = || vec![JobSpec::new("x").id(id("one"))];
    let first = enqueue_surely(&queue, job(), Duration::from_secs(5)).await.unwrap();
    let second = enqueue_surely(&queue, job(), Duration::from_secs(5)).await.unwrap();
    assert_eq!((first, second), (vec![Enqueued::Added(id("one"))], vec![Enqueued::Duplicate(id("one"))]));
}
