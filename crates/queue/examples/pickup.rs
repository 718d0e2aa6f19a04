//! How soon an idle worker has a job that is enqueued, on a cluster of three nodes on this machine or at a URL:
//!
//! ```text
//! cargo run --release -p echomq --example pickup [-- URL]
//! ```

#[path = "../tests/idle/pickups.rs"]
mod pickups;

use std::time::Duration;

use echomq::EchoMq;

const PICKUPS: usize = 2_000;

#[tokio::main]
#[allow(clippy::print_stdout)]
async fn main() -> Result<(), echomq::Error> {
    // It ends when it is dropped.
    let (url, _cluster) = match std::env::args().nth(1) {
        Some(url) => (url, None),
        None => {
            let cluster = testkit::cluster_with(3, 0);
            (cluster.url(), Some(cluster))
        }
    };
    let queue = EchoMq::connect(&url).await?.queue(testkit::unique_queue("pickup"))?;
    let waits = pickups::measure(&queue, PICKUPS).await;
    println!("{PICKUPS} jobs, each enqueued while the worker was idle; from the call to the handler:");
    for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)] {
        let wait: Duration = waits[((waits.len() - 1) as f64 * share) as usize];
        println!("  {name} {:>6} µs", wait.as_micros());
    }
    Ok(())
}
