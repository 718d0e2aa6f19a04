use std::time::{SystemTime, UNIX_EPOCH};

use testkit::{Cluster, unique_queue};

use crate::run::{cluster, on};

const DELAYS: &str = include_str!("../../../../testdata/cases/queue/delays.tsv");

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64
}

/// Adds a job with these arguments and returns its state and when it is due.
fn added(cluster: &Cluster, queue: &str, when: &[&str]) -> (String, Option<u64>) {
    let id = on(cluster, [&["job", "add", queue, "x"], when].concat()).fine();
    let job = on(cluster, ["job", "show", queue, id.trim_end(), "--json"]).object();
    (job["state"].as_str().unwrap().to_owned(), job["due_ms"].as_u64())
}

#[test]
fn c060_a_long_delay_is_kept_to_the_millisecond() {
    let (cluster, queue) = (cluster(), unique_queue("delay"));
    let mut long = 0;
    for row in DELAYS.lines().filter(|row| !row.starts_with('#')) {
        let (given, expected) = row.split_once('\t').unwrap();
        let number = given.split(' ').next().unwrap();
        if given.contains("absolute") {
            let (state, due) = added(&cluster, &queue, &["--at", number]);
            assert_eq!((state.as_str(), due), ("schedule", Some(number.parse().unwrap())), "{row}");
            continue;
        }
        if expected.contains("refused") || expected == "the same" {
            continue;
        }
        let delay: u64 = number.parse().unwrap();
        let before = now_ms();
        let (state, due) = added(&cluster, &queue, &["--delay", &format!("{number}ms")]);
        if delay < 1_000 {
            // It may have been promoted before it was looked at, but no worker runs here.
            assert!(due.is_none_or(|due| due <= now_ms() + delay), "{row}: {due:?}");
            continue;
        }
        long += 1;
        assert_eq!(state, "schedule", "{row}");
        // The client's clock is the server's: both are on this machine.
        let due = due.unwrap();
        assert!((before + delay..=now_ms() + delay).contains(&due), "{row}: {due} at {before}");
    }
    assert!(long >= 3);
}

#[test]
fn c060_a_point_in_time_is_shown_as_its_date() {
    let (cluster, queue) = (cluster(), unique_queue("at"));
    for (at, shown) in [
        ("4102444800000", "2100-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("9007199254740991", "287396-10-12T08:59:00.991Z"),
    ] {
        let id = on(&cluster, ["job", "add", &queue, "x", "--at", at]).fine();
        let text = on(&cluster, ["job", "show", &queue, id.trim_end()]).fine();
        assert!(text.contains(&format!("due        {shown}\n")), "{text}");
    }
}

#[test]
fn c061_a_broken_delay_is_refused_with_what_was_typed_and_nothing_is_added() {
    let (cluster, queue) = (cluster(), unique_queue("broken"));
    let mut refused = 0;
    for row in DELAYS.lines().filter(|row| !row.starts_with('#')) {
        let (given, expected) = row.split_once('\t').unwrap();
        if given.contains("absolute") || !(expected.contains("refused") || expected == "the same") {
            continue;
        }
        for typed in [given.to_owned(), format!("{given}ms")] {
            let ran = on(&cluster, ["job", "add", &queue, "x", "--delay", &typed]).run();
            ran.said(2, &format!("--delay: \"{typed}\" is no span of time"));
        }
        refused += 1;
    }
    assert!(refused >= 7);
    on(&cluster, ["job", "add", &queue, "x", "--delay", "9007199254740991ms"])
        .run()
        .said(2, "9007199254740991 ms");
    on(&cluster, ["job", "add", &queue, "x", "--at", "9007199254740993"])
        .run()
        .said(2, "\"9007199254740993\" is too late");
    on(&cluster, ["job", "add", &queue, "x", "--at", "1796058445"]).run().said(2, "looks like seconds");
    let shown = on(&cluster, ["queue", "show", &queue, "--json"]).run();
    assert!(shown.text().contains(r#""pending":0,"active":0,"schedule":0"#), "{shown:?}");
}
