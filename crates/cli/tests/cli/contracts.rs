use std::path::Path;

use crate::json::assert_documented;
use crate::run::{Echomq, echomq};

/// `echomq contract` in the root of the project.
fn contract(arguments: &[&str]) -> Echomq {
    echomq([&["contract"], arguments].concat())
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contract/contracts").join(name);
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_check_ends_with_0_when_all_is_proven_1_when_something_is_found_2_when_it_is_no_contract() {
    let fine = contract(&["check", &example("shop.toml")]).fine();
    assert!(fine.ends_with("0 errors, 0 warnings, 6 operations proven\n"), "{fine}");

    let found = contract(&["check", &example("faults.toml")]).run();
    assert_eq!((found.code, found.err.as_str()), (1, ""));
    for part in ["error[two-tags] operation.claim: two tags: job.row has {<job>}", "\n    keep under {job}"] {
        assert!(found.text().contains(part), "{part:?} is not in:\n{}", found.text());
    }

    contract(&["check", "-"])
        .input("contract = 1\n[famly.x]\n")
        .run()
        .said(2, "standard input is no contract: line 2, famly: ");
    contract(&["check", "-"]).input(b"contract = 1\n\xff".to_vec()).run().said(2, "byte 13 is not UTF-8");
    contract(&["check", "/no/such/file"])
        .run()
        .said(2, "\"/no/such/file\" can not be read; name the file of a contract");
}

#[test]
fn constructors_are_printed_or_written_with_their_tests() {
    let folder = tempfile::tempdir().unwrap();
    let printed = contract(&["gen", "python", &example("shop.toml")]).fine();
    assert!(printed.contains("class OrderKeys:") && !printed.contains("unittest"), "{printed}");

    let out = folder.path().join("made/here");
    let written = contract(&["gen", "python", &example("shop.toml"), "--out", out.to_str().unwrap()]).fine();
    assert_eq!(written.lines().count(), 2);
    assert_eq!(std::fs::read_to_string(out.join("keyspace.py")).unwrap(), printed);
    assert!(out.join("test_keyspace.py").exists());

    let taken = folder.path().join("file");
    std::fs::write(&taken, "").unwrap();
    contract(&["gen", "go", &example("shop.toml"), "--out", taken.to_str().unwrap()])
        .run()
        .said(2, "can not be written");
}

#[test]
fn nothing_is_made_of_a_contract_with_errors() {
    let refused = contract(&["gen", "rust", &example("faults.toml")]).run();
    assert_eq!((refused.code, refused.text().as_str()), (1, ""));
    assert!(
        refused
            .err
            .starts_with("echomq: constructors are made of a contract without errors; mend these first\n")
    );
    contract(&["gen", "cobol", &example("shop.toml")]).run().said(2, "possible values: rust, go, typescript");
}

#[test]
fn the_json_is_as_documented() {
    let found = contract(&["check", &example("faults.toml"), "--json"]).run();
    assert_documented("contract check", 0, &serde_json::from_slice(&found.out).unwrap());
    let printed = contract(&["gen", "typescript", &example("shop.toml"), "--json"]).object();
    assert_documented("contract gen", 0, &printed);
    assert!(printed["files"][1]["text"].as_str().unwrap().contains("node:test"));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let written = contract(&["gen", "typescript", &example("shop.toml"), "--out", out, "--json"]).object();
    assert_documented("contract gen", 1, &written);
}

/// A single server with keys of orders, one of each kind that a verification tells apart.
fn server_with_orders() -> testkit::Standalone {
    let server = testkit::standalone();
    for command in [
        &["HSET", "order:{A-001}:head", "f", "x"][..],
        &["HSET", "order:{A-001}:items", "f", "x"],
        &["HSET", "order:A-001", "f", "x"],
        &["SET", "celery-task-meta-7f9c2ba4-e88f-4d1a-9d3b-0e6f3c1a2b4d", "x"],
    ] {
        server.raw(command).unwrap();
    }
    server
}

#[test]
fn a_verification_ends_with_0_when_keys_follow_the_contract_1_when_some_differ_2_when_it_is_incomplete() {
    let server = server_with_orders();
    let (url, shop) = (server.url(), example("shop.toml"));
    let found = contract(&["verify", &shop, "--url", &url]).run();
    assert_eq!((found.code, found.err.as_str()), (1, ""), "{found:?}");
    for part in [
        "4 keys of 4 on 1 primary looked at, on 3 slots",
        "wrong type order:{A-001}:items (order.items) holds a hash, a list is expected\n",
        "from before order:<order> of order.head: 1 key, such as order:A-001, today order:{A-001}:head\n",
        "unclaimed celery-task-meta-<id>: 1 key, such as \"celery-task-meta-7f9c",
        "keys differ from the contract\n",
    ] {
        assert!(found.text().contains(part), "{part:?} is not in:\n{}", found.text());
    }

    let fine = contract(&["verify", &shop, "--url", &url, "--match", "*:head"]).fine();
    assert!(fine.contains("order.head 1\n") && fine.contains("follow the contract"), "{fine}");
    let given = contract(&["verify", &shop, "--url", &url, "--stdin", "--escaped"]);
    let given = given.input("order:{A-001}:head\norder:{A-\\x3001}:head\norder:{A-002}:head").fine();
    assert!(given.contains("3 keys looked at, on 1 slot; 1 of them not there"), "{given}");

    server.raw(&["ACL", "SETUSER", "ann", "on", ">pw", "~*", "+@all", "-scan"]).unwrap();
    let url = format!("redis://ann:pw@{}", server.address());
    let incomplete = contract(&["verify", &shop, "--url", &url]).run();
    assert_eq!((incomplete.code, incomplete.err.as_str()), (2, ""), "{incomplete:?}");
    assert!(incomplete.text().contains("not checked (scan): ") && incomplete.text().contains("+scan"));
}

#[test]
fn a_verification_of_echomqs_own_keys_needs_no_file() {
    let server = testkit::standalone();
    let url = server.url();
    echomq(["job", "add", "orders", "hello", "--url", &url, "--prefix", "shop:"]).fine();
    server.raw(&["SET", "elsewhere", "x"]).unwrap();
    let own = contract(&["verify", "--own", "--url", &url, "--prefix", "shop:"]).fine();
    assert!(own.contains("queue.pending 1, queue.meta 1, queue.job 1\n"), "{own}");
    contract(&["verify", "--own", &example("shop.toml"), "--url", &url]).run().said(2, "cannot be used with");
}

#[test]
fn a_verification_begins_with_a_sound_contract() {
    let faulty = contract(&["verify", &example("faults.toml"), "--url", "redis://127.0.0.1:1"]).run();
    assert_eq!((faulty.code, faulty.text().as_str()), (1, ""));
    assert!(faulty.err.starts_with("echomq: keys are held against a contract without errors"), "{faulty:?}");
    contract(&["verify", "-", "--stdin"]).run().said(2, "can not be the contract and the keys at once");
    contract(&["verify", &example("shop.toml"), "--time", "5"]).run().said(2, "--time: \"5\" is no span");
}

#[test]
fn the_json_of_a_verification_is_as_documented() {
    let server = server_with_orders();
    server.raw(&["ACL", "SETUSER", "bob", "on", ">pw", "~*", "+@all", "-memory"]).unwrap();
    let url = format!("redis://bob:pw@{}", server.address());
    let found = contract(&["verify", &example("shop.toml"), "--url", &url, "--json"]).run();
    let found = serde_json::from_slice(&found.out).unwrap();
    assert_documented("contract verify", 0, &found);
    assert_eq!((&found["fine"], &found["complete"]), (&false.into(), &true.into()), "{found}");
}
