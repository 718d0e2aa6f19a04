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

#[test]
fn balances_keep_their_sum_and_tell_who_gave_up() {
    says(
        &run("balances"),
        &[
            "account:{ann}:pot:cash and account:{ann}:pot:savings share slot 2326",
            "shift 30   Done { from: 70, to: 50 }",
            "shift 500  Insufficient { have: 70 }",
            "at most 1 attempts: ",
            "together 120",
            "at most 50 attempts: 8 done, 0 gave up.",
            "together 120",
            "account:{ben}:pot:cash slot 3260",
        ],
    );
}

#[test]
fn followers_show_that_sub_keys_leave_the_load_on_one_slot() {
    let said = run("followers");
    let row = |name: &str| {
        let row =
            said.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {said}"));
        let numbers =
            row[name.len()..].split('%').take(3).map(|number| number.trim().parse::<u32>().unwrap());
        numbers.collect::<Vec<_>>()
    };
    assert_eq!(row("sub-keys")[1..], [100, 100], "{said}");
    let spread = row("spread tags");
    assert!(spread[1] < 25 && spread[2] < 45, "{said}");
    says(
        &said,
        &[
            "followers:{ann}:0                slot 2326",
            "followers:{ann~2TA}:members      slot 5056",
            "sub-keys     renamed: true",
            "spread tags  A request for many keys was not sent. 2 keys on 2 slots",
        ],
    );
}

#[test]
fn hot_value_is_read_on_a_slot_of_its_own() {
    says(
        &run("hot_value"),
        &[
            "slot 12491",
            "hot:price:MUG7:0EC",
            "slot  6975",
            "the whole key",
            "version 2, 8.90: Done",
            "version 1, 9.50: Older { stands: 2 }",
            "1000 reads of the price: 0 requests on the product's slot, 1000 on its own.",
            "publishes: Done",
        ],
    );
}

#[test]
fn reader_copy_says_how_old_it_is() {
    says(
        &run("reader_copy"),
        &[
            "Done(Current { version: 1, body: \"Welcome\" })",
            "Stale { version: 1 }",
            "0 of them asked the owner",
            "`Welcome`, version 1, less than 60 s old: true",
            "Behind { have: 1, owner: 2, body: \"Welcome\" }",
            "Current { version: 2, body: \"Closed today\" }",
        ],
    );
}

#[test]
fn transfer_is_finished_by_whoever_comes_and_never_done_twice() {
    says(
        &run("transfer"),
        &[
            "ledger:{ann}:balance slot  2326",
            "ledger:{bob}:balance slot  8955",
            "MULTI was not sent. 2 keys on 2 slots",
            "debit   70 + 10 = 80: torn, newer Some(First)",
            "credit  70 + 40 = 110",
            "commit  70 + 40 = 110",
            "45 + 40 = 85: torn, newer Some(First)",
            "repeated Done and Done",
            "45 + 65 = 110",
            "before  40 + 65 = 105: torn",
            "after   40 + 70 = 110",
            "Insufficient { have: 40 }",
            "OtherTransfer",
            "nothing moves: 40 + 70 = 110",
        ],
    );
}
