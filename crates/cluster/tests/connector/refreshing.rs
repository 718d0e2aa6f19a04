//! The map of the slots is asked for by one at a time, and not too often.

use std::time::{Duration, Instant};

use echomq_cluster::{Command, DEADLINE, Repeat, Value};
use futures_util::future::join_all;
use testkit::Cluster;

use crate::scene::{Tag, ask, client};

/// How often all nodes together were asked for the slots.
fn asked(cluster: &Cluster, nodes: &[usize]) -> u64 {
    let calls = |node: &usize| cluster.commandstats(*node).get("cluster|slots").map_or(0, |stat| stat.calls);
    nodes.iter().map(calls).sum()
}

/// The old owner stands still until it has been sent all, so that none of them can learn from another's answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_redirects_asks_for_the_map_once_or_twice() {
    const BURST: u64 = 200;
    let cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(&cluster, "burst");
    let key = tag.key("n");
    ask(&client, "SET", &key, &["0"]).await;
    cluster.move_slot(tag.slot, tag.from, tag.to);
    let before = asked(&cluster, &[0, 1, 2]);
    cluster.freeze(tag.from);
    let burst = (0..BURST).map(|_| client.call(Command::new("INCR").key(&key), Repeat::Never));
    let thaw = async {
        let sent = || client.stats().requests.iter().map(|(_, sent)| sent).sum::<u64>();
        while sent() <= BURST {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        cluster.thaw(tag.from);
    };
    let (counts, ()) = tokio::join!(join_all(burst), thaw);
    let mut counts: Vec<Value> = counts.into_iter().map(Result::unwrap).collect();
    counts.sort_by_key(|count| if let Value::Int(n) = count { *n } else { 0 });
    assert_eq!(counts, (1..=BURST as i64).map(Value::Int).collect::<Vec<_>>());
    assert!(client.stats().moved >= BURST, "{:?}", client.stats());
    let refreshes = asked(&cluster, &[0, 1, 2]) - before;
    assert!((1..=2).contains(&refreshes), "the map was asked for {refreshes} times");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stays_away_is_no_reason_to_ask_more_than_ten_times_a_second() {
    let cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), Duration::from_secs(1)).await;
    let (lost, other) = (Tag::at(&cluster, "lost", 0), Tag::at(&cluster, "other", 1));
    cluster.kill(0);
    let before = asked(&cluster, &[1, 2]);
    let started = Instant::now();
    let failing = (0..300).map(|_| client.call(Command::new("GET").key(lost.key("a")), Repeat::Idempotent));
    let going_on = async {
        let mut slowest = Duration::ZERO;
        while started.elapsed() < Duration::from_millis(900) {
            let asked = Instant::now();
            client.call(Command::new("INCR").key(other.key("n")), Repeat::Never).await.unwrap();
            slowest = slowest.max(asked.elapsed());
        }
        slowest
    };
    let (errors, slowest) = tokio::join!(join_all(failing), going_on);
    assert!(errors.iter().all(Result::is_err));
    let refreshes = asked(&cluster, &[1, 2]) - before;
    let most = started.elapsed().as_millis() as u64 / 100 + 2;
    assert!((1..=most).contains(&refreshes), "asked {refreshes} times in {:?}", started.elapsed());
    assert!(slowest < Duration::from_millis(250), "a refresh held up another node's request for {slowest:?}");
}
