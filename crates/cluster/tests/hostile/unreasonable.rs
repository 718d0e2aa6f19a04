//! What no caller should ask for, and some will.

use std::time::{Duration, Instant};

use echomq_cluster::{
    Client, Command, Confirm, Decision, Ended, Error, Fate, Repeat, Settings, Transaction, Value, View, raw,
};
use echomq_keyspace::Colocated;
use testkit::LIMIT;

fn set() -> Command {
    Command::new("SET").key("{h}:k").arg("1")
}

/// Commits under WATCH in the first attempt, while somebody else writes another key.
async fn commit_beside(client: &Client, hot: &str) -> Result<Ended<()>, Error> {
    let own = "{h}:own";
    let keys = Colocated::of([own]).unwrap();
    let beside = client.watch(&keys, 1, |_: View| async move {
        client.call(Command::new("INCR").key(hot), Repeat::Never).await?;
        Ok(Decision::Commit(Transaction::of([Command::new("INCR").key(own)])?))
    });
    beside.await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_watches_or_subscribes_is_refused_where_others_get_the_connection_afterwards() {
    let server = testkit::standalone();
    let client = Client::connect(&server.url()).await.unwrap();
    let hot = "{h}:hot";
    for name in ["wAtCh", "SSUBSCRIBE"] {
        let state = Command::new(name).key(hot);
        let answer = client.call_blocking(state, Duration::from_millis(100), Repeat::Idempotent).await;
        assert!(answer.unwrap_err().is_refused(), "{name}");
    }
    assert_eq!(commit_beside(&client, hot).await.unwrap(), Ended::Committed(vec![Value::Int(1)]));
}

#[test]
fn a_transaction_holds_nothing_that_changes_the_connection() {
    let words: [&[&str]; 14] = [
        &["SUBSCRIBE", "c"],
        &["pSubscribe", "c"],
        &["UNSUBSCRIBE"],
        &["MONITOR"],
        &["QUIT"],
        &["reset"],
        &["PSYNC", "?", "-1"],
        &["Client", "rEpLy", "OFF"],
        &["CLIENT", "tracking", "ON"],
        &["client", "NO-EVICT", "ON"],
        &["client", "setname", "x"],
        &["MuLtI"],
        &["Exec"],
        &["SELECT", "1"],
    ];
    for words in words {
        let command = words[1..].iter().fold(Command::new(words[0]), |command, word| command.arg(word));
        let refusal = Transaction::of([set(), command]).map(drop).unwrap_err();
        assert!(refusal.is_refused(), "{words:?}: {refusal}");
    }
    let refusal = Transaction::of([set(), Command::new("SSUBSCRIBE").key("{h}:c")]).map(drop).unwrap_err();
    assert!(refusal.is_refused(), "{refusal}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_connection_that_all_share_is_not_changed_by_name_of_a_node() {
    let server = testkit::standalone();
    let client = Client::connect(&server.url()).await.unwrap();
    let node = client.primaries().remove(0);
    let words: [&[&str]; 9] = [
        &["CLIENT", "rEpLy", "OFF"],
        &["multi"],
        &["WATCH", "k"],
        &["SELECT", "1"],
        &["SUBSCRIBE", "c"],
        &["MONITOR"],
        &["QUIT"],
        &["BLPOP", "k", "0"],
        &["WAIT", "9", "0"],
    ];
    for words in words {
        let mut cmd = raw(words[0]);
        words[1..].iter().for_each(|word| {
            cmd.arg(word);
        });
        let refusal = client.call_node(&node, &cmd).await.unwrap_err();
        assert!(refusal.is_refused() && refusal.to_string().contains("others"), "{words:?}: {refusal}");
        assert_eq!(client.call(set(), Repeat::Never).await.unwrap(), Value::Okay);
    }
}

/// Who wants no limit names the longest duration there is.
#[tokio::test(flavor = "multi_thread")]
async fn the_longest_durations_are_no_panic() {
    let server = testkit::standalone();
    let client = Client::connect(&server.url()).await.unwrap();
    let long = client.with_deadline(Duration::MAX);
    let node = long.primaries().remove(0);
    assert_eq!(long.call(set(), Repeat::Never).await.unwrap(), Value::Okay);
    assert_eq!(long.pipeline(vec![set()], Repeat::Idempotent).await.remove(0).unwrap(), Value::Okay);
    assert_eq!(
        long.transaction(Transaction::of([set()]).unwrap(), Repeat::Never).await.unwrap(),
        [Value::Okay]
    );
    assert!(long.call_node(&node, &raw("PING")).await.is_ok());
    assert_eq!(commit_beside(&long, "{h}:hot").await.unwrap(), Ended::Committed(vec![Value::Int(1)]));
    assert_eq!(long.call_blocking(set(), Duration::MAX, Repeat::Never).await.unwrap(), Value::Okay);
    let (reply, confirmation) =
        long.call_confirmed(set(), Repeat::Never, Confirm::replicas(0, Duration::MAX)).await.unwrap();
    assert!(reply == Value::Okay && confirmation.is_enough() && confirmation.refusal().is_none());
}

#[test]
fn a_hundred_thousand_keys_are_checked_in_no_time() {
    let keys: Vec<String> = (0..100_000).map(|n| format!("{{t}}{n}")).collect();
    let named = Command::new("MGET").keys(keys.iter().map(String::as_bytes));
    assert!(named.slot().is_ok());
    let begun = Instant::now();
    let error = named.arg("{t}one more").slot().unwrap_err();
    assert!(error.is_refused() && error.to_string().contains("one more"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

/// Words that mean something to the table of commands, and some that mean nothing to anybody.
const WORDS: [&str; 50] = [
    "EVAL",
    "eval",
    "XREAD",
    "STREAMS",
    "KEYS",
    "GEORADIUS",
    "STORE",
    "sort",
    "BY",
    "GET",
    "MIGRATE",
    "ZUNION",
    "ZINTERSTORE",
    "LMPOP",
    "BZMPOP",
    "FCALL",
    "0",
    "1",
    "-1",
    "99999999999",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "",
    "\0",
    "a",
    "client",
    "REPLY",
    "XGROUP",
    "CREATE",
    "OBJECT",
    "MEMORY",
    "USAGE",
    "SINTERCARD",
    "BITOP",
    "COUNT",
    "MSETEX",
    "config",
    "ACL",
    "{",
    "}",
    "🦀",
    " 1",
    "1 ",
    "+1",
    "command",
    "xreadgroup",
    "GROUP",
    "PFCOUNT",
    "SPUBLISH",
];

#[test]
fn garbage_is_no_command_and_no_panic() {
    for _ in 0..50_000 {
        let line: Vec<Vec<u8>> = (0..fastrand::usize(0..7))
            .map(|_| match fastrand::u8(0..8) {
                0 => (0..fastrand::usize(0..6)).map(|_| fastrand::u8(..)).collect(),
                _ => fastrand::choice(WORDS).unwrap_or_default().into(),
            })
            .collect();
        if let Ok(command) = Command::parse(&line) {
            let _ = (command.slot(), format!("{command:?}"), Transaction::of([command.clone()]));
        }
        let name = line.first().map(|word| String::from_utf8_lossy(word).into_owned()).unwrap_or_default();
        let command = line.iter().skip(1).fold(Command::new(name), |command, word| match fastrand::bool() {
            true => command.key(word),
            false => command.arg(word),
        });
        let _ = (command.slot(), format!("{command:?}"), Transaction::of([command.clone()]));
    }
}

/// Pieces of URLs, whole and broken.
const PIECES: [&str; 30] = [
    "redis://",
    "rediss://",
    "valkey://",
    "unix:",
    "u",
    ":",
    "@",
    "/",
    "?",
    "&",
    "=",
    "[",
    "]",
    "::1",
    "fe80::1%25eth0",
    "%",
    "%2",
    "%40",
    "%FF",
    "6379",
    "0",
    "65536",
    ",",
    "db=1",
    "one-endpoint=true",
    "tls-ca=",
    "host",
    "#",
    " ",
    "é",
];

fn pieces(most: usize) -> String {
    (0..fastrand::usize(0..most)).filter_map(|_| fastrand::choice(PIECES)).collect()
}

#[test]
fn a_garbled_url_is_no_panic_and_shows_no_password() {
    for _ in 0..50_000 {
        let _ = Settings::from_url(&pieces(12)).map(|settings| format!("{settings:?}"));
        let before = fastrand::choice(["", "1?", "12&", "/", "1/2?", "%", "1?db=1&"]).unwrap_or_default();
        let within = fastrand::choice(["", "?", "&", "/", ":", "%", "=", "%FF", "#"]).unwrap_or_default();
        let url = format!("redis://u:{before}s3cr3t{within}w0rd@{}", pieces(6));
        let shown = match Settings::from_url(&url) {
            Ok(settings) => format!("{settings:?}"),
            Err(error) => error.to_string(),
        };
        assert!(!shown.contains("s3cr3t") && !shown.contains("w0rd"), "{url}: {shown}");
    }
}

/// All share one deadline: with one each, a hundred of them at a node that is gone would take a hundred.
#[tokio::test(flavor = "multi_thread")]
async fn a_pipeline_ends_by_its_deadline_whatever_its_length() {
    let server = testkit::standalone();
    let client = Client::connect(&server.url()).await.unwrap().with_deadline(Duration::from_millis(500));
    server.kill();
    let begun = Instant::now();
    let answers = client.pipeline((0..100).map(|_| set()).collect(), Repeat::Idempotent).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(answers.len(), 100);
    assert!(answers.iter().all(Result::is_err));
    let last = answers.last().unwrap().as_ref().unwrap_err();
    assert!(last.is_deadline() || last.is_unknown(), "{last}");
}

/// A client may be used from several runtimes, one after the other.
#[test]
fn confirmed_writes_go_on_when_the_runtime_that_sent_the_last_ones_has_ended() {
    let server = testkit::standalone();
    let (first, second) = (tokio::runtime::Runtime::new().unwrap(), tokio::runtime::Runtime::new().unwrap());
    let client = first.block_on(Client::connect(&server.url())).unwrap().with_deadline(LIMIT);
    let sent = client.clone();
    // No replica will ever confirm it.
    let for_long = Confirm::replicas(1, LIMIT);
    let waiting = second.spawn(async move { sent.call_confirmed(set(), Repeat::Never, for_long).await });
    testkit::wait_until("the write has come", LIMIT, || {
        server.raw(&["EXISTS", "{h}:k"]).is_ok_and(|there| there == Value::Int(1))
    });
    let begun = Instant::now();
    drop(waiting);
    second.shutdown_background();
    let quick = Confirm::replicas(0, Duration::from_millis(10));
    let (reply, _) = first.block_on(client.call_confirmed(set(), Repeat::Never, quick)).unwrap();
    assert!(reply == Value::Okay && begun.elapsed() < LIMIT / 2, "after {:?}", begun.elapsed());
}

/// Without MULTI what follows it is carried out at once, one by one.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_multi_was_refused_does_not_claim_that_nothing_happened() {
    let server = testkit::standalone();
    server.raw(&["ACL", "SETUSER", "half", "on", ">p", "~*", "&*", "+@all", "-multi"]).unwrap();
    let client = Client::connect(&server.url().replace("redis://", "redis://half:p@")).await.unwrap();
    let error = commit_beside(&client, "{h}:hot").await.unwrap_err();
    assert_eq!(error.server_code(), Some("NOPERM"), "{error}");
    let written = client.call(Command::new("EXISTS").key("{h}:own"), Repeat::Never).await.unwrap();
    assert_eq!((written, error.fate()), (Value::Int(1), Fate::Partly));
}
