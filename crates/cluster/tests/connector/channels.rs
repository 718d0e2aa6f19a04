//! Many channels at once, sharded and plain.

use std::time::{Duration, Instant};

use echomq_cluster::{Client, Command, DEADLINE, Login, Notice, Repeat, Settings, Subscription, Value};
use testkit::{Cluster, LIMIT};

use crate::scene::{Tag, client};

/// One who listens, and counts the gaps.
struct Ear {
    channel: String,
    is_sharded: bool,
    subscription: Subscription,
    gaps: usize,
}

impl Ear {
    fn on(client: &Client, channel: String, is_sharded: bool) -> Ear {
        let subscription = match is_sharded {
            true => client.subscribe(channel.as_bytes()),
            false => client.subscribe_plain(channel.as_bytes()),
        };
        Ear { channel, is_sharded, subscription, gaps: 0 }
    }

    async fn publish(&self, client: &Client, message: &str) {
        if self.is_sharded {
            let publish = Command::new("SPUBLISH").key(&self.channel).arg(message);
            client.call(publish, Repeat::Idempotent).await.unwrap();
        } else {
            let mut publish = echomq_cluster::raw("PUBLISH");
            publish.arg(&self.channel).arg(message);
            let mut told = false;
            for node in client.primaries() {
                told = told || client.call_node(&node, &publish).await.is_ok();
            }
            assert!(told, "no node takes a message");
        }
    }

    /// Reads on to this message; false when it does not come in time.
    async fn hears(&mut self, message: &str, within: Duration) -> bool {
        let until = tokio::time::Instant::now() + within;
        loop {
            match tokio::time::timeout_at(until, self.subscription.next()).await {
                Err(_) => return false,
                Ok(Some(Notice::Resubscribed)) => self.gaps += 1,
                Ok(Some(Notice::Message(heard))) if heard == message.as_bytes() => return true,
                Ok(Some(Notice::Message(_))) => {}
                Ok(None) => panic!("the client has gone"),
            }
        }
    }
}

/// Publishes to all until all have heard it: what was sent while a subscription did not stand is lost.
async fn all_hear(client: &Client, ears: &mut [Ear], what: &str) {
    let started = Instant::now();
    let mut deaf: Vec<usize> = (0..ears.len()).collect();
    for attempt in 0.. {
        let message = format!("{what}, {attempt}");
        for &n in &deaf {
            ears[n].publish(client, &message).await;
        }
        let mut still = Vec::new();
        for &n in &deaf {
            if !ears[n].hears(&message, Duration::from_millis(500)).await {
                still.push(n);
            }
        }
        deaf = still;
        if deaf.is_empty() {
            return;
        }
        assert!(started.elapsed() < LIMIT, "{what}: {} of {} hear nothing", deaf.len(), ears.len());
    }
}

fn gaps(ears: &[Ear]) -> Vec<usize> {
    ears.iter().map(|ear| ear.gaps).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn c043_a_hundred_channels_deliver_after_each_primary_was_failed_over_and_gaps_are_told() {
    let cluster = testkit::cluster_with(3, 1);
    let client = client(&cluster.url(), LIMIT).await;
    let sharded = (0..50).map(|n| (Tag::at(&cluster, "ch", n % 3).key("c"), true));
    let plain = (0..50).map(|n| (format!("plain {n}"), false));
    let mut ears: Vec<Ear> =
        sharded.chain(plain).map(|(channel, is_sharded)| Ear::on(&client, channel, is_sharded)).collect();
    all_hear(&client, &mut ears, "at first").await;
    assert!(gaps(&ears).iter().all(|gaps| *gaps >= 1), "each is told that it stands");

    for primary in 0..3 {
        let before = gaps(&ears);
        tokio::task::block_in_place(|| {
            cluster.failover(primary + 3);
            cluster.wait_ready();
        });
        // The old primary hands on, as a replica, what the new one is told, so that a message may come before the news.
        let moved = |n: &usize| *n < 50 && n % 3 == primary;
        let started = Instant::now();
        while let Some(n) = (0..50).filter(moved).find(|n| ears[*n].gaps == before[*n]) {
            assert!(started.elapsed() < LIMIT, "{} has a gap and is not told", ears[n].channel);
            all_hear(&client, &mut ears, &format!("after failover {primary}")).await;
        }
    }
    // Once more, and each at the first attempt: all stand.
    for ear in &ears {
        ear.publish(&client, "last").await;
    }
    for ear in &mut ears {
        assert!(ear.hears("last", Duration::from_secs(5)).await, "{} does not deliver", ear.channel);
    }
    // The formula of the crate's page: a node each, an owner of subscribed slots each, one for plain channels.
    let connections = client.stats().connections;
    assert!((2..=6 + 3 + 1).contains(&connections), "{connections} connections");
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_channels_are_heard_by_another_node_when_theirs_dies_and_on_a_single_server_too() {
    let server = testkit::standalone();
    let single = client(&server.url(), DEADLINE).await;
    let mut ears = [Ear::on(&single, "plain".to_owned(), false)];
    all_hear(&single, &mut ears, "on a single server").await;

    let cluster = testkit::cluster_with(3, 1);
    let client = client(&cluster.url(), LIMIT).await;
    let mut ears: Vec<Ear> = (0..5).map(|n| Ear::on(&client, format!("p{n}"), false)).collect();
    all_hear(&client, &mut ears, "at first").await;
    let home = (0..3).find(|node| heard_at(&cluster, *node, "p0") == 1).unwrap();
    assert_eq!((0..6).map(|node| heard_at(&cluster, node, "p0")).sum::<i64>(), 1, "one connection");
    let before = gaps(&ears);
    cluster.kill(home);
    all_hear(&client, &mut ears, "after its node died").await;
    assert!(gaps(&ears).iter().zip(before).all(|(now, before)| *now > before), "each has a gap and is told");
}

/// A node that stands still sends nothing, as a quiet one does: it takes a question to tell them apart.
#[tokio::test(flavor = "multi_thread")]
async fn plain_channels_are_heard_by_another_node_when_theirs_falls_silent() {
    let cluster = testkit::cluster_configured(3, 0, &[("cluster-require-full-coverage", "no")]);
    let client = client(&cluster.url(), Duration::from_millis(300)).await;
    let mut ears = [Ear::on(&client, "p".to_owned(), false)];
    all_hear(&client, &mut ears, "at first").await;
    let home = (0..3).find(|node| heard_at(&cluster, *node, "p") == 1).unwrap();
    cluster.freeze(home);
    let before = gaps(&ears);
    all_hear(&client, &mut ears, "after its node fell silent").await;
    assert!(gaps(&ears)[0] > before[0]);
}

/// The subscribers of a plain channel at one node.
fn heard_at(cluster: &Cluster, node: usize, channel: &str) -> i64 {
    count(cluster, node, &["PUBSUB", "NUMSUB", channel])
}

fn count(cluster: &Cluster, node: usize, command: &[&str]) -> i64 {
    match cluster.raw(node, command).unwrap() {
        Value::Array(answer) => match answer[..] {
            [_, Value::Int(count)] => count,
            _ => panic!("{answer:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// How often a node was asked for a sharded subscription.
fn asked(cluster: &Cluster, node: usize) -> u64 {
    cluster.commandstats(node).get("ssubscribe").map_or(0, |stat| stat.calls)
}

#[tokio::test(flavor = "multi_thread")]
async fn c024_channels_of_five_tags_are_resubscribed_each_at_the_owner_of_its_slot() {
    let cluster = testkit::cluster_with(3, 0);
    let tags: Vec<Tag> = (0..5).map(|n| Tag::at(&cluster, "tag", n % 3)).collect();
    let client = client(&cluster.url(), DEADLINE).await;
    let mut ears: Vec<Ear> = tags.iter().map(|tag| Ear::on(&client, tag.key("c"), true)).collect();
    all_hear(&client, &mut ears, "at first").await;
    let (before, told) = ([0, 1, 2].map(|node| asked(&cluster, node)), gaps(&ears));
    for node in 0..3 {
        assert!(cluster.cut_clients(node) > 0);
    }
    all_hear(&client, &mut ears, "after the cut").await;
    assert!(gaps(&ears).iter().zip(told).all(|(now, before)| *now > before), "each has a gap and is told");
    for (n, tag) in tags.iter().enumerate() {
        let at = [0, 1, 2].map(|node| subscribers(&cluster, node, &tag.key("c")));
        assert_eq!(at.iter().position(|count| *count == 1), Some(n % 3), "{at:?}");
        assert_eq!(at.iter().sum::<i64>(), 1, "{at:?}");
    }
    // One command for each, at the owner of its slot; a busy machine may have had to try twice.
    for (node, channels) in [(0, 2), (1, 2), (2, 1)] {
        let calls = asked(&cluster, node) - before[node];
        assert!(
            calls >= channels && calls.is_multiple_of(channels),
            "{calls} commands for {channels} channels"
        );
    }
}

/// The subscribers of a sharded channel at one node.
fn subscribers(cluster: &Cluster, node: usize, channel: &str) -> i64 {
    count(cluster, node, &["PUBSUB", "SHARDNUMSUB", channel])
}

#[tokio::test(flavor = "multi_thread")]
async fn c024_a_channel_that_is_refused_does_not_lose_the_other_four() {
    let cluster = testkit::cluster_with(3, 0);
    let tags: Vec<Tag> = (0..5).map(|n| Tag::at(&cluster, "tag", n % 3)).collect();
    for node in 0..3 {
        let rule = ["ACL", "SETUSER", "ear", "on", ">pw", "~*", "resetchannels", "+@all"];
        let channels: Vec<String> = tags[..4].iter().map(|tag| format!("&{}", tag.key("*"))).collect();
        let rule: Vec<&str> = rule.into_iter().chain(channels.iter().map(String::as_str)).collect();
        cluster.raw(node, &rule[..]).unwrap();
    }
    let settings = Settings::from_url(&cluster.url()).unwrap().login(Login::user("ear", "pw"));
    let listening = Client::connect_with(settings).await.unwrap();
    let all = client(&cluster.url(), DEADLINE).await;
    let mut ears: Vec<Ear> = tags.iter().map(|tag| Ear::on(&listening, tag.key("c"), true)).collect();
    all_hear(&all, &mut ears[..4], "at first").await;
    for node in 0..3 {
        cluster.cut_clients(node);
    }
    all_hear(&all, &mut ears[..4], "after the cut").await;
    assert!(!ears[4].hears("nothing", Duration::from_millis(100)).await);
    let refreshes = listening.stats().refreshes;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(
        listening.stats().refreshes <= refreshes + 1,
        "it is tried again without a look at the topology each time"
    );
    // As soon as it may be heard, it is.
    for node in 0..3 {
        cluster.raw(node, &["ACL", "SETUSER", "ear", "allchannels"]).unwrap();
    }
    all_hear(&all, &mut ears, "when all may be heard").await;
}
