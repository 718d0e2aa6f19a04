//! An order whose status and history change together, and what becomes of changes that come too late.
#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use echomq_cluster::{Client, Command, Repeat, Transaction};
use echomq_local::Launch;
use echomq_patterns::order::{Item, Order, Status};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let local = Launch::cluster(3).start()?;
    let client = Client::connect(&local.url()).await?;
    let order = Order::new(&client, "A7")?;

    println!("An order has four keys, and the tag {{A7}} puts them on one slot:");
    for key in order.keys().all() {
        println!("  {:<20} {:<4} slot {}", key.to_string(), key.key_type(), key.slot());
    }

    order.place(&[Item::new("MUG", 2, 950)?, Item::new("POT", 1, 2400)?]).await?;
    println!("\nPlaced: 2 mugs at 950, 1 pot at 2400. Header, items, totals and history in one script.");
    let again = order.place(&[Item::new("MUG", 9, 1)?]).await?;
    println!("Placed again under the same number: {again}, what stands stays.");

    println!("\nTwo clerks both see `placed`. One takes the money, one cancels, at the same time:");
    let (pay, cancel) = tokio::join!(
        order.change(Status::Placed, Status::Paid),
        order.change(Status::Placed, Status::Cancelled)
    );
    println!("  placed -> paid       {:?}", pay?);
    println!("  placed -> cancelled  {:?}", cancel?);
    println!(
        "  delivered -> placed  {:?}, not even sent",
        order.change(Status::Delivered, Status::Placed).await?
    );

    let snapshot = order.read().await?.ok_or("the order is there")?;
    println!("\nOne MULTI reads all of it, of one moment:");
    println!("  status {}, {} pieces, {} cents", snapshot.status, snapshot.quantity, snapshot.cents);
    for (ms, status) in &snapshot.history {
        println!("  {ms}  {status}");
    }

    println!("\nThe same change on keys without a tag is refused before it is sent:");
    let change = [
        Command::new("HSET").key("order:A7:head").arg(&["status", "paid"]),
        Command::new("RPUSH").key("order:A7:history").arg("paid"),
    ];
    match Transaction::of(change) {
        Ok(transaction) => drop(client.transaction(transaction, Repeat::Never).await?),
        Err(refused) => println!("{refused}"),
    }
    Ok(())
}
