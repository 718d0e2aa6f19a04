//! Thousands of confirmed writes at once, while connections are cut: each caller is told its own answer, nothing
//! is doubled, and nobody waits for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use echomq_cluster::{Client, Command, Confirm, Fate, Repeat, Transaction, Value};
use futures_util::future::join_all;
use testkit::{LIMIT, wait_until};

const CALLERS: usize = 2_000;

/// Each counts on a field of its own; every fifth asks for what is refused.
async fn count(client: &Client, tag: &str, me: usize) -> Option<bool> {
    let (fields, text) = (format!("{{{tag}}}:fields"), format!("{{{tag}}}:text"));
    let confirm = Confirm::replicas((me % 2) as u32, Duration::from_millis(50));
    let by = me as i64 + 1;
    let incr = Command::new("HINCRBY").key(&fields).arg(me).arg(by);
    match me % 5 {
        0 => {
            let wrong = Command::new("LPUSH").key(&text).arg(me);
            let error = client.call_confirmed(wrong, Repeat::Never, confirm).await.unwrap_err();
            assert!(error.server_code() == Some("WRONGTYPE") || error.is_unknown(), "{error}");
            None
        }
        1 => {
            let both = Transaction::of([incr, Command::new("STRLEN").key(&text)]).unwrap();
            match client.transaction_confirmed(both, Repeat::Never, confirm).await {
                Ok((replies, _)) => {
                    assert_eq!(replies, [Value::Int(by), Value::Int(4)], "caller {me}");
                    Some(true)
                }
                Err(error) => told(&error),
            }
        }
        _ => match client.call_confirmed(incr, Repeat::Never, confirm).await {
            Ok((reply, _)) => {
                assert_eq!(reply, Value::Int(by), "caller {me}");
                Some(true)
            }
            Err(error) => told(&error),
        },
    }
}

/// Whether it is certain what became of it: not done, or nobody knows.
fn told(error: &echomq_cluster::Error) -> Option<bool> {
    assert!(error.is_unknown() || error.fate() == Fate::NotDone, "{error}");
    (error.fate() == Fate::NotDone).then_some(false)
}

#[tokio::test(flavor = "multi_thread")]
async fn confirmed_writes_of_a_crowd_whose_connections_are_cut_are_told_as_they_went() {
    let cluster = testkit::cluster_with(3, 1);
    let client = Client::connect(&cluster.url()).await.unwrap().with_deadline(LIMIT);
    let tag = testkit::unique_queue("crowd");
    let (fields, text) = (format!("{{{tag}}}:fields"), format!("{{{tag}}}:text"));
    client.call(Command::new("SET").key(&text).arg("text"), Repeat::Never).await.unwrap();
    let owner = cluster.owner_of(cluster.slot_of(&fields));
    let begun = Instant::now();
    let come = Arc::new(AtomicUsize::new(0));
    let callers = (0..CALLERS).map(|me| {
        let (client, tag, come) = (client.clone(), tag.clone(), come.clone());
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_micros(fastrand::u64(0..400_000))).await;
            come.fetch_add(1, Relaxed);
            count(&client, &tag, me).await
        })
    });
    let callers: Vec<_> = callers.collect();
    let cutter = tokio::task::spawn_blocking(move || {
        for cut in 1..=8 {
            let so_many = || come.load(Relaxed) >= cut * CALLERS / 10;
            wait_until("more of the crowd have come", LIMIT, so_many);
            cluster.cut_clients(owner);
        }
        cluster
    });
    let outcomes: Vec<Option<bool>> = join_all(callers).await.into_iter().map(|it| it.unwrap()).collect();
    assert!(begun.elapsed() < 2 * LIMIT, "{:?}", begun.elapsed());
    let cluster = cutter.await.unwrap();
    let mut unknown = 0;
    for (me, outcome) in outcomes.into_iter().enumerate().filter(|(me, _)| me % 5 != 0) {
        let read = Command::new("HGET").key(&fields).arg(me);
        let there = match client.call(read, Repeat::Idempotent).await.unwrap() {
            Value::Nil => false,
            value => {
                assert_eq!(value, Value::BulkString((me + 1).to_string().into_bytes()), "{me} counted twice");
                true
            }
        };
        match outcome {
            Some(done) => assert_eq!(there, done, "caller {me}"),
            None => unknown += 1,
        }
    }
    drop(cluster);
    assert!(unknown < CALLERS / 2, "{unknown} callers were told nothing certain");
}
