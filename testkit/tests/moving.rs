//! Moving slots, against a real cluster.

use testkit::{Cluster, cluster};

/// Two keys of one slot that no other test uses, with the slot, its owner and another primary.
struct Pair {
    keys: [String; 2],
    slot: u16,
    from: usize,
    to: usize,
}

fn pair(cluster: &Cluster) -> Pair {
    let queue = testkit::unique_queue("move");
    let keys = [format!("{{{queue}}}:a"), format!("{{{queue}}}:b")];
    let slot = cluster.slot_of(&keys[0]);
    let from = cluster.owner_of(slot);
    for key in &keys {
        cluster.raw(from, &["SET", key, "v"]).unwrap();
    }
    Pair { keys, slot, from, to: (from + 1) % 3 }
}

fn error(cluster: &Cluster, i: usize, command: &[&str]) -> String {
    cluster.raw(i, command).unwrap_err()
}

/// Both keys are at node `i`, which owns the slot in everybody's view.
fn assert_whole_at(cluster: &Cluster, i: usize, pair: &Pair) {
    let got = cluster.raw(i, &["MGET", &pair.keys[0], &pair.keys[1]]).unwrap();
    assert_eq!(redis::from_redis_value::<Vec<String>>(got).unwrap(), ["v", "v"]);
    for node in 0..3 {
        let answer = cluster.raw(node, &["GET", &pair.keys[0]]);
        assert_eq!(answer.is_ok(), node == i, "node {node}: {answer:?}");
    }
    assert_eq!(cluster.owner_of(pair.slot), i);
}

#[test]
fn a_half_moved_slot_answers_ask_for_the_key_that_left_and_tryagain_for_both() {
    let cluster = cluster();
    let pair @ Pair { keys, slot, from, to } = &pair(&cluster);
    cluster.begin_move(*slot, *from, *to);
    cluster.move_keys(*from, *to, &keys[..1]);

    assert!(error(&cluster, *from, &["GET", &keys[0]]).starts_with("ASK "));
    cluster.raw(*from, &["GET", &keys[1]]).unwrap();
    assert!(error(&cluster, *from, &["MGET", &keys[0], &keys[1]]).starts_with("TRYAGAIN "));
    assert!(error(&cluster, *to, &["GET", &keys[0]]).starts_with("MOVED "));

    cluster.finish_move(*slot, *from, *to);
    assert_whole_at(&cluster, *to, pair);
}

#[test]
fn an_aborted_move_leaves_everything_at_the_source() {
    let cluster = cluster();
    let pair @ Pair { keys, slot, from, to } = &pair(&cluster);
    cluster.begin_move(*slot, *from, *to);
    cluster.move_keys(*from, *to, keys);
    assert_eq!(cluster.keys_in(*to, *slot).len(), 2);

    cluster.abort_move(*slot, *from, *to);
    assert_whole_at(&cluster, *from, pair);
    assert!(cluster.keys_in(*to, *slot).is_empty());
}

#[test]
fn a_slot_is_moved_as_a_whole_and_back() {
    let cluster = cluster();
    let pair = pair(&cluster);
    cluster.move_slot(pair.slot, pair.from, pair.to);
    assert_whole_at(&cluster, pair.to, &pair);
    cluster.move_slot(pair.slot, pair.to, pair.from);
    assert_whole_at(&cluster, pair.from, &pair);
}

#[test]
fn a_half_moved_slot_is_moved_back() {
    let cluster = cluster();
    let pair = pair(&cluster);
    cluster.begin_move(pair.slot, pair.from, pair.to);
    cluster.move_keys(pair.from, pair.to, &pair.keys[1..]);
    cluster.move_back(pair.slot, pair.from, pair.to);
    assert_whole_at(&cluster, pair.from, &pair);
}

#[test]
fn keys_are_bytes_and_move_in_any_number() {
    let cluster = cluster();
    let Pair { keys, slot, from, to } = &pair(&cluster);
    let tag = &keys[0][..keys[0].len() - 2];
    for i in 0..250u16 {
        let key = [tag.as_bytes(), b"\xff\x00\r\n", &i.to_be_bytes()].concat();
        cluster.raw(*from, ("SET", key, i)).unwrap();
    }
    cluster.move_slot(*slot, *from, *to);
    assert_eq!(cluster.keys_in(*to, *slot).len(), 252);
    assert!(cluster.keys_in(*from, *slot).is_empty());
}

#[test]
fn keys_that_are_not_there_are_passed_over() {
    let cluster = cluster();
    let pair = pair(&cluster);
    let Pair { keys, slot, from, to } = &pair;
    let gone = format!("{}-gone", keys[0]);
    cluster.begin_move(*slot, *from, *to);
    cluster.move_keys(*from, *to, &[&gone]);
    cluster.move_keys(*from, *to, &[&gone, &keys[1]]);
    cluster.finish_move(*slot, *from, *to);
    assert_whole_at(&cluster, *to, &pair);
}

#[test]
fn a_slot_is_migrated_atomically() {
    if !testkit::valkey9("a_slot_is_migrated_atomically") {
        return;
    }
    let cluster = cluster();
    let pair = pair(&cluster);
    cluster.migrate_slots(pair.slot, pair.from, pair.to);
    assert_whole_at(&cluster, pair.to, &pair);
    cluster.migrate_slots(pair.slot, pair.to, pair.from);
    assert_whole_at(&cluster, pair.from, &pair);
}
