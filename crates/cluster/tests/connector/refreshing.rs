//! The map of the slots is asked for by one at a time, and not too often.

use std::time::{Duration, Instant};

use echomq_cluster::{Client, Command, DEADLINE, Repeat, Settings, Value};
use echomq_keyspace::Slot;
use futures_util::future::join_all;
use testkit::Cluster;

use crate::scene::{Tag, ask, client, note, until};

/// A busy machine may be late by this.
const LATE: Duration = Duration::from_secs(2);

/// How often all nodes together were asked for the slots.
fn asked(cluster: &Cluster, nodes: &[usize]) -> u64 {
    let calls = |node: &usize| cluster.commandstats(*node).get("cluster|slots").map_or(0, |stat| stat.calls);
    nodes.iter().map(calls).sum()
}

/// The old owner stands still until it has been sent all, so that none of them can learn from another's answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_redirects_asks_for_the_map_once_or_twice() {
    const BURST: u64 = 200;
    let cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(&cluster, "burst");
    let key = tag.key("n");
    ask(&client, "SET", &key, &["0"]).await;
    cluster.move_slot(tag.slot, tag.from, tag.to);
    let before = asked(&cluster, &[0, 1, 2]);
    cluster.freeze(tag.from);
    let burst = (0..BURST).map(|_| client.call(Command::new("INCR").key(&key), Repeat::Never));
    let thaw = async {
        let sent = || client.stats().requests.iter().map(|(_, sent)| sent).sum::<u64>();
        while sent() <= BURST {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        cluster.thaw(tag.from);
    };
    let (counts, ()) = tokio::join!(join_all(burst), thaw);
    let mut counts: Vec<Value> = counts.into_iter().map(Result::unwrap).collect();
    counts.sort_by_key(|count| if let Value::Int(n) = count { *n } else { 0 });
    assert_eq!(counts, (1..=BURST as i64).map(Value::Int).collect::<Vec<_>>());
    assert!(client.stats().moved >= BURST, "{:?}", client.stats());
    let refreshes = asked(&cluster, &[0, 1, 2]) - before;
    assert!((1..=2).contains(&refreshes), "the map was asked for {refreshes} times");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stays_away_is_no_reason_to_ask_more_than_ten_times_a_second() {
    let cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), Duration::from_secs(1)).await;
    let (lost, other) = (Tag::at(&cluster, "lost", 0), Tag::at(&cluster, "other", 1));
    cluster.kill(0);
    let before = asked(&cluster, &[1, 2]);
    let started = Instant::now();
    let failing = (0..300).map(|_| client.call(Command::new("GET").key(lost.key("a")), Repeat::Idempotent));
    let going_on = async {
        let mut slowest = Duration::ZERO;
        while started.elapsed() < Duration::from_millis(900) {
            let asked = Instant::now();
            client.call(Command::new("INCR").key(other.key("n")), Repeat::Never).await.unwrap();
            slowest = slowest.max(asked.elapsed());
        }
        slowest
    };
    let (errors, slowest) = tokio::join!(join_all(failing), going_on);
    assert!(errors.iter().all(Result::is_err));
    let refreshes = asked(&cluster, &[1, 2]) - before;
    let most = started.elapsed().as_millis() as u64 / 100 + 2;
    assert!((1..=most).contains(&refreshes), "asked {refreshes} times in {:?}", started.elapsed());
    assert!(slowest < Duration::from_millis(250), "a refresh held up another node's request for {slowest:?}");
}

/// Six primaries without replicas, so that the dead one stays away.
fn six() -> Cluster {
    testkit::cluster_configured(6, 0, &[("cluster-require-full-coverage", "no")])
}

/// 2,000 requests over all nodes, a sixth of which are at the one that dies; those go on asking for five seconds.
#[tokio::test(flavor = "multi_thread")]
async fn c039_a_dead_primary_under_two_thousand_commands_costs_few_refreshes_one_at_a_time() {
    const IN_FLIGHT: u64 = 2_000;
    let cluster = six();
    let client = client(&cluster.url(), Duration::from_secs(6)).await;
    let warm =
        (0..200).map(|n| client.call(Command::new("SET").key(format!("{{{n}}}")).arg(0), Repeat::Idempotent));
    join_all(warm).await.into_iter().for_each(|set| assert_eq!(set.unwrap(), Value::Okay));
    let survivors = [1, 2, 3, 4, 5];
    let (asked_before, refreshed_before) = (asked(&cluster, &survivors), client.stats().refreshes);

    // In flight at its death: it stands still until it has been sent its share.
    cluster.freeze(0);
    let sent = || client.stats().requests.iter().map(|(_, sent)| sent).sum::<u64>();
    let sent_before = sent();
    let commands = (0..IN_FLIGHT).map(|n| {
        let command = Command::new("INCR").key(format!("{{c{n}}}"));
        client.call(command, Repeat::Idempotent)
    });
    let watched = async {
        while sent() < sent_before + IN_FLIGHT {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        cluster.kill(0);
        tokio::time::sleep(Duration::from_secs(5)).await;
        (asked(&cluster, &survivors) - asked_before, client.stats().refreshes - refreshed_before)
    };
    let (answers, (questions, refreshes)) = tokio::join!(join_all(commands), watched);
    let lost = answers.iter().filter(|answer| answer.is_err()).count();
    note(&format!(
        "c039: {refreshes} refreshes, {questions} questions in the first 5 s; {lost} commands without a node"
    ));
    assert!((200..=500).contains(&lost), "{lost} of {IN_FLIGHT} were for the dead one");
    assert!((2..20).contains(&refreshes), "{refreshes} refreshes");
    assert!((2..20).contains(&questions), "{questions} questions to the servers");
}

/// What nobody asks for is learnt by a refresh alone.
#[tokio::test(flavor = "multi_thread")]
async fn c039_when_one_node_is_slow_to_tell_another_is_asked() {
    let cluster = six();
    // The one that is slow is the only one left that it has a connection to, so that it is asked first.
    let client = client(&format!("redis://{}", cluster.addresses()[1]), DEADLINE).await;
    let (lost, moved) = (Tag::at(&cluster, "lost", 0), Tag::at(&cluster, "moved", 2));
    ask(&client, "SET", &lost.key("a"), &["1"]).await;
    cluster.kill(0);
    cluster.freeze(1);
    tokio::task::block_in_place(|| cluster.move_slot(moved.slot, 2, 3));
    let started = Instant::now();
    let slot = Slot::new(moved.slot).unwrap();
    let learnt = async {
        while client.owner(slot).unwrap().to_string() != cluster.addresses()[3] {
            assert!(started.elapsed() < DEADLINE, "the new owner was not learnt");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        started.elapsed()
    };
    let asking = client.call(Command::new("GET").key(lost.key("a")), Repeat::Idempotent);
    let (took, error) = tokio::join!(learnt, asking);
    error.unwrap_err();
    assert!(took < Duration::from_secs(1) + LATE, "it took {took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn seeds_that_are_silent_are_not_waited_for_in_turn() {
    let silent: Vec<std::net::TcpListener> =
        (0..4).map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let silent = silent.iter().map(|hole| hole.local_addr().unwrap().to_string() + ",").collect::<String>();
    let server = testkit::standalone();
    let started = Instant::now();
    let client = Client::connect(&format!("redis://{silent}{}", server.address())).await.unwrap();
    let took = started.elapsed();
    assert!(took < Duration::from_secs(3), "four that are silent, 250 ms each: it took {took:?}");
    ask(&client, "SET", "{k}", &["1"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_while_nothing_is_sent_is_learnt_by_a_look_now_and_then() {
    let cluster = testkit::cluster();
    let tag = Tag::new(&cluster, "calm");
    let settings = Settings::from_url(&cluster.url()).unwrap();
    let client = Client::connect_with(settings.look_every(Duration::from_millis(100))).await.unwrap();
    tokio::task::block_in_place(|| cluster.move_slot(tag.slot, tag.from, tag.to));
    let (slot, there) = (Slot::new(tag.slot).unwrap(), cluster.addresses()[tag.to].clone());
    until("the new owner is known", || client.owner(slot).unwrap().to_string() == there).await;
    assert!(client.stats().requests.iter().all(|(_, sent)| *sent == 0), "nothing was sent");
}
