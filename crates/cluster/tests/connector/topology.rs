//! Who owns what, as the servers tell it: in either form, over any kind of address, with holes, and when all have gone.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use echomq_cluster::{Address, Client, DEADLINE, Login, Repeat, Resolver, Settings, Value};
use echomq_keyspace::Slot;
use futures_util::future::{BoxFuture, join_all};
use testkit::{Cluster, LIMIT, wait_until};
use tokio::net::TcpListener;

use crate::proxy::{Detour, Proxy};
use crate::scene::{Tag, ask, note, text, try_ask};

/// A busy machine may be late by this.
const LATE: Duration = Duration::from_secs(2);

fn settings(url: &str) -> Settings {
    Settings::from_url(url).unwrap()
}

/// A user on every node that may do all but what `rule` takes away.
fn user(cluster: &Cluster, name: &str, rule: &str) -> Login {
    for node in 0..cluster.addresses().len() {
        let acl = ["ACL", "SETUSER", name, "on", ">pw", "~*", "&*", "+@all", rule];
        cluster.raw(node, &acl).unwrap();
    }
    Login::user(name, "pw")
}

fn owners(client: &Client) -> Vec<Option<Address>> {
    (0..Slot::COUNT).step_by(97).map(|slot| client.owner(Slot::new(slot).unwrap())).collect()
}

/// Both forms, each asked for by a client that may not have the other, through the death of a primary.
#[tokio::test(flavor = "multi_thread")]
async fn slots_and_shards_tell_the_same_owners_before_and_after_a_failover() {
    let cluster = testkit::cluster_with(3, 1);
    let by_slots = settings(&cluster.url()).login(user(&cluster, "a", "-cluster|shards"));
    let by_shards = settings(&cluster.url()).login(user(&cluster, "b", "-cluster|slots"));
    let by_slots = Client::connect_with(by_slots).await.unwrap();
    let by_shards = Client::connect_with(by_shards).await.unwrap();
    assert_eq!(owners(&by_slots), owners(&by_shards));
    assert!(owners(&by_slots).iter().all(Option::is_some));

    let tag = Tag::at(&cluster, "shards", 0);
    cluster.kill(0);
    for client in [&by_slots, &by_shards] {
        let client = client.with_deadline(LIMIT);
        try_ask(&client, Repeat::Idempotent, "SET", &tag.key("a"), &["1"]).await.unwrap();
    }
    assert_eq!(owners(&by_slots), owners(&by_shards));
    let promoted = by_shards.owner(Slot::of(tag.key("a").as_bytes())).unwrap();
    assert_eq!(promoted.to_string(), cluster.addresses()[3]);
    // The dead one is back, as a replica: neither form names it as the owner of anything.
    cluster.restart(0);
    cluster.wait_ready();
    for client in [&by_slots, &by_shards] {
        assert!(client.primaries().iter().all(|node| node.to_string() != cluster.addresses()[0]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_ask_for_no_topology_is_told_of_the_setting_for_it() {
    let cluster = testkit::cluster_with(1, 0);
    let login = user(&cluster, "none", "-cluster");
    let Err(error) = Client::connect_with(settings(&cluster.url()).login(login)).await else { panic!() };
    assert!(error.is_unreachable(), "{error}");
    for word in ["NOPERM", "one-endpoint=true", &cluster.addresses()[0]] {
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_unix_socket_of_a_node_leads_to_the_whole_cluster() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s");
    let cluster = testkit::cluster_configured(1, 0, &[("unixsocket", socket.to_str().unwrap())]);
    let client = Client::connect(&format!("unix:{}", socket.display())).await.unwrap();
    ask(&client, "SET", "{k}", &["1"]).await;
    assert_eq!(client.primaries()[0].to_string(), cluster.addresses()[0]);
}

/// By their address, by a name, or not at all: then it is the host by which they were reached.
#[tokio::test(flavor = "multi_thread")]
async fn nodes_are_called_what_they_want_to_be_called() {
    let cluster = testkit::cluster_configured(2, 0, &[("cluster-announce-hostname", "localhost")]);
    let logins = [user(&cluster, "a", "-cluster|shards"), user(&cluster, "b", "-cluster|slots")];
    let seed = format!("redis://127.0.0.1:{}", cluster.node(0).port());
    let by_name = format!("redis://localhost:{}", cluster.node(0).port());
    for (wanted, seed, host) in [
        ("ip", &by_name, "127.0.0.1"),
        ("hostname", &seed, "localhost"),
        ("unknown-endpoint", &seed, "127.0.0.1"),
        ("unknown-endpoint", &by_name, "localhost"),
    ] {
        for node in 0..2 {
            let set = ["CONFIG", "SET", "cluster-preferred-endpoint-type", wanted];
            cluster.raw(node, &set).unwrap();
        }
        for login in &logins {
            let client = Client::connect_with(settings(seed).login(login.clone())).await.unwrap();
            let tag = Tag::at(&cluster, "named", 0);
            ask(&client, "SET", &tag.key("a"), &["1"]).await;
            cluster.move_slot(tag.slot, 0, 1);
            assert_eq!(ask(&client, "GET", &tag.key("a"), &[]).await, text("1"));
            assert_eq!(client.stats().moved, 1);
            for node in client.primaries() {
                assert!(node.to_string().starts_with(&format!("{host}:")), "{wanted} from {seed}: {node}");
            }
        }
    }
}

/// What /proc says of the timers of connections to a port: `02` is the one that probes a silent connection.
#[cfg(target_os = "linux")]
fn timers_of(port: u16) -> Vec<String> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let to_port = format!(":{port:04X}");
    let rows = table.lines().skip(1).map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[2].ends_with(&to_port) && row[3] == "01")
        .map(|row| row[5][..2].to_owned())
        .collect()
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn c041_connections_are_probed_by_tcp_when_nothing_happens_on_them() {
    let server = testkit::standalone();
    let client = Client::connect(&server.url()).await.unwrap();
    let mut heard = client.subscribe(b"{k}");
    heard.next().await.unwrap();
    ask(&client, "SET", "{k}", &["1"]).await;
    let port = server.address().rsplit_once(':').unwrap().1.parse().unwrap();
    wait_until("nothing is under way on either of the two", LIMIT, || timers_of(port) == ["02", "02"]);
}

/// Two nodes on ::1 that share the slots evenly.
struct OnV6 {
    _servers: Vec<testkit::Bare>,
    ports: [u16; 2],
}

impl OnV6 {
    fn start() -> OnV6 {
        let port = testkit::free_port("::1");
        let ports = [port, port + 2];
        let server = |port: &u16| {
            let (port, bus) = (port.to_string(), (port + 1).to_string());
            let cluster = ["--cluster-enabled", "yes", "--cluster-port", &bus];
            testkit::bare(&[&["--bind", "::1", "--port", &port], &cluster[..]].concat()).unwrap()
        };
        let cluster = OnV6 { _servers: ports.iter().map(server).collect(), ports };
        wait_until("both answer", LIMIT, || (0..2).all(|i| cluster.ask(i, &["PING"]).is_ok()));
        cluster.ask(0, &["CLUSTER", "ADDSLOTSRANGE", "0", "8191"]).unwrap();
        cluster.ask(1, &["CLUSTER", "ADDSLOTSRANGE", "8192", "16383"]).unwrap();
        // Two at an equal epoch would first have to agree.
        cluster.ask(1, &["CLUSTER", "SET-CONFIG-EPOCH", "2"]).unwrap();
        let (port, bus) = (ports[1].to_string(), (ports[1] + 1).to_string());
        cluster.ask(0, &["CLUSTER", "MEET", "::1", &port, &bus]).unwrap();
        wait_until("the cluster is whole", LIMIT, || {
            let is_ok = |i| match cluster.ask(i, &["CLUSTER", "INFO"]) {
                Ok(info) => info.contains("cluster_state:ok"),
                Err(_) => false,
            };
            (0..2).all(is_ok)
        });
        cluster
    }

    fn ask(&self, i: usize, command: &[&str]) -> Result<String, String> {
        let client = redis::Client::open(("::1", self.ports[i])).map_err(|error| error.to_string())?;
        let mut connection = client.get_connection().map_err(|error| error.to_string())?;
        let answer: redis::RedisResult<String> =
            redis::cmd(command[0]).arg(&command[1..]).query(&mut connection);
        answer.map_err(|error| error.to_string())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c029_a_cluster_on_ipv6_is_reached_through_seeds_topology_and_redirects() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return note("skipped: c029 on a cluster (the loopback has no IPv6)");
    }
    let cluster = OnV6::start();
    let client = Client::connect(&format!("redis://[::1]:{}", cluster.ports[0])).await.unwrap();
    let shown: Vec<String> = cluster.ports.iter().map(|port| format!("[::1]:{port}")).collect();
    let mut seen: Vec<String> = client.primaries().iter().map(Address::to_string).collect();
    seen.sort();
    assert_eq!(seen, shown, "written with brackets");
    for n in 0..20 {
        ask(&client, "SET", &format!("{{{n}}}"), &["1"]).await;
    }
    // A slot of the first that the second takes, unnoticed: the redirect names ::1:port.
    let key = (0..).map(|n| format!("{{m{n}}}")).find(|key| Slot::of(key.as_bytes()).get() < 8192).unwrap();
    let id = cluster.ask(1, &["CLUSTER", "MYID"]).unwrap();
    let moved = Slot::of(key.as_bytes()).to_string();
    for i in [1, 0] {
        cluster.ask(i, &["CLUSTER", "SETSLOT", &moved, "NODE", &id]).unwrap();
    }
    ask(&client, "SET", &key, &["1"]).await;
    assert_eq!(client.stats().moved, 1);
    assert_eq!(client.owner(Slot::of(key.as_bytes())).unwrap().to_string(), shown[1]);
    let Err(error) = Client::connect(&format!("redis://::1:{}", cluster.ports[0])).await else { panic!() };
    assert!(error.to_string().contains("brackets"), "{error}");
}

/// The slots of one of three nodes are taken away from it.
async fn with_a_hole() -> (Cluster, Tag, Tag) {
    let cluster = testkit::cluster_configured(3, 0, &[("cluster-require-full-coverage", "no")]);
    let (gone, there) = (Tag::at(&cluster, "gone", 1), Tag::at(&cluster, "there", 0));
    for node in [1, 0, 2] {
        cluster.raw(node, &["CLUSTER", "DELSLOTSRANGE", "5461", "10922"]).unwrap();
    }
    (cluster, gone, there)
}

#[tokio::test(flavor = "multi_thread")]
async fn c037_with_a_hole_the_start_succeeds_covered_slots_work_and_others_fail_fast() {
    let (cluster, gone, there) = with_a_hole().await;
    let client = Client::connect(&cluster.url()).await.unwrap();
    for n in 0..50 {
        assert_eq!(ask(&client, "INCR", &there.key("n"), &[]).await, Value::Int(n + 1));
    }
    let before = client.stats().refreshes;
    let started = Instant::now();
    let key = gone.key("n");
    let failing = (0..500).map(|_| try_ask(&client, Repeat::Never, "INCR", &key, &[]));
    for error in join_all(failing).await {
        let error = error.unwrap_err();
        assert!(error.is_uncovered(), "{error}");
        assert!(error.to_string().contains(&format!("slot {} has no node", gone.slot)), "{error}");
        assert!(error.to_string().contains("nothing was written"), "{error}");
    }
    assert!(started.elapsed() < LATE, "not the deadline of {DEADLINE:?}, but {:?}", started.elapsed());
    let until = Instant::now() + Duration::from_millis(1500);
    let mut failed = 0;
    while Instant::now() < until {
        try_ask(&client, Repeat::Never, "GET", &gone.key("n"), &[]).await.unwrap_err();
        failed += 1;
    }
    let looks = client.stats().refreshes - before;
    assert!(looks <= 2 + started.elapsed().as_secs(), "{looks} looks at the topology for {failed} commands");

    // As soon as the hole is filled its slots work as well.
    cluster.raw(1, &["CLUSTER", "ADDSLOTSRANGE", "5461", "10922"]).unwrap();
    let client = client.with_deadline(LIMIT);
    let started = Instant::now();
    while try_ask(&client, Repeat::Never, "SET", &gone.key("n"), &["1"]).await.is_err() {
        assert!(started.elapsed() < LIMIT);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c037_who_wants_all_slots_is_refused_the_start_and_told_the_first_that_is_missing() {
    let (cluster, _, _) = with_a_hole().await;
    let strict = settings(&cluster.url()).full_coverage(true);
    let Err(error) = Client::connect_with(strict).await else { panic!("it started") };
    assert!(error.is_uncovered() && error.to_string().contains("slot 5461 has no node"), "{error}");
}

/// A name server that the test tells what to answer.
#[derive(Clone)]
struct Names(Arc<Mutex<HashMap<String, Vec<SocketAddr>>>>);

impl Resolver for Names {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        let known = self.0.lock().unwrap().get(host).cloned();
        let literal = || Ok(vec![SocketAddr::new(host.parse().map_err(io::Error::other)?, port)]);
        Box::pin(std::future::ready(known.map_or_else(literal, Ok)))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c038_when_all_nodes_have_gone_the_name_of_the_seed_is_looked_up_again() {
    let name = "cluster.example.test";
    let points_to = |cluster: &Cluster| {
        let addresses = cluster.addresses().into_iter().map(|address| address.parse().unwrap()).collect();
        HashMap::from([(name.to_owned(), addresses)])
    };
    let old = testkit::cluster_with(2, 0);
    let names = Names(Arc::new(Mutex::new(points_to(&old))));
    let settings = settings(&format!("redis://{name}:6379")).resolver(names.clone());
    let client = Client::connect_with(settings).await.unwrap().with_deadline(LIMIT);
    for key in ["{a}", "{b}", "{c}", "{d}"] {
        ask(&client, "SET", key, &["old"]).await;
    }
    drop(old);
    // Requests fail while there is nothing, and do not end the client.
    let hasty = client.with_deadline(Duration::from_millis(300));
    try_ask(&hasty, Repeat::Idempotent, "GET", "{a}", &[]).await.unwrap_err();

    let new = testkit::cluster_with(2, 0);
    *names.0.lock().unwrap() = points_to(&new);
    let started = Instant::now();
    for key in ["{a}", "{b}", "{c}", "{d}"] {
        assert_eq!(ask(&client, "SET", key, &["new"]).await, Value::Okay);
    }
    let took = started.elapsed();
    assert!(took < Duration::from_secs(2) + LATE, "documented: 2 s; it took {took:?}");
    assert!(client.primaries().iter().all(|node| new.addresses().contains(&node.to_string())));
}

const SLOW: Duration = Duration::from_millis(500);

/// A client that has talked to node 0 alone and believes that a slot is there, which node 1 owns by now; node 1 is
/// reached at another port.
async fn sent_to_a_stranger(cluster: &Cluster, port: u16) -> (Client, Tag, Detour) {
    let tag = Tag::at(cluster, "slow", 0);
    let detour = Detour::new(cluster.node(1).port(), port);
    let seed = settings(&format!("redis://{}", cluster.addresses()[0])).resolver(detour.clone());
    let client = Client::connect_with(seed).await.unwrap();
    cluster.move_slot(tag.slot, 0, 1);
    (client, tag, detour)
}

/// One redirect, followed once.
async fn is_followed_once(client: &Client, tag: &Tag) {
    let started = Instant::now();
    assert_eq!(ask(client, "INCR", &tag.key("n"), &[]).await, Value::Int(1));
    let took = started.elapsed();
    assert!(took > SLOW / 2 && took < SLOW + LATE, "{took:?}");
    let stats = client.stats();
    assert_eq!((stats.moved, stats.asked), (1, 0), "{stats:?}");
    let sent: Vec<u64> = stats.requests.iter().map(|(_, sent)| *sent).collect();
    assert_eq!(sent, [1, 1], "one attempt at each node");
}

#[tokio::test(flavor = "multi_thread")]
async fn c026_a_redirect_to_a_node_that_is_slow_to_accept_waits_for_the_connection() {
    let cluster = testkit::cluster_with(2, 0);
    let proxy = Proxy::to(cluster.addresses()[1].clone(), SLOW).await;
    let (client, tag, detour) = sent_to_a_stranger(&cluster, proxy.port).await;
    is_followed_once(&client, &tag).await;
    assert_eq!(detour.taken.load(Relaxed), 1, "one connection, waited for");
    assert_eq!(proxy.connections.load(Relaxed), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn c026_a_redirect_to_a_node_that_refuses_at_first_is_no_busy_loop() {
    let cluster = testkit::cluster_with(2, 0);
    let address = cluster.addresses()[1].clone();
    let port = testkit::free_port("127.0.0.1");
    let (client, tag, detour) = sent_to_a_stranger(&cluster, port).await;
    let (_proxy, ()) = tokio::join!(
        async {
            tokio::time::sleep(SLOW).await;
            Proxy::at(TcpListener::bind(("127.0.0.1", port)).await.unwrap(), address, Duration::ZERO)
        },
        is_followed_once(&client, &tag)
    );
    let tried = detour.taken.load(Relaxed);
    assert!((2..40).contains(&tried), "connected {tried} times in {SLOW:?}");
}

/// How long node `i` takes to become a primary.
fn promotion(cluster: Arc<Cluster>, i: usize) -> tokio::task::JoinHandle<Duration> {
    let started = Instant::now();
    tokio::task::spawn_blocking(move || {
        wait_until("the replica is promoted", LIMIT, || {
            cluster.info(i, "replication", "role").as_deref() == Some("master")
        });
        started.elapsed()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn c040_a_silent_primary_costs_its_slots_a_failover_and_other_slots_nothing() {
    // Otherwise the servers themselves refuse every slot between the verdict on the silent one and the promotion.
    let cluster = testkit::cluster_configured(3, 1, &[("cluster-require-full-coverage", "no")]);
    let cluster = Arc::new(cluster);
    let (silent, other) = (Tag::at(&cluster, "silent", 0).key("a"), Tag::at(&cluster, "other", 1).key("n"));
    let client = Client::connect(&cluster.url()).await.unwrap().with_deadline(LIMIT);
    ask(&client, "SET", &silent, &["1"]).await;
    ask(&client, "SET", &other, &["0"]).await;
    cluster.freeze(0);
    let frozen = Instant::now();
    let promoted = promotion(cluster.clone(), 3);
    let done = Arc::new(AtomicBool::new(false));
    let (asking, ended) = (client.clone(), done.clone());
    // In a task of its own, which nothing else here can hold up.
    let others = tokio::spawn(async move {
        let (mut slowest, mut n) = (Duration::ZERO, 0);
        while !ended.load(Relaxed) {
            n += 1;
            let started = Instant::now();
            assert_eq!(ask(&asking, "INCR", &other, &[]).await, Value::Int(n));
            slowest = slowest.max(started.elapsed());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        (slowest, n)
    });
    let many = (0..100).map(|_| try_ask(&client, Repeat::Idempotent, "SET", &silent, &["2"]));
    for answer in join_all(many).await {
        assert_eq!(answer.unwrap(), Value::Okay);
    }
    let affected = frozen.elapsed();
    done.store(true, Relaxed);
    let (promoted, (slowest, n)) = (promoted.await.unwrap(), others.await.unwrap());
    note(&format!(
        "c040: promoted after {promoted:.2?}, all succeeded after {affected:.2?}; others: {n}, slowest {slowest:.2?}"
    ));
    assert!(affected < promoted + Duration::from_secs(3) + LATE, "documented: promotion + 3 s");
    assert!(n > 100 && slowest < Duration::from_secs(1), "{n} requests, the slowest took {slowest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_replica_of_an_unknown_primary_is_refused_at_the_start_and_a_known_one_is_used() {
    let primary = testkit::standalone();
    let (host, port) = primary.address().split_once(':').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let replica = testkit::standalone_configured(&[("replicaof", &format!("{host} {port}"))]);
    let started = Instant::now();
    let Err(error) = Client::connect(&replica.url()).await else { panic!("connected") };
    assert!(started.elapsed() < LATE);
    for word in [&replica.address(), &primary.address(), "no primary is known"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    let both = format!("redis://{},{}", replica.address(), primary.address());
    let client = Client::connect(&both).await.unwrap();
    assert_eq!(ask(&client, "SET", "{k}", &["1"]).await, Value::Okay);
    assert_eq!(client.primaries()[0].to_string(), primary.address());
    assert_eq!(ask(&client, "GET", "{k}", &[]).await, text("1"));
}
