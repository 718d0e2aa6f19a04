//! A page's commands, run in one shell, one after the other, in the root of the project.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::page::root;

/// No page may take longer.
const LIMIT: Duration = Duration::from_secs(120);

/// What one command came to.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Standard output and standard error as they came.
    pub(crate) output: Vec<String>,
    pub(crate) code: i32,
}

/// A line that no command prints.
const MARK: &str = "-- end of a command of the page --";

/// Runs the commands. `echomq` is the one that was built, and `cargo run --example …` the example that was built.
/// What they write goes to a folder that goes away, also what a private server has; `url` is in ECHOMQ_URL.
///
/// # Errors
///
/// When the shell did not come to the end of them.
pub(crate) fn run(commands: &[&str], url: Option<&str>) -> Result<Vec<Ran>, String> {
    let echomq = Path::new(env!("CARGO_BIN_EXE_echomq"));
    let bin = echomq.parent().expect("it stands in a folder");
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (script, said) = (folder.path().join("page.sh"), folder.path().join("said"));
    std::fs::write(&script, script_of(commands, &bin.join("examples"))).map_err(|error| error.to_string())?;
    let output = File::create(&said).map_err(|error| error.to_string())?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([bin.to_owned()].into_iter().chain(std::env::split_paths(&path)));
    let mut shell = Command::new("sh");
    shell.arg(&script).current_dir(root()).process_group(0).stdin(Stdio::null());
    shell.stdout(output.try_clone().map_err(|error| error.to_string())?).stderr(output);
    for name in ["ECHOMQ_URL", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        shell.env_remove(name);
    }
    shell.env("PATH", path.map_err(|error| error.to_string())?);
    shell.env("XDG_DATA_HOME", folder.path().join("data")).env("TMPDIR", folder.path());
    if let Some(url) = url {
        shell.env("ECHOMQ_URL", url);
    }
    let ended = wait(shell.spawn().map_err(|error| error.to_string())?);
    let said = String::from_utf8_lossy(&std::fs::read(&said).unwrap_or_default()).into_owned();
    let ran = split(&said);
    match (ended, ran.len() == commands.len()) {
        (true, true) => Ok(ran),
        (true, false) => Err(format!("the shell ended after command {}; it said:\n{said}", ran.len())),
        (false, _) => Err(format!("it has not ended after {LIMIT:?}; so far it said:\n{said}")),
    }
}

/// Waits for the end; if it does not come, ends the shell and all that it has started.
fn wait(mut shell: std::process::Child) -> bool {
    let until = Instant::now() + LIMIT;
    while Instant::now() < until {
        if matches!(shell.try_wait(), Ok(Some(_))) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let group = format!("-{}", shell.id());
    // If it has ended meanwhile, there is nothing to end.
    let _ = Command::new("kill").args(["-s", "KILL", "--", &group]).status();
    let _ = shell.wait();
    false
}

fn script_of(commands: &[&str], examples: &Path) -> String {
    let step = |command: &&str| {
        let command = match example_of(command) {
            Some((name, arguments)) => format!("'{}'{arguments}", examples.join(name).display()),
            None => (*command).to_owned(),
        };
        format!("{command}\ncode=$?; printf '\\n%s %s\\n' '{MARK}' \"$code\"; (exit \"$code\")\n")
    };
    commands.iter().map(step).collect()
}

/// The name behind `cargo run --example`, and the arguments for it.
fn example_of(command: &str) -> Option<(&str, String)> {
    let rest = command.strip_prefix("cargo run --example ")?;
    let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let arguments = rest.trim_start().strip_prefix("--").unwrap_or(rest);
    Some((name, if arguments.is_empty() { String::new() } else { format!(" {}", arguments.trim_start()) }))
}

/// Each command's output is followed by the mark and the exit code.
fn split(said: &str) -> Vec<Ran> {
    let mut ran = Vec::new();
    let mut output: Vec<String> = Vec::new();
    for line in said.lines() {
        match line.strip_prefix(MARK).and_then(|code| code.trim().parse().ok()) {
            Some(code) => {
                // The mark begins a line of its own: what ends in a newline gets an empty line before it.
                if output.last().is_some_and(String::is_empty) {
                    output.pop();
                }
                ran.push(Ran { output: std::mem::take(&mut output), code });
            }
            None => output.push(line.trim_end().to_owned()),
        }
    }
    ran
}

/// Builds the examples that these commands run, as the tests are built. One that is fresh already costs nothing.
pub(crate) fn build_examples(commands: &[String]) {
    let names: BTreeSet<&str> = commands.iter().filter_map(|command| Some(example_of(command)?.0)).collect();
    if names.is_empty() {
        return;
    }
    let bin: PathBuf =
        Path::new(env!("CARGO_BIN_EXE_echomq")).parent().expect("it stands in a folder").into();
    let profile = match bin.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    cargo.args(["build", "--quiet", "--offline", "--profile", profile, "--target-dir"]);
    cargo.arg(bin.parent().expect("the target folder")).current_dir(root());
    for name in names.iter() {
        cargo.args(["--example", name]);
    }
    // What is said of this test's own package would make build scripts run anew that look at it.
    for (name, _) in std::env::vars_os() {
        let of_the_test = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];
        if of_the_test.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes())) {
            cargo.env_remove(name);
        }
    }
    assert!(cargo.status().expect("cargo runs").success(), "the examples {names:?} can not be built");
}

#[test]
fn outputs_and_exit_codes_are_told_apart() {
    let ran = run(&["echo a; echo b >&2", "printf c", "(exit 3)", "echo $?", "true"], None).unwrap();
    let told: Vec<(String, i32)> = ran.iter().map(|ran| (ran.output.join("|"), ran.code)).collect();
    let expected = [("a|b", 0), ("c", 0), ("", 3), ("3", 0), ("", 0)];
    assert_eq!(told, expected.map(|(output, code)| (output.to_owned(), code)));
    assert!(run(&["exit 0", "echo a"], None).unwrap_err().contains("ended after command 0"));
}

#[test]
fn an_example_is_named_as_a_reader_names_it() {
    assert_eq!(example_of("cargo run --example stock"), Some(("stock", String::new())));
    assert_eq!(example_of("cargo run --example stock -- 64"), Some(("stock", " 64".to_owned())));
    assert_eq!(example_of("cargo run --release -- demo"), None);
}
