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
