//! Nodes that die, hang or hang up: what goes on by itself, and what a caller is told.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use echomq_cluster::{Address, Client, Command, DEADLINE, Error, Repeat, Transaction, Value};
use echomq_keyspace::Slot;
use futures_util::future::join_all;
use testkit::{Cluster, LIMIT, wait_until};

use crate::scene::{Tag, ask, client, text, try_ask};

const SHORT: Duration = Duration::from_millis(600);
/// A busy machine may be late by this.
const LATE: Duration = Duration::from_secs(2);

fn assert_took(what: &str, started: Instant, limit: Duration) {
    let took = started.elapsed();
    assert!(took < limit + LATE, "{what} took {took:?} of {limit:?}");
}

/// A cluster with replicas, and a tag at its first primary with one key, `before`, that its replica has too.
async fn replicated() -> (Cluster, Tag) {
    let cluster = testkit::cluster_with(3, 1);
    let tag = Tag::at(&cluster, "replicated", 0);
    let client = client(&cluster.url(), DEADLINE).await;
    ask(&client, "SET", &tag.key("before"), &["1"]).await;
    wait_until("the replica has the key", LIMIT, || {
        cluster.info(3, "keyspace", "db0").is_some_and(|keys| keys.starts_with("keys=1"))
    });
    (cluster, tag)
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_go_on_when_the_replica_of_a_killed_primary_is_promoted() {
    let (cluster, tag) = replicated().await;
    let [before, after, n] = ["before", "after", "n"].map(|rest| tag.key(rest));
    let connected = client(&cluster.url(), LIMIT).await;
    ask(&connected, "GET", &before, &[]).await;
    // It has no connection to the node that dies, so that it is certain that its request was not sent there.
    let apart = client(&format!("redis://{}", cluster.addresses()[1]), LIMIT).await;
    cluster.kill(0);
    let (set, both, read, count) = tokio::join!(
        try_ask(&connected, Repeat::Idempotent, "SET", &after, &["2"]),
        connected.transaction(
            Transaction::of(vec![Command::new("EXISTS").key(&before)]).unwrap(),
            Repeat::Idempotent
        ),
        try_ask(&connected, Repeat::Idempotent, "GET", &before, &[]),
        try_ask(&apart, Repeat::Never, "INCR", &n, &[]),
    );
    assert_eq!((set.unwrap(), read.unwrap(), count.unwrap()), (Value::Okay, text("1"), Value::Int(1)));
    assert_eq!(both.unwrap(), [Value::Int(1)]);
    assert_eq!(ask(&connected, "GET", &after, &[]).await, text("2"));
    let owner = connected.owner(Slot::of(after.as_bytes())).unwrap();
    assert_eq!(owner.to_string(), cluster.addresses()[3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_node_costs_an_idempotent_request_a_failover_and_another_its_deadline() {
    let (cluster, tag) = replicated().await;
    let [before, after, n] = ["before", "after", "n"].map(|rest| tag.key(rest));
    let client = client(&cluster.url(), LIMIT).await;
    let hasty = client.with_deadline(SHORT);
    ask(&client, "GET", &before, &[]).await;
    cluster.freeze(0);
    let never = async {
        let started = Instant::now();
        let error = try_ask(&hasty, Repeat::Never, "INCR", &n, &[]).await.unwrap_err();
        assert_took("a request to a frozen node", started, SHORT);
        error
    };
    let started = Instant::now();
    let many = (0..50).map(|_| try_ask(&client, Repeat::Idempotent, "SET", &after, &["2"]));
    let (error, many) = tokio::join!(never, join_all(many));
    assert!(error.is_unknown(), "{error}");
    assert!(many.into_iter().all(|set| matches!(set, Ok(Value::Okay))));
    assert!(
        started.elapsed() < Duration::from_secs(15),
        "no request queues behind another's attempt to connect"
    );
    assert_eq!(cluster.owner_of(tag.slot), 3);
    cluster.thaw(0);
    cluster.wait_ready();
    assert_eq!(ask(&client, "GET", &after, &[]).await, text("2"));
}

/// It was sent once, so that it can not be said that nothing was written: and it was written.
#[tokio::test(flavor = "multi_thread")]
async fn an_idempotent_request_that_a_frozen_node_may_have_is_not_said_to_be_unwritten() {
    let server = testkit::standalone();
    let client = client(&server.url(), Duration::from_secs(4)).await;
    ask(&client, "SET", "{k}", &["before"]).await;
    server.freeze();
    let error = try_ask(&client, Repeat::Idempotent, "SET", "{k}", &["after"]).await.unwrap_err();
    server.thaw();
    wait_until("what the frozen server had got is carried out", LIMIT, || {
        server.raw(&["GET", "{k}"]) == Ok(text("after"))
    });
    assert!(error.is_unknown(), "{error}");
    assert!(!error.is_deadline() && !error.to_string().contains("nothing was written"), "{error}");
}

/// Sends one request of each kind while the server takes no writes, and cuts their connection under them.
async fn cut_in_flight(
    one: impl Future<Output = Result<Value, Error>>,
    client: &Client,
    cluster: &Cluster,
) -> Result<Value, Error> {
    cluster.raw(0, &["CLIENT", "PAUSE", "60000", "WRITE"]).unwrap();
    let sent = || client.stats().requests.iter().map(|(_, sent)| sent).sum::<u64>();
    let before = sent();
    let cut = async {
        let blocked = || cluster.info(0, "clients", "blocked_clients").as_deref() == Some("1");
        while sent() == before || !blocked() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        assert!(cluster.cut_clients(0) > 0);
        cluster.raw(0, &["CLIENT", "UNPAUSE"]).unwrap();
    };
    tokio::join!(one, cut).0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_connection_is_cut_is_sent_again_if_it_may_be_and_else_said_to_be_unknown() {
    let cluster = testkit::cluster_with(1, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    ask(&client, "SET", "{k}n", &["5"]).await;

    let set = try_ask(&client, Repeat::Idempotent, "SET", "{k}a", &["1"]);
    assert_eq!(cut_in_flight(set, &client, &cluster).await.unwrap(), Value::Okay);

    let started = Instant::now();
    let incr = try_ask(&client, Repeat::Never, "INCR", "{k}n", &[]);
    let error = cut_in_flight(incr, &client, &cluster).await.unwrap_err();
    assert!(error.is_unknown(), "{error}");
    assert!(started.elapsed() < DEADLINE, "it is told at once");
    assert_eq!(ask(&client, "GET", "{k}n", &[]).await, text("5"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_was_cut_while_nothing_was_under_way_is_replaced_and_nobody_notices() {
    let cluster = testkit::cluster_with(1, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    for n in 1..=5 {
        assert_eq!(ask(&client, "INCR", "{k}", &[]).await, Value::Int(n));
        assert!(cluster.cut_clients(0) > 0);
        // What a client can not have heard of yet it can not act on.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_request_to_a_silent_server_ends_at_its_deadline() {
    let server = testkit::standalone();
    let client = client(&server.url(), SHORT).await;
    let get = || Command::new("GET").key("{k}");
    ask(&client, "SET", "{k}", &["1"]).await;
    server.freeze();
    for repeat in [Repeat::Idempotent, Repeat::Never] {
        // The first finds a connection that stands, the second must open one.
        for _ in 0..2 {
            let started = Instant::now();
            client.call(get(), repeat).await.unwrap_err();
            assert_took("a command", started, SHORT);
            let started = Instant::now();
            client.transaction(Transaction::of([get()]).unwrap(), repeat).await.unwrap_err();
            assert_took("a transaction", started, SHORT);
        }
    }
    let started = Instant::now();
    client.call_whole(get()).await.unwrap_err();
    assert_took("call_whole", started, SHORT);
    let started = Instant::now();
    client.call_node(&client.primaries()[0], &echomq_cluster::raw("PING")).await.unwrap_err();
    assert_took("call_node", started, SHORT);
    server.thaw();
    assert_eq!(ask(&client, "GET", "{k}", &[]).await, text("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_accepts_connections_and_never_answers_ends_at_the_deadline_too() {
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = hole.local_addr().unwrap().port();
    let started = Instant::now();
    let Err(error) = Client::connect(&format!("redis://127.0.0.1:{port}")).await else { panic!("connected") };
    assert_took("connect", started, DEADLINE);
    assert!(error.is_unreachable() && error.to_string().contains(&port.to_string()), "{error}");

    let cluster = testkit::cluster();
    let client = client(&cluster.url(), SHORT).await;
    let started = Instant::now();
    let hole = Address::tcp("127.0.0.1", port).unwrap();
    let error = client.call_node(&hole, &echomq_cluster::raw("PING")).await.unwrap_err();
    assert_took("call_node", started, SHORT);
    assert!(error.to_string().contains(&port.to_string()), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_listens_the_error_names_whom_it_asked() {
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let Err(error) = Client::connect(&format!("redis://{unused}")).await else { panic!("connected") };
    assert!(error.is_unreachable() && error.to_string().contains(&unused.to_string()), "{error}");

    let server = testkit::standalone();
    let client = client(&server.url(), SHORT).await;
    server.kill();
    let started = Instant::now();
    let error = try_ask(&client, Repeat::Never, "INCR", "{k}", &[]).await.unwrap_err();
    let error = match error {
        error if error.is_unknown() => try_ask(&client, Repeat::Never, "INCR", "{k}", &[]).await.unwrap_err(),
        error => error,
    };
    assert_took("a request to a killed server", started, SHORT);
    assert!(error.is_unreachable() && error.to_string().contains("nothing was written"), "{error}");
    server.restart();
    assert_eq!(ask(&client, "INCR", "{k}", &[]).await, Value::Int(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_down_is_waited_for_and_named_at_the_deadline() {
    let cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), SHORT).await;
    let tag = Tag::at(&cluster, "down", 1);
    ask(&client, "SET", &tag.key("a"), &["1"]).await;
    cluster.kill(0);
    wait_until("the others hold the cluster for down", LIMIT, || {
        cluster.raw(1, &["GET", &tag.key("a")]).is_err_and(|error| error.contains("CLUSTERDOWN"))
    });
    let started = Instant::now();
    let error = try_ask(&client, Repeat::Never, "INCR", &tag.key("n"), &[]).await.unwrap_err();
    assert_took("a request to a cluster that is down", started, SHORT);
    assert!(error.is_deadline(), "{error}");
    assert!(
        error.to_string().contains("CLUSTERDOWN") && error.to_string().contains("nothing was written"),
        "{error}"
    );
    let patient = client.with_deadline(LIMIT);
    let count = async { try_ask(&patient, Repeat::Never, "INCR", &tag.key("n"), &[]).await };
    let (count, ()) = tokio::join!(count, async { tokio::task::block_in_place(|| cluster.restart(0)) });
    assert_eq!(count.unwrap(), Value::Int(1));
}
