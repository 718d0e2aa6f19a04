//! The tests that come with the constructors, run by the language's own tools.

use super::contract;
use echomq_contract::Language;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a program in a folder; none when it is not on this machine.
fn run(folder: &Path, program: &str, args: &[&str]) -> Option<Output> {
    let home = folder.join("home");
    std::fs::create_dir_all(&home).expect("a folder");
    let mut command = Command::new(program);
    // Tools keep caches; theirs stay in the folder of the test.
    command
        .args(args)
        .current_dir(folder)
        .env("GOCACHE", &home)
        .env("GOPATH", &home)
        .env("GOFLAGS", "-mod=mod");
    command.env("GOTOOLCHAIN", "local").env("PYTHONDONTWRITEBYTECODE", "1").env("LC_ALL", "C.UTF-8");
    match command.output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => panic!("{program}: {error}"),
    }
}

/// Whether a program is on this machine and works.
fn is_at_hand(folder: &Path, program: &str, args: &[&str]) -> bool {
    run(folder, program, args).is_some_and(|output| output.status.success())
}

fn assert_passes(folder: &Path, program: &str, args: &[&str]) {
    let output = run(folder, program, args).unwrap_or_else(|| panic!("{program} is gone"));
    assert!(
        output.status.success(),
        "{program} {args:?}:\n{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Says on the terminal, whether or not the harness captures output, that a language is not tested here.
fn skip(language: Language, reason: &str) {
    let line = format!("skipped: the tests that come with constructors in {language} ({reason})\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Makes the constructors of each contract and runs their tests.
fn each_contract(language: Language, run: impl Fn(&Path)) {
    for name in ["shop", "echomq", "hard"] {
        let folder = tempfile::tempdir().expect("a folder");
        for file in contract(name).generate(language).expect("a sound contract") {
            std::fs::write(folder.path().join(file.name), file.text).expect("a file");
        }
        run(folder.path());
    }
}

#[test]
fn rust_constructors_pass_their_tests_without_a_warning() {
    each_contract(Language::Rust, |folder| {
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
        assert_passes(
            folder,
            &rustc,
            &["--edition=2021", "-Dwarnings", "--test", "-o", "tests", "keyspace.rs"],
        );
        assert_passes(folder, "./tests", &[]);
        assert_passes(folder, &rustc, &["--edition=2024", "-Dwarnings", "--crate-type=lib", "keyspace.rs"]);
    });
}

#[test]
fn python_constructors_pass_their_tests() {
    let here = tempfile::tempdir().expect("a folder");
    if !is_at_hand(here.path(), "python3", &["--version"]) {
        return skip(Language::Python, "no python3 on the PATH");
    }
    each_contract(Language::Python, |folder| {
        assert_passes(folder, "python3", &["-W", "error", "-m", "unittest", "test_keyspace"]);
    });
}

#[test]
fn javascript_constructors_pass_their_tests() {
    let here = tempfile::tempdir().expect("a folder");
    if !is_at_hand(here.path(), "node", &["--test", "--test-name-pattern=none", "."]) {
        return skip(Language::JavaScript, "no node with a test runner on the PATH");
    }
    each_contract(Language::JavaScript, |folder| {
        assert_passes(folder, "node", &["--test", "keyspace.test.mjs"]);
    });
}

#[test]
fn typescript_constructors_pass_their_tests() {
    let here = tempfile::tempdir().expect("a folder");
    std::fs::write(here.path().join("probe.ts"), "const found: boolean = true;\n").expect("a file");
    if !is_at_hand(here.path(), "node", &["probe.ts"]) {
        return skip(
            Language::TypeScript,
            "no node that removes types on the PATH; the JavaScript is the same without them",
        );
    }
    each_contract(Language::TypeScript, |folder| {
        assert_passes(folder, "node", &["--test", "keyspace.test.ts"]);
    });
}

#[test]
fn go_constructors_pass_their_tests() {
    let here = tempfile::tempdir().expect("a folder");
    if !is_at_hand(here.path(), "go", &["version"]) {
        return skip(Language::Go, "no go on the PATH");
    }
    each_contract(Language::Go, |folder| {
        std::fs::write(folder.join("go.mod"), "module keyspace\n\ngo 1.18\n").expect("a file");
        assert_passes(folder, "go", &["vet", "./..."]);
        assert_passes(folder, "go", &["test", "./..."]);
    });
}

#[test]
fn elixir_constructors_pass_their_tests() {
    let here = tempfile::tempdir().expect("a folder");
    if !is_at_hand(here.path(), "elixir", &["--version"]) {
        return skip(Language::Elixir, "no elixir on the PATH");
    }
    each_contract(Language::Elixir, |folder| {
        assert_passes(folder, "elixirc", &["--warnings-as-errors", "-o", "home", "keyspace.ex"]);
        assert_passes(folder, "elixir", &["keyspace_test.exs"]);
    });
}
