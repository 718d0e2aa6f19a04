//! Keeps the leases of all claims alive, in one call.

use std::sync::Arc;

use super::desk::Desk;

/// The most leases in one call.
const MOST: usize = 500;

pub(super) async fn run(desk: Arc<Desk>) {
    // A third of the lease: two renewals may fail before it runs out.
    let pause = desk.options.lease / 3;
    loop {
        tokio::time::sleep(pause.mul_f64(0.9 + 0.2 * fastrand::f64())).await;
        for leases in desk.leases().chunks(MOST) {
            match desk.store().extend(leases, desk.lease_ms()).await {
                // What was settled while the call was under way is not lost.
                Ok(lost) => lost.iter().filter(|lease| desk.open(lease) > 0).for_each(|lease| {
                    tracing::warn!(token = lease.token, queue = %desk.queue.name(), "lease lost");
                    desk.lose(lease);
                }),
                Err(error) => {
                    tracing::debug!(%error, queue = %desk.queue.name(), "leases could not be renewed")
                }
            }
        }
    }
}
