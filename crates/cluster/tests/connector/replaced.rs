//! A primary that hangs while its replica takes over: nobody waits for it to the deadline.

use std::time::{Duration, Instant};

use echomq_cluster::{Command, Confirm, Decision, Ended, Repeat, Transaction, Value, View};
use echomq_keyspace::Colocated;
use testkit::LIMIT;

use crate::scene::{Tag, ask, client, try_ask};

/// Far below the deadline of these requests, which is [`LIMIT`].
const SOON: Duration = Duration::from_secs(8);

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_to_a_node_that_hangs_is_unknown_or_sent_again_once_its_replica_has_the_slot() {
    let cluster = testkit::cluster_with(3, 1);
    let tag = Tag::at(&cluster, "replaced", 0);
    let [n, m, o] = ["n", "m", "o"].map(|rest| tag.key(rest));
    let client = client(&cluster.url(), LIMIT).await;
    let confirm = Confirm::replicas(1, Duration::from_millis(100));
    for key in [&n, &m, &o] {
        ask(&client, "SET", key, &["1"]).await;
    }
    let watched = [n.as_str()];
    let keys = Colocated::of(watched).unwrap();
    let left = client.watch(&keys, 1, async |_: View| Ok(Decision::Leave(()))).await;
    assert_eq!(left.unwrap(), Ended::Left(()));

    let started = Instant::now();
    cluster.freeze(0);
    let promote = tokio::task::spawn_blocking(move || {
        cluster.failover_takeover(3);
        cluster
    });
    let both = || Transaction::of([Command::new("INCR").key(&m), Command::new("INCR").key(&o)]).unwrap();
    let one = |name: &'static str| vec![Command::new(name).key(&m)];
    let (plain, together, confirmed, again, locked, piped, piped_again) = tokio::join!(
        try_ask(&client, Repeat::Never, "INCR", &n, &[]),
        client.transaction(both(), Repeat::Never),
        client.call_confirmed(Command::new("INCR").key(&o), Repeat::Never, confirm),
        try_ask(&client, Repeat::Idempotent, "SET", &m, &["1"]),
        client.watch(&keys, 100, async |view: View| {
            view.read(Command::new("GET").key(&n)).await?;
            Ok(Decision::<()>::Commit(Transaction::of([Command::new("INCR").key(&n)])?))
        }),
        client.pipeline(one("INCR"), Repeat::Never),
        client.pipeline(one("EXISTS"), Repeat::Idempotent),
    );
    let took = started.elapsed();
    let cluster = promote.await.unwrap();
    assert!(took < SOON, "took {took:?}");
    // Each was sent before the node froze or to its silent socket, or else it found the new owner.
    let piped = piped.into_iter().find_map(Result::err);
    for error in [plain.err(), together.err(), confirmed.err(), piped].into_iter().flatten() {
        assert!(error.is_unknown() && error.to_string().contains("another node has the slot"), "{error}");
    }
    assert_eq!(piped_again.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [Value::Int(1)]);
    assert_eq!(again.unwrap(), Value::Okay);
    assert!(matches!(locked.unwrap(), Ended::Committed(_)));
    cluster.thaw(0);
    cluster.wait_ready();
}
