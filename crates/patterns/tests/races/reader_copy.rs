use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use echomq_cluster::{Client, Command, Repeat, Value};
use echomq_patterns::reader_copy::{Page, Read, Updated};
use testkit::{Cluster, LIMIT, cluster_with, wait_until};

use crate::scene::{client, name, side_by_side};

/// A bound that no page of these tests ever meets by waiting.
const HOUR: Duration = Duration::from_secs(3600);

/// One primary, one replica, and a client that knows of both.
async fn scene() -> (Cluster, Client) {
    let cluster = cluster_with(1, 1);
    // Some servers name a replica to clients only once it has copied something.
    assert_eq!(cluster.raw(0, &["SET", "first", "1"]), Ok(Value::Okay));
    let names_replica = |node| match cluster.raw(node, &["CLUSTER", "SLOTS"]) {
        Ok(Value::Array(rows)) => matches!(rows.as_slice(), [Value::Array(row)] if row.len() == 4),
        _ => false,
    };
    wait_until("both nodes name the replica", LIMIT, || names_replica(0) && names_replica(1));
    let client = client(&cluster).await;
    (cluster, client)
}

async fn set(page: &Page, body: &str) -> u64 {
    match page.update(&page.current().await.unwrap(), body).await.unwrap() {
        Updated::Done(now) => now.version(),
        stale => panic!("{stale:?}"),
    }
}

/// Reads until the replica has this version.
async fn arrived(page: &Page, version: u64) {
    let started = Instant::now();
    loop {
        match page.read(Duration::ZERO).await.unwrap() {
            Read::Within(copy) if copy.version >= version => return,
            _ => assert!(started.elapsed() < LIMIT, "version {version} never came"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_is_too_old_is_told_and_one_that_is_new_enough_costs_the_owner_nothing() {
    let (cluster, client) = scene().await;
    let page = Page::new(&client, &name("page")).unwrap();
    let first = set(&page, "one").await;
    arrived(&page, first).await;

    let owner = |command: &str| cluster.commandstats(0).get(command).map_or(0, |stat| stat.calls);
    let (gets, whole) = (owner("hget"), owner("hmget"));
    for _ in 0..50 {
        match page.read(HOUR).await.unwrap() {
            Read::Within(copy) => assert_eq!((copy.version, copy.body.as_str()), (1, "one")),
            behind => panic!("{behind:?}"),
        }
    }
    assert_eq!((owner("hget") - gets, owner("hmget") - whole), (0, 0), "the replica answered all of them");

    cluster.pause_replication(1);
    let second = set(&page, "two").await;
    assert_eq!(second, 2);
    let old = page.read(HOUR).await.unwrap();
    assert!(
        matches!(&old, Read::Within(copy) if copy.version == 1),
        "who asked for an hour gets it: {old:?}"
    );
    let told = page.read(Duration::ZERO).await.unwrap();
    assert_eq!(told, Read::Behind { have: 1, owner: 2, body: "one".to_owned() });
    assert_eq!(page.current().await.unwrap().body(), "two");

    cluster.resume_replication(1);
    arrived(&page, second).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_on_a_replicas_word_loses_a_change_and_one_on_the_owners_does_not() {
    let (cluster, client) = scene().await;
    let page = Page::new(&client, &name("page")).unwrap();
    arrived(&page, set(&page, "1").await).await;
    cluster.pause_replication(1);

    // By hand: read from the replica, add 1, write. The replica does not see the first of the two.
    let key = page.keys().text();
    for _ in 0..2 {
        let read = client.read_replica(Command::new("HGET").key(&key).arg("body")).await.unwrap();
        let next = redis::from_redis_value::<i64>(read).unwrap() + 1;
        client.call(Command::new("HSET").key(&key).arg("body").arg(next), Repeat::Never).await.unwrap();
    }
    assert_eq!(page.current().await.unwrap().body(), "2", "1 and twice 1 are 2: a change is lost");

    let done = side_by_side(8, |_| {
        let page = page.clone();
        async move {
            for _ in 0..10 {
                loop {
                    let seen = page.current().await.unwrap();
                    let next = seen.body().parse::<i64>().unwrap() + 1;
                    match page.update(&seen, &next.to_string()).await.unwrap() {
                        Updated::Done(_) => break,
                        Updated::Stale { version } => assert!(version > seen.version()),
                    }
                }
            }
        }
    });
    done.await;
    assert_eq!(page.current().await.unwrap().body(), "82", "2 and 80 times 1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_has_every_change_that_is_older_than_its_age() {
    let (_cluster, client) = scene().await;
    let page = Page::new(&client, &name("page")).unwrap();
    set(&page, "0").await;
    // When each version was acknowledged; the first is version 1.
    let acknowledged = Arc::new(Mutex::new(vec![Instant::now()]));
    let writer = tokio::spawn({
        let (page, acknowledged) = (page.clone(), acknowledged.clone());
        async move {
            for _ in 0..500 {
                set(&page, "x").await;
                acknowledged.lock().unwrap().push(Instant::now());
            }
        }
    });
    let mut within = 0;
    while !writer.is_finished() {
        let asked = Instant::now();
        let Read::Within(copy) = page.read(Duration::from_millis(3)).await.unwrap() else { continue };
        within += 1;
        // The change that it has not was acknowledged no longer ago than its age.
        if let Some(missing) = acknowledged.lock().unwrap().get(copy.version as usize) {
            assert!(asked.saturating_duration_since(*missing) <= copy.age_at_most, "{copy:?}");
        }
    }
    writer.await.unwrap();
    assert!(within > 0, "every copy was behind");
}
