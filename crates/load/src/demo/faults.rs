//! What happens to the cluster meanwhile.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use echomq::Slot;
use echomq_local::Local;
use redis::{FromRedisValue, Value};
use serde::Serialize;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::Error;

/// How often the server is asked whether a slot has moved.
const POLL: Duration = Duration::from_millis(5);
/// How long a slot may take to move.
const MOVE_LIMIT: Duration = Duration::from_secs(20);

/// All connections of a node were cut.
#[derive(Clone, Debug, Serialize)]
pub struct Cut {
    /// The node.
    pub node: String,
    /// How many connections it had.
    pub connections: u64,
    /// How long after the cut an order was done that was enqueued after it, in ms.
    pub on_again_ms: f64,
}

/// A queue's slot, with all its jobs, went to another node.
#[derive(Clone, Debug, Serialize)]
pub struct Moved {
    /// The queue.
    pub queue: String,
    /// Its slot.
    pub slot: u16,
    /// The node that had it.
    pub from: String,
    /// The node that has it now.
    pub to: String,
    /// How long the move took, in ms.
    pub took_ms: f64,
    /// How long after the move an order of the queue was done that was enqueued after it, in ms.
    pub on_again_ms: f64,
}

/// Cuts every connection to node `i`, those of subscribers too, and returns how many there were.
pub(super) async fn cut(cluster: &Arc<Local>, i: usize) -> Result<u64, Error> {
    let mut cut = 0;
    for kind in ["normal", "pubsub"] {
        cut += ask::<u64>(cluster, i, &["CLIENT", "KILL", "TYPE", kind]).await?;
    }
    Ok(cut)
}

/// Moves a slot as a whole and returns when it is there.
pub(super) async fn migrate(
    cluster: &Arc<Local>,
    slot: Slot,
    from: usize,
    to: usize,
) -> Result<Duration, Error> {
    let begun = Instant::now();
    let id = ask::<String>(cluster, to, &["CLUSTER", "MYID"]).await?;
    let slot = slot.to_string();
    ask::<Value>(cluster, from, &["CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", &slot, &slot, "NODE", &id])
        .await?;
    while begun.elapsed() < MOVE_LIMIT {
        match migration_state(cluster, from).await?.as_str() {
            "success" => return Ok(begun.elapsed()),
            state @ ("failed" | "cancelled") => {
                return Err(Error::Fault(format!("the move of slot {slot} {state}")));
            }
            _ => sleep(POLL).await,
        }
    }
    Err(Error::Fault(format!("slot {slot} had not moved after {} s", MOVE_LIMIT.as_secs())))
}

/// The state of the latest migration; the server lists the latest first.
async fn migration_state(cluster: &Arc<Local>, i: usize) -> Result<String, Error> {
    let jobs: Vec<HashMap<String, Value>> = ask(cluster, i, &["CLUSTER", "GETSLOTMIGRATIONS"]).await?;
    Ok(match jobs.first().and_then(|job| job.get("state")) {
        Some(Value::BulkString(state)) => String::from_utf8_lossy(state).into_owned(),
        Some(Value::SimpleString(state)) => state.clone(),
        _ => String::new(),
    })
}

/// Asks node `i` over a connection that the demo's clients know nothing of.
async fn ask<T>(cluster: &Arc<Local>, i: usize, command: &[&str]) -> Result<T, Error>
where
    T: FromRedisValue + Send + 'static,
{
    let (cluster, words) = (cluster.clone(), command.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
    let answer = spawn_blocking(move || cluster.nodes()[i].ask(&words)).await;
    answer
        .map_err(|error| Error::Fault(error.to_string()))?
        .map_err(|why| Error::Fault(format!("node {i}: {why}")))
}
