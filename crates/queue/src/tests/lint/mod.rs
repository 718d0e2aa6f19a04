//! The form of the scripts, held together without a server: header, body, table, store and lock.

mod lock;
mod rules;
mod script;
mod store;

use std::collections::BTreeSet;
use std::path::PathBuf;

use self::script::Script;
use crate::scripts;

/// The folder of this crate.
fn home() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A script as it stands in its file; servers get it without its comments.
fn source(name: &str) -> String {
    let path = home().join(format!("src/scripts/{name}.lua"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

fn every_script() -> Vec<Script> {
    scripts::ALL.iter().map(|(name, _)| Script::read(name, &source(name)).unwrap()).collect()
}

#[test]
fn every_script_file_has_a_row_in_the_table_and_every_row_a_file() {
    let files = std::fs::read_dir(home().join("src/scripts")).unwrap();
    let files: BTreeSet<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let rows: BTreeSet<String> = scripts::ALL.iter().map(|(name, _)| format!("{name}.lua")).collect();
    assert_eq!(files, rows);
    assert_eq!(rows.len(), scripts::ALL.len(), "a row stands twice");
}

#[test]
fn every_script_has_the_form_that_the_design_gives() {
    let faults: Vec<String> = every_script().iter().flat_map(rules::faults).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_script_has_its_function_in_the_store_which_knows_each_of_its_words() {
    let faults: Vec<String> = every_script().iter().flat_map(store::faults).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
