//! The examples say what they said when they were written.

use std::process::Command;

/// Runs an example as a reader would, and returns what it printed.
fn run(name: &str) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--offline", "--package", env!("CARGO_PKG_NAME"), "--example", name])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{name}: {said}{}", String::from_utf8_lossy(&output.stderr));
    let lines = said.lines().count();
    assert!((10..=45).contains(&lines), "{name} printed {lines} lines:\n{said}");
    said
}

#[track_caller]
fn says(said: &str, lines: &[&str]) {
    let mut rest = said;
    for line in lines {
        let at =
            rest.find(line).unwrap_or_else(|| panic!("{line:?} is missing, or comes too early, in:\n{said}"));
        rest = &rest[at + line.len()..];
    }
}

#[test]
fn order_tells_who_was_first_and_refuses_two_slots() {
    let said = run("order");
    says(
        &said,
        &[
            "order:{A7}:head      hash slot 14409",
            "order:{A7}:history   list slot 14409",
            "Placed again under the same number: false",
            "delivered -> placed  Illegal, not even sent",
            "3 pieces, 4300 cents",
            "MULTI was not sent. 2 keys on 2 slots",
            "order:A7:head     becomes  order:{A7}:head",
        ],
    );
    assert!(said.contains("Done") && said.contains("Stands("), "one was done and one was late:\n{said}");
}

#[test]
fn stock_sells_what_is_there() {
    says(
        &run("stock"),
        &[
            "An article has four keys on slot 12491",
            "Levels { available: 0, reserved: 40, sold: 0 }",
            "nothing is held any more",
            "together 40",
            "Insufficient { available: ",
            "sku \"MUG}7\" refused",
        ],
    );
}

#[test]
fn session_ends_as_a_whole() {
    says(
        &run("session"),
        &[
            "A session has four keys on slot 2407",
            "Other(\"ann\") for ben, who comes second",
            "cart [(\"MUG7\", 3), (\"POT2\", 1)]",
            "add to cart false",
            "read        None",
            "session:9f2d:cart ends at -1",
        ],
    );
}
