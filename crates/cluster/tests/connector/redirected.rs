//! MOVED, ASK and TRYAGAIN, in the forms in which people met them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use echomq_cluster::{Command, DEADLINE, Repeat, Script, Transaction, Value};
use echomq_keyspace::{Colocated, Slot};
use futures_util::future::join_all;
use testkit::{Cluster, LIMIT};

use crate::scene::{Tag, ask, client, text};

static COUNT: LazyLock<Script> = LazyLock::new(|| Script::new("#!lua\nreturn redis.call('INCR', KEYS[1])"));

fn asked(cluster: &Cluster, node: usize) -> u64 {
    cluster.commandstats(node).get("asking").map_or(0, |stat| stat.calls)
}

#[tokio::test(flavor = "multi_thread")]
async fn c030_each_command_that_was_answered_ask_gets_an_asking_of_its_own() {
    let cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(&cluster, "asking");
    let keys = ["a", "b", "c"].map(|rest| tag.key(rest));
    for key in &keys {
        ask(&client, "SET", key, &["1"]).await;
    }
    tag.half_move(&cluster, &keys.each_ref());
    let before = asked(&cluster, tag.to);
    let counts = keys.iter().map(|key| Command::new("INCR").key(key)).collect();
    let answers = client.pipeline(counts, Repeat::Never).await;
    let answers: Vec<Value> = answers.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers, [2, 2, 2].map(Value::Int));
    assert_eq!(asked(&cluster, tag.to) - before, 3);
    let owner = client.owner(Slot::of(keys[0].as_bytes())).unwrap().to_string();
    assert_eq!(owner, cluster.addresses()[tag.from], "ASK does not change the map");
    assert_eq!(client.stats().moved, 0);
}

/// Pairs are counted up together while their slot moves to and fro: each transaction happens once and on one node.
async fn transactions_are_whole_under(cluster: Arc<Cluster>, move_slot: fn(&Cluster, u16, usize, usize)) {
    let client = client(&cluster.url(), LIMIT).await;
    let tag = Tag::new(&cluster, "whole");
    let pairs: Vec<[String; 2]> =
        (0..4).map(|n| ["a", "b"].map(|rest| tag.key(&format!("{n}:{rest}")))).collect();
    let (moving, ended) = (cluster.clone(), Arc::new(AtomicBool::new(false)));
    let end = ended.clone();
    let (slot, from, to) = (tag.slot, tag.from, tag.to);
    let moves = tokio::task::spawn_blocking(move || {
        for _ in 0..3 {
            move_slot(&moving, slot, from, to);
            move_slot(&moving, slot, to, from);
        }
        end.store(true, Ordering::Release);
    });
    let count = async |keys: &[String; 2]| {
        let mut n = 0;
        while n < 20 || !ended.load(Ordering::Acquire) {
            n += 1;
            let both = keys.each_ref().map(|key| Command::new("INCR").key(key));
            let replies = client.transaction(Transaction::of(both).unwrap(), Repeat::Never).await.unwrap();
            assert_eq!(replies, [Value::Int(n), Value::Int(n)], "{keys:?}");
        }
    };
    join_all(pairs.iter().map(count)).await;
    moves.await.unwrap();
    assert!(client.stats().moved > 0, "{:?}", client.stats());
}

#[tokio::test(flavor = "multi_thread")]
async fn c031_transactions_are_whole_while_their_slot_moves_key_by_key() {
    transactions_are_whole_under(testkit::cluster(), Cluster::move_slot).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c031_transactions_are_whole_while_their_slot_moves_at_once() {
    if testkit::valkey9("c031_transactions_are_whole_while_their_slot_moves_at_once") {
        transactions_are_whole_under(Arc::new(testkit::cluster_with(3, 0)), Cluster::migrate_slots).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c031_a_transaction_that_was_answered_ask_has_one_asking_before_it() {
    let cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(&cluster, "askmulti");
    let keys = ["a", "b"].map(|rest| tag.key(rest));
    for key in &keys {
        ask(&client, "SET", key, &["1"]).await;
    }
    tag.half_move(&cluster, &keys.each_ref());
    let before = asked(&cluster, tag.to);
    let both = keys.each_ref().map(|key| Command::new("INCR").key(key));
    let replies = client.transaction(Transaction::of(both).unwrap(), Repeat::Never).await.unwrap();
    assert_eq!((replies, asked(&cluster, tag.to) - before), (vec![Value::Int(2), Value::Int(2)], 1));
    assert!(
        keys.iter().all(|key| cluster.keys_in(tag.from, tag.slot).iter().all(|kept| kept != key.as_bytes()))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn c032_a_script_whose_keys_are_on_both_sides_waits_and_happens_once() {
    static BOTH: LazyLock<Script> = LazyLock::new(|| {
        Script::new(
            "#!lua\nif redis.call('EXISTS', KEYS[1]) == 0 then return 'none' end\nredis.call('DEL', KEYS[1])\nreturn redis.call('RPUSH', KEYS[2], 'j')",
        )
    });
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), std::time::Duration::from_millis(600)).await;
    let tag = Tag::new(&cluster, "tryagain");
    let keys = [tag.key("pending"), tag.key("active")];
    ask(&client, "SET", &keys[0], &["j"]).await;
    ask(&client, "RPUSH", &keys[1], &["before"]).await;
    tag.half_move(&cluster, &[&keys[1]]);
    let claim = || Command::script(&BOTH, &Colocated::of(&keys).unwrap());
    let error = client.call(claim(), Repeat::Never).await.unwrap_err();
    assert!(
        error.is_slot_moving() && error.to_string().contains(&format!("slot {} is being moved", tag.slot)),
        "{error}"
    );
    let tries = client.stats().try_again;
    assert!((3..60).contains(&tries), "{tries} tries in 600 ms: the delay grows");
    tag.move_rest(&cluster);
    assert_eq!(client.call(claim(), Repeat::Never).await.unwrap(), Value::Int(2), "the job was not lost");
    assert_eq!(client.call(claim(), Repeat::Never).await.unwrap(), text("none"));
}

#[tokio::test(flavor = "multi_thread")]
async fn c033_a_transaction_that_died_of_moved_is_followed_and_nobody_sees_execabort() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(&cluster, "execabort");
    let key = tag.key("n");
    ask(&client, "SET", &key, &["1"]).await;
    cluster.move_slot(tag.slot, tag.from, tag.to);
    let aborted = |node| cluster.info(node, "errorstats", "errorstat_EXECABORT");
    let before = aborted(tag.from);
    let both = [Command::new("INCR").key(&key), Command::new("GET").key(&key)];
    let replies = client.transaction(Transaction::of(both).unwrap(), Repeat::Never).await.unwrap();
    assert_eq!(replies, [Value::Int(2), text("2")]);
    assert_eq!(client.stats().moved, 1);
    assert_ne!(aborted(tag.from), before, "the server did abort it");
}

#[tokio::test(flavor = "multi_thread")]
async fn c036_each_node_says_once_that_it_does_not_know_a_script_and_no_caller_hears_of_it() {
    let mut cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    let tags: Vec<Tag> = (0..3).map(|node| Tag::at(&cluster, "load", node)).collect();
    let count = async |tag: &Tag| {
        let key = tag.key("n");
        client.call(Command::script(&COUNT, &Colocated::of([&key]).unwrap()), Repeat::Never).await.unwrap()
    };
    for n in 1..=5 {
        for tag in &tags {
            assert_eq!(count(tag).await, Value::Int(n));
        }
    }
    let added = cluster.add_node();
    cluster.wait_ready();
    cluster.move_slot(tags[0].slot, tags[0].from, added);
    for n in 6..=10 {
        assert_eq!(count(&tags[0]).await, Value::Int(n));
    }
    let unknown = client.stats().no_script;
    assert_eq!(unknown.len(), 4, "{unknown:?}");
    assert!(unknown.iter().all(|(_, sha, times)| *times == 1 && *sha == COUNT.sha()), "{unknown:?}");
    assert!(unknown.iter().any(|(node, ..)| node.to_string() == cluster.addresses()[added]), "{unknown:?}");
}
