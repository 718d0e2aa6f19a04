//! A session whose keys live and end together, and what comes too late for it.
#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::time::Duration;

use echomq_cluster::{Client, Command, Repeat, Value};
use echomq_local::Launch;
use echomq_patterns::session::Session;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let local = Launch::cluster(3).start()?;
    let client = Client::connect(&local.url()).await?;
    let session = Session::new(&client, "9f2c")?;
    println!("A session has four keys on slot {}.", session.keys().slot());

    session.begin(Duration::from_secs(60)).await?;
    session.put("theme", "dark").await?;
    session.add_to_cart("MUG7", 1).await?;
    session.add_to_cart("POT2", 1).await?;
    println!("\nAnn logs in, and has 3 mugs in a cart elsewhere; the larger number counts:");
    println!("  {:?}", session.log_in("ann", &[("MUG7", 3)]).await?);
    println!("  {:?} for ben, who comes second", session.log_in("ben", &[]).await?);

    session.touch(Duration::from_secs(1800)).await?;
    println!("\nTouched once, all keys end in the same millisecond:");
    for key in session.keys().all() {
        println!("  {:<22} ends at {}", key.to_string(), ends(&client, key.as_bytes()).await?);
    }
    let snapshot = session.read().await?.ok_or("it lives")?;
    println!("  user {:?}, cart {:?}, data {:?}", snapshot.user, snapshot.cart, snapshot.data);

    println!("\nIt ends. What comes after that changes nothing, and is told:");
    println!("  end         {}", session.end().await?);
    println!("  add to cart {}", session.add_to_cart("MUG7", 1).await?);
    println!("  touch       {}", session.touch(Duration::from_secs(60)).await?);
    println!("  log in      {:?}", session.log_in("ann", &[]).await?);
    println!("  read        {:?}", session.read().await?);

    println!("\nDone by hand, a look and then a write, the cart comes back alone and for ever:");
    client.call(Command::new("HINCRBY").key("session:9f2d:cart").arg(&["MUG7", "1"]), Repeat::Never).await?;
    println!("  session:9f2d:cart ends at {} (-1: never)", ends(&client, b"session:9f2d:cart").await?);
    Ok(())
}

async fn ends(client: &Client, key: &[u8]) -> Result<i64, Box<dyn std::error::Error>> {
    match client.call(Command::new("PEXPIRETIME").key(key), Repeat::Idempotent).await? {
        Value::Int(ms) => Ok(ms),
        other => Err(format!("{other:?}").into()),
    }
}
