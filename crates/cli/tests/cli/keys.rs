use serde_json::Value;

use crate::run::{Echomq, echomq};

const VECTORS: &str = include_str!("../../../../testdata/vectors/keyslot-valkey-9.1.tsv");

/// Nothing here may look for a server: there is none to be had.
fn key(arguments: &[&str]) -> Echomq {
    echomq([&["key"], arguments].concat())
        .env("ECHOMQ_URL", "redis://127.0.0.1:1")
        .env("ECHOMQ_SERVER_BIN", "/nowhere/valkey-server")
}

#[test]
fn the_slots_of_all_vectors_are_those_of_the_server() {
    let rows: Vec<_> = VECTORS.lines().skip(1).map(|row| row.split_once('\t').unwrap()).collect();
    assert!(rows.len() >= 3_000);
    let input: String = rows.iter().map(|(key, _)| format!("{key}\n")).collect();
    let expected: String = rows.iter().map(|(_, slot)| format!("{slot}\n")).collect();
    assert_eq!(key(&["slot", "--hex", "--stdin"]).input(input).fine(), expected);
}

#[test]
fn a_key_can_be_given_plain_escaped_or_in_hex() {
    assert_eq!(
        key(&["slot", "注", "", "123456789"]).fine(),
        key(&["slot", "--hex", "e6b3a8", "", "313233343536373839"]).fine()
    );
    assert_eq!(
        key(&["slot", r"\xe6\xb3\xa8\n", "--escaped"]).fine(),
        key(&["slot", "--hex", "e6b3a80a"]).fine()
    );
    // Of a line only the line feed is taken off.
    assert_eq!(
        key(&["slot", "--stdin", "a"]).input("b\n\nc\r").fine(),
        key(&["slot", "--escaped", "a", "b", "", r"c\r"]).fine()
    );
    key(&["slot", "--hex", "--stdin"])
        .input("00\r\nzz\n")
        .run()
        .said(2, "line 2 of standard input: \"zz\" is not hex");
    key(&["slot", "--escaped", r"a\q"]).run().said(2, "unknown escape at byte 1");
    key(&["slot"]).run().said(2, "--help");
}

#[test]
fn a_trace_tells_what_is_hashed_and_why() {
    let text = key(&["trace", "foo{{bar}}zap"]).fine();
    for part in [
        "key     foo{{bar}}zap\n            ^^^^\n",
        "4015",
        "0xCFAF",
        "braces do not nest",
        "between the first \"{\"",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    let text = key(&["trace", "{user:123}:profile", "plain"]).fine();
    assert!(text.contains("12893") && text.contains("no opening brace"), "{text}");
}

#[test]
fn a_check_ends_with_0_when_keys_meet_1_when_they_do_not_2_when_it_can_not_tell() {
    let together = key(&["check", "user:{123}:profile", "user:{123}:settings"]);
    assert!(together.fine().starts_with("2 keys on slot 5970"));

    let apart = key(&["check", "user:{123}:profile", "user:123:{profile}"]).run();
    assert_eq!((apart.code, apart.err.as_str()), (1, ""));
    for part in ["2 keys on 2 slots", "CROSSSLOT", "wrong place", "becomes  user:{123}:profile"] {
        assert!(apart.text().contains(part), "{part:?} is not in:\n{}", apart.text());
    }

    // On one slot, but nothing else will be: a finding that matters.
    assert_eq!(key(&["check", "{app}:orders:pending", "{app}:mail:pending"]).run().code, 1);
    // Kinds brought together on purpose: told, and fine.
    let kinds = key(&["check", "user:{7}:name", "cart:{7}:items"]).fine();
    assert!(kinds.contains("are different entities"), "{kinds}");

    key(&["check"]).run().said(2, "<KEY>");
    key(&["check", "--stdin"]).run().said(2, "no keys to check");
}

#[test]
fn a_tag_falls_on_the_slot_that_was_asked_for() {
    let tag = key(&["tag", "cart:", "9000"]).fine();
    assert_eq!(key(&["slot", &format!("{{{}}}:items", tag.trim_end())]).fine(), "9000\n");
    for (slot, what) in
        [("16384", "\"16384\" is no slot"), ("-1", "unexpected"), ("x\u{7}", "\"x\\x07\" is no slot")]
    {
        key(&["tag", "cart:", slot]).run().said(2, what);
    }
    key(&["tag", "a}b", "1"]).run().said(2, "a tag ends at its first");
}

#[test]
fn the_tags_of_a_spread_queue_divide_the_slots() {
    let text = key(&["tag", "--spread", "orders", "4"]).fine();
    let slots: Vec<_> = text.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(slots, ["105", "4201", "8297", "12393"]);
    key(&["tag", "--spread", "a:b", "4"]).run().said(2, "queue name \"a:b\" refused");
    key(&["tag", "--spread", "orders", "0"]).run().said(2, "\"0\" is no number of parts");
}

#[test]
fn json_holds_any_bytes() {
    let text = key(&["trace", "--hex", "ff7b0a7d", "00", "--json"]).fine();
    let objects: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 2);
    assert_eq!((&objects[0]["key"], &objects[0]["hashed"]), (&r"\xff{\n}".into(), &r"\n".into()));
    assert_eq!(objects[1]["key_hex"], "00");
}
