use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use echomq_cluster::Client;
use echomq_patterns::stock::{Levels, Reserved, Stock};

use testkit::LIMIT;

use crate::scene::{ask, client, name, number, side_by_side, until_broken};

const CLIENTS: usize = 64;
const RECEIVED: i64 = 500;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_racing_clients_sell_no_piece_twice() {
    let cluster = testkit::cluster();
    let sku = name("mug");
    let stock = Stock::new(&client(&cluster).await, &sku).unwrap();
    stock.receive(RECEIVED as u32).await.unwrap();
    let ended = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn({
        let (stock, ended) = (stock.clone(), ended.clone());
        async move {
            let mut looks = 0;
            while !ended.load(Ordering::Relaxed) {
                let levels = stock.levels().await.unwrap();
                assert_eq!(levels.total(), RECEIVED, "{levels:?}");
                assert!(levels.available >= 0 && levels.reserved >= 0 && levels.sold >= 0, "{levels:?}");
                looks += 1;
            }
            looks
        }
    });
    let url = cluster.url();
    let told = side_by_side(CLIENTS, |i| {
        let (url, sku) = (url.clone(), sku.clone());
        async move {
            let stock = Stock::new(&Client::connect(&url).await.unwrap(), &sku).unwrap();
            let (mut sold, mut kept, mut refused) = (0, 0, 0);
            for turn in 0..20 {
                let (name, quantity) = (format!("{i}-{turn}"), 1 + turn % 3);
                match stock.reserve(&name, quantity).await.unwrap() {
                    Reserved::Held => {}
                    Reserved::Insufficient { available } => {
                        assert!(available < u64::from(quantity));
                        refused += 1;
                        continue;
                    }
                    Reserved::Other { held } => panic!("{held} under a name of its own"),
                }
                match turn % 4 {
                    0 => kept += i64::from(quantity),
                    1 => assert_eq!(stock.release(&name).await.unwrap(), Some(quantity.into())),
                    _ => sold += stock.sell(&name).await.unwrap().unwrap() as i64,
                }
            }
            (sold, kept, refused)
        }
    });
    let told = told.await;
    ended.store(true, Ordering::Relaxed);
    assert!(reader.await.unwrap() > 0);
    let (sold, reserved) = (told.iter().map(|told| told.0).sum(), told.iter().map(|told| told.1).sum());
    assert_eq!(
        stock.levels().await.unwrap(),
        Levels { available: RECEIVED - sold - reserved, reserved, sold }
    );
    assert!(told.iter().any(|told| told.2 > 0), "there was enough for all: this was no race");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_a_look_and_then_a_write_sixty_four_racing_clients_sell_what_is_not_there() {
    let cluster = testkit::cluster();
    let url = cluster.url();
    let clients = side_by_side(CLIENTS, |_| {
        let url = url.clone();
        async move { Client::connect(&url).await.unwrap() }
    });
    let clients = Arc::new(clients.await);
    until_broken("more reserved than there was", async |_| {
        let sku = name("mug");
        let available = format!("stock:{sku}:available");
        ask(&clients[0], "SET", &available, &["10"]).await;
        side_by_side(CLIENTS, |i| {
            let (clients, sku, available) = (clients.clone(), sku.clone(), available.clone());
            async move {
                if number(&clients[i], "GET", &available, &[]).await >= 1 {
                    ask(&clients[i], "DECRBY", &available, &["1"]).await;
                    ask(&clients[i], "INCRBY", &format!("stock:{sku}:reserved"), &["1"]).await;
                }
            }
        })
        .await;
        number(&clients[0], "GET", &available, &[]).await < 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_slot_that_moves_meanwhile_no_piece_is_lost_or_sold_twice() {
    let cluster = testkit::cluster();
    let stock = Stock::new(&client(&cluster).await.with_deadline(LIMIT), &name("mug")).unwrap();
    stock.receive(100_000).await.unwrap();
    let ended = Arc::new(AtomicBool::new(false));
    let buying = side_by_side(8, |i| {
        let (stock, ended) = (stock.clone(), ended.clone());
        async move {
            let mut sold = 0;
            for turn in 0.. {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                let name = format!("{i}-{turn}");
                assert_eq!(stock.reserve(&name, 2).await.unwrap(), Reserved::Held);
                match turn % 2 {
                    0 => assert_eq!(stock.release(&name).await.unwrap(), Some(2)),
                    _ => sold += stock.sell(&name).await.unwrap().unwrap() as i64,
                }
            }
            sold
        }
    });
    let (slot, end) = (stock.keys().slot().get(), ended.clone());
    let moving = tokio::task::spawn_blocking(move || {
        let from = cluster.owner_of(slot);
        let to = cluster.primaries().into_iter().find(|node| *node != from).unwrap();
        cluster.move_slot_by_key(slot, from, to);
        cluster.move_slot(slot, to, from);
        if testkit::engine().has_atomic_migration() {
            cluster.migrate_slots(slot, from, to);
            cluster.migrate_slots(slot, to, from);
        }
        end.store(true, Ordering::Relaxed);
    });
    let (sold, moved) = tokio::join!(buying, moving);
    moved.unwrap();
    let sold: i64 = sold.iter().sum();
    assert!(sold > 0);
    assert_eq!(stock.levels().await.unwrap(), Levels { available: 100_000 - sold, reserved: 0, sold });
}

#[tokio::test]
async fn a_name_reserves_once_and_gives_back_once() {
    let cluster = testkit::cluster();
    let stock = Stock::new(&client(&cluster).await, &name("mug")).unwrap();
    assert_eq!(stock.levels().await.unwrap(), Levels::default());
    assert_eq!(stock.reserve("a", 1).await.unwrap(), Reserved::Insufficient { available: 0 });
    assert_eq!(stock.receive(5).await.unwrap(), 5);
    assert_eq!(stock.reserve("a", 3).await.unwrap(), Reserved::Held);
    assert_eq!(stock.reserve("a", 3).await.unwrap(), Reserved::Held);
    assert_eq!(stock.reserve("a", 2).await.unwrap(), Reserved::Other { held: 3 });
    assert_eq!(stock.reserve("b", 3).await.unwrap(), Reserved::Insufficient { available: 2 });
    assert_eq!(stock.levels().await.unwrap(), Levels { available: 2, reserved: 3, sold: 0 });
    assert_eq!(stock.sell("a").await.unwrap(), Some(3));
    assert_eq!(stock.sell("a").await.unwrap(), None);
    assert_eq!(stock.release("a").await.unwrap(), None);
    assert_eq!(stock.levels().await.unwrap(), Levels { available: 2, reserved: 0, sold: 3 });
    assert!(stock.reserve("c", 0).await.unwrap_err().is_refused());
}
