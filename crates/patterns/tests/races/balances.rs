use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use echomq_patterns::balances::{Balances, Shifted};

use crate::scene::{ask, client, name, number, side_by_side, until_broken};

const POTS: [&str; 3] = ["cash", "savings", "tax"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn racing_shifts_never_change_the_sum_and_who_lost_is_told() {
    let cluster = testkit::cluster();
    let account = Balances::new(&client(&cluster).await, &name("account")).unwrap();
    for pot in POTS {
        account.deposit(pot, 50).await.unwrap();
    }
    let ended = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn({
        let (account, ended) = (account.clone(), ended.clone());
        async move {
            let mut looks = 0;
            while !ended.load(Ordering::Relaxed) {
                let pots = account.read(&POTS).await.unwrap();
                assert_eq!(pots.iter().sum::<i64>(), 150, "{pots:?}");
                assert!(pots.iter().all(|pot| *pot >= 0), "{pots:?}");
                looks += 1;
            }
            looks
        }
    });
    let told = side_by_side(16, |i| {
        let account = account.clone();
        async move {
            // What this task put into the first pot, and the attempts it was given up after.
            let (mut net, mut done, mut contended) = (0, 0, 0);
            for turn in 0..30 {
                let (from, to) = (POTS[(i + turn) % 3], POTS[(i + turn + 1 + turn % 2) % 3]);
                let amount = 1 + (turn as u32 % 40);
                match account.shift(from, to, amount, 1 + turn as u32 % 3).await {
                    Ok(Shifted::Done { from: left, .. }) => {
                        assert!(left >= 0);
                        done += 1;
                        net += i64::from(amount) * (i64::from(to == "cash") - i64::from(from == "cash"));
                    }
                    Ok(Shifted::Insufficient { have }) => assert!(have < i64::from(amount)),
                    Err(error) => {
                        assert!(error.is_contended(), "{error}");
                        contended += 1;
                    }
                }
            }
            (net, done, contended)
        }
    });
    let told = told.await;
    ended.store(true, Ordering::Relaxed);
    assert!(reader.await.unwrap() > 0);
    let cash = account.read(&POTS).await.unwrap()[0];
    assert_eq!(cash, 50 + told.iter().map(|told| told.0).sum::<i64>(), "a refused shift has written");
    assert!(told.iter().any(|told| told.1 > 0), "none was done");
    assert!(told.iter().any(|told| told.2 > 0), "none was contended: this was no race");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_two_looks_and_two_writes_racing_shifts_change_the_sum() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    until_broken("another sum", async |_| {
        let account = name("account");
        let (cash, savings) = (format!("account:{account}:cash"), format!("account:{account}:savings"));
        ask(&client, "SET", &cash, &["100"]).await;
        let shift = async |amount: i64| {
            let (have, had) =
                (number(&client, "GET", &cash, &[]).await, number(&client, "GET", &savings, &[]).await);
            ask(&client, "SET", &cash, &[&(have - amount).to_string()]).await;
            ask(&client, "SET", &savings, &[&(had + amount).to_string()]).await;
        };
        // In step both would write the same pair; a little apart, one writes the one pot last and the other the other.
        tokio::join!(shift(10), async {
            number(&client, "GET", &savings, &[]).await;
            shift(20).await;
        });
        number(&client, "GET", &cash, &[]).await + number(&client, "GET", &savings, &[]).await != 100
    })
    .await;
}

#[tokio::test]
async fn what_is_not_there_is_not_shifted() {
    let cluster = testkit::cluster();
    let account = Balances::new(&client(&cluster).await, &name("account")).unwrap();
    assert_eq!(account.shift("cash", "tax", 1, 3).await.unwrap(), Shifted::Insufficient { have: 0 });
    assert_eq!(account.deposit("cash", 10).await.unwrap(), 10);
    assert_eq!(account.shift("cash", "tax", 4, 3).await.unwrap(), Shifted::Done { from: 6, to: 4 });
    assert_eq!(account.shift("cash", "tax", 7, 3).await.unwrap(), Shifted::Insufficient { have: 6 });
    assert!(account.shift("cash", "cash", 1, 3).await.unwrap_err().is_refused());
    assert_eq!(account.read(&POTS).await.unwrap(), [6, 0, 4]);
}
