//! Sharded pub/sub through cuts, failovers and moves.

use std::time::Duration;

use echomq_cluster::{Client, Command, DEADLINE, Notice, Repeat, Subscription, Value};
use testkit::{Cluster, LIMIT, wait_until};

use crate::scene::{Tag, client};

async fn next(subscription: &mut Subscription) -> Notice {
    tokio::time::timeout(LIMIT, subscription.next())
        .await
        .expect("nothing was heard")
        .expect("the client has gone")
}

/// Reads on until the subscription says that it stands again.
async fn stands_again(subscription: &mut Subscription) {
    while next(subscription).await != Notice::Resubscribed {}
}

async fn publish(client: &Client, channel: &str, message: &str) -> Value {
    let command = Command::new("SPUBLISH").key(channel).arg(message);
    client.call(command, Repeat::Idempotent).await.unwrap()
}

/// A subscription that stands and has heard a first message.
async fn heard_once(client: &Client, channel: &str) -> Subscription {
    let mut subscription = client.subscribe(channel.as_bytes());
    stands_again(&mut subscription).await;
    hears(client, channel, &mut subscription, "first").await;
    subscription
}

/// The next message is this one.
async fn hears(client: &Client, channel: &str, subscription: &mut Subscription, message: &str) {
    publish(client, channel, message).await;
    let heard = loop {
        match next(subscription).await {
            Notice::Message(message) => break message,
            Notice::Resubscribed => {}
        }
    };
    assert_eq!(String::from_utf8_lossy(&heard), message);
}

/// The subscribers of a channel that all nodes that are up know.
fn subscribers(cluster: &Cluster, nodes: &[usize], channel: &str) -> i64 {
    let count = |node: &usize| match cluster.raw(*node, &["PUBSUB", "SHARDNUMSUB", channel]).unwrap() {
        Value::Array(answer) => match answer[..] {
            [_, Value::Int(count)] => count,
            _ => panic!("{answer:?}"),
        },
        other => panic!("{other:?}"),
    };
    nodes.iter().map(count).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_heard_byte_for_byte_and_only_on_its_channel() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(&cluster, "talk");
    let (here, there) = (tag.key("here"), tag.key("there"));
    let mut first = heard_once(&client, &here).await;
    let mut second = heard_once(&client, &here).await;
    let mut other = heard_once(&client, &there).await;
    assert_eq!(next(&mut first).await, Notice::Message(b"first".to_vec()), "the second one's");
    let bytes = b"\xff\x00\r\n".to_vec();
    let command = Command::new("SPUBLISH").key(&here).arg(&bytes);
    assert_eq!(client.call(command, Repeat::Never).await.unwrap(), Value::Int(1), "one connection a node");
    assert_eq!(next(&mut first).await, Notice::Message(bytes.clone()));
    assert_eq!(next(&mut second).await, Notice::Message(bytes));
    hears(&client, &there, &mut other, "alone").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_stands_again_after_its_connection_was_cut() {
    let cluster = testkit::cluster_with(1, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    let mut subscription = heard_once(&client, "{c}").await;
    for n in 0..3 {
        assert!(cluster.cut_clients(0) > 0);
        stands_again(&mut subscription).await;
        hears(&client, "{c}", &mut subscription, &format!("after cut {n}")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_stands_again_at_the_replica_that_was_promoted() {
    let cluster = testkit::cluster_with(3, 1);
    let client = client(&cluster.url(), LIMIT).await;
    let channel = Tag::at(&cluster, "fail", 0).key("c");
    let mut subscription = heard_once(&client, &channel).await;
    cluster.failover(3);
    // The first answer tells the client of the new primary.
    publish(&client, &channel, "agreed").await;
    stands_again(&mut subscription).await;
    wait_until("it stands at the new primary alone", LIMIT, || {
        subscribers(&cluster, &[3], &channel) == 1 && subscribers(&cluster, &[0, 1, 2, 4, 5], &channel) == 0
    });
    publish(&client, &channel, "settled").await;
    while next(&mut subscription).await != Notice::Message(b"settled".to_vec()) {}
    for n in 0..3 {
        hears(&client, &channel, &mut subscription, &format!("message {n}, once")).await;
    }

    cluster.wait_ready();
    cluster.kill(3);
    stands_again(&mut subscription).await;
    hears(&client, &channel, &mut subscription, "after the death").await;
}

async fn follows(cluster: &Cluster, move_slot: fn(&Cluster, u16, usize, usize)) {
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(cluster, "follow");
    let channel = tag.key("c");
    let mut subscription = heard_once(&client, &channel).await;
    for [from, to] in [[tag.from, tag.to], [tag.to, tag.from]] {
        move_slot(cluster, tag.slot, from, to);
        stands_again(&mut subscription).await;
        hears(&client, &channel, &mut subscription, "at the new owner").await;
        assert_eq!(subscribers(cluster, &[from, to], &channel), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_follows_its_slot_in_a_classic_move() {
    follows(&testkit::cluster(), Cluster::move_slot).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_follows_its_slot_in_an_atomic_move() {
    if testkit::valkey9("a_subscription_follows_its_slot_in_an_atomic_move") {
        follows(&testkit::cluster_with(3, 0), Cluster::migrate_slots).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_subscriber_that_goes_ends_the_subscription_at_the_server() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let channel = Tag::new(&cluster, "drop").key("c");
    let first = heard_once(&client, &channel).await;
    let mut second = heard_once(&client, &channel).await;
    drop(first);
    hears(&client, &channel, &mut second, "still there").await;
    assert_eq!(subscribers(&cluster, &[0, 1, 2], &channel), 1);
    drop(second);
    wait_until("the server has no subscriber", LIMIT, || subscribers(&cluster, &[0, 1, 2], &channel) == 0);
    heard_once(&client, &channel).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_ends_with_its_client() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let channel = Tag::new(&cluster, "end").key("c");
    let mut subscription = heard_once(&client, &channel).await;
    drop(client);
    let end = tokio::time::timeout(Duration::from_secs(5), subscription.next()).await;
    assert_eq!(end, Ok(None));
    wait_until("the server has no subscriber", LIMIT, || subscribers(&cluster, &[0, 1, 2], &channel) == 0);
}
