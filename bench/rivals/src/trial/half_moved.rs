//! S4: many tasks on one client while a slot stands half moved.

use std::time::Instant;

use testkit::Cluster;

use super::{HUNG, connect};
use crate::client::Client;
use crate::counter::{Counter, Reply, Tally};
use crate::findings::Findings;
use crate::ground::{self, put};

/// So many tasks on the half-moved slot, and as many on others.
const TASKS: usize = 32;
const EACH: i64 = 100;

pub(super) async fn run<C: Client>(cluster: &Cluster) -> Result<Findings, String> {
    let moving: Vec<String> = (0..TASKS).map(|i| format!("{{s4}}:{i}")).collect();
    let way = ground::way(cluster, &moving[0]);
    let elsewhere = (0..).map(|i| format!("s4:{i}")).filter(|key| cluster.slot_of(key) != way.slot);
    let keys: Vec<String> = moving.iter().cloned().chain(elsewhere.take(TASKS)).collect();
    let client: C = connect(cluster).await?;
    // As in life: the client has been at work, and has its connections.
    for key in &keys {
        client.get(key).await?;
    }
    let counters: Vec<Counter> = (0..keys.len()).map(Counter::of_task).collect();
    tokio::task::block_in_place(|| {
        for (key, counter) in keys.iter().zip(&counters) {
            put(cluster, cluster.owner_of(cluster.slot_of(key)), key, counter.base());
        }
        cluster.begin_move(way.slot, way.from, way.to);
        cluster.move_keys(way.from, way.to, &moving);
    });
    let redirects = ["ASK", "MOVED"].map(|code| ground::errors(cluster, code));

    let begun = Instant::now();
    let tasks: Vec<_> = keys
        .iter()
        .zip(counters)
        .map(|(key, counter)| tokio::spawn(count(client.clone(), key.clone(), counter)))
        .collect();
    let mut ended = Vec::new();
    for task in tasks {
        ended.push(task.await.map_err(|error| error.to_string())?);
    }
    let took = begun.elapsed();

    let [ask, moved] = ["ASK", "MOVED"].map(|code| ground::errors(cluster, code));
    tokio::task::block_in_place(|| cluster.finish_move(way.slot, way.from, way.to));
    let mut findings = Findings::default();
    let said = ended.iter().find_map(|(_, said)| said.clone());
    let tallies: Vec<Tally> = keys
        .iter()
        .zip(ended)
        .map(|(key, (counter, _))| counter.close(ground::number(cluster, key)))
        .collect();
    let wanted = TASKS as i64 * EACH;
    findings.set_tally("half-moved slot: ", &tallies[..TASKS].iter().copied().sum(), wanted);
    findings.set_tally("other slots: ", &tallies[TASKS..].iter().copied().sum(), wanted);
    let misled = tallies.iter().filter(|tally| tally.foreign > 0).count();
    findings.set("tasks with foreign replies", misled);
    findings.set("ASK from the servers", ask - redirects[0]);
    findings.set("MOVED from the servers", moved - redirects[1]);
    findings.set("seconds", (took.as_secs_f64() * 100.0).round() / 100.0);
    if let Some(said) = said {
        findings.set("first error", said);
    }
    Ok(findings)
}

/// One task: increments one after another, until one hangs.
async fn count<C: Client>(client: C, key: String, mut counter: Counter) -> (Counter, Option<String>) {
    let mut said = None;
    for _ in 0..EACH {
        match tokio::time::timeout(HUNG, client.incr(&key)).await {
            Ok(Ok(n)) => counter.take(Reply::Number(n)),
            Ok(Err(error)) => {
                said.get_or_insert(error);
                counter.take(Reply::Error);
            }
            Err(_) => {
                counter.take(Reply::Hung);
                break;
            }
        }
    }
    (counter, said)
}
