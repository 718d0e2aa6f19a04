use std::io::Write as _;
use std::process::Stdio;

use crate::run::echomq;

#[test]
fn a_pipe_that_breaks_is_quiet() {
    for arguments in
        [&["key", "slot", "--stdin"][..], &["key", "trace", "--stdin"], &["key", "slot", "--stdin", "--json"]]
    {
        let mut command = echomq(arguments).command();
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The reader goes before the first line is written.
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().unwrap();
        let lines = "key\n".repeat(10_000);
        let _ = stdin.write_all(lines.as_bytes());
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{arguments:?}");
    }
}

#[test]
fn colours_are_for_terminals_unless_they_are_asked_for() {
    let trace = || echomq(["key", "trace", "{a}"]);
    assert!(!trace().fine().contains('\x1b'));
    let always = || echomq(["key", "trace", "{a}", "--color", "always"]);
    assert!(always().fine().contains('\x1b'));
    assert!(!echomq(["key", "trace", "{a}", "--color", "never"]).fine().contains('\x1b'));
    // The text is the same but for them.
    let plain: String = anstream::adapter::strip_str(&always().fine()).to_string();
    assert_eq!(plain, trace().fine());
}

#[test]
fn a_command_line_that_is_not_understood_is_trouble_and_help_is_not() {
    echomq(["no-such-verb"]).run().said(2, "no-such-verb");
    echomq::<&str>([]).run().said(2, "Usage");
    for arguments in [&["--help"][..], &["work", "-h"], &["key", "trace", "--help"], &["--version"]] {
        assert!(echomq(arguments).fine().contains("echomq"));
    }
}

#[test]
fn completions_come_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = echomq(["completions", shell]).fine();
        assert!(script.contains("trace") && script.contains("drain"), "{shell}");
    }
}

#[test]
fn man_pages_come_for_every_verb() {
    let page = echomq(["man"]).fine();
    assert!(page.contains(".TH echomq 1") && page.contains("Exit codes"), "{page}");
    let dir = tempfile::tempdir().unwrap();
    echomq(["man", "--dir", dir.path().join("man").to_str().unwrap()]).fine();
    for page in ["echomq.1", "echomq-key-trace.1", "echomq-work.1", "echomq-queue-ls.1"] {
        assert!(dir.path().join("man").join(page).is_file(), "{page}");
    }
}
