//! Each way to hurt a cluster, against a real one.

use std::time::{Duration, Instant};

use testkit::{Cluster, LIMIT, cluster, cluster_with, wait_until};

/// The text that a key holds at node `i`, or the error.
fn get(cluster: &Cluster, i: usize, key: &str) -> Result<Option<String>, String> {
    let value = cluster.raw(i, &["GET", key])?;
    redis::from_redis_value(value).map_err(|error| error.to_string())
}

fn set(cluster: &Cluster, key: &str, value: &str) -> usize {
    let owner = cluster.owner_of(cluster.slot_of(key));
    cluster.raw(owner, &["SET", key, value]).unwrap();
    owner
}

#[test]
fn a_cluster_has_its_addresses_in_its_url_and_three_primaries_that_share_the_slots() {
    let cluster = cluster();
    assert_eq!(cluster.url(), format!("redis://{}", cluster.addresses().join(",")));
    assert_eq!(cluster.primaries(), [0, 1, 2]);
    assert_eq!([0, 8191, 16383].map(|slot| cluster.owner_of(slot)), [0, 1, 2]);
    assert_eq!(cluster.slot_of("123456789"), 12739);
    assert!(cluster.replicas_of(0).is_empty());
}

#[test]
fn all_tests_of_a_process_share_one_cluster() {
    assert_eq!(cluster().url(), cluster().url());
}

#[test]
fn a_command_to_the_wrong_node_is_answered_moved_and_not_followed() {
    let cluster = cluster();
    let slot = cluster.slot_of("k");
    let other = (cluster.owner_of(slot) + 1) % 3;
    let error = cluster.raw(other, &["GET", "k"]).unwrap_err();
    assert_eq!(error, format!("MOVED {slot} {}", cluster.addresses()[cluster.owner_of(slot)]));
}

#[test]
fn a_killed_node_is_gone_and_comes_back_on_its_address_with_its_slots_but_without_keys() {
    let cluster = cluster_with(3, 0);
    let owner = set(&cluster, "k", "v");
    let (address, pid) = (cluster.node(owner).address(), cluster.node(owner).pid());
    cluster.kill(owner);
    assert!(!cluster.node(owner).is_running() && cluster.node(owner).pid().is_none());
    cluster.raw(owner, &["PING"]).unwrap_err();

    cluster.restart(owner);
    assert_ne!(cluster.node(owner).pid(), pid);
    assert_eq!(cluster.node(owner).address(), address);
    cluster.wait_ready();
    assert_eq!(get(&cluster, owner, "k"), Ok(None));
}

#[test]
fn a_stopped_node_is_silent_until_it_is_let_go_on() {
    let cluster = cluster_with(1, 0);
    cluster.freeze(0);
    let asked = Instant::now();
    cluster.raw(0, &["PING"]).unwrap_err();
    assert!(asked.elapsed() < Duration::from_secs(10), "asking a stopped node hung");
    assert!(cluster.node(0).is_running(), "stopped is not ended");
    cluster.thaw(0);
    cluster.raw(0, &["PING"]).unwrap();
}

#[test]
fn cut_clients_lose_their_connections_and_can_connect_again() {
    let cluster = cluster_with(1, 0);
    let client = redis::Client::open(cluster.url()).unwrap();
    let mut commands = client.get_connection().unwrap();
    let mut subscriber = client.get_connection().unwrap();
    let mut subscription = subscriber.as_pubsub();
    subscription.subscribe("news").unwrap();
    redis::cmd("PING").exec(&mut commands).unwrap();

    assert_eq!(cluster.cut_clients(0), 2);
    redis::cmd("PING").exec(&mut commands).unwrap_err();
    subscription.get_message().unwrap_err();
    redis::cmd("PING").exec(&mut client.get_connection().unwrap()).unwrap();
}

#[test]
fn flushed_scripts_are_known_nowhere() {
    let cluster = cluster_with(2, 1);
    let load = |i| {
        redis::from_redis_value::<String>(cluster.raw(i, &["SCRIPT", "LOAD", "return 1"]).unwrap()).unwrap()
    };
    let exists = |i, sha: &str| {
        redis::from_redis_value::<Vec<bool>>(cluster.raw(i, &["SCRIPT", "EXISTS", sha]).unwrap()).unwrap()
            == [true]
    };
    let sha = (0..4).map(load).last().unwrap();
    assert!((0..4).all(|i| exists(i, &sha)));
    cluster.script_flush_all();
    assert!(!(0..4).any(|i| exists(i, &sha)));
}

#[test]
fn a_node_that_is_added_joins_without_slots_and_can_be_given_one() {
    let mut cluster = cluster_with(2, 0);
    let new = cluster.add_node();
    assert_eq!(new, 2);
    assert_eq!(cluster.primaries(), [0, 1, 2]);
    cluster.move_slot(5, 0, new);
    assert_eq!(cluster.owner_of(5), new);
    cluster.wait_ready();
}

#[test]
fn what_a_node_did_is_counted_by_command() {
    let cluster = cluster_with(1, 0);
    let calls = || cluster.commandstats(0).get("set").copied().unwrap_or_default().calls;
    let before = calls();
    for _ in 0..7 {
        cluster.raw(0, &["SET", "k", "v"]).unwrap();
    }
    assert_eq!(calls() - before, 7);
    assert!(cluster.connected_clients(0) >= 1);
}

#[test]
fn work_on_the_main_thread_shows_as_its_processor_time() {
    let cluster = cluster_with(1, 0);
    let before = cluster.main_thread_cpu_us(0);
    let busy = "local n = 0 for i = 1, 5000000 do n = n + i end return n";
    cluster.raw(0, &["EVAL", busy, "0"]).unwrap();
    let spent = cluster.main_thread_cpu_us(0) - before;
    assert!((5_000..2_000_000).contains(&spent), "{spent} us");
}

#[test]
fn waiting_in_vain_is_a_panic_with_what_was_waited_for() {
    let waiting =
        std::panic::catch_unwind(|| wait_until("the moon is blue", Duration::from_millis(20), || false));
    let text = *waiting.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("the moon is blue"), "{text}");
    wait_until("the sky is up", LIMIT, || true);
}

#[test]
fn a_standalone_server_can_be_hurt_as_well() {
    let server = testkit::standalone();
    assert_eq!(server.url(), format!("redis://{}", server.address()));
    server.raw(&["SET", "k", "v"]).unwrap();
    assert!(server.raw(&["CLUSTER", "MYID"]).is_err());
    server.freeze();
    server.raw(&["PING"]).unwrap_err();
    server.thaw();
    server.raw(&["PING"]).unwrap();
    server.kill();
    server.raw(&["PING"]).unwrap_err();
    server.restart();
    assert_eq!(server.raw(&["GET", "k"]), Ok(redis::Value::Nil));
}

#[tokio::test]
async fn the_calls_can_be_used_in_an_asynchronous_test() {
    let cluster = cluster();
    let client = redis::Client::open(format!("redis://{}", cluster.addresses()[0])).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let pong: String = redis::cmd("PING").query_async(&mut connection).await.unwrap();
    assert_eq!(pong, "PONG");
}
