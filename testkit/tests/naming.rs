//! Names of queues, and what is said of a test that can not run.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

#[test]
fn every_queue_has_a_name_of_its_own_that_says_whose_it_is() {
    let names: BTreeSet<String> = (0..1_000).map(|_| testkit::unique_queue("mail.retry_1")).collect();
    assert_eq!(names.len(), 1_000);
    assert!(names.iter().all(|name| name.starts_with("mail.retry_1-") && name.len() <= 120));
}

#[test]
fn what_could_not_be_a_queues_name_is_no_label() {
    for label in ["", "a:b", "{a}", "a b", "a~b", "ä", &"x".repeat(61)] {
        let refused = std::panic::catch_unwind(|| testkit::unique_queue(label)).unwrap_err();
        let text = refused.downcast::<String>().unwrap();
        assert!(text.contains(&format!("{label:?}")), "{text}");
    }
}

/// Runs in a process of its own, where the test below has chosen the server.
#[test]
fn needs_valkey_9() {
    if std::env::var_os("ECHOMQ_SKIPPED_FILE").is_some() {
        assert_eq!(testkit::valkey9("needs_valkey_9"), testkit::engine().has_atomic_migration());
    }
}

#[test]
fn a_test_that_is_skipped_is_named_on_the_terminal_and_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let skipped = dir.path().join("skipped");
    let server = dir.path().join("server");
    for (line, expected) in
        [("Redis server v=7.0.15 sha=0", "needs_valkey_9\n"), ("Valkey server v=9.0.0 sha=0", "")]
    {
        std::fs::write(&server, format!("#!/bin/sh\necho '{line}'\n")).unwrap();
        std::fs::set_permissions(&server, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(&skipped, "").unwrap();
        let run = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "needs_valkey_9"])
            .env("ECHOMQ_SERVER_BIN", &server)
            .env("ECHOMQ_SKIPPED_FILE", &skipped)
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
        let said = String::from_utf8(run.stderr).unwrap();
        assert_eq!(said.contains("skipped: needs_valkey_9 (needs Valkey 9)"), !expected.is_empty(), "{said}");
        assert_eq!(std::fs::read_to_string(&skipped).unwrap(), expected);
    }
}
