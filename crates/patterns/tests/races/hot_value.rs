use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use echomq_cluster::{Client, Command, Repeat, Transaction};
use echomq_keyspace::{family, hash_tag};
use echomq_patterns::hot_value::{HotValue, Published};

use crate::scene::{ask, client, name, number, side_by_side, until_broken};

family! {
    struct Product(sku: "A-Za-z0-9-", 1..=40) {
        facts: Hash = "product:{sku}:facts";
    }
}

/// Changes the price and returns the version that it is.
async fn change(client: &Client, product: &Product, price: usize) -> u64 {
    let both = [
        Command::new("HSET").key(product.facts()).arg("price").arg(price),
        Command::new("HINCRBY").key(product.facts()).arg("version").arg(1),
    ];
    let replies = client.transaction(Transaction::of(both).unwrap(), Repeat::Never).await.unwrap();
    redis::from_redis_value(replies.into_iter().nth(1).unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn however_publications_race_the_version_never_goes_back_and_the_newest_stands() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    let product = Product::new(name("mug")).unwrap();
    let hot = HotValue::new(&client, product.entity(), "price").unwrap();
    assert_eq!(hot.read().await.unwrap(), None);
    let ended = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn({
        let (hot, ended) = (hot.clone(), ended.clone());
        async move {
            let (mut last, mut looks) = (0, 0);
            while !ended.load(Ordering::Relaxed) {
                if let Some(read) = hot.read().await.unwrap() {
                    assert!(read.version >= last, "{} after {last}", read.version);
                    assert_eq!(read.value, format!("price of {}", read.version).into_bytes());
                    (last, looks) = (read.version, looks + 1);
                }
            }
            looks
        }
    });
    let older = side_by_side(16, |i| {
        let (client, product, hot) = (client.clone(), product.clone(), hot.clone());
        async move {
            let mut older = 0;
            for turn in 0..20 {
                let version = change(&client, &product, i * turn).await;
                let told = hot.publish(version, format!("price of {version}").as_bytes()).await.unwrap();
                match told {
                    Published::Older { stands } => {
                        assert!(stands > version, "each version is published once");
                        older += 1;
                    }
                    Published::Done => {}
                }
            }
            older
        }
    });
    let older: usize = older.await.iter().sum();
    ended.store(true, Ordering::Relaxed);
    assert!(reader.await.unwrap() > 0);
    assert_eq!(hot.read().await.unwrap().unwrap().version, 320, "{older} came too late");
    assert_eq!(hot.publish(319, b"late").await.unwrap(), Published::Older { stands: 320 });
    assert_eq!(hot.publish(320, b"again").await.unwrap(), Published::Older { stands: 320 });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_a_plain_write_an_older_value_replaces_a_newer_one() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    let other = crate::scene::client(&cluster).await;
    until_broken("an older value at the end", async |_| {
        let product = Product::new(name("mug")).unwrap();
        let plain = format!("hot:price:{}", String::from_utf8_lossy(product.sku()));
        let publish = async |client: &Client| {
            let version = change(client, &product, 1).await.to_string();
            ask(client, "SET", &plain, &[&version]).await;
        };
        tokio::join!(publish(&client), publish(&other), publish(&client), publish(&other));
        number(&client, "GET", &plain, &[]).await < 4
    })
    .await;
}

#[tokio::test]
async fn reading_the_hot_value_costs_the_entitys_slot_nothing() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    let product = Product::new(name("mug")).unwrap();
    let hot = HotValue::new(&client, product.entity(), "price").unwrap();
    let version = change(&client, &product, 950).await;
    assert_eq!(hot.publish(version, b"9.50").await.unwrap(), Published::Done);
    let requests =
        |slot| client.slot_requests().into_iter().find(|seen| seen.0 == slot).map_or(0, |seen| seen.1);
    let (entity, own) = (requests(product.slot()), requests(hot.slot()));
    for _ in 0..100 {
        assert_eq!(hot.read().await.unwrap().unwrap().value, b"9.50");
    }
    assert_eq!((requests(product.slot()) - entity, requests(hot.slot()) - own), (0, 100));
}

#[tokio::test]
async fn the_key_has_no_tag_and_is_on_another_node_than_the_entity() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    for number in 0..2_000 {
        let product = Product::new(format!("mug-{number}")).unwrap();
        let price = HotValue::new(&client, product.entity(), "price").unwrap();
        assert_eq!(hash_tag(price.key()), price.key(), "the whole key is hashed");
        let apart = price.slot().get().abs_diff(product.slot().get());
        assert!((5_462..=10_922).contains(&apart), "{apart} slots apart");
        assert_ne!(client.owner(price.slot()), client.owner(product.slot()), "three even shares");
        let stars = HotValue::new(&client, product.entity(), "stars").unwrap();
        assert_ne!(stars.slot(), price.slot());
    }
    for name in ["", "a:b", "a{b}"] {
        let refused = HotValue::new(&client, Product::new("A7").unwrap().entity(), name).err().unwrap();
        assert!(refused.is_refused(), "{refused}");
    }
}
