//! C050, C061: what somebody put into the queue by hand. A real worker meets it, on a server of the test's own, so
//! that what the worker sent can be counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use crate::envelope::Envelope;
use crate::policy::Backoff;
use crate::tests::call::id;
use crate::tests::stage::Stage;
use crate::tests::state::State;
use crate::{EchoMq, Queue, State as Place};

/// Long enough for any machine, far below a lease and a poll.
const AT_ONCE: Duration = Duration::from_secs(3);
/// Claims, settles, promotions and sweeps of a worker for a handful of jobs; a tight loop sends thousands.
const SCRIPTS_MAX: u64 = 40;

async fn stage_alone(label: &str) -> (Stage, Queue) {
    let cluster = tokio::task::spawn_blocking(|| testkit::cluster_with(1, 0)).await.unwrap();
    let stage = Stage::on(Arc::new(cluster), label).await;
    let queue = EchoMq::connect(&stage.cluster.url()).await.unwrap().queue(&stage.name).unwrap();
    (stage, queue)
}

fn good_row() -> Vec<u8> {
    let backoff = Backoff::default();
    Envelope { name: String::new(), attempts: 1, backoff, created_ms: 1, payload: b"good".to_vec() }.encode()
}

/// Works the queue until it is told of a job; returns how often a handler ran and how many scripts were sent.
async fn work(stage: &Stage, queue: &Queue, is_done: impl AsyncFn() -> bool) -> (u64, u64) {
    let scripts = || stage.cluster.commandstats(0).get("evalsha").map_or(0, |stat| stat.calls);
    let before = scripts();
    let (ran, told) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
    let handler = {
        let (ran, told) = (ran.clone(), told.clone());
        move |job: crate::Job| {
            assert_eq!(job.payload, b"good");
            ran.fetch_add(1, Ordering::SeqCst);
            told.notify_one();
            async { Ok::<(), String>(()) }
        }
    };
    let worker = queue.worker(handler).concurrency(1).lease(Duration::from_secs(10)).start().await.unwrap();
    tokio::time::timeout(AT_ONCE, told.notified()).await.expect("the good job has not run");
    let all_settled = async {
        while !is_done().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(AT_ONCE, all_settled).await.expect("not all are settled");
    worker.stop(Duration::from_secs(5)).await;
    (ran.load(Ordering::SeqCst), scripts() - before)
}

#[tokio::test(flavor = "multi_thread")]
async fn c050_jobs_that_can_not_be_read_go_to_dead_with_the_reason_and_the_next_runs_at_once() {
    let (stage, queue) = stage_alone("c050").await;
    let mut state: State = "pending missing=1 bytes=2 json=3 empty=4 good=5; \
                            job bytes=\\xff\\xfe json={\"id\":13077554 empty=; meta seq=5"
        .parse()
        .unwrap();
    state.job.insert(b"good".to_vec(), good_row());
    stage.put(&state).await;
    let (ran, scripts) = work(&stage, &queue, async || {
        let counts = queue.counts().await.unwrap();
        counts.done == 1 && counts.dead == 4
    })
    .await;
    assert_eq!(ran, 1);
    // `counts` is a script too; that it was asked often is no loop of the worker.
    assert!(scripts < SCRIPTS_MAX, "{scripts} scripts for five jobs");
    let counts = queue.counts().await.unwrap();
    assert_eq!((counts.gone, counts.undecodable, counts.held(), counts.claims), (1, 3, 4, 0));
    for (name, reason) in
        [("missing", "row is gone"), ("bytes", "0xff"), ("json", "0x7b"), ("empty", "empty")]
    {
        let job = queue.job(&id(name)).await.unwrap().unwrap();
        let said = String::from_utf8(job.tries.unwrap().error).unwrap();
        assert!(job.state == Place::Dead && said.contains(reason), "{name}: {:?}, {said:?}", job.state);
    }
    assert_eq!(stage.state().await.job.keys().collect::<Vec<_>>(), [b"bytes".as_slice(), b"empty", b"json"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn c061_a_job_that_stands_before_all_time_in_the_schedule_is_promoted_once_and_nothing_spins() {
    let (stage, queue) = stage_alone("c061").await;
    let mut state: State = "schedule early=-inf never=inf; job never=x".parse().unwrap();
    state.job.insert(b"early".to_vec(), good_row());
    stage.put(&state).await;
    let (ran, scripts) = work(&stage, &queue, async || queue.counts().await.unwrap().done == 1).await;
    assert_eq!(ran, 1);
    assert!(scripts < SCRIPTS_MAX, "{scripts} scripts for one job");
    let state = stage.state().await;
    assert_eq!((state.schedule.len(), state.pending.len(), state.job.len()), (1, 0, 1), "{state}");
}
