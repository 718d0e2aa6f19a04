//! A price that everybody reads, away from its product's slot: what is read where, and what comes too late.
#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use echomq_cluster::{Client, Command, Repeat, Transaction};
use echomq_keyspace::{Slot, family, trace};
use echomq_local::Launch;
use echomq_patterns::hot_value::HotValue;

family! {
    /// The keys of one product.
    struct Product(sku: "A-Z0-9", 1..=16) {
        /// `price` and `version`, and whatever else.
        facts: Hash = "product:{sku}:facts";
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let local = Launch::cluster(3).start()?;
    let client = Client::connect(&local.url()).await?;
    let product = Product::new("MUG7")?;
    let hot = HotValue::new(&client, product.entity(), "price")?;
    println!(
        "The product  {:<22} slot {:>5} on {}",
        product.facts().to_string(),
        product.slot(),
        node(&client, product.slot())
    );
    println!(
        "Its price    {:<22} slot {:>5} on {}",
        String::from_utf8_lossy(hot.key()),
        hot.slot(),
        node(&client, hot.slot())
    );
    println!("\n{}", trace(hot.key()));

    println!("\nTwo clerks change the price, and publish it in the wrong order:");
    let first = change(&client, &product, "9.50").await?;
    let second = change(&client, &product, "8.90").await?;
    println!("  version {second}, 8.90: {:?}", hot.publish(second, b"8.90").await?);
    println!("  version {first}, 9.50: {:?}", hot.publish(first, b"9.50").await?);

    let before = requests(&client, &[product.slot(), hot.slot()]);
    for _ in 0..1_000 {
        hot.read().await?;
    }
    let after = requests(&client, &[product.slot(), hot.slot()]);
    println!(
        "\n1000 reads of the price: {} requests on the product's slot, {} on its own.",
        after[0] - before[0],
        after[1] - before[1]
    );
    let read = hot.read().await?.ok_or("published")?;
    println!("  version {}, {}", read.version, String::from_utf8_lossy(&read.value));

    let third = change(&client, &product, "8.50").await?;
    println!(
        "\nThe product is version {third} now, and its publisher died: the price says version {}.",
        read.version
    );
    println!(
        "Who has to be sure reads the product. Who finds the gap publishes: {:?}",
        hot.publish(third, b"8.50").await?
    );
    Ok(())
}

/// Price and version in one MULTI; returns the version.
async fn change(client: &Client, product: &Product, price: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let both = [
        Command::new("HSET").key(product.facts()).arg("price").arg(price),
        Command::new("HINCRBY").key(product.facts()).arg("version").arg(1),
    ];
    let replies = client.transaction(Transaction::of(both)?, Repeat::Never).await?;
    Ok(redis::from_redis_value(replies.into_iter().nth(1).ok_or("two replies")?)?)
}

fn node(client: &Client, slot: Slot) -> String {
    client.owner(slot).map(|node| node.to_string()).unwrap_or_default()
}

fn requests(client: &Client, slots: &[Slot]) -> Vec<u64> {
    let all = client.slot_requests();
    slots.iter().map(|slot| all.iter().find(|seen| seen.0 == *slot).map_or(0, |seen| seen.1)).collect()
}
