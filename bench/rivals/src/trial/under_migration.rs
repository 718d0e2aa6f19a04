//! S3: increments that go on while their slot is moved as a whole, again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use testkit::Cluster;

use super::{HUNG, connect};
use crate::client::Client;
use crate::counter::{Counter, Reply, Tally};
use crate::findings::Findings;
use crate::ground::{self, PRIMARIES, put};

const STREAMS: usize = 8;
const MIGRATIONS: usize = 6;
/// What stands in the slot beside the counters: 20 MB.
const ROWS: usize = 2_000;
const ROW_BYTES: usize = 10_000;

pub(super) async fn run<C: Client>(cluster: &Cluster) -> Result<Findings, String> {
    let keys: Vec<String> = (0..STREAMS).map(|i| format!("{{s3}}:{i}")).collect();
    let way = ground::way(cluster, &keys[0]);
    let counters: Vec<Counter> = (0..STREAMS).map(Counter::of_task).collect();
    for (key, counter) in keys.iter().zip(&counters) {
        put(cluster, way.from, key, counter.base());
    }
    let row = "r".repeat(ROW_BYTES);
    for rows in (0..ROWS).collect::<Vec<_>>().chunks(200) {
        let mut mset = vec!["MSET".to_owned()];
        mset.extend(rows.iter().flat_map(|i| [format!("{{s3}}:row:{i}"), row.clone()]));
        cluster.raw(way.from, mset)?;
    }
    let client: C = connect(cluster).await?;

    let over = Arc::new(AtomicBool::new(false));
    let streams: Vec<_> = keys
        .iter()
        .zip(counters)
        .map(|(key, counter)| tokio::spawn(stream(client.clone(), key.clone(), counter, Arc::clone(&over))))
        .collect();
    let begun = Instant::now();
    tokio::task::block_in_place(|| {
        let mut from = way.from;
        for _ in 0..MIGRATIONS {
            let to = (from + 1) % PRIMARIES;
            cluster.migrate_slots(way.slot, from, to);
            from = to;
        }
    });
    let took = begun.elapsed();
    over.store(true, Ordering::Relaxed);
    let mut ended = Vec::new();
    for task in streams {
        ended.push(task.await.map_err(|error| error.to_string())?);
    }

    let worst = ended.iter().map(|stream| stream.worst).max().unwrap_or_default();
    let said = ended.iter().find_map(|stream| stream.said.clone());
    let tallies = keys.iter().zip(ended).map(|(key, s)| s.counter.close(ground::number(cluster, key)));
    let tally: Tally = tallies.sum();
    let mut findings = Findings::default();
    findings.set_tally("", &tally, tally.sent);
    findings.figures = findings.figures.into_iter().filter(|(name, _)| !name.starts_with("ok of")).collect();
    findings.set("increments sent", tally.sent);
    findings.set("worst latency, ms", worst.as_millis() as u64);
    findings.set("all migrations, s", (took.as_secs_f64() * 10.0).round() / 10.0);
    if let Some(said) = said {
        findings.set("first error", said);
    }
    Ok(findings)
}

struct Stream {
    counter: Counter,
    worst: Duration,
    said: Option<String>,
}

/// Increments one after another until it is over, or one hangs.
async fn stream<C: Client>(client: C, key: String, counter: Counter, over: Arc<AtomicBool>) -> Stream {
    let mut stream = Stream { counter, worst: Duration::ZERO, said: None };
    while !over.load(Ordering::Relaxed) {
        let sent = Instant::now();
        let reply = tokio::time::timeout(HUNG, client.incr(&key)).await;
        stream.worst = stream.worst.max(sent.elapsed());
        match reply {
            Ok(Ok(n)) => stream.counter.take(Reply::Number(n)),
            Ok(Err(error)) => {
                stream.said.get_or_insert(error);
                stream.counter.take(Reply::Error);
            }
            Err(_) => {
                stream.counter.take(Reply::Hung);
                break;
            }
        }
    }
    stream
}
