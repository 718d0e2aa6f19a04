//! Scripts that a node has forgotten.

use std::sync::LazyLock;

use echomq_cluster::{Command, DEADLINE, Repeat, Script, Transaction, Value};
use echomq_keyspace::Colocated;
use futures_util::future::join_all;

use crate::scene::{Tag, ask, client};

static COUNT: LazyLock<Script> = LazyLock::new(|| Script::new("#!lua\nreturn redis.call('INCR', KEYS[1])"));

fn count(key: &str) -> Command {
    Command::script(&COUNT, &Colocated::of([key]).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_do_not_see_that_a_node_forgot_a_script() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let keys: Vec<String> = (0..3).map(|node| Tag::at(&cluster, "script", node).key("n")).collect();
    for n in 1..=4 {
        cluster.script_flush_all();
        // Many at once: each finds the script unknown or known, and none is carried out twice.
        for call in 0..5 {
            let calls = keys.iter().map(|key| client.call(count(key), Repeat::Never));
            for count in join_all(calls).await {
                assert_eq!(count.unwrap(), Value::Int((n - 1) * 5 + call + 1));
            }
        }
    }
    let no_script: u64 = client.stats().no_script.iter().map(|(.., times)| times).sum();
    assert!(no_script >= 4, "the nodes had not forgotten: {no_script}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_at_once_of_a_forgotten_script_each_happen_once() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let key = Tag::new(&cluster, "burst").key("n");
    cluster.script_flush_all();
    let calls = (0..200).map(|_| client.call(count(&key), Repeat::Never));
    let mut counts: Vec<Value> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
    counts.sort_by_key(|count| if let Value::Int(n) = count { *n } else { 0 });
    assert_eq!(counts, (1..=200).map(Value::Int).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_script_whose_key_has_left_a_half_moved_slot_is_carried_out_once() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(&cluster, "askscript");
    let key = tag.key("n");
    ask(&client, "SET", &key, &["7"]).await;
    tag.half_move(&cluster, &[&key]);
    cluster.script_flush_all();
    assert_eq!(client.call(count(&key), Repeat::Never).await.unwrap(), Value::Int(8));
    tag.move_rest(&cluster);
    assert_eq!(client.call(count(&key), Repeat::Never).await.unwrap(), Value::Int(9));
    assert!(client.stats().asked > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_in_a_transaction_goes_by_its_text_and_is_never_left_out() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(&cluster, "multi");
    let key = tag.key("n");
    for n in 0..3 {
        cluster.script_flush_all();
        let commands = vec![
            Command::new("SET").key(&key).arg(10 * n),
            Command::script(&COUNT, &Colocated::of([&key]).unwrap()),
            Command::new("INCR").key(&key),
        ];
        let replies = client.transaction(Transaction::of(commands).unwrap(), Repeat::Never).await.unwrap();
        assert_eq!(replies, [Value::Okay, Value::Int(10 * n + 1), Value::Int(10 * n + 2)]);
    }
}
