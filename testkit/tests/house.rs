//! Holds the map against the house: paths, arrows, sizes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("testkit stands in the root").to_owned()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_path(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or("");
    let known = ["crates", "testkit", "testdata", "bench", "fuzz", "docs", ".ci"];
    known.contains(&first) && !text.contains([' ', '<', '*', '{'])
}

#[test]
fn every_path_on_the_pages_exists() {
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = read(page);
        let paths: Vec<&str> = quoted(&text).filter(|text| is_path(text)).collect();
        for path in &paths {
            assert!(root().join(path).exists(), "{page} names {path}, which does not exist");
        }
        assert!(page != "ARCHITECTURE.md" || paths.len() > 20, "the map names hardly any path");
    }
}

fn metadata() -> serde_json::Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

/// The rows of the table under "The arrows".
fn allowed() -> BTreeMap<String, BTreeSet<String>> {
    let map = read("ARCHITECTURE.md");
    let section = map
        .split("## The arrows")
        .nth(1)
        .and_then(|rest| rest.split("\n## ").next())
        .expect("a section on arrows");
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let mut names = quoted(row).map(str::to_owned);
        (names.next().expect("a crate in each row"), names.collect())
    })
    .collect()
}

#[test]
fn arrows_point_as_the_map_says() {
    let allowed = allowed();
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let names: BTreeSet<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    assert_eq!(
        names,
        allowed.keys().map(String::as_str).collect(),
        "the map has a row for each crate, and no other"
    );
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            let for_tests = dependency["kind"] == "dev";
            if names.contains(to)
                && !(for_tests && (to == "testkit" || to == name || allowed[name].contains(to)))
            {
                assert!(allowed[name].contains(to), "{name} uses {to}, which the map does not allow");
            }
        }
    }
}

#[test]
fn the_only_binary_is_echomq() {
    let metadata = metadata();
    let targets = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|package| package["targets"].as_array());
    let binaries: Vec<&str> = targets
        .flatten()
        .filter(|target| {
            target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "bin"))
        })
        .filter_map(|target| target["name"].as_str())
        .collect();
    assert_eq!(binaries, ["echomq"]);
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "lua") {
            found.push(path);
        }
    }
}

#[test]
fn no_room_is_too_large_and_none_is_unfinished() {
    let mut files = Vec::new();
    for dir in ["crates", "testkit", "bench", "fuzz"] {
        sources(&root().join(dir), &mut files);
    }
    assert!(files.len() > 50);
    let unfinished = [concat!("#[ig", "nore"), concat!("to", "do!("), concat!("FIX", "ME")];
    for file in files {
        let text = std::fs::read_to_string(&file).expect("UTF-8");
        let lines = text.lines().count();
        assert!(lines <= 600, "{} has {lines} lines: is it one room or two?", file.display());
        for word in unfinished {
            assert!(!text.contains(word), "{} holds {word}", file.display());
        }
    }
}

#[test]
fn each_library_says_what_it_does_not_do() {
    for name in ["keyspace", "contract", "cluster", "local", "patterns", "queue", "load", "ops"] {
        let text = read(&format!("crates/{name}/src/lib.rs"));
        assert!(text.starts_with("//! "), "{name} opens with what it is");
        assert!(text.contains("does not do"), "{name} does not say what it does not do");
    }
}
