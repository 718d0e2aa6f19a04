//! A user who may use one queue and nothing else.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use echomq::{Backoff, EchoMq, Enqueued, JobSpec, Queue, State};
use echomq_cluster::Client;
use testkit::{Cluster, LIMIT};

use crate::scene::until;

const PAGE: &str = include_str!("../../../../docs/src/acl.md");

/// The rule of the manual, in words.
fn rule() -> Vec<&'static str> {
    let (_, rest) = PAGE.split_once("```text\nACL SETUSER").expect("a rule on the page");
    let (rule, _) = rest.split_once("```").expect("its end");
    ["ACL", "SETUSER"].into_iter().chain(rule.split_whitespace()).collect()
}

/// A right on a command that came with Redis 7.2.
const SINCE_7_2: &str = "+client|setinfo";

/// Gives the rule to each node, and the URL of its user.
fn grant(cluster: &Cluster) -> String {
    assert!(
        PAGE.contains(&format!("before 7.2 does not know `{SINCE_7_2}`")),
        "the page says what to leave out"
    );
    let knows = cluster.raw(0, &["CLIENT", "SETINFO", "lib-name", "x"]).is_ok();
    let rule: Vec<&str> = rule().into_iter().filter(|word| knows || *word != SINCE_7_2).collect();
    for node in 0..cluster.addresses().len() {
        cluster.raw(node, &rule[..]).unwrap();
        cluster.raw(node, &["ACL", "LOG", "RESET"]).unwrap();
        cluster.raw(node, &["CONFIG", "RESETSTAT"]).unwrap();
    }
    format!("redis://orders:a-password@{}", cluster.addresses().join(","))
}

/// What the nodes refused, of whomever.
fn refused(cluster: &Cluster) -> Vec<String> {
    let of = |node| {
        let log: Vec<redis::Value> =
            redis::from_redis_value(cluster.raw(node, &["ACL", "LOG"]).unwrap()).unwrap();
        log.into_iter().map(|entry| format!("{entry:?}"))
    };
    (0..cluster.addresses().len()).flat_map(of).collect()
}

/// The commands that ran on any node, as the rule names them.
fn used(cluster: &Cluster) -> BTreeSet<String> {
    let of = |node| {
        let said = cluster.raw(node, &["INFO", "commandstats"]).unwrap();
        let text: String = redis::from_redis_value(said).unwrap();
        let names = text
            .lines()
            .filter_map(|line| Some(line.strip_prefix("cmdstat_")?.split(':').next()?.to_owned()));
        names.collect::<Vec<_>>()
    };
    (0..cluster.addresses().len()).flat_map(of).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn c105_a_user_with_the_rights_of_the_manual_runs_all_operations_of_one_queue_and_none_of_another() {
    let cluster = Arc::new(testkit::cluster_with(3, 0));
    let url = grant(&cluster);
    let mq = EchoMq::connect(&url).await.unwrap();
    let orders = mq.queue("orders").unwrap();

    every_way_in_and_out(&orders).await;
    a_lease_that_is_renewed_and_one_that_is_lost(&url, &orders).await;
    what_an_operator_does(&orders).await;
    wake_ups(&url, &orders).await;

    assert_eq!(refused(&cluster), Vec::<String>::new(), "also what a script passes over is a refusal");
    let used = used(&cluster);
    let granted = rule().into_iter().filter_map(|word| word.strip_prefix('+'));
    // What is needed while a slot moves, and what one engine or the other asks for.
    let sometimes = [
        "client|setinfo",
        "asking",
        "get",
        "set",
        "ping",
        "auth",
        "cluster|slots",
        "cluster|shards",
        "sunsubscribe",
    ];
    let idle: Vec<&str> =
        granted.filter(|right| !sometimes.contains(right) && !used.contains(*right)).collect();
    assert_eq!(idle, Vec::<&str>::new(), "granted, and needed by nothing: {used:?}");

    another_queue_is_refused(&mq, &cluster).await;
}

async fn every_way_in_and_out(orders: &Queue) {
    let fails_at_first = Arc::new(AtomicU32::new(0));
    let handler = {
        let fails_at_first = fails_at_first.clone();
        move |job: echomq::Job| {
            let fails = match job.payload.as_slice() {
                b"bad" => true,
                b"odd" => fails_at_first.fetch_add(1, Ordering::SeqCst) == 0,
                _ => false,
            };
            async move { if fails { Err("no".to_owned()) } else { Ok(()) } }
        }
    };
    let soon = Backoff { base_ms: 10, cap_ms: 20, jitter: false };
    let many: Vec<JobSpec> = (0..300).map(|n| JobSpec::new(vec![b'x'; n])).collect();
    let later: Vec<JobSpec> =
        (0..20).map(|_| JobSpec::new("later").delay(Duration::from_millis(50))).collect();
    let mut added = orders.enqueue_many(many).await.unwrap();
    added.extend(orders.enqueue_many(later).await.unwrap());
    added.push(orders.enqueue(JobSpec::new("small")).await.unwrap());
    added.push(orders.enqueue(JobSpec::new("later").delay(Duration::from_millis(50))).await.unwrap());
    added.push(orders.enqueue(JobSpec::new("odd").backoff(soon)).await.unwrap());
    added.push(orders.enqueue(JobSpec::new("bad").attempts(1)).await.unwrap());
    assert!(added.iter().all(Enqueued::is_added));

    let worker = orders.worker(handler).start().await.unwrap();
    until("all are done but one", async || {
        let counts = orders.counts().await.unwrap();
        (counts.done, counts.dead, counts.retried) == (added.len() as u64 - 1, 1, 1)
    })
    .await;
    worker.stop(LIMIT).await;
    let dead = orders.job(added[added.len() - 1].id()).await.unwrap().unwrap();
    assert_eq!(dead.state, State::Dead);
}

async fn a_lease_that_is_renewed_and_one_that_is_lost(url: &str, orders: &Queue) {
    let hangs = || async {
        std::future::pending::<()>().await;
        Ok::<(), String>(())
    };
    let before = orders.counts().await.unwrap();
    let added = orders.enqueue(JobSpec::new("hangs")).await.unwrap();
    let other = EchoMq::connect(url).await.unwrap().queue("orders").unwrap();
    let worker = other.worker(move |_| hangs()).lease(Duration::from_millis(400)).start().await.unwrap();
    until("it runs", async || worker.running() == 1).await;
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert_eq!(orders.counts().await.unwrap().lost, before.lost, "its lease is renewed");
    assert_eq!(worker.stop(Duration::ZERO).await.released, 1, "handed back unfinished");

    let worker = other.worker(move |_| hangs()).lease(Duration::from_millis(200)).start().await.unwrap();
    until("it runs again", async || worker.running() == 1).await;
    drop(worker);
    let worker = orders.worker(|_| async { Ok::<(), String>(()) }).start().await.unwrap();
    until("it is taken back and done", async || {
        let counts = orders.counts().await.unwrap();
        (counts.lost, counts.done) == (before.lost + 1, before.done + 1)
    })
    .await;
    worker.stop(LIMIT).await;
    assert!(orders.job(added.id()).await.unwrap().is_none());
}

async fn what_an_operator_does(orders: &Queue) {
    assert!(orders.pause("ann").await.unwrap());
    orders.set_limit(Some(1)).await.unwrap();
    assert!(orders.enqueue(JobSpec::new("x")).await.unwrap().is_added());
    assert!(matches!(orders.enqueue(JobSpec::new("y")).await.unwrap(), Enqueued::Full(_)));
    orders.set_limit(None).await.unwrap();
    assert!(orders.resume().await.unwrap());
    assert_eq!(orders.counts().await.unwrap().pending, 1);
}

/// The worker looks by itself only once in an hour.
async fn wake_ups(url: &str, orders: &Queue) {
    let done = orders.counts().await.unwrap().done;
    let idle = EchoMq::connect(url).await.unwrap().queue("orders").unwrap();
    let worker = idle
        .worker(|_| async { Ok::<(), String>(()) })
        .poll(Duration::from_secs(3_600))
        .start()
        .await
        .unwrap();
    until("what was left is done", async || orders.counts().await.unwrap().done == done + 1).await;
    orders.enqueue(JobSpec::new("woken")).await.unwrap();
    orders.enqueue(JobSpec::new("woken later").delay(Duration::from_millis(100))).await.unwrap();
    until("it was woken", async || orders.counts().await.unwrap().done == done + 3).await;
    worker.stop(LIMIT).await;
}

async fn another_queue_is_refused(mq: &EchoMq, cluster: &Cluster) {
    let billing = mq.queue("billing").unwrap();
    let requests =
        |client: &Client| client.stats().requests.iter().map(|(_, requests)| requests).sum::<u64>();
    let before = requests(mq.client());
    let worker = billing.worker(|_| async { Ok::<(), String>(()) }).start().await;
    let opened = requests(mq.client()) - before;
    let errors = [
        ("TYPE", worker.map(drop).unwrap_err()),
        ("TYPE", billing.enqueue(JobSpec::new("x")).await.map(drop).unwrap_err()),
        ("EVALSHA", billing.counts().await.map(drop).unwrap_err()),
        ("EVALSHA", billing.pause("ann").await.map(drop).unwrap_err()),
    ];
    for (command, error) in errors {
        let said = error.to_string();
        for part in ["NOPERM", command, "emq:{billing}:", "user \"orders\""] {
            assert!(said.contains(part), "{part} is not in: {said}");
        }
    }
    assert_eq!(opened, 9, "each of its fixed keys was asked for once");
    let node = cluster.owner_of(billing.slot().get());
    assert_eq!(cluster.keys_in(node, billing.slot().get()), Vec::<Vec<u8>>::new());
}
