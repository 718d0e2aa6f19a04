//! What the demo came to.

use std::sync::Arc;
use std::time::Duration;

use echomq_local::Local;
use futures_util::future::try_join_all;
use serde::Serialize;

use super::shop::Shop;
use super::{Acts, Cut, Error, Moved, addresses, engine_text, home, ms};
use crate::{Audit, Percentiles};

/// The result of the demo.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The server, as `Valkey 9.1.2`.
    pub engine: String,
    /// The addresses of the nodes.
    pub nodes: Vec<String>,
    /// Every order, accounted for.
    #[serde(flatten)]
    pub audit: Audit,
    /// Runs that failed by design, and whose job was tried again.
    pub retried: u64,
    /// Runs whose payload was not what was enqueued, byte for byte: must be 0.
    pub altered: u64,
    /// From the first order to the last, in ms.
    pub took_ms: f64,
    /// It ended before its time limit.
    pub in_time: bool,
    /// The steady stretch, in which the blows fell.
    pub steady: Option<Stretch>,
    /// The rest, enqueued at once.
    pub burst: Option<Stretch>,
    /// The first blow.
    pub cut: Option<Cut>,
    /// The second blow; none where the server can not move a slot as a whole.
    pub moved: Option<Moved>,
    /// Each queue.
    pub queues: Vec<QueueReport>,
}

impl Report {
    /// All orders are done, none lost, none altered, and no run shared a token with another one.
    pub fn is_good(&self) -> bool {
        let Audit { acknowledged, done, lost, twins, .. } = self.audit;
        self.in_time && acknowledged == done && lost == 0 && twins == 0 && self.altered == 0
    }
}

/// A number of orders, and how they went.
#[derive(Clone, Debug, Serialize)]
pub struct Stretch {
    /// How many orders.
    pub jobs: u64,
    /// From the first enqueue to the last handler's end, in ms.
    pub took_ms: f64,
    /// Orders done in a second.
    pub per_second: f64,
    /// From the enqueue of an order to the end of the run that did it.
    pub latency: Percentiles,
}

impl Stretch {
    pub(super) fn new(jobs: usize, took: Duration, latency: Percentiles) -> Stretch {
        let per_second = (jobs as f64 / took.as_secs_f64()).round();
        Stretch { jobs: jobs as u64, took_ms: ms(took), per_second, latency }
    }
}

/// What became of one queue.
#[derive(Clone, Debug, Serialize)]
pub struct QueueReport {
    /// Its name.
    pub name: String,
    /// The slot of all its keys.
    pub slot: u16,
    /// The node that owned the slot at the beginning.
    pub node_before: String,
    /// The node that owned it at the end.
    pub node_after: String,
    /// Jobs done, as the server counts them.
    pub done: u64,
    /// Failures that led to another try, as the server counts them.
    pub retried: u64,
    /// Jobs in the dead set.
    pub dead: u64,
}

pub(super) async fn draw(
    cluster: &Arc<Local>,
    shop: &Shop,
    acts: Option<Acts>,
    homes_before: &[String],
    took: Duration,
) -> Result<Report, Error> {
    let queues = try_join_all(shop.queues().zip(homes_before).map(async |(queue, before)| {
        let counts = queue.counts().await?;
        Ok::<_, Error>(QueueReport {
            name: queue.name().to_string(),
            slot: queue.slot().get(),
            node_before: before.clone(),
            node_after: home(queue),
            done: counts.done,
            retried: counts.retried,
            dead: counts.dead,
        })
    }));
    let queues = queues.await?;
    let in_time = acts.is_some();
    let (steady, burst, cut, moved) = match acts {
        Some(Acts { steady, burst, cut, moved }) => (Some(steady), Some(burst), Some(cut), moved),
        None => (None, None, None, None),
    };
    Ok(Report {
        engine: engine_text(cluster.engine()),
        nodes: addresses(cluster),
        audit: shop.audit().await?,
        retried: shop.retried(),
        altered: shop.altered(),
        took_ms: ms(took),
        in_time,
        steady,
        burst,
        cut,
        moved,
        queues,
    })
}
