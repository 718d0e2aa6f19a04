//! Two pots of one account under an optimistic lock: 8 tasks move money at once, and the sum stays.
#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use echomq_cluster::Client;
use echomq_local::Launch;
use echomq_patterns::balances::{Balances, Shifted};
use futures_util::future::join_all;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let local = Launch::cluster(3).start()?;
    let client = Client::connect(&local.url()).await?;
    let account = Balances::new(&client, "ann")?;
    let (cash, savings) = (account.keys().pot("cash"), account.keys().pot("savings"));
    println!("{cash} and {savings} share slot {}: one WATCH, one MULTI.", cash.slot());

    account.deposit("cash", 100).await?;
    account.deposit("savings", 20).await?;
    println!("\nPut in: 100 and 20.");
    println!("  shift 30   {:?}", account.shift("cash", "savings", 30, 10).await?);
    println!("  shift 500  {:?}, nothing was written", account.shift("cash", "savings", 500, 10).await?);

    for attempts in [1, 50] {
        let shifts = (0..8).map(|i| {
            let account = account.clone();
            let (from, to) = if i % 2 == 0 { ("cash", "savings") } else { ("savings", "cash") };
            tokio::spawn(async move { account.shift(from, to, 1, attempts).await })
        });
        let (mut done, mut contended, mut said) = (0, 0, None);
        for told in join_all(shifts).await {
            match told? {
                Ok(Shifted::Done { .. }) => done += 1,
                Ok(Shifted::Insufficient { .. }) => {}
                Err(error) if error.is_contended() => (contended, said) = (contended + 1, Some(error)),
                Err(error) => return Err(error.into()),
            }
        }
        let pots = account.read(&["cash", "savings"]).await?;
        println!("\n8 shifts at once, at most {attempts} attempts: {done} done, {contended} gave up.");
        println!("  pots {pots:?}, together {}", pots.iter().sum::<i64>());
        said.iter().for_each(|said| println!("  {said}"));
    }

    println!("\nPots of two accounts are on two slots:");
    let ben = Balances::new(&client, "ben")?;
    println!("  {} slot {}", account.keys().pot("cash"), account.keys().slot());
    println!("  {} slot {}; for those see the example `transfer`", ben.keys().pot("cash"), ben.keys().slot());
    Ok(())
}
