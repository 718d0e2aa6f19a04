//! Keeps the slot map fresh: one refresh at a time, in the background, never twice in a short while.

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, Value};
use tokio::sync::Notify;

use crate::client::Shared;
use crate::topology::{Shard, parse_slots};
use crate::{Address, Error};

/// How long one node may take to tell the topology before the next is asked.
const ANSWER_LIMIT: Duration = Duration::from_secs(1);
/// The shortest time between two refreshes; up to as much again is added at random.
const PAUSE: Duration = Duration::from_millis(100);

/// A bell: however many requests ring it meanwhile, one refresh follows.
#[derive(Default)]
pub(crate) struct Refresher(Notify);

impl Refresher {
    pub(crate) fn request(&self) {
        self.0.notify_one();
    }
}

impl Shared {
    /// Starts the background task; it ends when the last client has gone.
    pub(crate) fn keep_fresh(shared: &Arc<Shared>) {
        let weak = Arc::downgrade(shared);
        tokio::spawn(async move {
            while let Some(shared) = weak.upgrade() {
                let rung = tokio::time::timeout(Duration::from_secs(1), shared.refresher.0.notified()).await;
                if rung.is_ok() {
                    if let Err(error) = shared.refresh_now().await {
                        tracing::debug!(%error, "the topology could not be refreshed");
                    }
                    let pause = PAUSE.mul_f64(1.0 + fastrand::f64());
                    drop(shared);
                    tokio::time::sleep(pause).await;
                }
            }
        });
    }

    /// Asks the known nodes in random order, then the seeds (whose names are resolved anew).
    pub(crate) async fn refresh_now(&self) -> Result<(), Error> {
        self.counters.refreshed();
        let mut candidates: Vec<Address> = self.map.nodes().iter().map(|node| node.address.clone()).collect();
        fastrand::shuffle(&mut candidates);
        candidates.extend(self.seeds.addresses.iter().cloned());
        let mut last = String::new();
        for address in &candidates {
            match tokio::time::timeout(ANSWER_LIMIT, self.ask(address)).await {
                Ok(Ok(shards)) => {
                    self.map.replace(&shards);
                    return Ok(());
                }
                Ok(Err(cause)) => last = cause,
                Err(_) => last = format!("{address} did not answer within {} s", ANSWER_LIMIT.as_secs()),
            }
        }
        Err(Error::no_node(&candidates, last))
    }

    async fn ask(&self, address: &Address) -> Result<Vec<Shard>, String> {
        let node = self.map.node(address);
        let link = node.link(&self.seeds).await.map_err(|cause| format!("{address}: {cause}"))?;
        let mut connection = link.connection.clone();
        let mut cmd = Cmd::new();
        cmd.arg("CLUSTER").arg("SLOTS");
        match connection.send_packed_command(&cmd).await {
            Ok(Value::ServerError(fault))
                if fault.details().is_some_and(|text| text.contains("cluster support disabled")) =>
            {
                Ok(single(address))
            }
            Ok(Value::ServerError(fault)) => Err(format!("{address} answered {fault}")),
            Ok(answer) => match parse_slots(&answer, address).map_err(|error| error.to_string())? {
                shards if shards.is_empty() => Err(format!("{address} knows no slot that has a node")),
                shards => Ok(shards),
            },
            Err(cause) => {
                node.forget(&link);
                Err(format!("{address}: {cause}"))
            }
        }
    }
}

/// A single server without cluster mode owns every slot.
fn single(address: &Address) -> Vec<Shard> {
    use echomq_keyspace::Slot;
    let (Some(first), Some(last)) = (Slot::new(0), Slot::new(Slot::COUNT - 1)) else { return Vec::new() };
    vec![Shard { first, last, primary: address.clone(), replicas: Vec::new() }]
}
