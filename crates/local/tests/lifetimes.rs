//! Nothing that was started outlives the one who started it, however that one ends.

mod other_process;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use echomq_local::Launch;
use other_process::{OtherProcess, task, tell, wait_for_release};
use rustix::process::{Pid, Signal, getpgid, kill_process, test_kill_process, test_kill_process_group};

/// What an other process does for the tests below; nothing in an ordinary run.
#[test]
fn other_process() {
    let Some(task) = task() else { return };
    let local = Launch::standalone().start().unwrap();
    let node = &local.nodes()[0];
    tell(node.pid().unwrap());
    tell(node.dir().display());
    wait_for_release();
    match task.as_str() {
        "drop" => {}
        "panic" => panic!("as the test wants it"),
        "exit" => std::process::exit(0),
        "abort" => std::process::abort(),
        other => unreachable!("{other}"),
    }
}

/// A server of an other process.
struct Theirs {
    keeper: OtherProcess,
    server: Pid,
    dir: PathBuf,
}

fn server_of(task: &str) -> Theirs {
    let mut keeper = OtherProcess::doing(task);
    let server = Pid::from_raw(keeper.told().parse().unwrap()).unwrap();
    let dir = keeper.told().into();
    assert!(is_there(server));
    Theirs { keeper, server, dir }
}

fn is_there(pid: Pid) -> bool {
    test_kill_process(pid).is_ok()
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(20), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn assert_nothing_left(server: Pid, node_dir: &Path) {
    wait_until("the server is gone", || !is_there(server));
    let folder = node_dir.parent().unwrap();
    wait_until("its folder is gone", || !folder.exists());
}

#[test]
fn nothing_is_left_when_the_keeper_ends_by_itself() {
    for task in ["drop", "panic", "exit", "abort"] {
        let Theirs { keeper, server, dir } = server_of(task);
        keeper.release();
        assert_nothing_left(server, &dir);
    }
}

#[test]
fn nothing_is_left_when_the_keeper_is_ended_from_outside() {
    for signal in [Signal::KILL, Signal::INT, Signal::TERM, Signal::HUP] {
        let Theirs { keeper, server, dir } = server_of("drop");
        keeper.end_by(signal);
        assert_nothing_left(server, &dir);
    }
}

#[test]
fn a_stopped_server_does_not_outlive_its_keeper_either() {
    let Theirs { keeper, server, dir } = server_of("drop");
    kill_process(server, Signal::STOP).unwrap();
    keeper.end_by(Signal::KILL);
    assert_nothing_left(server, &dir);
}

#[test]
fn a_cluster_and_its_folder_are_gone_when_it_is_dropped() {
    let local = Launch::cluster(3).start().unwrap();
    let pids: Vec<Pid> =
        local.nodes().iter().map(|node| Pid::from_raw(node.pid().unwrap() as i32).unwrap()).collect();
    let folder = local.nodes()[0].dir().parent().unwrap().to_owned();
    assert!(pids.iter().all(|pid| is_there(*pid)) && folder.exists());
    local.stop();
    assert!(!pids.iter().any(|pid| is_there(*pid)) && !folder.exists());
}

#[test]
fn the_guard_ends_with_a_server_that_is_killed_and_the_folder_stays_for_a_restart() {
    let local = Launch::standalone().start().unwrap();
    let node = &local.nodes()[0];
    let server = Pid::from_raw(node.pid().unwrap() as i32).unwrap();
    let guard = getpgid(Some(server)).unwrap();
    kill_process(server, Signal::KILL).unwrap();
    wait_until("the end is noticed", || !node.is_running());
    assert!(test_kill_process_group(guard).is_err(), "something of the guard's group is left");
    assert_eq!(node.pid(), None);
    assert!(node.log_path().exists());

    local.restart(0).unwrap();
    assert_eq!(node.ask::<String>(&["PING"]).as_deref(), Ok("PONG"));
}

#[test]
fn a_guard_that_somebody_stopped_does_not_keep_its_server_from_ending() {
    let local = Launch::standalone().start().unwrap();
    let server = Pid::from_raw(local.nodes()[0].pid().unwrap() as i32).unwrap();
    let guard = getpgid(Some(server)).unwrap();
    kill_process(guard, Signal::STOP).unwrap();
    drop(local);
    wait_until("the server is gone", || !is_there(server));
}
