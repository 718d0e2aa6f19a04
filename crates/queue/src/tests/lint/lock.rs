//! `scripts.lock`: which texts the scripts had when their change was last thought about.
//!
//! Releases of different scripts work on one queue at the same time, so a change is never only a matter of the
//! code: it must be seen in review, and named in the change log.

use std::fmt::Write as _;

use echomq_cluster::Script;

use super::home;
use crate::scripts;

const HEAD: &str = "\
# The scripts by name and SHA-1. To write this file anew after a change:
#   ECHOMQ_UPDATE_LOCK=1 cargo test -p echomq --lib lock
# and name the new set in CHANGELOG.md, with what the change means to users.
";

/// A few digits that stand for all scripts together.
fn set() -> String {
    let all: String =
        scripts::ALL.iter().map(|(name, script)| format!("{name} {}\n", script.sha())).collect();
    Script::new(&all).sha()[..8].to_owned()
}

fn lock() -> String {
    let mut lock = format!("{HEAD}set {}\n", set());
    for (name, script) in scripts::ALL {
        writeln!(lock, "{name} {}", script.sha()).unwrap();
    }
    lock
}

#[test]
fn the_lock_holds_the_scripts_as_they_are_and_the_change_log_names_the_set() {
    let path = home().join("scripts.lock");
    if std::env::var_os("ECHOMQ_UPDATE_LOCK").is_some() {
        std::fs::write(&path, lock()).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let (stored, now): (Vec<&str>, String) = (stored.lines().collect(), lock());
    let changed: Vec<&str> = now.lines().filter(|line| !stored.contains(line)).collect();
    assert!(
        changed.is_empty() && stored.len() == now.lines().count(),
        "scripts.lock is not of these scripts: {changed:?}.\nIf the change is meant, run \
         ECHOMQ_UPDATE_LOCK=1 cargo test -p echomq --lib lock\nand name the set {} in CHANGELOG.md",
        set()
    );
    let log = std::fs::read_to_string(home().join("../../CHANGELOG.md")).unwrap();
    assert!(
        log.contains(&format!("scripts `{}`", set())),
        "CHANGELOG.md does not name the scripts `{}`: say there what the change means to users",
        set()
    );
}
