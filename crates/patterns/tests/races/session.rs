use std::time::Duration;

use echomq_cluster::{Client, Command, Repeat, Transaction, Value};
use echomq_patterns::session::{Login, Session};
use testkit::{LIMIT, wait_until};

use crate::scene::{ask, client, name, number, side_by_side, until_broken};

const LONG: Duration = Duration::from_secs(600);

/// When each key ends in ms, all of one moment; none for a key that is not there.
async fn ends(client: &Client, session: &Session) -> Vec<Option<i64>> {
    let ask = session.keys().all().into_iter().map(|key| Command::new("PEXPIRETIME").key(key));
    let replies = client.transaction(Transaction::of(ask).unwrap(), Repeat::Idempotent).await.unwrap();
    replies
        .into_iter()
        .map(|reply| redis::from_redis_value(reply).unwrap())
        .map(|ms| (ms != -2).then_some(ms))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_keys_end_in_one_millisecond_however_they_are_touched() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    let session = Session::new(&client, &name("session")).unwrap();
    assert!(session.begin(LONG).await.unwrap());
    assert!(session.put("page", "1").await.unwrap());
    let ends_of_two = ends(&client, &session).await;
    assert_eq!(
        ends_of_two,
        [ends_of_two[0], ends_of_two[0], None, None],
        "a new key has the session's end at once"
    );
    side_by_side(16, |i| {
        let (client, session) = (client.clone(), session.clone());
        async move {
            for turn in 0..50u64 {
                let alive = match (i + turn as usize) % 4 {
                    0 => session.touch(LONG + Duration::from_millis(turn * 16 + i as u64)).await.unwrap(),
                    1 => session.put("page", &turn.to_string()).await.unwrap(),
                    2 => session.add_to_cart("MUG7", 1).await.unwrap(),
                    _ => session.log_in("ann", &[("POT2", 2)]).await.unwrap() == Login::Done,
                };
                assert!(alive);
                let ends = ends(&client, &session).await;
                assert!(ends[0].is_some_and(|ms| ms > 0), "{ends:?}");
                assert!(ends.iter().flatten().all(|ms| Some(*ms) == ends[0]), "{ends:?}");
            }
        }
    })
    .await;
    assert!(ends(&client, &session).await.iter().all(Option::is_some));
    let snapshot = session.read().await.unwrap().unwrap();
    assert!(snapshot.left > Duration::from_secs(500));
    assert_eq!(snapshot.user.as_deref(), Some("ann"));
    assert_eq!(snapshot.cart, [("MUG7".to_owned(), 200), ("POT2".to_owned(), 2)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn touched_key_by_key_a_session_ends_in_parts() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    until_broken("two keys with two ends", async |_| {
        let id = name("session");
        let keys = [format!("session:{id}:user"), format!("session:{id}:cart")];
        for key in &keys {
            ask(&client, "SET", key, &["x"]).await;
        }
        let touch = async |ms: &'static str| {
            for key in &keys {
                ask(&client, "PEXPIRE", key, &[ms]).await;
            }
        };
        tokio::join!(touch("600000"), touch("900000"));
        number(&client, "PEXPIRETIME", &keys[0], &[]).await
            != number(&client, "PEXPIRETIME", &keys[1], &[]).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_was_ended_is_not_half_revived() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    for _ in 0..100 {
        let session = Session::new(&client, &name("session")).unwrap();
        assert!(session.begin(LONG).await.unwrap());
        side_by_side(5, |i| {
            let session = session.clone();
            async move {
                match i {
                    0 => assert!(session.add_to_cart("MUG7", 1).await.is_ok()),
                    1 => assert!(session.end().await.unwrap()),
                    2 => assert!(session.put("theme", "dark").await.is_ok()),
                    3 => assert!(session.log_in("ann", &[("POT2", 1)]).await.is_ok()),
                    _ => assert!(session.touch(LONG * 2).await.is_ok()),
                }
            }
        })
        .await;
        assert_eq!(ends(&client, &session).await, [None; 4], "a key stands after the end");
        assert!(!session.end().await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_expired_is_not_half_revived() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    let session = Session::new(&client, &name("session")).unwrap();
    assert!(session.begin(Duration::from_millis(150)).await.unwrap());
    side_by_side(8, |i| {
        let session = session.clone();
        async move {
            while match i % 3 {
                0 => session.add_to_cart("MUG7", 1).await.unwrap(),
                1 => session.put("theme", "dark").await.unwrap(),
                _ => session.log_in("ann", &[("POT2", 1)]).await.unwrap() == Login::Done,
            } {}
        }
    })
    .await;
    assert_eq!(ends(&client, &session).await, [None; 4]);
    assert_eq!(session.read().await.unwrap(), None);
    assert!(!session.touch(LONG).await.unwrap());
    assert_eq!(session.log_in("ann", &[]).await.unwrap(), Login::Ended);
    assert!(session.begin(LONG).await.unwrap(), "and it can begin anew");
    let fresh = session.read().await.unwrap().unwrap();
    assert_eq!((fresh.user, fresh.cart), (None, Vec::new()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_a_look_and_then_a_write_an_ended_session_has_a_cart_for_ever() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    until_broken("a cart without a session", async |_| {
        let id = name("session");
        let (user, cart) = (format!("session:{id}:user"), format!("session:{id}:cart"));
        ask(&client, "SET", &user, &["ann", "EX", "600"]).await;
        let add = async {
            if number(&client, "EXISTS", &user, &[]).await == 1 {
                ask(&client, "HINCRBY", &cart, &["MUG7", "1"]).await;
            }
        };
        let end = async {
            ask(&client, "DEL", &user, &[]).await;
            ask(&client, "DEL", &cart, &[]).await;
        };
        tokio::join!(add, end);
        ask(&client, "PTTL", &cart, &[]).await == Value::Int(-1)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_users_who_log_in_at_once_one_has_the_session() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    for _ in 0..20 {
        let session = Session::new(&client, &name("session")).unwrap();
        assert!(session.begin(LONG).await.unwrap());
        assert!(!session.begin(LONG).await.unwrap(), "it lives already");
        let (ann, ben) = tokio::join!(session.log_in("ann", &[]), session.log_in("ben", &[]));
        let user = session.read().await.unwrap().unwrap().user.unwrap();
        match (ann.unwrap(), ben.unwrap()) {
            (Login::Done, Login::Other(other)) => assert_eq!((user, other), ("ann".into(), "ann".into())),
            (Login::Other(other), Login::Done) => assert_eq!((user, other), ("ben".into(), "ben".into())),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_touch_never_brings_the_end_nearer() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    let session = Session::new(&client, &name("session")).unwrap();
    assert!(session.begin(LONG).await.unwrap());
    assert!(session.touch(Duration::from_secs(1)).await.unwrap());
    assert!(session.read().await.unwrap().unwrap().left > Duration::from_secs(500));
    assert!(session.touch(Duration::ZERO).await.unwrap_err().is_refused());
    let short = Session::new(&client, &name("session")).unwrap();
    assert!(short.begin(Duration::from_millis(1)).await.unwrap());
    let node = cluster.owner_of(short.keys().slot().get());
    wait_until("the short one has ended", LIMIT, || {
        cluster.raw(node, &["EXISTS", &short.keys().expiry().to_string()]) == Ok(Value::Int(0))
    });
    assert_eq!(short.read().await.unwrap(), None);
}
