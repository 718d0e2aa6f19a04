//! Requests that their callers drop halfway: nobody else gets an answer of theirs, or what they left on a connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use echomq_cluster::{Client, Command, Confirm, Decision, Ended, Repeat, Transaction, Value, View};
use echomq_keyspace::Colocated;
use futures_util::future::join_all;
use testkit::LIMIT;

fn text(text: &str) -> Value {
    Value::BulkString(text.as_bytes().to_vec())
}

/// One request of some kind, about keys that everybody writes.
async fn something(client: &Client, kind: u64, tag: &str) {
    let (hot, list) = (format!("{{{tag}}}:hot"), format!("{{{tag}}}:list"));
    let confirm = Confirm::replicas(1, Duration::from_millis(5));
    let incr = || Command::new("INCR").key(&hot);
    match kind {
        0 => drop(client.call(incr(), Repeat::Never).await),
        1 => {
            let keys = Colocated::of([&hot]).unwrap();
            let hot = &hot;
            let _ = client
                .watch(&keys, 2, |view: View| async move {
                    view.read(Command::new("GET").key(hot)).await?;
                    tokio::time::sleep(Duration::from_micros(300)).await;
                    Ok(Decision::<()>::Commit(Transaction::of([Command::new("INCR").key(hot)])?))
                })
                .await;
        }
        2 => drop(client.transaction(Transaction::of([incr(), incr()]).unwrap(), Repeat::Never).await),
        3 => drop(client.call_confirmed(incr(), Repeat::Never, confirm).await),
        4 => {
            let block = Command::new("BLPOP").key(&list).arg("0.01");
            drop(client.call_blocking(block, Duration::from_millis(10), Repeat::Idempotent).await);
        }
        5 => drop(client.pipeline((0..20).map(|_| incr()).collect(), Repeat::Never).await),
        6 => {
            let two = Transaction::of([incr(), incr()]).unwrap();
            drop(client.transaction_confirmed(two, Repeat::Never, confirm).await);
        }
        7 => drop(client.scatter_mget(&[&hot, &list, "elsewhere"]).await),
        _ => drop(client.read_replica(Command::new("GET").key(&hot)).await),
    }
}

/// Asks in every way about keys of its own, whose values nobody else knows; each answer must be its own.
async fn check(client: &Client, tag: &str, me: u64, turn: u64) {
    let key = format!("{{{tag}}}:own:{me}");
    let list = format!("{{{tag}}}:ownlist:{me}");
    let value = format!("{me}:{turn}");
    let set = || Command::new("SET").key(&key).arg(&value);
    let get = || Command::new("GET").key(&key);
    assert_eq!(client.call(set(), Repeat::Never).await.unwrap(), Value::Okay);
    assert_eq!(client.call(get(), Repeat::Never).await.unwrap(), text(&value));
    let both = Transaction::of([set(), get()]).unwrap();
    assert_eq!(client.transaction(both, Repeat::Never).await.unwrap(), [Value::Okay, text(&value)]);
    let confirm = Confirm::replicas(0, Duration::from_millis(5));
    let (reply, _) = client.call_confirmed(get(), Repeat::Never, confirm).await.unwrap();
    assert_eq!(reply, text(&value));
    // A connection that still watches a hot key would abort this one.
    let keys = Colocated::of([&key]).unwrap();
    let (own, wanted) = (&key, &value);
    let ended = client
        .watch(&keys, 1, |view: View| async move {
            assert_eq!(view.read(Command::new("GET").key(own)).await?, text(wanted));
            tokio::time::sleep(Duration::from_millis(2)).await;
            Ok(Decision::<()>::Commit(Transaction::of([Command::new("APPEND").key(own).arg("!")])?))
        })
        .await;
    assert_eq!(ended.unwrap(), Ended::Committed(vec![Value::Int(value.len() as i64 + 1)]));
    client.call(Command::new("RPUSH").key(&list).arg(&value), Repeat::Never).await.unwrap();
    let pop = Command::new("BLPOP").key(&list).arg("1");
    let popped = client.call_blocking(pop, Duration::from_secs(1), Repeat::Never).await.unwrap();
    assert_eq!(popped, Value::Array(vec![text(&list), text(&value)]));
    let own = client.pipeline(vec![get(), set(), get()], Repeat::Never).await;
    let own: Vec<Value> = own.into_iter().map(Result::unwrap).collect();
    assert_eq!(own, [text(&format!("{value}!")), Value::Okay, text(&value)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_dropped_at_any_point_leave_nothing_to_those_that_follow() {
    let cluster = testkit::cluster();
    let client = Client::connect(&cluster.url()).await.unwrap().with_deadline(LIMIT);
    let tag = testkit::unique_queue("dropped");
    let (done, dropped) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let droppers = (0..6).map(|_| {
        let (client, tag, done, dropped) = (client.clone(), tag.clone(), done.clone(), dropped.clone());
        tokio::spawn(async move {
            while !done.load(Ordering::Relaxed) {
                let micros = fastrand::u64(0..4_000);
                let request = something(&client, fastrand::u64(0..9), &tag);
                if tokio::time::timeout(Duration::from_micros(micros), request).await.is_err() {
                    dropped.fetch_add(1, Ordering::Relaxed);
                }
            }
        })
    });
    let droppers: Vec<_> = droppers.collect();
    let checkers = (0..6u64).map(|me| {
        let (client, tag) = (client.clone(), tag.clone());
        tokio::spawn(async move {
            for turn in 0..40 {
                check(&client, &tag, me, turn).await;
            }
        })
    });
    let checked = join_all(checkers.collect::<Vec<_>>()).await;
    done.store(true, Ordering::Relaxed);
    join_all(droppers).await.into_iter().for_each(|ended| ended.unwrap());
    checked.into_iter().for_each(|ended| ended.unwrap());
    let dropped = dropped.load(Ordering::Relaxed);
    assert!(dropped > 200, "only {dropped} requests were dropped");
}
