//! What any live worker does for the queue: promote what is due, reclaim what was lost, hear wake-ups.

use std::sync::Arc;
use std::time::Duration;

use echomq_cluster::Notice;
use tokio::time::Instant;

use super::desk::Desk;
use super::fetch::Failing;
use crate::store::Reclaimed;

/// Jobs moved by one step, so that no script runs for long.
const STEP: usize = 500;

pub(super) async fn run(desk: Arc<Desk>) {
    // A sixth of the lease: well below the half after which a sweep only grants grace.
    let pause = (desk.options.lease / 6).min(Duration::from_secs(30));
    let mut failing = Failing::default();
    let mut next_sweep = Instant::now();
    while !desk.stopping.is_cancelled() {
        let sweep = Instant::now() >= next_sweep;
        let next_due = match keep(&desk, sweep).await {
            Ok(due) => due,
            Err(error) => {
                failing.pause(&desk, &error).await;
                continue;
            }
        };
        failing.over();
        if sweep {
            next_sweep = Instant::now() + pause.mul_f64(0.8 + 0.4 * fastrand::f64());
        }
        tokio::select! {
            () = desk.stopping.cancelled() => {}
            () = desk.due.notified() => {}
            () = tokio::time::sleep_until(next_due.map_or(next_sweep, |due| due.min(next_sweep))) => {}
        }
    }
}

/// Promotes all that is due, sweeps if it is time; returns when the next job is due.
async fn keep(desk: &Desk, sweep: bool) -> Result<Option<Instant>, echomq_cluster::Error> {
    let due = loop {
        let promoted = desk.store().promote(STEP).await?;
        if promoted.jobs > 0 {
            desk.work.notify_one();
        }
        if promoted.jobs < STEP as u64 {
            break promoted.next_in_ms.map(|ms| Instant::now() + Duration::from_millis(ms));
        }
    };
    if sweep {
        reclaim(desk).await?;
    }
    Ok(due)
}

async fn reclaim(desk: &Desk) -> Result<(), echomq_cluster::Error> {
    loop {
        let Reclaimed { back, dead, extended } =
            desk.store().reclaim(STEP, desk.options.lost_limit, desk.lease_ms()).await?;
        if back + dead + extended < STEP as u64 {
            return Ok(());
        }
    }
}

/// A message is only a hint: it says that something may be pending or, without an id, that something may be
/// due sooner than was known.
pub(super) async fn listen(desk: Arc<Desk>) {
    let mut wake = desk.store().client.subscribe(desk.store().keys.wake());
    while let Some(notice) = wake.next().await {
        desk.work.notify_one();
        match notice {
            Notice::Message(id) if !id.is_empty() => {}
            Notice::Message(_) | Notice::Resubscribed => desk.due.notify_one(),
        }
    }
}
