//! Waiting for a condition instead of sleeping.

use std::time::{Duration, Instant};

/// Long enough for anything that a healthy machine does, be it ever so busy.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Looks every few milliseconds until `condition` holds.
///
/// # Panics
///
/// With `what` when it does not hold within `limit`.
#[track_caller]
pub fn wait_until(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < limit, "waited {limit:?} in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
