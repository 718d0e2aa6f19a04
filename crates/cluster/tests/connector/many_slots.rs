//! Commands over many slots: the six that may be split, and pipelines.

use std::sync::LazyLock;
use std::time::Duration;

use echomq_cluster::{Command, DEADLINE, Repeat, Script, Transaction, Value};
use echomq_keyspace::Colocated;

use crate::scene::{Tag, ask, client, text};

static COUNT: LazyLock<Script> = LazyLock::new(|| Script::new("#!lua\nreturn redis.call('INCR', KEYS[1])"));

#[tokio::test(flavor = "multi_thread")]
async fn c014_scattered_values_stand_in_the_order_asked() {
    // Its keys fall on any slot, so that no other test may be at work there.
    let cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    let label = testkit::unique_queue("mget");
    let mut keys: Vec<String> = (0..299).map(|n| format!("{label}:{n}")).collect();
    keys.insert(150, keys[7].clone());
    let value = |key: &String| (!key.ends_with(['0', '3', '6'])).then(|| format!("value of {key}"));
    let pairs: Vec<(&String, String)> = keys.iter().filter_map(|key| Some((key, value(key)?))).collect();
    client.scatter_mset(&pairs).await.done().unwrap();

    let values = client.scatter_mget(&keys).await.values().unwrap();
    assert_eq!(values.len(), 300);
    for (key, got) in keys.iter().zip(&values) {
        assert_eq!(got.as_deref(), value(key).as_deref().map(str::as_bytes), "{key}");
    }
    assert_eq!(client.scatter_exists(&keys).await.sum().unwrap(), pairs.len() as u64);
    assert_eq!(client.scatter_touch(&keys).await.sum().unwrap(), pairs.len() as u64);
    let gone = client.scatter_unlink(&keys[..100]).await.sum().unwrap()
        + client.scatter_del(&keys).await.sum().unwrap();
    assert_eq!(gone, pairs.len() as u64 - 1, "the key named twice is deleted once");
}

#[tokio::test(flavor = "multi_thread")]
async fn c015_a_share_that_is_not_answered_is_told_apart_from_those_that_were() {
    let cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), Duration::from_millis(600)).await;
    let keys: Vec<String> = (0..3).map(|node| Tag::at(&cluster, "split", node).key("k")).collect();
    let pairs: Vec<(&String, &str)> = keys.iter().map(|key| (key, "1")).collect();
    client.scatter_mset(&pairs).await.done().unwrap();

    cluster.freeze(2);
    let scattered = client.scatter_mset(&pairs).await;
    cluster.thaw(2);
    assert!(!scattered.is_whole());
    for share in scattered.shares() {
        let frozen = share.positions == [2];
        assert_eq!(share.outcome.is_err(), frozen, "{share:?}");
        assert_eq!(share.outcome.as_ref().is_err_and(|error| error.is_unknown()), frozen, "{share:?}");
    }
    assert!(scattered.done().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn c016_a_pipeline_is_routed_per_command_and_answers_in_the_order_of_the_calls() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let [orders, billing, mail] = [0, 1, 2].map(|node| Tag::at(&cluster, "pipe", node));
    ask(&client, "SET", &mail.key("greeting"), &["hello"]).await;
    let commands = vec![
        Command::new("SET").key(orders.key("n")).arg(41),
        Command::new("SET").key(billing.key("n")).arg("b"),
        Command::new("GET").key(mail.key("greeting")),
        Command::new("LLEN").key(billing.key("n")),
        Command::new("INCR").key(orders.key("n")),
        Command::new("MGET").key(orders.key("n")).key(mail.key("n")),
    ];
    let answers = client.pipeline(commands, Repeat::Never).await;
    let [set, other, get, wrong, count, apart] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!((set.as_ref().unwrap(), other.as_ref().unwrap()), (&Value::Okay, &Value::Okay));
    assert_eq!(get.as_ref().unwrap(), &text("hello"));
    assert_eq!(wrong.as_ref().unwrap_err().server_code(), Some("WRONGTYPE"));
    assert_eq!(count.as_ref().unwrap(), &Value::Int(42));
    assert!(apart.as_ref().unwrap_err().is_crossslot());

    let atomic = vec![Command::new("INCR").key(orders.key("n")), Command::new("INCR").key(billing.key("m"))];
    assert!(Transaction::of(atomic).unwrap_err().is_crossslot());
    assert_eq!(ask(&client, "GET", &orders.key("n"), &[]).await, text("42"));
}

#[tokio::test(flavor = "multi_thread")]
async fn c023_no_keys_is_an_empty_result_without_a_round_trip() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let before = client.stats().requests;
    let none: [&str; 0] = [];
    assert_eq!(client.scatter_mget(&none).await.values().unwrap(), Vec::<Option<Vec<u8>>>::new());
    assert_eq!(client.scatter_del(&none).await.sum().unwrap(), 0);
    assert!(client.pipeline(Vec::new(), Repeat::Never).await.is_empty());
    let error = client.call(Command::new("DEL"), Repeat::Never).await.unwrap_err();
    assert!(error.to_string().contains("names no key"), "{error}");
    assert!(Transaction::of(Vec::new()).is_err());
    assert_eq!(client.stats().requests, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn c035_only_the_commands_of_a_pipeline_that_a_node_did_not_know_are_sent_again() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let tags: Vec<Tag> = (0..3).map(|node| Tag::at(&cluster, "noscript", node)).collect();
    let calls = |n: usize| -> Command {
        let by_script = n.is_multiple_of(2);
        let key = tags[n % 3].key(if by_script { "script" } else { "plain" });
        if by_script {
            Command::script(&COUNT, &Colocated::of([&key]).unwrap())
        } else {
            Command::new("INCR").key(key)
        }
    };
    cluster.script_flush_all();
    let answers = client.pipeline((0..60).map(calls).collect(), Repeat::Never).await;
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!(answer.as_ref().unwrap(), &Value::Int(n as i64 / 6 + 1), "command {n}");
    }
    for tag in &tags {
        assert_eq!(ask(&client, "GET", &tag.key("script"), &[]).await, text("10"));
        assert_eq!(ask(&client, "GET", &tag.key("plain"), &[]).await, text("10"));
    }
}

/// What the best-known clients do wrong: they repeat the whole pipeline, and the count goes up many times.
#[tokio::test(flavor = "multi_thread")]
async fn a_pipeline_that_meets_a_half_moved_slot_repeats_nothing_that_was_done() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), Duration::from_millis(400)).await;
    let tag = Tag::new(&cluster, "tryagain");
    let (here, there, count) = (tag.key("a"), tag.key("b"), tag.key("n"));
    for key in [&here, &there, &count] {
        ask(&client, "SET", key, &["0"]).await;
    }
    tag.half_move(&cluster, &[&there]);
    let commands = vec![Command::new("INCR").key(&count), Command::new("MGET").key(&here).key(&there)];
    let answers = client.pipeline(commands, Repeat::Never).await;
    assert_eq!(answers[0].as_ref().unwrap(), &Value::Int(1));
    assert!(answers[1].as_ref().unwrap_err().is_slot_moving(), "{answers:?}");
    tag.move_rest(&cluster);
    assert_eq!(ask(&client, "GET", &count, &[]).await, text("1"));
}
