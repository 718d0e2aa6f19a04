use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use echomq_cluster::Client;
use echomq_patterns::transfer::{Account, Outcome, Seen, Side, Transfer, read_pair, read_settled};

use testkit::{Cluster, LIMIT};

use crate::scene::{ask, client, name, number, side_by_side, until_broken};

/// Two accounts on two nodes, with 100 and 10.
async fn accounts(client: &Client) -> (Account, Account) {
    let (ann, ben) = loop {
        let one = Account::new(client, &name("ann")).unwrap();
        let two = Account::new(client, &name("ben")).unwrap();
        if client.owner(one.keys().slot()) != client.owner(two.keys().slot()) {
            break (one, two);
        }
    };
    ann.deposit(100).await.unwrap();
    ben.deposit(10).await.unwrap();
    (ann, ben)
}

async fn amounts(one: &Account, two: &Account) -> (i64, i64) {
    let pair = read_pair(one, two).await.unwrap();
    assert_eq!(pair.seen, Seen::Same, "{pair:?}");
    pair.amounts
}

/// Does so many steps and leaves it there, as a killed process does.
async fn killed_after(
    steps: usize,
    from: &Account,
    to: &Account,
    amount: u32,
    token: &str,
) -> Option<Outcome> {
    let mut transfer = Transfer::new(from, to, amount, token).unwrap();
    for _ in 0..steps {
        if let Some(outcome) = transfer.step().await.unwrap() {
            return Some(outcome);
        }
    }
    None
}

async fn left_open(client: &Client, account: &Account) -> i64 {
    number(client, "ZCARD", &account.keys().open().to_string(), &[]).await
        + number(client, "HLEN", &account.keys().intents().to_string(), &[]).await
}

/// Who comes after a killed one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum After {
    Recovery,
    Repetition,
    Reader,
    NextTransfer,
    AllAtOnce,
}

/// Comes after one that was killed after so many steps of moving 30, and returns what has to be on the other side then.
async fn come(after: After, steps: usize, ann: &Account, ben: &Account) -> i64 {
    let repeat = async |amount, token| {
        let again = Transfer::new(ann, ben, amount, token).unwrap();
        assert_eq!(again.run().await.unwrap(), Outcome::Done);
    };
    let begun = if steps == 0 { 0 } else { 30 };
    match after {
        After::Recovery => {
            let recovered = ann.recover().await.unwrap();
            assert_eq!(recovered.finished, usize::from(steps == 1 || steps == 2));
            assert_eq!(ben.recover().await.unwrap().finished, 0);
            begun
        }
        After::Repetition => {
            repeat(30, "rent").await;
            30
        }
        After::Reader => {
            assert_eq!(read_settled(ben, ann, 2).await.unwrap().seen, Seen::Same);
            begun
        }
        After::NextTransfer => {
            repeat(5, "gift").await;
            begun + 5
        }
        After::AllAtOnce => {
            side_by_side(16, |i| {
                let (ann, ben) = (ann.clone(), ben.clone());
                async move {
                    match i % 3 {
                        0 => drop(ann.recover().await.unwrap()),
                        1 => drop(read_settled(&ann, &ben, 1).await.unwrap()),
                        _ => {
                            let again = Transfer::new(&ann, &ben, 30, "rent").unwrap();
                            assert_eq!(again.run().await.unwrap(), Outcome::Done);
                        }
                    }
                }
            })
            .await;
            30
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_step_it_has_happened_once_or_not_at_all() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    use After::{AllAtOnce, NextTransfer, Reader, Recovery, Repetition};
    for steps in 0..=3 {
        for after in [Recovery, Repetition, Reader, NextTransfer, AllAtOnce] {
            let (ann, ben) = accounts(&client).await;
            let told = killed_after(steps, &ann, &ben, 30, "rent").await;
            assert_eq!(told, (steps == 3).then_some(Outcome::Done));
            for _ in 0..2 {
                let pair = read_pair(&ann, &ben).await.unwrap();
                let torn = Seen::Torn { newer: Some(Side::First) };
                assert_eq!(
                    pair.seen,
                    if steps == 1 { torn } else { Seen::Same },
                    "a look tells, and repairs nothing"
                );
                assert_eq!(pair.amounts.0 + pair.amounts.1, if steps == 1 { 80 } else { 110 });
            }

            let moved = come(after, steps, &ann, &ben).await;
            assert_eq!(amounts(&ann, &ben).await, (100 - moved, 10 + moved), "{after:?} after {steps} steps");
            // Whoever asks for it again later gets it once.
            assert_eq!(Transfer::new(&ann, &ben, 30, "rent").unwrap().run().await.unwrap(), Outcome::Done);
            let late = steps == 0 && [Recovery, Reader, NextTransfer].contains(&after);
            let moved = moved + if late { 30 } else { 0 };
            assert_eq!(
                amounts(&ann, &ben).await,
                (100 - moved, 10 + moved),
                "{after:?} after {steps} steps, again"
            );
            assert_eq!(left_open(&client, &ann).await, 0);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn racing_transfers_that_are_killed_anywhere_move_each_amount_once() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    let (ann, ben) = accounts(&client).await;
    let ended = Arc::new(AtomicBool::new(false));
    let watching = side_by_side(3, |i| {
        let (ann, ben, ended) = (ann.clone(), ben.clone(), ended.clone());
        async move {
            let (mut same, mut torn) = (0, 0);
            while !ended.load(Ordering::Relaxed) {
                let pair = match i {
                    0 => read_settled(&ann, &ben, 1).await.unwrap(),
                    1 => read_pair(&ann, &ben).await.unwrap(),
                    _ => read_pair(&ben, &ann).await.unwrap(),
                };
                match pair.seen {
                    Seen::Same => {
                        assert_eq!(pair.amounts.0 + pair.amounts.1, 110, "{pair:?}");
                        same += 1;
                    }
                    Seen::Torn { .. } => torn += 1,
                }
            }
            (same, torn)
        }
    });
    let moving = async {
        let moved = side_by_side(12, |task| {
            let (ann, ben) = (ann.clone(), ben.clone());
            async move {
                let mut moved = 0;
                for turn in 0..40 {
                    let (steps, amount) = (fastrand::usize(0..=3), fastrand::u32(1..=20));
                    let there = fastrand::bool();
                    let (from, to) = if there { (&ann, &ben) } else { (&ben, &ann) };
                    match killed_after(steps, from, to, amount, &format!("{task}-{turn}")).await {
                        Some(Outcome::Insufficient { have }) => assert!(have < i64::from(amount)),
                        Some(Outcome::Done) | None if steps == 0 => {}
                        Some(Outcome::Done) | None => moved += i64::from(amount) * if there { 1 } else { -1 },
                        other => panic!("{other:?}"),
                    }
                }
                moved
            }
        });
        let moved: i64 = moved.await.iter().sum();
        ended.store(true, Ordering::Relaxed);
        moved
    };
    let (watched, moved) = tokio::join!(watching, moving);
    for account in [&ann, &ben] {
        assert_eq!(account.recover().await.unwrap().diverged.len(), 0);
        assert_eq!(left_open(&client, account).await, 0);
    }
    assert_eq!(amounts(&ann, &ben).await, (100 - moved, 10 + moved), "each debited amount has arrived once");
    assert!(watched.iter().any(|seen| seen.1 > 0), "{watched:?}");
    assert_eq!(read_pair(&ann, &ben).await.unwrap().seen, Seen::Same, "when all have ended");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_two_plain_writes_a_kill_loses_the_amount_a_repetition_doubles_it_and_a_reader_can_not_tell() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    let (one, two) = (format!("plain:{}", name("ann")), format!("plain:{}", name("ben")));
    ask(&client, "SET", &one, &["100"]).await;
    ask(&client, "SET", &two, &["10"]).await;
    let sum = async || number(&client, "GET", &one, &[]).await + number(&client, "GET", &two, &[]).await;

    ask(&client, "DECRBY", &one, &["30"]).await;
    assert_eq!(sum().await, 80, "killed here, 30 are gone, and nothing says where to");
    ask(&client, "DECRBY", &one, &["30"]).await;
    ask(&client, "INCRBY", &two, &["30"]).await;
    assert_eq!(number(&client, "GET", &one, &[]).await, 40, "the repetition has debited twice");

    until_broken("a sum of a moment that never was", async |_| {
        ask(&client, "SET", &one, &["100"]).await;
        ask(&client, "SET", &two, &["10"]).await;
        let transfer = async {
            ask(&client, "DECRBY", &one, &["30"]).await;
            ask(&client, "INCRBY", &two, &["30"]).await;
        };
        tokio::join!(transfer, sum()).1 != 110
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_that_were_left_open_are_finished_by_racing_recoveries() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    let (ann, ben) = accounts(&client).await;
    let cid = Account::new(&client, &name("cid")).unwrap();
    ann.deposit(900).await.unwrap();
    for number in 0..250 {
        let to = if number % 2 == 0 { &ben } else { &cid };
        assert_eq!(killed_after(1, &ann, to, 4, &format!("t{number}")).await, None);
    }
    assert_eq!(killed_after(1, &ann, &ben, 1, "last").await, Some(Outcome::Insufficient { have: 0 }));
    let finished = side_by_side(4, |_| {
        let ann = ann.clone();
        async move { ann.recover().await.unwrap() }
    });
    for recovered in finished.await {
        assert!(recovered.finished <= 250 && recovered.diverged.is_empty(), "{recovered:?}");
    }
    assert_eq!(amounts(&ann, &ben).await, (0, 510));
    assert_eq!(amounts(&ann, &cid).await, (0, 500));
    assert_eq!(left_open(&client, &ann).await, 0);
}

/// Ann on node 0, Ben on node 1, with 100 and 10, each with a replica: nodes 3 and 4.
async fn with_replicas(cluster: &Cluster, client: &Client) -> (Account, Account) {
    let on = |label, node| {
        let account = || Account::new(client, &name(label)).unwrap();
        std::iter::repeat_with(account)
            .find(|account| cluster.owner_of(account.keys().slot().get()) == node)
            .unwrap()
    };
    let (ann, ben) = (on("ann", 0), on("ben", 1));
    ann.deposit(100).await.unwrap();
    ben.deposit(10).await.unwrap();
    (ann, ben)
}

async fn done(from: &Account, to: &Account, amount: u32, token: &str) -> Outcome {
    Transfer::new(from, to, amount, token).unwrap().run().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transfer_goes_on_with_the_replica_of_a_primary_that_was_killed_in_the_middle() {
    let cluster = testkit::cluster_with(3, 1);
    let client = client(&cluster).await.with_deadline(LIMIT);
    let (ann, ben) = with_replicas(&cluster, &client).await;
    let mut transfer = Transfer::new(&ann, &ben, 30, "rent").unwrap();
    assert_eq!(transfer.step().await.unwrap(), None);
    cluster.wait_ready();
    cluster.kill(1);
    assert_eq!(transfer.step().await.unwrap(), None);
    assert_eq!(transfer.step().await.unwrap(), Some(Outcome::Done));
    assert_eq!(amounts(&ann, &ben).await, (70, 40));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_failover_lost_is_seen_and_repaired_only_where_that_is_certain() {
    let cluster = testkit::cluster_with(3, 1);
    let client = client(&cluster).await.with_deadline(LIMIT);
    let (ann, ben) = with_replicas(&cluster, &client).await;
    cluster.wait_ready();

    // The destination's new primary has not heard of the credit.
    cluster.pause_replication(4);
    assert_eq!(done(&ann, &ben, 30, "rent").await, Outcome::Done);
    cluster.failover_takeover(4);
    let torn = read_pair(&ann, &ben).await.unwrap();
    assert_eq!((torn.seen, torn.amounts), (Seen::Torn { newer: Some(Side::First) }, (70, 10)));
    assert_eq!(read_pair(&ben, &ann).await.unwrap().seen, Seen::Torn { newer: Some(Side::Second) });
    let repaired = read_settled(&ann, &ben, 2).await.unwrap();
    assert_eq!((repaired.seen, repaired.amounts), (Seen::Same, (70, 40)), "the marker had the intent");

    // The source's new primary has not heard of the debit.
    cluster.wait_ready();
    cluster.pause_replication(3);
    assert_eq!(done(&ann, &ben, 20, "gift").await, Outcome::Done);
    cluster.failover_takeover(3);
    let torn = read_settled(&ann, &ben, 2).await.unwrap();
    let newer = |side| Seen::Torn { newer: side };
    assert_eq!(
        (torn.seen, torn.amounts),
        (newer(Some(Side::Second)), (70, 60)),
        "nobody undoes what ben may have spent"
    );

    // It gives the same version again: of two tokens with one version none is newer.
    assert_eq!(done(&ann, &ben, 7, "tea").await, Outcome::Diverged);
    assert_eq!(read_settled(&ann, &ben, 2).await.unwrap().seen, newer(None));
    assert_eq!(done(&ann, &ben, 8, "more").await, Outcome::Diverged, "nothing overtakes it");
    let cid = Account::new(&client, &name("cid")).unwrap();
    assert_eq!(done(&ann, &cid, 5, "other").await, Outcome::Done, "other accounts are not held up");
    let recovered = ann.recover().await.unwrap();
    assert_eq!((recovered.finished, recovered.diverged), (0, [ben.name()].into()));
    let pair = read_settled(&ann, &ben, 2).await.unwrap();
    assert_eq!(
        (pair.seen, pair.amounts),
        (newer(Some(Side::First)), (50, 60)),
        "it is told, and nothing is made up"
    );
}

#[tokio::test]
async fn a_token_is_one_transfer_and_what_makes_no_sense_is_refused() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    let (ann, ben) = accounts(&client).await;
    let run = async |to: &Account, amount, token: &str| {
        Transfer::new(&ann, to, amount, token).unwrap().run().await.unwrap()
    };
    assert_eq!(run(&ben, 101, "much").await, Outcome::Insufficient { have: 100 });
    assert_eq!(run(&ben, 30, "rent").await, Outcome::Done);
    assert_eq!(run(&ben, 30, "rent").await, Outcome::Done);
    assert_eq!(run(&ben, 31, "rent").await, Outcome::OtherTransfer);
    let cid = Account::new(&client, &name("cid")).unwrap();
    assert_eq!(run(&cid, 30, "rent").await, Outcome::OtherTransfer);
    assert_eq!(killed_after(1, &ann, &ben, 5, "open").await, None);
    assert_eq!(run(&ben, 6, "open").await, Outcome::OtherTransfer);
    assert_eq!(run(&ben, 5, "open").await, Outcome::Done);
    assert_eq!(amounts(&ann, &ben).await, (65, 45));

    assert!(Transfer::new(&ann, &ann, 1, "t").err().unwrap().is_refused());
    assert!(Transfer::new(&ann, &ben, 0, "t").err().unwrap().is_refused());
    for token in ["", "a b", "ä", &"x".repeat(65)] {
        let error = Transfer::new(&ann, &ben, 1, token).err().unwrap();
        assert!(error.is_refused() && error.to_string().contains("1 to 64 ASCII characters"), "{error}");
    }
}
