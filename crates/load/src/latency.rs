//! Durations as a histogram: exact to three digits, whatever their size.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// The longest duration that is told apart, in microseconds: an hour. A longer one counts as this.
const MOST_US: u64 = 3_600_000_000;

/// Gathers durations.
///
/// ```
/// use std::time::Duration;
/// let mut latencies = echomq_load::Latencies::new();
/// (1..=100).for_each(|ms| latencies.record(Duration::from_millis(ms)));
/// assert_eq!(latencies.percentiles().p90_us / 1_000, 90);
/// ```
#[derive(Clone, Debug)]
pub struct Latencies(Histogram<u64>);

impl Latencies {
    /// None yet.
    pub fn new() -> Latencies {
        let histogram = Histogram::new_with_bounds(1, MOST_US, 3);
        Latencies(histogram.expect("a microsecond to an hour with three digits is a valid range"))
    }

    /// Adds one.
    pub fn record(&mut self, latency: Duration) {
        let us = u64::try_from(latency.as_micros()).unwrap_or(MOST_US);
        self.0.saturating_record(us.clamp(1, MOST_US));
    }

    /// How many were added.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The usual percentiles; all zero when nothing was added.
    pub fn percentiles(&self) -> Percentiles {
        let at = |quantile| self.0.value_at_quantile(quantile);
        Percentiles { p50_us: at(0.5), p90_us: at(0.9), p99_us: at(0.99), max_us: self.0.max() }
    }
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies::new()
    }
}

/// So many of a hundred took this long or less, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Percentiles {
    /// Half of them.
    pub p50_us: u64,
    /// 90 of 100.
    pub p90_us: u64,
    /// 99 of 100.
    pub p99_us: u64,
    /// The longest.
    pub max_us: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact_to_three_digits() {
        let mut latencies = Latencies::new();
        (1..=10_000).for_each(|n| latencies.record(Duration::from_micros(n * 100)));
        let Percentiles { p50_us, p90_us, p99_us, max_us } = latencies.percentiles();
        for (got, exact) in [(p50_us, 500_000), (p90_us, 900_000), (p99_us, 990_000), (max_us, 1_000_000)] {
            assert!(got.abs_diff(exact) <= exact / 1_000, "{got} for {exact}");
        }
        assert_eq!(latencies.count(), 10_000);
    }

    #[test]
    fn nothing_and_too_much_are_no_trouble() {
        let mut latencies = Latencies::new();
        assert_eq!(latencies.percentiles(), Percentiles::default());
        latencies.record(Duration::ZERO);
        latencies.record(Duration::MAX);
        assert_eq!(latencies.count(), 2);
        assert!(latencies.percentiles().max_us >= MOST_US);
    }
}
