//! What becomes of a job after its handler has spoken. Pure: no clock, no server.

use crate::tries::Tries;

/// How long a failed job waits before it is due again: `base * 2^(failures - 1)`, never over the cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The wait after the first failure, in ms. 0 means that every retry is due at once.
    pub base_ms: u64,
    /// No wait is longer, in ms.
    pub cap_ms: u64,
    /// Draw each wait evenly from 0 to the computed one, so that jobs that failed together do not come back together.
    pub jitter: bool,
}

impl Default for Backoff {
    /// 1 s, 2 s, 4 s … up to an hour, with jitter.
    fn default() -> Backoff {
        Backoff { base_ms: 1_000, cap_ms: 3_600_000, jitter: true }
    }
}

impl Backoff {
    /// The wait after the `failures`-th failure without jitter, in ms.
    ///
    /// ```
    /// let backoff = echomq::Backoff { base_ms: 1_000, cap_ms: 3_600_000, jitter: false };
    /// assert_eq!(backoff.delay_ms(1), 1_000);
    /// assert_eq!(backoff.delay_ms(12), 2_048_000);
    /// assert_eq!(backoff.delay_ms(u32::MAX), 3_600_000);
    /// ```
    pub fn delay_ms(&self, failures: u32) -> u64 {
        let doublings = failures.saturating_sub(1).min(u64::BITS - 1);
        self.base_ms.saturating_mul(1 << doublings).min(self.cap_ms)
    }

    /// The wait with `chance` (0 to 1) deciding within the band from 0 to the computed wait.
    pub(crate) fn draw_ms(&self, failures: u32, chance: f64) -> u64 {
        let delay = self.delay_ms(failures);
        if self.jitter { (delay as f64 * chance) as u64 } else { delay }
    }
}

/// What a handler's failure leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Retry { delay_ms: u64 },
    Bury,
}

/// `before` is what the job had behind it when it was claimed; this failure comes on top.
pub(crate) fn after_failure(attempts: u32, backoff: Backoff, before: &Tries, chance: f64) -> Next {
    let failures = before.failures.saturating_add(1);
    if failures >= attempts {
        Next::Bury
    } else {
        Next::Retry { delay_ms: backoff.draw_ms(failures, chance) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C073: exponential backoff never overflows, never exceeds its cap, never becomes a hot loop.
    #[test]
    fn c073_backoff_is_as_the_table_says() {
        let table = include_str!("../../../testdata/cases/queue/backoff.tsv");
        let mut rows = 0;
        for line in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let fields: Vec<&str> = line.split('\t').collect();
            let number = |at: usize| fields[at].split(' ').next().unwrap().parse::<u64>().unwrap();
            let backoff = Backoff { base_ms: number(0), cap_ms: number(2), jitter: false };
            assert_eq!(backoff.delay_ms(u32::try_from(number(1)).unwrap()), number(3), "{line}");
            rows += 1;
        }
        assert_eq!(rows, 9);
    }

    #[test]
    fn c073_jitter_stays_in_its_band_and_is_not_always_the_same() {
        let backoff = Backoff { base_ms: 1_000, cap_ms: 60_000, jitter: true };
        let draws: Vec<u64> = (0..1_000).map(|_| backoff.draw_ms(4, fastrand::f64())).collect();
        assert!(draws.iter().all(|&delay| delay <= 8_000));
        assert!(draws.iter().any(|delay| delay != &draws[0]));
    }

    #[test]
    fn a_job_is_buried_at_exactly_its_attempts() {
        let backoff = Backoff { jitter: false, ..Backoff::default() };
        let after = |failures| after_failure(3, backoff, &Tries { failures, ..Tries::default() }, 0.5);
        assert_eq!(after(0), Next::Retry { delay_ms: 1_000 });
        assert_eq!(after(1), Next::Retry { delay_ms: 2_000 });
        assert_eq!(after(2), Next::Bury);
    }

    #[test]
    fn lost_leases_are_no_failures() {
        let before = Tries { claims: 9, lost: 9, ..Tries::default() };
        assert_ne!(after_failure(2, Backoff::default(), &before, 0.5), Next::Bury);
    }
}
