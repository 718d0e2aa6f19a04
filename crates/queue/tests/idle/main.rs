//! A worker with nothing to do costs next to nothing, and is there at once when there is something. In a test binary of
//! its own, since it counts whatever its cluster is sent.

mod pickups;

use std::collections::BTreeMap;
use std::time::Duration;

use echomq::{EchoMq, JobSpec};
use testkit::{Cluster, LIMIT, wait_until};

/// Which commands were sent to all nodes together since their start. Commands that scripts call are counted by the
/// server too, but nobody has sent them; and the test's own questions are not the worker's.
fn sent(cluster: &Cluster) -> BTreeMap<String, u64> {
    const IN_SCRIPTS: [&str; 5] = ["hmget", "hset", "time", "zcard", "zrange"];
    const OURS: [&str; 2] = ["info", "cluster|nodes"];
    let mut sent = BTreeMap::new();
    for (name, stat) in cluster.primaries().into_iter().flat_map(|node| cluster.commandstats(node)) {
        if !IN_SCRIPTS.contains(&name.as_str()) && !OURS.contains(&name.as_str()) {
            *sent.entry(name).or_default() += stat.calls;
        }
    }
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_worker_sends_less_than_a_command_a_second() {
    const WATCHED: Duration = Duration::from_secs(12);
    let cluster = testkit::cluster_with(3, 0);
    let mq = EchoMq::connect(&cluster.url()).await.unwrap();
    let queue = mq.queue("orders").unwrap();
    let worker = queue.worker(|_| async { Ok::<(), String>(()) }).start().await.unwrap();
    queue.enqueue(JobSpec::new("first")).await.unwrap();
    wait_until("it has worked", LIMIT, || worker.report().done == 1);

    let requests = || mq.client().stats().requests.iter().map(|(_, sent)| sent).sum::<u64>();
    let (before, requests_before) = (sent(&cluster), requests());
    tokio::time::sleep(WATCHED).await;
    let (after, requests_after) = (sent(&cluster), requests());
    let more: BTreeMap<&String, u64> = after
        .iter()
        .map(|(name, calls)| (name, calls - before.get(name).unwrap_or(&0)))
        .filter(|(_, calls)| *calls > 0)
        .collect();
    let calls: u64 = more.values().sum();
    assert!(calls < WATCHED.as_secs(), "in {WATCHED:?} it sent {more:?}");
    // Both sides count, so that neither leaves out a kind of command; one may have come between the two countings. Whether
    // the connection for wake-ups still lives is asked beside the requests.
    let probes = more.iter().filter(|(name, _)| **name == "ping").map(|(_, calls)| calls).sum::<u64>();
    assert!((calls - probes).abs_diff(requests_after - requests_before) <= 1, "{more:?}");
    assert!(calls > 0, "it does not look after the queue");
    worker.stop(LIMIT).await;
}

/// How fast it is in a release build shows the example `pickup`; here the machine does other things beside.
#[tokio::test(flavor = "multi_thread")]
#[allow(clippy::print_stdout)]
async fn an_idle_worker_is_there_at_once_when_a_job_is_enqueued() {
    let cluster = testkit::cluster_with(3, 0);
    let queue = EchoMq::connect(&cluster.url()).await.unwrap().queue("orders").unwrap();
    let pickups = pickups::measure(&queue, 500).await;
    let (p50, p99) = (pickups[250], pickups[495]);
    println!("500 pickups: p50 {p50:?}, p99 {p99:?}");
    assert!(p50 < Duration::from_millis(25), "half of the jobs waited {p50:?} or longer");
}
