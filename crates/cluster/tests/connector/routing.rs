//! Where a request goes, and what is never sent.
use crate::scene::{Tag, ask, client, text};
use echomq_cluster::{Client, Command, DEADLINE, Error, Repeat, Transaction, Value};
use echomq_keyspace::{Colocated, Slot};

/// Two keys that people have, on slots 2952 and 8819.
const APART: [&str; 2] = ["bull:orders:wait", "bull:orders:active"];

#[tokio::test(flavor = "multi_thread")]
async fn a_command_goes_to_the_owner_of_its_slot_at_once() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    for n in 0..30 {
        let tag = Tag::new(&cluster, "route");
        let key = tag.key("a");
        let value = n.to_string();
        ask(&client, "SET", &key, &[&value]).await;
        let there = cluster.raw(tag.from, &["GET", &key]).unwrap();
        assert_eq!(there, text(&value), "{key} is not where the server wants it");
        let owner = client.owner(Slot::of(key.as_bytes())).unwrap();
        assert_eq!(owner.to_string(), cluster.addresses()[tag.from]);
    }
    let stats = client.stats();
    assert_eq!((stats.moved, stats.asked, stats.try_again), (0, 0, 0), "{stats:?}");
}

/// What was refused, each with the name that the error must give it.
async fn refusals(client: &Client) -> Vec<(&'static str, Error)> {
    let pop = Command::new("BRPOPLPUSH").key(APART[0]).key(APART[1]).arg(5);
    let pop = client.call(pop, Repeat::Never).await.unwrap_err();
    let each = APART.map(|key| Command::new("DEL").key(key));
    let each = Transaction::of(each).unwrap_err();
    let script = Error::from(Colocated::of(APART).unwrap_err());
    vec![("BRPOPLPUSH", pop), ("MULTI", each), ("A request for many keys", script)]
}

fn assert_tells_all((name, error): (&str, Error)) {
    let said = error.to_string();
    assert!(error.is_crossslot(), "{said}");
    assert!(said.starts_with(name), "{said}");
    assert!(said.contains("bull:{orders}:wait"), "the remedy: {said}");
    for (key, slot) in APART.iter().zip(["2952", "8819"]) {
        assert!(
            said.lines().any(|line| line.contains(key) && line.contains(&format!("slot  {slot}"))),
            "{said}"
        );
    }
}

/// How many commands a node was sent, but for those that ask this.
fn arrived(stats: std::collections::BTreeMap<String, testkit::CommandStat>) -> u64 {
    stats.iter().filter(|(name, _)| *name != "info").map(|(_, stat)| stat.calls).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn c001_two_slots_are_refused_with_every_key_and_slot_before_a_byte_is_sent() {
    let cluster = testkit::cluster_with(1, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    let before = arrived(cluster.commandstats(0));
    refusals(&client).await.into_iter().for_each(assert_tells_all);
    assert_eq!(arrived(cluster.commandstats(0)), before, "something was sent");
    let stats = client.stats();
    assert_eq!(stats.refused, 1, "the others were never given to it");
    assert!(stats.requests.iter().all(|(_, sent)| *sent == 0), "{stats:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn c001_a_single_server_would_take_two_slots_and_they_are_refused_all_the_same() {
    let server = testkit::standalone();
    let client = client(&server.url(), DEADLINE).await;
    server.raw(&["LPUSH", APART[0], "job"]).unwrap();
    refusals(&client).await.into_iter().for_each(assert_tells_all);
    let length = server.raw(&["LLEN", APART[0]]).unwrap();
    assert_eq!(length, Value::Int(1), "the list was popped");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_without_a_key_is_refused_with_what_to_do() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let error = client.call(Command::new("PING"), Repeat::Idempotent).await.unwrap_err();
    assert!(error.to_string().contains("names no key"), "{error}");
    let error = Transaction::of(Vec::new()).unwrap_err();
    assert!(error.to_string().contains("names no key"), "{error}");
    let node = &client.primaries()[0];
    let pong = client.call_node(node, &echomq_cluster::raw("PING")).await.unwrap();
    assert_eq!(pong, Value::SimpleString("PONG".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_answers_each_command_in_order_and_an_error_in_its_place() {
    let server = testkit::standalone();
    let cluster = testkit::cluster();
    for url in [server.url(), cluster.url()] {
        let client = client(&url, DEADLINE).await;
        let key = Tag::new(&cluster, "tx").key("a");
        let commands = vec![
            Command::new("SET").key(&key).arg("word"),
            Command::new("INCR").key(&key),
            Command::new("GET").key(&key),
        ];
        let replies = client.transaction(Transaction::of(commands).unwrap(), Repeat::Never).await.unwrap();
        assert!(
            matches!(&replies[..], [Value::Okay, Value::ServerError(_), got] if *got == text("word")),
            "{replies:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_by_the_server_keeps_its_word_and_names_the_node() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(&cluster, "wrong");
    ask(&client, "SET", &tag.key("a"), &["x"]).await;
    let error =
        client.call(Command::new("LPUSH").key(tag.key("a")).arg("y"), Repeat::Never).await.unwrap_err();
    assert_eq!(error.server_code(), Some("WRONGTYPE"));
    assert!(error.to_string().contains(&cluster.addresses()[tag.from]), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_seed_is_enough_and_the_first_that_answers_is_used() {
    let cluster = testkit::cluster();
    let addresses = cluster.addresses();
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let client = client(&format!("redis://{unused},{}", addresses[2]), DEADLINE).await;
    let mut primaries: Vec<String> = client.primaries().iter().map(ToString::to_string).collect();
    primaries.sort();
    let mut all = addresses.clone();
    all.sort();
    assert_eq!(primaries, all);
}
