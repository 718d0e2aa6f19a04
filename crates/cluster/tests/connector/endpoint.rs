//! Services that show one endpoint, hide their nodes, and keep the rules of the slots.

use std::time::{Duration, Instant};

use echomq_cluster::{Client, Command, Repeat, Transaction, Value};
use echomq_keyspace::Slot;

use crate::scene::{Tag, ask, text, try_ask};

/// A user who may ask nothing about the cluster.
const BLIND: [&str; 9] = ["ACL", "SETUSER", "blind", "on", ">pw", "~*", "&*", "+@all", "-cluster"];

fn url(address: &str) -> String {
    format!("redis://blind:pw@{address}?one-endpoint=true")
}

async fn serves_all_slots_with_the_rules_on(address: &str) {
    let client = Client::connect(&url(address)).await.unwrap();
    for n in 0..50 {
        ask(&client, "SET", &format!("{{{n}}}"), &["1"]).await;
    }
    assert_eq!(client.primaries().len(), 1);
    assert_eq!(client.owner(Slot::new(16_383).unwrap()).unwrap().to_string(), address);
    let both = vec![Command::new("INCR").key("{1}"), Command::new("INCR").key("{1}x")];
    let replies = client.transaction(Transaction::of(both).unwrap(), Repeat::Never).await.unwrap();
    assert_eq!(replies, [Value::Int(2), Value::Int(1)]);
    let two = client.call(Command::new("MGET").key("{1}").key("{2}"), Repeat::Idempotent).await.unwrap_err();
    assert!(two.is_crossslot(), "{two}");
    let values = client.scatter_mget(&["{1}", "{2}"]).await.values().unwrap();
    assert_eq!(values, [Some(b"2".to_vec()), Some(b"1".to_vec())]);
    let mut heard = client.subscribe(b"{5}");
    heard.next().await.unwrap();
    client.call(Command::new("SPUBLISH").key("{5}").arg("m"), Repeat::Never).await.unwrap();
    assert_eq!(heard.next().await, Some(echomq_cluster::Notice::Message(b"m".to_vec())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_server_behind_one_endpoint_serves_all_slots_with_the_rules_on() {
    let server = testkit::standalone();
    server.raw(&BLIND).unwrap();
    serves_all_slots_with_the_rules_on(&server.address()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_of_one_that_does_not_tell_its_topology_serves_all_slots_with_the_rules_on() {
    let cluster = testkit::cluster_with(1, 0);
    cluster.raw(0, &BLIND).unwrap();
    serves_all_slots_with_the_rules_on(&cluster.addresses()[0]).await;
    let Err(error) = Client::connect(&format!("redis://blind:pw@{}", cluster.addresses()[0])).await else {
        panic!("the topology was told")
    };
    assert!(error.to_string().contains("one-endpoint=true"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nodes_show_all_the_same_a_redirect_is_told_and_not_followed() {
    let cluster = testkit::cluster();
    let (here, there) = (Tag::at(&cluster, "here", 0), Tag::at(&cluster, "there", 1));
    let address = &cluster.addresses()[0];
    let client = Client::connect(&format!("redis://{address}?one-endpoint=true")).await.unwrap();
    assert_eq!(ask(&client, "INCR", &here.key("n"), &[]).await, Value::Int(1));
    let started = Instant::now();
    let one = try_ask(&client, Repeat::Idempotent, "SET", &there.key("a"), &["1"]).await.unwrap_err();
    let commands =
        vec![Command::new("SET").key(there.key("a")).arg("1"), Command::new("GET").key(here.key("n"))];
    let transaction = Transaction::of(vec![commands[0].clone()]).unwrap();
    let many = client.transaction(transaction, Repeat::Idempotent).await.unwrap_err();
    let mut answers = client.pipeline(commands, Repeat::Idempotent).await.into_iter();
    let piped = answers.next().unwrap().unwrap_err();
    assert_eq!(answers.next().unwrap().unwrap(), text("1"), "its neighbour");
    for error in [one, many, piped] {
        assert_eq!(error.server_code(), Some("MOVED"));
        assert!(error.to_string().contains("leave out one-endpoint"), "{error}");
    }
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(client.stats().moved, 0);
    assert_eq!(client.primaries().len(), 1);
}
