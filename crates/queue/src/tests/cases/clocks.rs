//! C059, C063: whose clock decides, and how finely.

use std::time::Duration;

use crate::store::{Class, Due, Lease};
use crate::tests::call::{Call, bury, claim, id, lease, reclaim, retry, row};
use crate::tests::stage::Stage;
use crate::tests::state::State;
use crate::{EchoMq, JobSpec};

#[tokio::test]
async fn c059_durations_below_a_second_stay_milliseconds() {
    let stage = Stage::new("c059").await;
    let steps = [
        (
            Call::Enqueue(vec![
                row("a", Due::Now, "A"),
                row("b", Due::InMs(500), "B"),
                row("c", Due::InMs(1), "C"),
            ]),
            "added",
        ),
        (Call::Claim { most: 1, lease_ms: 800, owner: "w".to_owned() }, "claimed 1000000: a"),
    ];
    for (step, answer) in steps {
        assert_eq!(step.on(&stage.store).await, answer);
    }
    let state = stage.state().await;
    assert_eq!(state.leases[&b"1000000:800:w"[..]], 1_800.0);
    assert_eq!((state.schedule[&b"b"[..]], state.schedule[&b"c"[..]]), (1_500.0, 1_001.0));

    let claim = Lease { lease_ms: 800, ..lease(1_000_000, 1) };
    assert_eq!(Call::Extend(vec![claim.clone()], 1).on(&stage.store).await, "extended");
    assert_eq!(stage.state().await.leases[&b"1000000:800:w"[..]], 1_001.0);
    let again = Call::Retry(claim, vec![(id("a"), 999, "x".to_owned())]);
    assert_eq!(again.on(&stage.store).await, "settled");
    assert_eq!(stage.state().await.schedule[&b"a"[..]], 1_999.0);
    stage.clear().await;
}

#[tokio::test]
async fn c059_what_is_below_the_documented_minimum_is_refused_and_a_part_of_a_millisecond_counts_as_one() {
    let stage = Stage::new("c059-api").await;
    let queue = EchoMq::connect(&stage.cluster.url()).await.unwrap().queue(&stage.name).unwrap();
    let handler = |_| async { Ok::<(), String>(()) };
    for lease in [Duration::ZERO, Duration::from_millis(99), Duration::from_micros(100_500)] {
        let refused = queue.worker(handler).lease(lease).start().await;
        let error = refused.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("from 100 ms to a day"), "{lease:?}: {error:?}");
    }
    queue.enqueue(JobSpec::new("x").delay(Duration::from_nanos(1))).await.unwrap();
    queue.enqueue(JobSpec::new("y").delay(Duration::ZERO)).await.unwrap();
    let counts = queue.counts().await.unwrap();
    assert_eq!((counts.schedule, counts.pending), (1, 1));
    stage.clear().await;
}

/// Where a transition leaves a time, and how far beyond now it lies.
type Left = fn(&State) -> (f64, u64);

#[tokio::test]
async fn c063_every_time_that_a_transition_leaves_is_by_the_servers_clock() {
    let stage = Stage::new("c063").await;
    let store = stage.by_the_servers_clock();
    let later =
        |first: u32| (first..first + 9).map(|n| row(&format!("later-{n}"), Due::InMs(10_000), "x")).collect();
    let steps: [(&str, Call, Left); 8] = [
        ("", Call::Enqueue(vec![row("a", Due::InMs(10_000), "x")]), |state| {
            (state.schedule[&b"a"[..]], 10_000)
        }),
        ("", Call::Enqueue(later(0)), |state| (state.schedule[&b"later-5"[..]], 10_000)),
        ("pending a=1", claim(1), |state| (*state.leases.values().next().unwrap(), 30_000)),
        ("active a=7; leases 7:30000:w=1", Call::Extend(vec![lease(7, 1)], 500), |state| {
            (state.leases[&b"7:30000:w"[..]], 500)
        }),
        ("active a=7; leases 7:30000:w=1", retry(7, &[("a", 999, "x")]), |state| {
            (state.schedule[&b"a"[..]], 999)
        }),
        ("active a=7; leases 7:30000:w=1", bury(7, Class::Failed, &[("a", "x")]), |state| {
            (state.dead[&b"a"[..]], 0)
        }),
        ("active a=7; leases 7:30000:w=1", reclaim(5, 3), |state| (state.leases[&b"7:30000:w"[..]], 30_000)),
        ("", Call::Pause(String::new()), |state| {
            let paused = String::from_utf8(state.meta[&b"paused"[..]].clone()).unwrap();
            (paused.trim_end().parse().unwrap(), 0)
        }),
    ];
    for (before, call, left) in steps {
        stage.put(&before.parse().unwrap()).await;
        let earliest = stage.server_ms().await;
        call.on(&store).await;
        let latest = stage.server_ms().await;
        let state = stage.state().await;
        let (ms, beyond) = left(&state);
        // A lease's end is rounded, all else is cut.
        assert!((earliest + beyond..=latest + beyond + 1).contains(&(ms as u64)), "{call:?} left {state}");
    }
    stage.clear().await;
}

#[tokio::test]
async fn c063_a_token_is_the_servers_microseconds() {
    let stage = Stage::new("c063-token").await;
    stage.put(&"pending a=1".parse().unwrap()).await;
    let earliest = stage.server_ms().await;
    claim(1).on(&stage.by_the_servers_clock()).await;
    let token = stage.state().await.number("token");
    assert!((earliest * 1_000..(stage.server_ms().await + 1) * 1_000).contains(&token), "{token}");
    stage.clear().await;
}

#[tokio::test]
async fn c063_a_job_is_promoted_when_its_delay_has_passed_by_the_servers_clock_and_not_before() {
    const DELAY_MS: u64 = 200;
    let stage = Stage::new("c063-due").await;
    let store = stage.by_the_servers_clock();
    let earliest = stage.server_ms().await;
    Call::Enqueue(vec![row("soon", Due::InMs(DELAY_MS), "x")]).on(&store).await;
    let latest = stage.server_ms().await;
    loop {
        let promoted = store.promote(10).await.unwrap();
        let now = stage.server_ms().await;
        match promoted.next_in_ms {
            Some(ms) => {
                assert_eq!(promoted.jobs, 0);
                assert!(ms <= latest + DELAY_MS - earliest, "in {ms} ms");
                tokio::time::sleep(Duration::from_millis(ms)).await;
            }
            None => {
                assert_eq!(promoted.jobs, 1);
                assert!(now >= earliest + DELAY_MS, "{} ms too early", earliest + DELAY_MS - now);
                break;
            }
        }
    }
    assert!(claim(1).on(&store).await.ends_with("soon"));
    stage.clear().await;
}

/// Nothing can depend on this machine's clock, since nothing asks for it: only durations are measured.
#[test]
fn c063_the_crate_does_not_read_this_machines_clock() {
    let mut folders = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.extend((!path.ends_with("tests")).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                read += 1;
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(!text.contains("SystemTime"), "{} reads the clock", path.display());
            }
        }
    }
    assert!(read > 10, "{read} files");
}
