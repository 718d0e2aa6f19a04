use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use echomq_patterns::order::{Changed, Item, Order, Snapshot, Status};

use crate::scene::{ask, client, name, side_by_side, until_broken};

fn items() -> Vec<Item> {
    vec![Item::new("MUG", 2, 950).unwrap(), Item::new("POT", 1, 2400).unwrap()]
}

/// Status and history tell one story.
fn check(snapshot: &Snapshot) {
    assert_eq!(Some(snapshot.status), snapshot.history.last().map(|entry| entry.1), "{snapshot:?}");
    assert_eq!(snapshot.history[0].1, Status::Placed, "{snapshot:?}");
    assert!(snapshot.history.windows(2).all(|pair| pair[0].1.may_become(pair[1].1)), "{snapshot:?}");
    assert!(snapshot.history.is_sorted_by_key(|entry| entry.0), "{snapshot:?}");
    assert_eq!((snapshot.quantity, snapshot.cents), (3, 4300));
    assert_eq!(snapshot.items, items());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_is_never_seen_without_its_entry_and_of_racing_changes_one_is_done() {
    let cluster = testkit::cluster();
    // Who reads has connections of its own: on one connection nobody would come in between.
    let (other, client) = (client(&cluster).await, client(&cluster).await);
    let mut looks = 0;
    for _ in 0..20 {
        let number = name("order");
        let (order, read) = (Order::new(&client, &number).unwrap(), Order::new(&other, &number).unwrap());
        assert!(order.place(&items()).await.unwrap());
        let ended = Arc::new(AtomicBool::new(false));
        let readers = (0..4).map(|_| {
            let (read, ended) = (read.clone(), ended.clone());
            tokio::spawn(async move {
                let mut looks = 0;
                while !ended.load(Ordering::Relaxed) {
                    check(&read.read().await.unwrap().unwrap());
                    looks += 1;
                }
                looks
            })
        });
        let readers: Vec<_> = readers.collect();
        let done = side_by_side(16, |i| {
            let order = order.clone();
            async move {
                let (mut seen, mut done) = (Status::Placed, 0);
                loop {
                    let next = match (seen, i % 4) {
                        (Status::Placed, _) => Status::Paid,
                        (Status::Paid, 0) => Status::Cancelled,
                        (Status::Paid, _) => Status::Shipped,
                        (Status::Shipped, _) => Status::Delivered,
                        (Status::Delivered | Status::Cancelled, _) => return done,
                    };
                    match order.change(seen, next).await.unwrap() {
                        Changed::Done => (seen, done) = (next, done + 1),
                        Changed::Stands(status) => seen = status,
                        other => panic!("{other:?}"),
                    }
                }
            }
        });
        let done: usize = done.await.iter().sum();
        ended.store(true, Ordering::Relaxed);
        for reader in readers {
            looks += reader.await.unwrap();
        }
        let last = order.read().await.unwrap().unwrap();
        check(&last);
        assert_eq!(done, last.history.len() - 1, "each change that was told as done is in the history once");
    }
    assert!(looks > 20, "the readers looked {looks} times");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_two_commands_on_two_slots_a_status_is_seen_without_its_entry() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    until_broken("a status without its entry", async |_| {
        let number = name("order");
        let (head, history) = (format!("order:{number}:head"), format!("order:{number}:history"));
        let write = async {
            ask(&client, "HSET", &head, &["status", "paid"]).await;
            ask(&client, "RPUSH", &history, &["paid"]).await;
        };
        let look = async {
            let (status, entries) =
                tokio::join!(ask(&client, "HGET", &head, &["status"]), ask(&client, "LLEN", &history, &[]));
            status != redis::Value::Nil && entries == redis::Value::Int(0)
        };
        tokio::join!(write, look).1
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_a_look_and_then_a_write_two_racing_changes_are_both_done() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    until_broken("paid and cancelled at once", async |_| {
        let head = format!("order:{}:head", name("order"));
        ask(&client, "HSET", &head, &["status", "placed"]).await;
        let change = async |next: &'static str| {
            let placed =
                ask(&client, "HGET", &head, &["status"]).await == redis::Value::BulkString(b"placed".into());
            if placed {
                ask(&client, "HSET", &head, &["status", next]).await;
            }
            placed
        };
        tokio::join!(change("paid"), change("cancelled")) == (true, true)
    })
    .await;
}

#[tokio::test]
async fn what_no_order_may_do_is_refused_and_what_is_not_there_is_told() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    let order = Order::new(&client, &name("order")).unwrap();
    assert_eq!(order.read().await.unwrap(), None);
    assert_eq!(order.change(Status::Placed, Status::Paid).await.unwrap(), Changed::Missing);
    assert!(order.place(&items()).await.unwrap());
    assert!(!order.place(&[Item::new("MUG", 9, 1).unwrap()]).await.unwrap());
    check(&order.read().await.unwrap().unwrap());
    assert_eq!(order.change(Status::Placed, Status::Delivered).await.unwrap(), Changed::Illegal);
    assert_eq!(order.change(Status::Paid, Status::Shipped).await.unwrap(), Changed::Stands(Status::Placed));

    assert!(Item::new("MUG", 0, 1).unwrap_err().is_refused());
    let twice = [items(), items()].concat();
    let refused = order.place(&twice).await.unwrap_err();
    assert!(refused.to_string().starts_with("4 items of 2 articles can not be an order"), "{refused}");
    assert!(order.place(&[]).await.unwrap_err().is_refused());
    assert!(Order::new(&client, "A}7").err().unwrap().is_refused());
}
