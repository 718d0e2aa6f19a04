//! A slot that is being moved key by key: some of its keys are on one node, some on the other.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use echomq_cluster::{Client, Command, DEADLINE, Error, Repeat, Script, Transaction, Value};
use echomq_keyspace::Colocated;
use futures_util::future::join_all;
use testkit::Cluster;

use crate::scene::{Tag, ask, client, text};

const SHORT: Duration = Duration::from_millis(600);

static COUNT_BOTH: LazyLock<Script> =
    LazyLock::new(|| Script::new("#!lua\nreturn {redis.call('INCR', KEYS[1]), redis.call('INCR', KEYS[2])}"));

/// 64 tasks on one client: 16 on keys that have left, 16 on keys that have not, 32 on other slots. Each counts on
/// from a number of its own, so that an answer meant for another task would show.
#[tokio::test(flavor = "multi_thread")]
async fn many_tasks_on_one_client_each_get_their_own_answers_and_every_command_happens_once() {
    const EACH: i64 = 50;
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(&cluster, "ask");
    let left: Vec<String> = (0..16).map(|n| tag.key(&format!("left-{n}"))).collect();
    let stayed = (0..16).map(|n| tag.key(&format!("stayed-{n}")));
    let elsewhere = (0..32).map(|_| Tag::new(&cluster, "else").key("n"));
    let keys: Vec<String> = left.iter().cloned().chain(stayed).chain(elsewhere).collect();
    for (task, key) in keys.iter().enumerate() {
        ask(&client, "SET", key, &[&(task * 1_000).to_string()]).await;
    }
    tag.half_move(&cluster, &left.iter().collect::<Vec<_>>());

    let tasks = keys.iter().cloned().enumerate().map(|(task, key)| {
        let client = client.clone();
        tokio::spawn(async move {
            for n in 1..=EACH {
                let count = task as i64 * 1_000 + n;
                assert_eq!(ask(&client, "INCR", &key, &[]).await, Value::Int(count), "{key}");
            }
        })
    });
    join_all(tasks).await.into_iter().for_each(|ended| ended.unwrap());
    let stats = client.stats();
    assert_eq!((stats.moved, stats.asked, stats.try_again), (0, 16 * EACH as u64, 0), "{stats:?}");
    tag.move_rest(&cluster);
    for (task, key) in keys.iter().enumerate() {
        let count = (task as i64 * 1_000 + EACH).to_string();
        assert_eq!(ask(&client, "GET", key, &[]).await, text(&count), "{key}");
    }
}

/// Two keys with numbers in them, on a client with a short deadline.
async fn two_numbers(cluster: &Cluster) -> (Client, Tag, [String; 2]) {
    let client = client(&cluster.url(), SHORT).await;
    let tag = Tag::new(cluster, "half");
    let keys = [tag.key("a"), tag.key("b")];
    for key in &keys {
        ask(&client, "SET", key, &["1"]).await;
    }
    (client, tag, keys)
}

fn incr_both(keys: &[String; 2]) -> Vec<Command> {
    keys.iter().map(|key| Command::new("INCR").key(key)).collect()
}

fn script_both(keys: &[String; 2]) -> Command {
    Command::script(&COUNT_BOTH, &Colocated::of(keys.iter()).unwrap())
}

/// The call ends at its deadline with the news that the slot is being moved. A machine that stands still just then
/// leaves the last attempt without its answer; the fate is unknown, and it is tried again.
async fn assert_waits_for_the_move<T: std::fmt::Debug>(tag: &Tag, call: impl AsyncFn() -> Result<T, Error>) {
    for _ in 0..5 {
        let started = Instant::now();
        let error = call().await.unwrap_err();
        let waited = started.elapsed();
        if error.is_unknown() || error.is_unreachable() {
            continue;
        }
        assert!(error.is_slot_moving(), "{error}");
        assert!(error.to_string().contains(&format!("slot {} is being moved", tag.slot)), "{error}");
        assert!(waited >= SHORT && waited < SHORT + Duration::from_secs(2), "it took {waited:?}");
        return;
    }
    panic!("its fate is always unknown");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_whose_keys_are_all_on_one_side_is_carried_out_there_once() {
    let cluster = testkit::cluster();
    let (client, tag, keys) = two_numbers(&cluster).await;
    tag.half_move(&cluster, &[]);
    let replies =
        client.transaction(Transaction::of(incr_both(&keys)).unwrap(), Repeat::Never).await.unwrap();
    assert_eq!(replies, [Value::Int(2), Value::Int(2)], "both are at the source");
    cluster.move_keys(tag.from, tag.to, &keys);
    let replies =
        client.transaction(Transaction::of(incr_both(&keys)).unwrap(), Repeat::Never).await.unwrap();
    assert_eq!(replies, [Value::Int(3), Value::Int(3)], "both are at the target");
    let script = client.call(script_both(&keys), Repeat::Never).await.unwrap();
    assert_eq!(script, Value::Array(vec![Value::Int(4), Value::Int(4)]));
    tag.move_rest(&cluster);
    let stats = client.stats();
    assert_eq!((stats.moved, stats.try_again), (0, 0), "{stats:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_touches_keys_on_both_sides_waits_to_its_deadline_and_writes_nothing() {
    let cluster = testkit::cluster();
    let (client, tag, keys) = two_numbers(&cluster).await;
    for gone in 0..2 {
        let there = if gone == 0 { &keys[..1] } else { &keys[1..] };
        cluster.begin_move(tag.slot, tag.from, tag.to);
        cluster.move_keys(tag.from, tag.to, there);
        let before = tag.dump(&cluster);

        assert_waits_for_the_move(&tag, async || {
            client.transaction(Transaction::of(incr_both(&keys)).unwrap(), Repeat::Never).await
        })
        .await;
        assert_waits_for_the_move(&tag, async || client.call(script_both(&keys), Repeat::Never).await).await;
        let set = || Command::new("MSET").key(&keys[0]).arg("x").key(&keys[1]).arg("y");
        assert_waits_for_the_move(&tag, async || client.call(set(), Repeat::Idempotent).await).await;

        assert_eq!(tag.dump(&cluster), before, "something was written");
        cluster.abort_move(tag.slot, tag.from, tag.to);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_move_is_carried_out_once_when_it_ends() {
    let cluster = testkit::cluster();
    let (client, tag, keys) = two_numbers(&cluster).await;
    let client = client.with_deadline(DEADLINE);
    tag.half_move(&cluster, &[&keys[0]]);
    let waiting = async {
        let transaction = client.transaction(Transaction::of(incr_both(&keys)).unwrap(), Repeat::Never);
        let script = client.call(script_both(&keys), Repeat::Never);
        tokio::join!(transaction, script)
    };
    let end_of_move = async {
        while client.stats().try_again < 6 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        tag.move_rest(&cluster);
    };
    let ((transaction, script), ()) = tokio::join!(waiting, end_of_move);
    let (mut numbers, script) = (transaction.unwrap(), script.unwrap());
    let Value::Array(scripted) = script else { panic!("{script:?}") };
    numbers.extend(scripted);
    numbers.sort_by_key(|number| if let Value::Int(n) = number { *n } else { 0 });
    assert_eq!(numbers, [2, 2, 3, 3].map(Value::Int));
    assert_eq!(ask(&client, "GET", &keys[1], &[]).await, text("3"));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_who_will_not_wait_is_told_at_once_and_can_ask_key_by_key() {
    let cluster = testkit::cluster();
    let (client, tag, keys) = two_numbers(&cluster).await;
    let all = || Command::new("MGET").key(&keys[0]).key(&keys[1]);
    let whole = client.call_whole(all()).await.unwrap();
    assert_eq!(whole, Some(Value::Array(vec![text("1"), text("1")])));

    tag.half_move(&cluster, &[&keys[1]]);
    let started = Instant::now();
    assert_eq!(client.call_whole(all()).await.unwrap(), None);
    assert!(started.elapsed() < SHORT / 2, "it waited {:?}", started.elapsed());
    let one =
        async |key: &str| client.call_traced(Command::new("GET").key(key), Repeat::Idempotent).await.unwrap();
    assert_eq!(one(&keys[0]).await, (text("1"), false));
    assert_eq!(one(&keys[1]).await, (text("1"), true));
    assert_eq!(one(&tag.key("never")).await, (Value::Nil, true), "it may be on its way");
    tag.move_rest(&cluster);
    assert_eq!(one(&tag.key("never")).await, (Value::Nil, false));
}
