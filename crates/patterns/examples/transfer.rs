//! A transfer between two accounts on two slots: killed in the middle, seen, finished, and never done twice.
#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use echomq_cluster::{Client, Command, Transaction};
use echomq_local::Launch;
use echomq_patterns::transfer::{Account, Seen, Transfer, read_pair, read_settled};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let local = Launch::cluster(3).start()?;
    let client = Client::connect(&local.url()).await?;
    let (ann, bob) = (Account::new(&client, "ann")?, Account::new(&client, "bob")?);
    for account in [&ann, &bob] {
        let owner = client.owner(account.keys().slot()).map(|node| node.to_string()).unwrap_or_default();
        println!("{} slot {:>5} on {owner}", account.keys().balance(), account.keys().slot());
    }
    ann.deposit(100).await?;
    bob.deposit(10).await?;

    println!("\nOne MULTI for both is refused before it is sent:");
    let both = [ann.keys().balance(), bob.keys().balance()];
    let both = both.map(|key| Command::new("HINCRBY").key(key).arg("amount").arg(1));
    println!("  {}", first_line(&Transaction::of(both).err().ok_or("two slots")?));

    println!("\nAnn sends 30, step by step. After each step somebody reads both accounts:");
    let mut transfer = Transfer::new(&ann, &bob, 30, "rent")?;
    for step in ["debit", "credit", "commit"] {
        let outcome = transfer.step().await?;
        println!("  {step:<7} {:<60} {outcome:?}", seen(&ann, &bob).await?);
    }

    println!("\nThe next one is killed after its debit:");
    let mut transfer = Transfer::new(&ann, &bob, 25, "gift")?;
    transfer.step().await?;
    drop(transfer);
    println!("  {}", seen(&ann, &bob).await?);
    println!("Four come to help at the same time, two of them with the same token:");
    let again = || async { Transfer::new(&ann, &bob, 25, "gift")?.run().await };
    let (one, two, first, second) = tokio::join!(ann.recover(), ann.recover(), again(), again());
    println!("  recovered {} and {}, repeated {:?} and {:?}", one?.finished, two?.finished, first?, second?);
    println!("  {}", seen(&ann, &bob).await?);

    println!("\nA reader repairs as well: it reads again, and then finishes what was left.");
    Transfer::new(&ann, &bob, 5, "coffee")?.step().await?;
    println!("  before  {}", seen(&ann, &bob).await?);
    read_settled(&ann, &bob, 3).await?;
    println!("  after   {}", seen(&ann, &bob).await?);

    println!("\nWhat is not done, and why:");
    println!("  too much        {:?}", Transfer::new(&ann, &bob, 500, "car")?.run().await?);
    println!("  token for other {:?}", Transfer::new(&ann, &bob, 26, "gift")?.run().await?);
    println!(
        "  token again     {:?}, and nothing moves: {}",
        Transfer::new(&ann, &bob, 25, "gift")?.run().await?,
        seen(&ann, &bob).await?
    );
    Ok(())
}

async fn seen(ann: &Account, bob: &Account) -> Result<String, Box<dyn std::error::Error>> {
    let pair = read_pair(ann, bob).await?;
    let (one, two) = pair.amounts;
    Ok(match pair.seen {
        Seen::Same => format!("{one} + {two} = {}", one + two),
        Seen::Torn { newer } => format!("{one} + {two} = {}: torn, newer {newer:?}", one + two),
    })
}

fn first_line(error: &impl ToString) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
