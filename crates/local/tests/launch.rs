//! Starting real servers and clusters.

use std::path::{Path, PathBuf};
use std::time::Duration;

use echomq_local::{Error, Launch, Node};

fn info(node: &Node, line: &str) -> bool {
    node.ask::<String>(&["INFO"]).unwrap().lines().any(|found| found == line)
}

fn setting(node: &Node, key: &str) -> String {
    node.ask::<(String, String)>(&["CONFIG", "GET", key]).unwrap().1
}

/// The log that an error points at.
fn log_in(error: &Error) -> PathBuf {
    let text = error.to_string();
    let log = text.split("Its log is \"").nth(1).and_then(|rest| rest.split('"').next());
    log.unwrap_or_else(|| panic!("no log is named: {text}")).into()
}

/// Removes the temporary folder that a failed start has kept for its logs.
fn remove_kept(log: &Path) {
    let folder = log.parent().and_then(Path::parent).unwrap();
    assert!(folder.file_name().unwrap().to_str().unwrap().starts_with("echomq-"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_standalone_server_has_one_address_and_is_no_cluster() {
    let local = Launch::standalone().start().unwrap();
    let [node] = local.nodes() else { panic!("it is one node") };
    assert_eq!(local.url(), format!("redis://127.0.0.1:{}", node.port()));
    assert!(info(node, "cluster_enabled:0"));
    assert!(redis::Client::open(local.url()).is_ok(), "the client library reads the address");
}

#[test]
fn a_cluster_is_ready_when_it_is_returned() {
    let local = Launch::cluster(3).replicas(1).start().unwrap();
    let addresses: Vec<String> = local.nodes().iter().map(Node::address).collect();
    assert_eq!(addresses.len(), 6);
    assert_eq!(local.url(), format!("redis://{}", addresses.join(",")));
    for (i, node) in local.nodes().iter().enumerate() {
        let cluster: String = node.ask(&["CLUSTER", "INFO"]).unwrap();
        for line in ["cluster_state:ok", "cluster_slots_ok:16384", "cluster_known_nodes:6", "cluster_size:3"]
        {
            assert!(cluster.lines().any(|found| found == line), "node {i}: {line} is not in {cluster}");
        }
        assert!(info(node, if i < 3 { "role:master" } else { "role:slave" }), "node {i}");
    }
    for (key, owner) in [("bar", 0), ("k0", 1), ("foo", 2)] {
        assert_eq!(local.nodes()[owner].ask::<String>(&["SET", key, "v"]).as_deref(), Ok("OK"), "{key}");
    }
}

#[test]
fn each_replica_follows_the_primary_of_its_place_and_has_its_data() {
    // The first copy begins only after the primaries serve: the start must not be over before it is made.
    let local = Launch::cluster(2).replicas(2).config("repl-diskless-sync-delay", "3").start().unwrap();
    for i in 2..6 {
        let primary = &local.nodes()[i % 2];
        assert!(info(&local.nodes()[i], &format!("master_port:{}", primary.port())), "node {i}");
        assert!(info(&local.nodes()[i], "master_link_status:up"), "node {i}");
    }
}

#[test]
fn settings_reach_the_server() {
    let local = Launch::cluster(1)
        .append_only(true)
        .node_timeout_ms(1_234)
        .config("maxmemory", "10mb")
        .config("client-output-buffer-limit", "pubsub 1mb 1mb 7")
        .start()
        .unwrap();
    let node = &local.nodes()[0];
    assert_eq!(setting(node, "appendonly"), "yes");
    assert_eq!(setting(node, "cluster-node-timeout"), "1234");
    assert_eq!(setting(node, "maxmemory"), "10485760");
    assert!(setting(node, "client-output-buffer-limit").contains("pubsub 1048576 1048576 7"));
    assert!(node.dir().join("appendonlydir").is_dir());
}

#[test]
fn a_server_that_ends_at_its_start_is_an_error_with_the_log_and_its_last_lines() {
    let error = Launch::standalone().config("maxmemory", "much").start().unwrap_err();
    assert!(error.is_not_ready(), "{error}");
    let log = log_in(&error);
    assert!(log.exists(), "the log is kept");
    assert!(error.to_string().contains("maxmemory \"much\""), "the last lines are shown: {error}");
    remove_kept(&log);
}

#[test]
fn a_start_that_takes_too_long_is_an_error_that_names_the_node_and_what_is_missing() {
    // The server is up by then, but a primary takes no writes for two seconds.
    let error = Launch::cluster(1).ready_within_ms(1_000).start().unwrap_err();
    assert!(error.is_not_ready(), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("node ") && text.contains(" (127.0.0.1:"), "{text}");
    assert!(text.contains("CLUSTER INFO does not say cluster_state:ok"), "{text}");
    let log = log_in(&error);
    assert!(log.exists());
    remove_kept(&log);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_starts() {
    let refused = [
        Launch::cluster(0),
        Launch::cluster(usize::MAX).replicas(usize::MAX),
        Launch::standalone().replicas(1),
        Launch::standalone().config("port", "1"),
        Launch::standalone().config("save 1 1\nport", "1"),
    ];
    for launch in refused {
        let error = launch.clone().start().unwrap_err();
        assert!(error.is_invalid(), "{launch:?}: {error}");
    }
}

#[test]
fn a_node_that_is_added_is_known_to_all_and_owns_nothing() {
    let mut local = Launch::cluster(2).start().unwrap();
    let id: String = local.add_node().unwrap().ask(&["CLUSTER", "MYID"]).unwrap();
    assert_eq!(local.nodes().len(), 3);
    assert_eq!(local.url().matches("127.0.0.1:").count(), 3);
    for node in local.nodes() {
        let view: String = node.ask(&["CLUSTER", "NODES"]).unwrap();
        let line = view.lines().find(|line| line.starts_with(&id)).unwrap();
        assert!(line.ends_with(" connected"), "it owns slots or is not linked: {line}");
    }
    local.wait_ready(Duration::from_secs(20)).unwrap();
}

#[test]
fn a_node_that_was_added_is_removed_once_it_owns_nothing_and_another_takes_its_place() {
    let mut local = Launch::cluster(2).start().unwrap();
    assert!(local.remove_node().unwrap_err().is_invalid(), "nobody was added");
    let newcomer = local.add_node().unwrap();
    let (dir, id) = (newcomer.dir().to_owned(), newcomer.ask::<String>(&["CLUSTER", "MYID"]).unwrap());
    for node in local.nodes() {
        node.ask::<()>(&["CLUSTER", "SETSLOT", "5", "NODE", &id]).unwrap();
    }
    let error = local.remove_node().unwrap_err();
    assert!(error.is_invalid() && error.to_string().contains("still owns slots"), "{error}");

    let owner: String = local.nodes()[0].ask(&["CLUSTER", "MYID"]).unwrap();
    for node in local.nodes() {
        node.ask::<()>(&["CLUSTER", "SETSLOT", "5", "NODE", &owner]).unwrap();
    }
    local.remove_node().unwrap();
    assert!(local.nodes().len() == 2 && !dir.exists());
    local.wait_ready(Duration::from_secs(20)).unwrap();
    local.add_node().unwrap();
    local.wait_ready(Duration::from_secs(20)).unwrap();
}

#[test]
fn a_node_is_added_while_another_is_down() {
    let mut local = Launch::cluster(3).start().unwrap();
    local.nodes()[1].kill();
    local.add_node().unwrap();
    local.restart(1).unwrap();
    local.wait_ready(Duration::from_secs(20)).unwrap();
}

#[test]
fn a_standalone_server_takes_no_further_node() {
    assert!(Launch::standalone().start().unwrap().add_node().unwrap_err().is_invalid());
}

#[test]
fn a_restarted_node_has_another_process_on_the_same_address() {
    let local = Launch::cluster(2).append_only(true).start().unwrap();
    let node = &local.nodes()[0];
    let (pid, address) = (node.pid(), node.address());
    node.ask::<()>(&["SET", "bar", "v"]).unwrap();
    local.restart(0).unwrap();
    assert!(node.pid().is_some() && node.pid() != pid);
    assert_eq!(node.address(), address);
    local.wait_ready(Duration::from_secs(20)).unwrap();
    assert_eq!(node.ask::<String>(&["GET", "bar"]).as_deref(), Ok("v"));
    assert!(local.restart(2).unwrap_err().is_invalid());
}

#[test]
fn a_stopped_node_runs_but_is_not_ready() {
    let local = Launch::standalone().start().unwrap();
    let node = &local.nodes()[0];
    node.freeze().unwrap();
    assert!(node.is_running() && node.is_frozen());
    let error = local.wait_ready(Duration::from_millis(10)).unwrap_err();
    assert!(error.to_string().contains("does not answer PING"), "{error}");
    node.thaw().unwrap();
    assert!(!node.is_frozen());
    local.wait_ready(Duration::from_secs(20)).unwrap();
}

#[test]
fn a_cluster_in_a_named_folder_is_found_there_again_with_its_data() {
    let dir = tempfile::tempdir().unwrap();
    let launch = Launch::cluster(3).replicas(1).append_only(true).dir(dir.path());
    let ids = |local: &echomq_local::Local| -> Vec<String> {
        local.nodes().iter().map(|node| node.ask(&["CLUSTER", "MYID"]).unwrap()).collect()
    };
    let first = launch.clone().start().unwrap();
    let known = ids(&first);
    first.nodes()[2].ask::<()>(&["SET", "foo", "v"]).unwrap();
    first.stop();
    assert!(dir.path().join("node-2/server.log").exists());

    let again = launch.clone().start().unwrap();
    assert_eq!(ids(&again), known);
    assert_eq!(again.nodes()[2].ask::<String>(&["GET", "foo"]).as_deref(), Ok("v"));
    again.stop();

    let error = Launch::cluster(4).replicas(1).dir(dir.path()).start().unwrap_err();
    assert!(error.is_invalid() && error.to_string().contains("as many nodes as before"), "{error}");
}

#[test]
fn launches_at_the_same_time_do_not_take_each_others_ports() {
    let ports: Vec<u16> = std::thread::scope(|scope| {
        let start = || Launch::standalone().start().unwrap();
        let threads: Vec<_> = (0..12).map(|_| scope.spawn(start)).collect();
        let all: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        all.iter().map(|local| local.nodes()[0].port()).collect()
    });
    let distinct: std::collections::BTreeSet<u16> = ports.iter().copied().collect();
    assert_eq!(distinct.len(), 12);
}
