//! A slot that has moved, or moves as a whole.
//!
//! A node takes part in classic or in atomic moves, not in both at once, so that the atomic ones have a cluster of
//! their own.

use std::sync::Arc;

use echomq_cluster::{Command, DEADLINE, Repeat, Transaction, Value};
use echomq_keyspace::Slot;
use futures_util::future::join_all;
use testkit::Cluster;

use crate::scene::{Tag, ask, client, text};

type Move = fn(&Cluster, u16, usize, usize);

/// A client that believes a slot to be where it is no more goes on, and learns from the first answer.
async fn one_answer_is_enough_to_learn_of(cluster: &Cluster, move_slot: Move) {
    let client = client(&cluster.url(), DEADLINE).await;
    let (tag, other) = (Tag::new(cluster, "moved"), Tag::new(cluster, "stays"));
    let key = tag.key("n");
    let believed = |key: &str| client.owner(Slot::of(key.as_bytes())).unwrap().to_string();
    let other_owner = believed(&other.key(""));
    ask(&client, "INCR", &key, &[]).await;

    move_slot(cluster, tag.slot, tag.from, tag.to);
    assert_eq!(believed(&key), cluster.addresses()[tag.from], "nobody has told the client yet");
    for n in 2..10 {
        assert_eq!(ask(&client, "INCR", &key, &[]).await, Value::Int(n));
    }
    let stats = client.stats();
    assert_eq!((stats.moved, stats.asked, stats.try_again), (1, 0, 0), "{stats:?}");
    assert_eq!(believed(&key), cluster.addresses()[tag.to]);
    assert_eq!(believed(&other.key("")), other_owner);
    assert_eq!(cluster.raw(tag.to, &["GET", &key]).unwrap(), text("9"));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_classic_move_the_first_answer_tells_where_the_slot_is() {
    one_answer_is_enough_to_learn_of(&testkit::cluster(), Cluster::move_slot).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_an_atomic_move_the_first_answer_tells_where_the_slot_is() {
    if testkit::valkey9("after_an_atomic_move_the_first_answer_tells_where_the_slot_is") {
        one_answer_is_enough_to_learn_of(&testkit::cluster_with(3, 0), Cluster::migrate_slots).await;
    }
}

/// Clients that know nothing but transactions have lost their way here for ever.
async fn transactions_alone_find_the_way_after(cluster: &Cluster, move_slot: Move) {
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(cluster, "txmoved");
    let both =
        || vec![Command::new("INCR").key(tag.key("a")), Command::new("INCRBY").key(tag.key("b")).arg(10)];
    for n in 1..=20 {
        if n % 10 == 1 {
            let there = if n == 1 { [tag.from, tag.to] } else { [tag.to, tag.from] };
            move_slot(cluster, tag.slot, there[0], there[1]);
        }
        let replies = client.transaction(Transaction::of(both()).unwrap(), Repeat::Never).await.unwrap();
        assert_eq!(replies, [Value::Int(n), Value::Int(10 * n)]);
    }
    assert_eq!(client.stats().moved, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_alone_find_the_way_after_a_classic_move() {
    transactions_alone_find_the_way_after(&testkit::cluster(), Cluster::move_slot).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_alone_find_the_way_after_an_atomic_move() {
    if testkit::valkey9("transactions_alone_find_the_way_after_an_atomic_move") {
        transactions_alone_find_the_way_after(&testkit::cluster_with(3, 0), Cluster::migrate_slots).await;
    }
}

/// Counts up on eight keys while their slot moves to and fro; each answer must be the next number: nothing is lost,
/// nothing happens twice.
async fn counting_is_exact_under(cluster: Arc<Cluster>, move_slot: Move) {
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(&cluster, "count");
    let keys: Vec<String> = (0..8).map(|n| tag.key(&n.to_string())).collect();
    let moving = cluster.clone();
    let moves = tokio::task::spawn_blocking(move || {
        for _ in 0..3 {
            move_slot(&moving, tag.slot, tag.from, tag.to);
            move_slot(&moving, tag.slot, tag.to, tag.from);
        }
    });
    let count = async |key: &String| {
        let mut n = 0;
        while n < 50 || !moves.is_finished() {
            n += 1;
            assert_eq!(ask(&client, "INCR", key, &[]).await, Value::Int(n), "{key}");
        }
    };
    join_all(keys.iter().map(count)).await;
    assert!(client.stats().moved > 0, "{:?}", client.stats());
    moves.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn counting_is_exact_under_classic_moves() {
    counting_is_exact_under(testkit::cluster(), Cluster::move_slot).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counting_is_exact_under_atomic_moves() {
    if testkit::valkey9("counting_is_exact_under_atomic_moves") {
        counting_is_exact_under(Arc::new(testkit::cluster_with(3, 0)), Cluster::migrate_slots).await;
    }
}
