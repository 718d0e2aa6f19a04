//! 64 buyers want 96 mugs of which there are 40: what each is told, and that none is sold twice.
#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use echomq_cluster::Client;
use echomq_local::Launch;
use echomq_patterns::stock::{Reserved, Stock};
use futures_util::future::try_join_all;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let local = Launch::cluster(3).start()?;
    let client = Client::connect(&local.url()).await?;
    let stock = Stock::new(&client, "MUG7")?;
    println!("An article has four keys on slot {}:", stock.keys().slot());
    stock.keys().all().iter().for_each(|key| println!("  {:<24} {}", key.to_string(), key.key_type()));

    stock.receive(40).await?;
    println!("\n40 received. 64 buyers reserve at once, 1 or 2 each:");
    let asked = (1..=64u32).map(|i| {
        let stock = stock.clone();
        async move { stock.reserve(&format!("order-{i}"), 1 + i % 2).await }
    });
    let told = try_join_all(asked).await?;
    let held = told.iter().filter(|told| **told == Reserved::Held).count();
    println!("  {held} hold theirs, {} were told that there are not enough", told.len() - held);
    println!("  {:?}", stock.levels().await?);

    let holders: Vec<String> = (1..)
        .zip(&told)
        .filter(|(_, told)| **told == Reserved::Held)
        .map(|(i, _)| format!("order-{i}"))
        .collect();
    let [first, second, ..] = holders.as_slice() else { return Err("there were enough for two".into()) };
    println!("\n{first} pays, {second} does not:");
    println!("  sell    {:?} pieces", stock.sell(first).await?);
    println!("  release {:?} pieces", stock.release(second).await?);
    println!("  sell    {:?} for {second}: nothing is held any more", stock.sell(second).await?);
    let levels = stock.levels().await?;
    println!("  {levels:?}, together {}", levels.total());

    println!("\nAsked twice under one name, reserved once; more than there is, nothing:");
    println!("  {:?}", stock.reserve("order-99", 1).await?);
    println!("  {:?}", stock.reserve("order-99", 1).await?);
    println!("  {:?}", stock.reserve("order-100", 500).await?);

    println!("\nA name that would break the tag: {}", Stock::new(&client, "MUG}7").err().ok_or("refused")?);
    Ok(())
}
