//! The waits between attempts, up to a deadline.

use std::time::Duration;

use tokio::time::Instant;

/// The last quarter of a request's time, but no more than this, is left to the answer of its last attempt: one that
/// is under way when the deadline comes turns the certainty that nothing was written into an unknown fate.
const ANSWER_TIME: Duration = Duration::from_millis(500);

/// The longest that anything is waited for. A caller who wants no limit may name the longest duration there is, and moments
/// so far away can not be told.
pub(crate) const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

pub(crate) struct Pacing {
    started: Instant,
    pub(crate) until: Instant,
    tries: u32,
    hops: u32,
}

impl Pacing {
    pub(crate) fn new(limit: Duration) -> Pacing {
        let started = Instant::now();
        Pacing { started, until: started + limit, tries: 0, hops: 0 }
    }

    /// Whether nothing was tried yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.tries == 0 && self.hops == 0
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// After a redirect. The first one costs nothing; from the second on the slot may be bouncing between two nodes, as
    /// it does for some milliseconds when an atomic migration ends.
    pub(crate) async fn hop(&mut self) -> bool {
        self.hops += 1;
        self.hops < 2 || self.pause().await
    }

    /// Waits before the next attempt: 2 ms, doubling to 50. Where that is too late for another attempt, waits for the
    /// deadline, since the caller was promised that long, and returns false.
    pub(crate) async fn pause(&mut self) -> bool {
        let pause = Duration::from_millis((2u64 << self.tries.min(5)).min(50));
        self.tries += 1;
        let jitter = pause.mul_f64(0.75 + 0.5 * fastrand::f64());
        let answer_time = ((self.until - self.started) / 4).min(ANSWER_TIME);
        let in_time = Instant::now() + jitter + answer_time < self.until;
        match in_time {
            true => tokio::time::sleep(jitter).await,
            false => tokio::time::sleep_until(self.until).await,
        }
        in_time
    }
}
