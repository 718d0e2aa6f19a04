//! The embedded server: found, shared, and gone with its last holder.

mod other_process;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use echomq_local::Embedded;
use other_process::{OtherProcess, task, tell, wait_for_release};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;

/// What an other process does for the tests below: it holds the server of the folder that its task names.
#[test]
fn other_process() {
    let Some(dir) = task() else { return };
    let held = Embedded::join_or_start(Some(Path::new(&dir))).unwrap();
    tell(held.url());
    tell(held.pid().unwrap());
    wait_for_release();
}

struct Theirs {
    keeper: OtherProcess,
    url: String,
    pid: Pid,
}

fn held_by_another(dir: &TempDir) -> Theirs {
    told(OtherProcess::doing(dir.path().to_str().unwrap()))
}

fn told(mut keeper: OtherProcess) -> Theirs {
    let url = keeper.told();
    let pid = Pid::from_raw(keeper.told().parse().unwrap()).unwrap();
    Theirs { keeper, url, pid }
}

fn hold(dir: &TempDir) -> Embedded {
    Embedded::join_or_start(Some(dir.path())).unwrap()
}

fn pid(held: &Embedded) -> Pid {
    Pid::from_raw(held.pid().unwrap() as i32).unwrap()
}

fn is_there(pid: Pid) -> bool {
    test_kill_process(pid).is_ok()
}

fn wait_until_gone(pid: Pid) {
    let started = Instant::now();
    while is_there(pid) {
        assert!(started.elapsed() < Duration::from_secs(20), "server {pid:?} stays");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn ask(held: &Embedded, command: &[&str]) -> Result<String, String> {
    let client = redis::Client::open(held.url()).unwrap();
    let mut connection = client.get_connection().map_err(|error| error.to_string())?;
    redis::Cmd::new().arg(command).query(&mut connection).map_err(|error| error.to_string())
}

#[test]
fn it_is_a_cluster_of_one_that_holds_to_the_slot_rules() {
    let dir = tempfile::tempdir().unwrap();
    let held = hold(&dir);
    let info = ask(&held, &["CLUSTER", "INFO"]).unwrap();
    assert!(info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384"), "{info}");
    ask(&held, &["MSET", "{a}1", "v", "{a}2", "v"]).unwrap();
    let refused = ask(&held, &["MSET", "a", "v", "b", "v"]).unwrap_err();
    assert!(refused.to_uppercase().contains("CROSSSLOT"), "{refused}");
}

#[test]
fn its_data_is_there_after_its_last_holder_has_gone() {
    let dir = tempfile::tempdir().unwrap();
    let held = hold(&dir);
    let first = pid(&held);
    ask(&held, &["SET", "k", "v"]).unwrap();
    drop(held);
    assert!(!is_there(first), "the last holder waits for the end");

    let held = hold(&dir);
    assert_ne!(pid(&held), first);
    assert_eq!(ask(&held, &["GET", "k"]).as_deref(), Ok("v"));
}

#[test]
fn a_second_holder_joins_at_once_and_keeps_it_when_the_first_goes() {
    let dir = tempfile::tempdir().unwrap();
    let first = hold(&dir);
    let started = Instant::now();
    let second = hold(&dir);
    assert!(started.elapsed() < Duration::from_secs(1), "joining took {:?}", started.elapsed());
    assert_eq!((first.url(), first.pid()), (second.url(), second.pid()));
    let started = Instant::now();
    drop(first);
    assert!(started.elapsed() < Duration::from_secs(1), "leaving took {:?}", started.elapsed());
    assert_eq!(ask(&second, &["PING"]).as_deref(), Ok("PONG"));
}

#[test]
fn processes_share_it_and_the_starter_may_go_first() {
    let dir = tempfile::tempdir().unwrap();
    let starter = held_by_another(&dir);
    let held = hold(&dir);
    assert_eq!((held.url(), pid(&held)), (starter.url, starter.pid));
    starter.keeper.release();
    assert_eq!(ask(&held, &["PING"]).as_deref(), Ok("PONG"));
    drop(held);
    assert!(!is_there(starter.pid));
}

#[test]
fn the_starter_may_even_be_killed() {
    let dir = tempfile::tempdir().unwrap();
    let starter = held_by_another(&dir);
    let held = hold(&dir);
    starter.keeper.end_by(Signal::KILL);
    assert_eq!(pid(&held), starter.pid);
    assert_eq!(ask(&held, &["PING"]).as_deref(), Ok("PONG"));
}

#[test]
fn it_ends_when_its_last_holder_is_killed_and_is_started_again_with_its_data() {
    let dir = tempfile::tempdir().unwrap();
    for (signal, before) in [(Signal::KILL, Err(())), (Signal::INT, Ok("v".to_owned()))] {
        let only = held_by_another(&dir);
        only.keeper.end_by(signal);
        wait_until_gone(only.pid);
        let next = hold(&dir);
        assert_eq!(ask(&next, &["GET", "k"]).map_err(drop), before);
        ask(&next, &["SET", "k", "v"]).unwrap();
    }
}

#[test]
fn one_who_comes_while_it_ends_gets_a_server_that_stays() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let only = held_by_another(&dir);
        only.keeper.end_by(Signal::KILL);
        // The old one, if its guard has not noticed yet, or a new one; never one that is about to end.
        let next = hold(&dir);
        let server = pid(&next);
        if server != only.pid {
            wait_until_gone(only.pid);
        }
        assert_eq!(ask(&next, &["PING"]).as_deref(), Ok("PONG"));
        assert!(is_there(server));
    }
}

#[test]
fn a_stopped_server_does_not_outlive_its_last_holder_either() {
    let dir = tempfile::tempdir().unwrap();
    let starter = held_by_another(&dir);
    let last = held_by_another(&dir);
    starter.keeper.release();
    kill_process(last.pid, Signal::STOP).unwrap();
    last.keeper.end_by(Signal::KILL);
    wait_until_gone(last.pid);
}

#[test]
fn starters_at_the_same_moment_do_not_meet() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let others: Vec<OtherProcess> = (0..4).map(|_| OtherProcess::doing(path)).collect();
    let ours: Vec<Embedded> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| hold(&dir))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let theirs: Vec<Theirs> = others.into_iter().map(told).collect();
    let server = pid(&ours[0]);
    assert!(ours.iter().all(|held| pid(held) == server));
    assert!(theirs.iter().all(|held| held.pid == server));
    drop(ours);
    assert!(is_there(server), "others hold it");
    theirs.into_iter().for_each(|held| held.keeper.release());
    wait_until_gone(server);
}

#[test]
fn holders_that_come_and_go_always_find_a_server_that_serves() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let held = hold(&dir);
                    assert_eq!(ask(&held, &["INCR", "n"]).map(|_| ()), Ok(()));
                }
            });
        }
    });
    assert_eq!(ask(&hold(&dir), &["GET", "n"]).as_deref(), Ok("6"));
}

#[test]
fn a_server_that_died_is_replaced_by_the_next_one_who_asks_with_all_its_data() {
    let dir = tempfile::tempdir().unwrap();
    let held = hold(&dir);
    ask(&held, &["SET", "k", "v"]).unwrap();
    let dead = pid(&held);
    kill_process(dead, Signal::KILL).unwrap();
    let next = hold(&dir);
    assert_ne!(pid(&next), dead);
    assert_eq!(ask(&next, &["GET", "k"]).as_deref(), Ok("v"));
    drop(held);
    assert_eq!(ask(&next, &["PING"]).as_deref(), Ok("PONG"), "a hold on the dead one is no hold on this one");
}

/// The process group, which follows the name in parentheses, a state and the parent.
#[cfg(target_os = "linux")]
fn group_of(pid: Pid) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(2)?.parse().ok()
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_whose_guard_was_killed_is_ended_by_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let only = held_by_another(&dir);
    let group = group_of(only.pid);
    let processes = std::fs::read_dir("/proc").unwrap();
    let pids = processes.filter_map(|entry| Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?));
    for pid in pids.filter(|pid| *pid != only.pid && group_of(*pid) == group) {
        kill_process(pid, Signal::KILL).unwrap();
    }
    only.keeper.end_by(Signal::KILL);
    assert!(is_there(only.pid), "nobody is left to end it");
    let next = hold(&dir);
    assert_ne!(pid(&next), only.pid);
    wait_until_gone(only.pid);
}

#[test]
fn its_folder_is_made_and_is_the_users_alone() {
    let base = tempfile::tempdir().unwrap();
    let dir = base.path().join("a/b");
    let held = Embedded::join_or_start(Some(&dir)).unwrap();
    assert_eq!(std::fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(held.log_path().starts_with(held.dir()) && held.log_path().exists());
}

#[test]
fn a_folder_that_can_not_be_used_is_an_error_that_names_it() {
    let error = Embedded::join_or_start(Some(Path::new("/dev/null/data"))).unwrap_err();
    assert!(error.is_io() && error.to_string().contains("/dev/null/data"), "{error}");
}
