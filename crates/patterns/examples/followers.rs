//! One big, hot set in 6 shares: sub-keys of one tag split the key and not the load, spread tags split both.
#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use echomq_cluster::{Client, Command, Repeat, Value, raw};
use echomq_local::{Launch, Local};
use echomq_patterns::followers::Followers;
use futures_util::future::try_join_all;

const SHARES: u16 = 6;
const MEMBERS: usize = 3_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let local = Launch::cluster(3).start()?;
    for node in local.nodes() {
        // Valkey can tell what each slot costs; others can not.
        let _ = node.ask::<()>(&["CONFIG", "SET", "cluster-slot-stats-enabled", "yes"]);
    }
    println!("{MEMBERS} followers of ann in {SHARES} shares on 3 nodes. What the busiest one has, of all:\n");
    println!("{:<14}{:>9}{:>11}{:>11}{:>15}", "", "members", "requests", "requests", "processor time");
    println!("{:<14}{:>9}{:>11}{:>11}{:>15}", "", "by key", "by slot", "by node", "by slot");

    let client = Client::connect(&local.url()).await?;
    let sub_keys = Followers::sub_keys(&client, "ann", SHARES)?;
    show("sub-keys", &local, &client, &sub_keys).await?;
    local.nodes().iter().try_for_each(|node| node.ask::<()>(&["CONFIG", "RESETSTAT"]))?;
    // A client of its own, so that its counts begin at 0.
    let client = Client::connect(&local.url()).await?;
    let spread = Followers::spread_tags(&client, "ann", SHARES)?;
    show("spread tags", &local, &client, &spread).await?;

    println!("\nSub-keys share the tag, and so the slot and the node:");
    sub_keys.keys().iter().take(3).for_each(|key| println!("  {:<32} slot {}", key.to_string(), key.slot()));
    println!("Spread tags have a slot each:");
    spread.keys().iter().for_each(|key| println!("  {:<32} slot {}", key.to_string(), key.slot()));

    let old = "fan-1";
    let elsewhere = |new: &String| spread.share_of(new) != spread.share_of(old);
    let new = (MEMBERS..)
        .map(|number| format!("fan-{number}"))
        .find(elsewhere)
        .ok_or("one of them is in another share")?;
    println!("\nThe price: what touches two shares at once, such as a new name for a member.");
    println!("  sub-keys     renamed: {}", sub_keys.rename(old, &new).await?);
    let refused = spread.rename(old, &new).await.err().ok_or("the shares are on two slots")?;
    println!("  spread tags  {}", refused.to_string().lines().next().unwrap_or_default());
    Ok(())
}

async fn show(
    name: &str,
    local: &Local,
    client: &Client,
    fans: &Followers,
) -> Result<(), Box<dyn std::error::Error>> {
    let members: Vec<String> = (0..MEMBERS).map(|number| format!("fan-{number}")).collect();
    for some in members.chunks(100) {
        try_join_all(some.iter().map(|member| fans.add(member))).await?;
    }
    let slots: Vec<u64> = client.slot_requests().into_iter().map(|(_, requests)| requests).collect();
    let nodes: Vec<u64> = local
        .nodes()
        .iter()
        .map(|node| node.ask(&["INFO", "commandstats"]).map(|text: String| adds(&text)))
        .collect::<Result<_, _>>()?;
    let mut cpu = Vec::new();
    for node in client.primaries() {
        let ask = raw("CLUSTER").arg(&["SLOT-STATS", "ORDERBY", "CPU-USEC", "LIMIT", "100"]).clone();
        if let Ok(stats) = client.call_node(&node, &ask).await {
            cpu.extend(microseconds(stats));
        }
    }
    let mut keys = Vec::new();
    for key in fans.keys() {
        if let Value::Int(members) = client.call(Command::new("SCARD").key(key), Repeat::Idempotent).await? {
            keys.push(members as u64);
        }
    }
    let [keys, slots, nodes, cpu] = [keys, slots, nodes, cpu].map(|parts| busiest(&parts));
    println!("{name:<14}{keys:>9}{slots:>11}{nodes:>11}{cpu:>15}");
    Ok(())
}

/// The share of the largest part, in per cent.
fn busiest(parts: &[u64]) -> String {
    match parts.iter().sum::<u64>() {
        0 => "not told".to_owned(),
        all => format!("{} %", parts.iter().max().unwrap_or(&0) * 100 / all),
    }
}

/// How often SADD was called, as `INFO commandstats` says it.
fn adds(text: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix("cmdstat_sadd:calls="));
    line.and_then(|rest| rest.split(',').next()?.parse().ok()).unwrap_or(0)
}

/// The processor time of each slot in a reply of `CLUSTER SLOT-STATS`.
fn microseconds(stats: Value) -> Vec<u64> {
    type Slot = (u16, std::collections::HashMap<String, u64>);
    let slots: Vec<Slot> = redis::from_redis_value(stats).unwrap_or_default();
    slots.iter().filter_map(|(_, stats)| stats.get("cpu-usec").copied()).collect()
}
