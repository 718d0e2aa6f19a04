use testkit::{LIMIT, unique_queue, wait_until};

use crate::run::{cluster, on};

#[test]
fn queues_are_listed_with_slot_node_and_counts() {
    let (cluster, queue) = (cluster(), unique_queue("ls"));
    on(&cluster, ["job", "add", &queue, "now"]).fine();
    on(&cluster, ["job", "add", &queue, "later", "--delay", "1h"]).fine();
    let slot = cluster.slot_of(format!("emq:{{{queue}}}:meta"));
    let node = cluster.addresses()[cluster.owner_of(slot)].clone();
    let text = on(&cluster, ["queue", "ls"]).fine();
    assert!(text.contains(" PENDING  ACTIVE SCHEDULE   DEAD "), "{text}");
    let row = text.lines().find(|line| line.starts_with(&queue)).unwrap_or_else(|| panic!("{text}"));
    let cells: Vec<_> = row.split_whitespace().collect();
    assert_eq!(cells[1..], [&slot.to_string(), &node, "1", "0", "1", "0", "0"]);
}

#[test]
fn a_queue_is_shown_with_all_that_is_counted() {
    let (cluster, queue) = (cluster(), unique_queue("show"));
    on(&cluster, ["job", "add", &queue, "x", "--at", "2100-01-01T00:00:00Z"]).fine();
    let text = on(&cluster, ["queue", "show", &queue]).fine();
    for part in [
        "pending              0\n",
        "schedule             1  the next one at 2100-01-01T00:00:00Z\n",
        "undecodable          0  buried: the row could not be read\n",
        "layout ",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    on(&cluster, ["queue", "show", &unique_queue("typo")]).run().said(1, "has never been used");
}

#[test]
fn a_paused_queue_says_by_whom_until_it_is_resumed() {
    let (cluster, queue) = (cluster(), unique_queue("pause"));
    on(&cluster, ["job", "add", &queue, "x"]).fine();
    assert!(
        on(&cluster, ["queue", "pause", &queue, "--by", "ann: deploy"]).fine().contains("by ann: deploy")
    );
    assert!(
        on(&cluster, ["queue", "pause", &queue, "--by", "bob"]).fine().contains("already, by ann: deploy")
    );
    assert!(on(&cluster, ["queue", "show", &queue]).fine().contains("by ann: deploy"));
    assert!(on(&cluster, ["queue", "ls"]).fine().contains("paused by ann: deploy"));

    // Jobs can be added, but nobody gets one.
    on(&cluster, ["job", "add", &queue, "y"]).fine();
    let opened = || producers(&cluster, &queue);
    let before = opened();
    let mut worker = on(&cluster, ["work", &queue, "--drain", "--exec", "true"]).start();
    wait_until("the worker has opened the queue", LIMIT, || opened() != before);
    assert!(worker.is_running());
    assert_eq!(on(&cluster, ["queue", "show", &queue, "--json"]).object()["pending"], 2);
    assert!(on(&cluster, ["queue", "resume", &queue]).fine().contains("is resumed"));
    let ran = worker.end();
    ran.said(0, "is paused since ");
    ran.said(0, "2 done");
    assert!(on(&cluster, ["queue", "resume", &queue]).fine().contains("was not paused"));
}

/// How often the queue was opened to add or to work, as the server shows it.
fn producers(cluster: &testkit::Cluster, queue: &str) -> String {
    let key = format!("emq:{{{queue}}}:meta");
    let owner = cluster.owner_of(cluster.slot_of(&key));
    format!("{:?}", cluster.raw(owner, &["HGET", &key, "producers"]).unwrap())
}

#[test]
fn who_pauses_is_user_and_host_when_nothing_is_said() {
    let (cluster, queue) = (cluster(), unique_queue("who"));
    on(&cluster, ["job", "add", &queue, "x"]).fine();
    let paused = on(&cluster, ["queue", "pause", &queue, "--json"]).env("USER", "ann").object();
    assert!(paused["by"].as_str().unwrap().starts_with("ann@"), "{paused}");
}

#[test]
fn a_prefix_parts_what_has_the_same_name() {
    let (cluster, queue) = (cluster(), unique_queue("prefix"));
    on(&cluster, ["job", "add", &queue, "x", "--prefix", "staging:"]).fine();
    on(&cluster, ["queue", "show", &queue]).run().said(1, "has never been used");
    assert_eq!(
        on(&cluster, ["--prefix", "staging:", "queue", "show", &queue, "--json"]).object()["pending"],
        1
    );
    let listed = on(&cluster, ["queue", "ls", "--prefix", "staging:", "--json"]).fine();
    assert_eq!(listed.lines().count(), 1, "{listed}");
    on(&cluster, ["queue", "ls", "--prefix", "{a}"]).run().said(2, "prefix \"{a}\" refused");
}
