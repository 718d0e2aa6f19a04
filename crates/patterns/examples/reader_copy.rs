//! A page read from a replica: how old it is at most, and what a replica that lost its primary says.
#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::time::Duration;

use echomq_cluster::Client;
use echomq_local::{Launch, Node};
use echomq_patterns::reader_copy::{Page, Read};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let local = Launch::cluster(1).replicas(1).start()?;
    let (primary, replica) = (&local.nodes()[0], &local.nodes()[1]);
    until_named(primary, replica).await?;
    let client = Client::connect(&local.url()).await?;
    let page = Page::new(&client, "home")?;
    println!("{} on {}, copied by {}.", page.keys().text(), primary.address(), replica.address());

    let empty = page.current().await?;
    println!("\nTwo editors saw version {}. One is first:", empty.version());
    println!("  {:?}", page.update(&empty, "Welcome").await?);
    println!("  {:?}", page.update(&empty, "Hello").await?);

    println!("\nReaders ask the replica; the owner is asked for its version once per bound:");
    while !matches!(page.read(Duration::ZERO).await?, Read::Within(_)) {}
    let before = calls(primary)?;
    for _ in 0..1_000 {
        let _ = page.read(Duration::from_secs(60)).await?;
    }
    println!("  1000 reads within 60 s: {} of them asked the owner", calls(primary)? - before);

    // The replica may not follow any more, and goes on answering.
    primary.ask::<()>(&["ACL", "SETUSER", "default", "-psync", "-replconf"])?;
    primary.ask::<u64>(&["CLIENT", "KILL", "TYPE", "replica"])?;
    while !replica.ask::<String>(&["INFO", "replication"])?.contains("master_link_status:down") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let _ = page.update(&page.current().await?, "Closed today").await?;
    println!("\nThe replica has lost its primary, and the page is changed to `Closed today`:");
    match page.read(Duration::from_secs(60)).await? {
        Read::Within(copy) => println!(
            "  60 s are good enough: `{}`, version {}, less than 60 s old: {}",
            copy.body,
            copy.version,
            copy.age_at_most.as_secs() < 60
        ),
        behind => println!("  {behind:?}"),
    }
    println!("  it must be of now:   {:?}", page.read(Duration::ZERO).await?);

    println!("\nWho decides asks the owner; a copy is of another type, and `update` does not take it:");
    println!("  {:?}", page.current().await?);
    Ok(())
}

/// Waits until both nodes name the replica to clients: some do so only when it has copied something.
async fn until_named(primary: &Node, replica: &Node) -> Result<(), Box<dyn std::error::Error>> {
    primary.ask::<()>(&["SET", "first", "1"])?;
    for node in [primary, replica] {
        while !format!("{:?}", node.ask::<redis::Value>(&["CLUSTER", "SLOTS"])?)
            .contains(&replica.port().to_string())
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    Ok(())
}

/// How often the node was asked for a version or for a page.
fn calls(node: &Node) -> Result<u64, Box<dyn std::error::Error>> {
    let text: String = node.ask(&["INFO", "commandstats"])?;
    let calls = ["cmdstat_hget:calls=", "cmdstat_hmget:calls="].into_iter().map(|name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.split(',').next()?.parse::<u64>().ok()).unwrap_or(0)
    });
    Ok(calls.sum())
}
