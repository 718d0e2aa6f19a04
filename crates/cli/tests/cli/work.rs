use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use testkit::{Cluster, LIMIT, unique_queue, wait_until};

use crate::run::{Echomq, cluster, on};

fn work<'a>(cluster: &Cluster, queue: &'a str, options: &[&'a str], exec: &[&'a str]) -> Echomq {
    on(cluster, [&["work", queue, "--drain"], options, &["--exec"], exec].concat())
}

fn scratch() -> (TempDir, impl Fn(&str) -> PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_owned();
    (dir, move |name| path.join(name))
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn is_alive(pid: &str) -> bool {
    // One that nobody has buried yet is dead all the same.
    if Path::new("/proc/self/stat").exists() {
        let stat = text(&Path::new("/proc").join(pid).join("stat"));
        return stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"));
    }
    let state = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap().stdout;
    !state.is_empty() && !state.starts_with(b"Z")
}

#[test]
fn the_command_gets_the_payload_byte_for_byte_and_the_job_in_its_environment() {
    let ((_dir, path), cluster, queue) = (scratch(), cluster(), unique_queue("exec"));
    let payload: Vec<u8> = (0..=u8::MAX).cycle().take(300_000).collect();
    on(&cluster, ["job", "add", &queue, "-", "--id", "a b{c}", "--name", "mail"])
        .input(payload.clone())
        .fine();
    let script = format!(
        "cat > {}; echo \"$ECHOMQ_QUEUE|$ECHOMQ_JOB_ID|$ECHOMQ_JOB_NAME|$ECHOMQ_ATTEMPT|$ECHOMQ_TOKEN\"",
        path("payload").display()
    );
    let ran = work(&cluster, &queue, &[], &["sh", "-c", &script]).run();
    ran.said(0, &format!("echomq: {queue}: 1 done\n"));
    assert_eq!(std::fs::read(path("payload")).unwrap(), payload);
    let said = ran.text();
    let token = said
        .trim_end()
        .strip_prefix(&format!("{queue}|a b{{c}}|mail|1|"))
        .unwrap_or_else(|| panic!("{said}"));
    assert!(token.parse::<u64>().unwrap() > 1_000_000);
}

#[test]
fn a_command_that_fails_fails_the_job_with_the_last_lines_of_its_standard_error() {
    let (cluster, queue) = (cluster(), unique_queue("fails"));
    on(&cluster, ["job", "add", &queue, "x", "--id", "1", "--attempts", "1"]).fine();
    let script = "for i in $(seq 1000); do echo line $i >&2; done; echo the card was declined >&2; exit 3";
    let ran = work(&cluster, &queue, &[], &["sh", "-c", script]).run();
    ran.said(1, "the card was declined\n");
    ran.said(1, "0 done, 1 dead\n");
    let job = on(&cluster, ["job", "show", &queue, "1", "--json"]).object();
    let error = job["tries"]["error"].as_str().unwrap();
    assert!(
        error.starts_with("exit code 3: line 992\n") && error.ends_with("\nthe card was declined"),
        "{error}"
    );
    let shown = on(&cluster, ["job", "show", &queue, "1"]).fine();
    assert!(
        shown.contains("last error exit code 3: line 992\n") && shown.contains("failed     1 of 1"),
        "{shown}"
    );
}

#[test]
fn a_failed_job_is_tried_again_and_told_which_attempt_it_is() {
    let (cluster, queue) = (cluster(), unique_queue("again"));
    on(&cluster, ["job", "add", &queue, "x"]).fine();
    let ran =
        work(&cluster, &queue, &[], &["sh", "-c", "echo $ECHOMQ_ATTEMPT; test $ECHOMQ_ATTEMPT -eq 2"]).run();
    ran.said(0, "1 done, 1 failed and put off\n");
    assert_eq!(ran.text(), "1\n2\n");
}

#[test]
fn a_command_that_a_signal_ends_fails_with_its_name() {
    let (cluster, queue) = (cluster(), unique_queue("signal"));
    on(&cluster, ["job", "add", &queue, "x", "--id", "1", "--attempts", "1"]).fine();
    assert_eq!(work(&cluster, &queue, &[], &["sh", "-c", "kill -KILL $$"]).run().code, 1);
    let job = on(&cluster, ["job", "show", &queue, "1", "--json"]).object();
    assert_eq!(job["tries"]["error"], "killed by signal 9 (SIGKILL)");
}

#[test]
fn a_command_that_does_not_read_its_input_is_done_all_the_same() {
    let (cluster, queue) = (cluster(), unique_queue("deaf"));
    on(&cluster, ["job", "add", &queue, "-"]).input(vec![b'x'; 1_000_000]).fine();
    on(&cluster, ["job", "add", &queue, "-"]).input(vec![b'x'; 1_000_000]).fine();
    work(&cluster, &queue, &[], &["true"]).run().said(0, "2 done");
    on(&cluster, ["job", "add", &queue, "-"]).input(vec![b'x'; 1_000_000]).fine();
    work(&cluster, &queue, &[], &["sh", "-c", "exec <&-; sleep 0.2"]).run().said(0, "1 done");
}

#[test]
fn what_a_command_leaves_behind_does_not_hold_up_its_job() {
    let ((_dir, path), cluster, queue) = (scratch(), cluster(), unique_queue("left"));
    on(&cluster, ["job", "add", &queue, "x"]).fine();
    let script = format!("sleep 600 & echo $! > {}; echo bye >&2", path("pid").display());
    let begun = std::time::Instant::now();
    // What is left behind holds our standard output too, so that is not waited for.
    let mut worker = work(&cluster, &queue, &["--json"], &["sh", "-c", &script]).command();
    let status =
        worker.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).status().unwrap();
    assert!(status.success() && begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let left = text(&path("pid"));
    assert!(is_alive(left.trim()), "it ended the daemon that its command had started on purpose");
    std::process::Command::new("kill").arg(left.trim()).status().unwrap();
}

#[test]
fn a_command_that_can_not_be_started_stops_the_worker_and_costs_no_attempt() {
    let ((_dir, path), cluster, queue) = (scratch(), cluster(), unique_queue("nocmd"));
    on(&cluster, ["job", "add", &queue, "x", "--id", "1", "--attempts", "1"]).fine();
    // No program, one that must not be run, and a name that is none anywhere.
    std::fs::write(path("plain"), "text").unwrap();
    let (plain, long) = (path("plain").display().to_string(), "/n".repeat(5_000));
    for (program, why) in [
        ("/nowhere/command", "No such file or directory"),
        (&plain, "Permission denied"),
        (&long, "File name too long"),
    ] {
        let ran = work(&cluster, &queue, &[], &[program]).run();
        ran.said(2, &format!("\"{program}\" can not be started: {why}"));
        ran.said(2, "1 handed back");
        let job = on(&cluster, ["job", "show", &queue, "1", "--json"]).object();
        assert_eq!((&job["state"], &job["tries"]), (&"pending".into(), &serde_json::Value::Null));
    }
}

#[test]
fn asked_to_end_it_lets_the_command_finish() {
    let ((_dir, path), cluster, queue) = (scratch(), cluster(), unique_queue("grace"));
    on(&cluster, ["job", "add", &queue, "x"]).fine();
    on(&cluster, ["job", "add", &queue, "y"]).fine();
    let script = format!(
        "cat >> {0}; while [ ! -e {1} ]; do sleep 0.05; done",
        path("ran").display(),
        path("go").display()
    );
    let worker = on(&cluster, ["work", &queue, "--concurrency", "1", "--exec", "sh", "-c", &script]).start();
    wait_until("the command runs", LIMIT, || text(&path("ran")) == "x");
    worker.signal("INT");
    // Nobody can be asked whether a signal was heard. Were it not yet, the second job would begin and this test fail.
    std::thread::sleep(Duration::from_millis(200));
    std::fs::write(path("go"), "").unwrap();
    worker.end().said(0, "1 done\n");
    // The second job was not begun.
    assert_eq!(text(&path("ran")), "x");
    assert_eq!(on(&cluster, ["queue", "show", &queue, "--json"]).object()["pending"], 1);
}

#[test]
fn what_does_not_end_in_time_is_killed_with_all_it_started_and_handed_back() {
    let ((_dir, path), cluster, queue) = (scratch(), cluster(), unique_queue("kill"));
    on(&cluster, ["job", "add", &queue, "x", "--id", "1"]).fine();
    let script = format!("sleep 600 & echo $! > {}; wait", path("pid").display());
    let worker = on(&cluster, ["work", &queue, "--grace", "100ms", "--exec", "sh", "-c", &script]).start();
    wait_until("the command runs", LIMIT, || text(&path("pid")).ends_with('\n'));
    worker.signal("TERM");
    worker.end().said(0, "0 done, 1 handed back\n");
    let pid = text(&path("pid"));
    wait_until("all that it started is gone", LIMIT, || !is_alive(pid.trim()));
    let job = on(&cluster, ["job", "show", &queue, "1", "--json"]).object();
    assert_eq!((&job["state"], &job["tries"]), (&"pending".into(), &serde_json::Value::Null));
}

#[test]
fn a_second_wish_to_end_ends_it_at_once() {
    let ((_dir, path), cluster, queue) = (scratch(), cluster(), unique_queue("twice"));
    on(&cluster, ["job", "add", &queue, "x"]).fine();
    let script = format!("echo $$ > {}; sleep 600", path("pid").display());
    let mut worker = on(&cluster, ["work", &queue, "--grace", "1h", "--exec", "sh", "-c", &script]).start();
    wait_until("the command runs", LIMIT, || text(&path("pid")).ends_with('\n'));
    // Two signals that come too close together are one to the system: it is told again until it has heard two.
    wait_until("it ends", LIMIT, || {
        let has_ended = !worker.is_running();
        if !has_ended {
            worker.signal("INT");
        }
        has_ended
    });
    worker.end().said(2, "ended at once");
    let pid = text(&path("pid"));
    wait_until("the command is gone", LIMIT, || !is_alive(pid.trim()));
}

#[test]
fn with_json_standard_output_holds_nothing_but_the_report() {
    let (cluster, queue) = (cluster(), unique_queue("json"));
    on(&cluster, ["job", "add", &queue, "hello"]).fine();
    let ran = work(&cluster, &queue, &["--json"], &["cat"]).run();
    assert_eq!((ran.code, ran.err.as_str()), (0, "hello"));
    let object: serde_json::Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(object["done"], 1);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let cluster = cluster();
    on(&cluster, ["work", "q", "--lease", "10", "--exec", "true"])
        .run()
        .said(2, "--lease: \"10\" is no span of time");
    on(&cluster, ["work", "q", "--lease", "1ms", "--exec", "true"])
        .run()
        .said(2, "a lease of 1ms is refused");
    on(&cluster, ["work", "q", "--grace", "-1s", "--exec", "true"])
        .run()
        .said(2, "--grace: \"-1s\" is no span");
    on(&cluster, ["work", "q", "--concurrency", "0", "--exec", "true"]).run().said(2, "--concurrency");
    on(&cluster, ["work", "q"]).run().said(2, "--exec");
    on(&cluster, ["work", "q", "--exec"]).run().said(2, "--exec");
}
