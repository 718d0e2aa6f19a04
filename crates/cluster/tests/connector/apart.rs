//! Requests on lanes of their own: under WATCH, waiting at the server, confirmed by replicas, answered by replicas.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use echomq_cluster::{
    Client, Command, Confirm, DEADLINE, Decision, Ended, Error, Fate, Repeat, Transaction, Value, View,
};
use echomq_keyspace::Colocated;
use futures_util::future::join_all;
use testkit::LIMIT;
use tokio::net::{TcpListener, TcpStream};

use crate::scene::{Tag, ask, client, text, until};

/// A busy machine may be late by this.
const LATE: Duration = Duration::from_secs(2);

fn number(value: Value) -> i64 {
    redis::from_redis_value(value).unwrap_or(0)
}

/// Reads a number, and writes one that is larger by 1 to two keys, if nobody else did so meanwhile.
async fn count_both(client: &Client, keys: &[String; 2], attempts: u32) -> Result<Ended<()>, Error> {
    let watched = Colocated::of(keys).unwrap();
    client
        .watch(&watched, attempts, |view: View| async move {
            let next = number(view.read(Command::new("GET").key(&keys[0])).await?) + 1;
            let writes = keys.each_ref().map(|key| Command::new("SET").key(key).arg(next));
            Ok(Decision::Commit(Transaction::of(writes)?))
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_optimistic_lock_counts_exactly_under_races() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), LIMIT).await;
    let tag = Tag::new(&cluster, "watch");
    let keys = [tag.key("a"), tag.key("b")];
    let tasks = (0..8).map(|_| {
        let (client, keys) = (client.clone(), keys.clone());
        tokio::spawn(async move {
            for _ in 0..20 {
                let ended = count_both(&client, &keys, 1_000).await.unwrap();
                assert_eq!(ended, Ended::Committed(vec![Value::Okay, Value::Okay]));
            }
        })
    });
    join_all(tasks).await.into_iter().for_each(|ended| ended.unwrap());
    for key in &keys {
        assert_eq!(ask(&client, "GET", key, &[]).await, text("160"));
    }
}

/// Somebody else writes between the read and the commit, each time.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_slower_in_every_attempt_is_told_so_and_has_written_nothing() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let key = Tag::new(&cluster, "contended").key("n");
    let (rounds, watched) = (AtomicU32::new(0), Colocated::of([&key]).unwrap());
    let (rounds, client, key) = (&rounds, &client, &key);
    let slow = client.watch(&watched, 3, |view: View| async move {
        rounds.fetch_add(1, Ordering::Relaxed);
        let read = view.read(Command::new("GET").key(key)).await?;
        ask(client, "INCR", key, &[]).await;
        let write = Command::new("SET").key(key).arg(number(read) + 100);
        Ok(Decision::<()>::Commit(Transaction::of([write])?))
    });
    let error = slow.await.unwrap_err();
    assert!(error.is_contended() && error.fate() == Fate::NotDone, "{error}");
    assert!(error.to_string().contains(key) && error.to_string().contains("3 attempts"), "{error}");
    assert_eq!(rounds.load(Ordering::Relaxed), 3);
    assert_eq!(ask(client, "GET", key, &[]).await, text("3"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_reads_its_own_slot_only_while_its_round_lasts() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let (tag, other) = (Tag::new(&cluster, "view"), Tag::new(&cluster, "other"));
    let key = tag.key("n");
    let kept = std::sync::Mutex::new(None);
    let watched = Colocated::of([&key]).unwrap();
    let (key, other, keep) = (&key, &other, &kept);
    let left = client.watch(&watched, 1, |view: View| async move {
        let write = view.read(Command::new("INCR").key(key)).await.unwrap_err();
        assert!(write.is_refused() && write.to_string().contains("transaction"), "{write}");
        let elsewhere = view.read(Command::new("GET").key(other.key("n"))).await.unwrap_err();
        assert!(elsewhere.is_refused() && elsewhere.to_string().contains("watched"), "{elsewhere}");
        let wrong = view.read(Command::new("LLEN").key(key)).await;
        assert_eq!(wrong.unwrap(), Value::Int(0));
        *keep.lock().unwrap() = Some(view);
        Ok(Decision::Leave("as it was"))
    });
    assert_eq!(left.await.unwrap(), Ended::Left("as it was"));
    let view = kept.into_inner().unwrap().unwrap();
    assert!(view.read(Command::new("GET").key(key)).await.unwrap_err().to_string().contains("ended"));
    assert_eq!(ask(&client, "EXISTS", key, &[]).await, Value::Int(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn c031_a_slot_that_moves_between_read_and_commit_begins_the_whole_round_anew() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), LIMIT).await;
    let tag = Tag::new(&cluster, "moves");
    let keys = [tag.key("a"), tag.key("b")];
    ask(&client, "SET", &keys[0], &["7"]).await;
    let (rounds, watched) = (AtomicU32::new(0), Colocated::of(&keys).unwrap());
    let (cluster, tag, keys, rounds) = (&cluster, &tag, &keys, &rounds);
    let ended = client.watch(&watched, 1, |view: View| async move {
        let next = number(view.read(Command::new("GET").key(&keys[0])).await?) + 1;
        if rounds.fetch_add(1, Ordering::Relaxed) == 0 {
            cluster.move_slot(tag.slot, tag.from, tag.to);
        }
        let writes = keys.each_ref().map(|key| Command::new("SET").key(key).arg(next));
        Ok(Decision::<()>::Commit(Transaction::of(writes)?))
    });
    let ended = ended.await.unwrap();
    assert_eq!(ended, Ended::Committed(vec![Value::Okay, Value::Okay]));
    assert_eq!(rounds.load(Ordering::Relaxed), 2, "read and decided anew at the slot's new owner");
    for key in keys {
        assert_eq!(cluster.raw(tag.to, &["GET", key]).unwrap(), text("8"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_optimistic_lock_works_on_the_side_where_its_keys_are_while_a_slot_moves() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), Duration::from_millis(600)).await;
    let tag = Tag::new(&cluster, "askwatch");
    let keys = [tag.key("a"), tag.key("b")];
    for key in &keys {
        ask(&client, "SET", key, &["1"]).await;
    }
    tag.half_move(&cluster, &[&keys[0], &keys[1]]);
    assert!(matches!(count_both(&client, &keys, 1).await, Ok(Ended::Committed(_))));
    assert!(client.stats().asked > 0 && client.stats().moved == 0, "{:?}", client.stats());
    tag.move_rest(&cluster);
    assert_eq!(ask(&client, "GET", &keys[1], &[]).await, text("2"));

    // One key on each side: nobody can watch both.
    cluster.begin_move(tag.slot, tag.to, tag.from);
    cluster.move_keys(tag.to, tag.from, &keys[..1]);
    let error = count_both(&client, &keys, 1).await.unwrap_err();
    assert!(error.is_slot_moving() && error.fate() == Fate::NotDone, "{error}");
    cluster.abort_move(tag.slot, tag.to, tag.from);
}

#[tokio::test(flavor = "multi_thread")]
async fn c042_a_blocking_command_holds_up_nobody_else() {
    let server = testkit::standalone();
    let client = client(&server.url(), DEADLINE).await;
    let pop = Command::new("BLPOP").key("{w}:jobs").arg(10);
    let refused = client.call(pop.clone(), Repeat::Never).await.unwrap_err();
    assert!(refused.to_string().contains("Client::call_blocking"), "{refused}");

    let blocked = client.call_blocking(pop, Duration::from_secs(10), Repeat::Never);
    let others = async {
        let waits =
            || server.raw(&["INFO", "clients"]).is_ok_and(|info| number_of(info, "blocked_clients") == 1);
        until("the worker waits", waits).await;
        let mut quickest = Duration::MAX;
        for _ in 0..20 {
            let started = Instant::now();
            ask(&client, "LLEN", "{w}:jobs", &[]).await;
            ask(&client, "SET", "{w}:lease", &["1"]).await;
            quickest = quickest.min(started.elapsed());
        }
        ask(&client, "RPUSH", "{w}:jobs", &["j1"]).await;
        quickest
    };
    let (popped, quickest) = tokio::join!(blocked, others);
    assert_eq!(popped.unwrap(), Value::Array(vec![text("{w}:jobs"), text("j1")]));
    assert!(quickest < Duration::from_millis(50), "the others took {quickest:?}");
}

fn number_of(info: Value, field: &str) -> i64 {
    let info: String = redis::from_redis_value(info).unwrap();
    let line = info.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(-1)
}

/// Hands on what comes until told to fall silent; then it takes bytes and hands nothing on, and closes nothing, as a
/// network does that has forgotten a connection. What connects later works.
async fn forgetful_proxy(server: String, mut forget: tokio::sync::watch::Receiver<bool>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let mut held = Vec::new();
        loop {
            let (mut near, _) = listener.accept().await.unwrap();
            let mut far = TcpStream::connect(&server).await.unwrap();
            let works = *forget.borrow_and_update();
            let mut forget = forget.clone();
            held.push(tokio::spawn(async move {
                let forgotten = async {
                    while works || forget.changed().await.is_err() {
                        std::future::pending::<()>().await;
                    }
                };
                tokio::select! {
                    _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
                    () = forgotten => std::future::pending().await,
                }
            }));
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn c041_a_blocking_pop_on_a_connection_that_was_dropped_without_a_sign_ends_and_the_next_one_pops() {
    let server = testkit::standalone();
    let (forget, told) = tokio::sync::watch::channel(false);
    let proxy = forgetful_proxy(server.address(), told).await;
    let client = client(&format!("redis://{proxy}"), DEADLINE).await;
    let block = Duration::from_secs(1);
    let pop = || Command::new("BLMOVE").key("{w}:in").key("{w}:out").arg("LEFT").arg("RIGHT").arg(1);

    let started = Instant::now();
    let blocked = client.call_blocking(pop(), block, Repeat::Never);
    let dropped = async {
        let waits =
            || server.raw(&["INFO", "clients"]).is_ok_and(|info| number_of(info, "blocked_clients") == 1);
        until("the worker waits", waits).await;
        forget.send(true).unwrap();
    };
    let (ended, ()) = tokio::join!(blocked, dropped);
    let error = ended.unwrap_err();
    assert!(error.is_unknown(), "it may have popped: {error}");
    let margin = Duration::from_secs(1);
    assert!(
        started.elapsed() >= block && started.elapsed() < block + margin + LATE,
        "{:?}",
        started.elapsed()
    );

    until("the server's own block is over", || {
        server.raw(&["INFO", "clients"]).is_ok_and(|info| number_of(info, "blocked_clients") == 0)
    })
    .await;
    server.raw(&["RPUSH", "{w}:in", "j1"]).unwrap();
    assert_eq!(client.call_blocking(pop(), block, Repeat::Never).await.unwrap(), text("j1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_that_wait_for_a_replica_share_their_waiting() {
    let cluster = testkit::cluster_with(3, 1);
    let client = client(&cluster.url(), LIMIT).await;
    let key = Tag::at(&cluster, "confirmed", 0).key("n");
    let confirm = Confirm::replicas(1, LIMIT);
    let count = || client.call_confirmed(Command::new("INCR").key(&key), Repeat::Never, confirm);
    let mut counts = Vec::new();
    for answer in join_all((0..300).map(|_| count())).await {
        let (count, confirmation) = answer.unwrap();
        assert!(confirmation.is_enough() && confirmation.replicas == 1, "{confirmation:?}");
        counts.push(number(count));
    }
    counts.sort_unstable();
    assert_eq!(counts, (1..=300).collect::<Vec<_>>());
    let waits = cluster.commandstats(0)["wait"].calls;
    assert!(waits <= 30, "{waits} WAITs for 300 writes that came together");

    let both = [Command::new("INCR").key(&key), Command::new("GET").key(&key)];
    let both = Transaction::of(both).unwrap();
    let (replies, confirmation) = client.transaction_confirmed(both, Repeat::Never, confirm).await.unwrap();
    assert!(replies == [Value::Int(301), text("301")] && confirmation.is_enough(), "{replies:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_confirmation_came_short_stands_and_holds_up_nobody() {
    let cluster = testkit::cluster_with(3, 1);
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::at(&cluster, "short", 0);
    let key = tag.key("n");
    cluster.pause_replication(3);
    let confirm = Confirm::replicas(1, Duration::from_millis(700));
    let write = client.call_confirmed(Command::new("INCR").key(&key), Repeat::Never, confirm);
    let others = async {
        until("the write waits", || cluster.info(0, "clients", "blocked_clients").as_deref() == Some("1"))
            .await;
        let started = Instant::now();
        ask(&client, "GET", &tag.key("other"), &[]).await;
        started.elapsed()
    };
    let (written, others) = tokio::join!(write, others);
    let (value, confirmation) = written.unwrap();
    assert!(
        value == Value::Int(1) && !confirmation.is_enough() && confirmation.replicas == 0,
        "{confirmation:?}"
    );
    assert!(others < Duration::from_millis(500), "another waited {others:?}");
    assert_eq!(ask(&client, "GET", &key, &[]).await, text("1"));
}

/// The first write waits for a replica that hears nothing; the others wait in line behind it, for less than it takes.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_was_never_sent_for_the_waiting_of_others_is_not_said_to_be_unknown() {
    let cluster = testkit::cluster_with(3, 1);
    let client = client(&cluster.url(), Duration::from_millis(300)).await;
    let key = Tag::at(&cluster, "inline", 0).key("n");
    cluster.pause_replication(3);
    let count = |within| {
        let confirm = Confirm::replicas(1, within);
        client.call_confirmed(Command::new("INCR").key(&key), Repeat::Never, confirm)
    };
    let second = async {
        until("the first write waits", || {
            cluster.info(0, "clients", "blocked_clients").as_deref() == Some("1")
        })
        .await;
        count(Duration::from_millis(100)).await
    };
    let (first, second) = tokio::join!(count(Duration::from_secs(2)), second);
    let (value, confirmation) = first.unwrap();
    assert!(value == Value::Int(1) && !confirmation.is_enough());
    let error = second.unwrap_err();
    assert!(error.is_deadline() && error.fate() == Fate::NotDone, "{error}");
    assert_eq!(ask(&client, "GET", &key, &[]).await, text("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_that_nobody_waits_for_any_more_holds_up_no_other() {
    let cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    let key = Tag::at(&cluster, "gone", 0).key("n");
    let count = |confirm| client.call_confirmed(Command::new("INCR").key(&key), Repeat::Never, confirm);
    tokio::select! {
        _ = count(Confirm::replicas(5, LIMIT)) => panic!("there are no replicas"),
        () = until("the write waits", || {
            cluster.info(0, "clients", "blocked_clients").as_deref() == Some("1")
        }) => {}
    }
    let (value, _) = count(Confirm::replicas(0, Duration::from_millis(10))).await.unwrap();
    assert_eq!(value, Value::Int(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_on_disk_or_the_server_says_that_it_can_not_tell() {
    for append_only in ["yes", "no"] {
        let cluster = testkit::cluster_configured(1, 0, &[("appendonly", append_only)]);
        let client = client(&cluster.url(), DEADLINE).await;
        let confirm = Confirm::synced(0, LIMIT);
        let write = Command::new("SET").key("k").arg("v");
        let (_, confirmation) = client.call_confirmed(write, Repeat::Idempotent, confirm).await.unwrap();
        if append_only == "yes" && testkit::engine().has_waitaof() {
            assert!(confirmation.is_enough() && confirmation.on_disk, "{confirmation:?}");
        } else {
            // Without such a file, or without the command, nothing is confirmed, and the write stands.
            let said = confirmation.refusal().unwrap();
            assert!(!confirmation.is_enough() && said.starts_with("ERR"), "{said}");
        }
        assert_eq!(ask(&client, "GET", "k", &[]).await, text("v"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_goes_to_a_replica_by_choice_and_to_the_owner_when_none_answers() {
    let cluster = testkit::cluster_with(3, 1);
    let client = client(&cluster.url(), LIMIT).await;
    let key = Tag::at(&cluster, "replica", 0).key("n");
    let write = Command::new("SET").key(&key).arg("1");
    let confirm = Confirm::replicas(1, LIMIT);
    let (_, confirmation) = client.call_confirmed(write, Repeat::Idempotent, confirm).await.unwrap();
    assert!(confirmation.is_enough());
    let gets = |node| cluster.commandstats(node).get("get").map_or(0, |stat| stat.calls);
    // Some seconds may go by before the nodes name a new replica to those who ask.
    let client = loop {
        let client = crate::scene::client(&cluster.url(), LIMIT).await;
        assert_eq!(client.read_replica(Command::new("GET").key(&key)).await.unwrap(), text("1"));
        if gets(3) == 1 {
            break client;
        }
    };
    let before = gets(0);
    let read = || client.read_replica(Command::new("GET").key(&key));
    assert_eq!(read().await.unwrap(), text("1"));
    assert_eq!((gets(0), gets(3)), (before, 2));

    let write = client.read_replica(Command::new("INCR").key(&key)).await.unwrap_err();
    assert!(write.is_refused() && write.to_string().contains("only reads"), "{write}");

    cluster.kill(3);
    assert_eq!(read().await.unwrap(), text("1"));
    assert_eq!(gets(0), before + 1);
}
