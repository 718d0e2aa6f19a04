//! How much is done in which moment of a run, and how soon it is as much as before.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The finest time that is told apart.
const TICK: Duration = Duration::from_millis(25);
/// So many ticks make a window, over which a rate is taken: 100 ms.
const WINDOW: usize = 4;
/// Three hours; what comes later counts as of the last tick.
const TICKS: usize = 3 * 3_600 * 40;

/// How often it is looked whether the machine lets this process run.
const NAP: Duration = Duration::from_millis(5);

/// Counts what is done, tick by tick.
#[derive(Debug)]
pub(super) struct Meter {
    begun: Instant,
    ticks: Box<[AtomicU32]>,
    /// By how many milliseconds a thread was woken too late at most, in each tick.
    delays: Box<[AtomicU32]>,
}

impl Meter {
    pub(super) fn begin() -> Meter {
        let zeros = || (0..TICKS).map(|_| AtomicU32::new(0)).collect();
        Meter { begun: Instant::now(), ticks: zeros(), delays: zeros() }
    }

    /// Watches from a thread of its own, until the meter has gone, how late the machine wakes who sleeps.
    pub(super) fn watch_the_machine(meter: &Arc<Meter>) {
        let weak = Arc::downgrade(meter);
        std::thread::spawn(move || {
            while let Some(meter) = weak.upgrade() {
                let asleep = Instant::now();
                drop(meter);
                std::thread::sleep(NAP);
                let Some(meter) = weak.upgrade() else { return };
                let delay = asleep.elapsed().saturating_sub(NAP).as_millis() as u32;
                meter.delays[meter.tick(Instant::now()).min(TICKS - 1)].fetch_max(delay, Relaxed);
            }
        });
    }

    /// The longest time since `from` for which the machine let a thread of this process wait in vain: what comes late by so
    /// much may be the machine's doing.
    pub(super) fn delay(&self, from: Instant) -> Duration {
        let (first, end) = (self.tick(from), (self.tick(Instant::now()) + 1).min(TICKS));
        let delays = self.delays.get(first..end).unwrap_or_default().iter();
        Duration::from_millis(delays.map(|delay| u64::from(delay.load(Relaxed))).max().unwrap_or(0))
    }

    /// One more is done.
    pub(super) fn done(&self) {
        let tick = self.tick(Instant::now()).min(TICKS - 1);
        self.ticks[tick].fetch_add(1, Relaxed);
    }

    /// The time since the beginning.
    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// The counts of the whole windows of a stretch, one after the other.
    pub(super) fn windows(&self, from: Instant, to: Instant) -> Vec<u32> {
        self.counts(from, to).chunks_exact(WINDOW).map(|window| window.iter().sum()).collect()
    }

    /// How long after `moment` the first window ends in which at least `wanted` was done; `None` if there was none yet.
    pub(super) fn back(&self, moment: Instant, wanted: u32) -> Option<Duration> {
        let counts = self.counts(moment, Instant::now());
        let windows = first_window(&counts, wanted)? + WINDOW;
        let end = TICK * (self.tick(moment) + 1 + windows) as u32;
        Some((self.begun + end).saturating_duration_since(moment))
    }

    /// The counts of the whole ticks between two moments.
    fn counts(&self, from: Instant, to: Instant) -> Vec<u32> {
        let (first, end) = (self.tick(from) + 1, self.tick(to).min(TICKS));
        self.ticks.get(first..end).unwrap_or_default().iter().map(|count| count.load(Relaxed)).collect()
    }

    fn tick(&self, moment: Instant) -> usize {
        (moment.saturating_duration_since(self.begun).as_micros() / TICK.as_micros()) as usize
    }
}

/// The place of the first window with at least `wanted` in it; windows begin at each tick.
fn first_window(counts: &[u32], wanted: u32) -> Option<usize> {
    counts.windows(WINDOW).position(|window| window.iter().sum::<u32>() >= wanted)
}

/// Windows in a second: what makes a window's count a rate.
pub(super) const WINDOWS_PER_SECOND: f64 = 1_000.0 / (TICK.as_millis() as f64 * WINDOW as f64);

/// The middle one, 0 of none.
pub(super) fn median<T: Copy + Ord + Default>(values: &[T]) -> T {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_back_when_a_whole_window_has_it() {
        let counts = [0, 0, 10, 0, 10, 10, 10, 10];
        assert_eq!(first_window(&counts, 40), Some(4));
        assert_eq!(first_window(&counts, 30), Some(2));
        assert_eq!(first_window(&counts, 41), None);
        assert_eq!(first_window(&counts[..3], 0), None);
    }

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median(&[9, 1, 5]), 5);
        assert_eq!(median(&[9, 1, 5, 7]), 5);
        assert_eq!(median::<u32>(&[]), 0);
    }

    #[test]
    fn windows_are_whole_and_lie_within_their_stretch() {
        let meter = Meter::begin();
        let at = |tick: usize| meter.begun + TICK * tick as u32 + TICK / 2;
        for (tick, count) in meter.ticks.iter().zip(0..12) {
            tick.store(count, Relaxed);
        }
        assert_eq!(meter.windows(at(0), at(9)), [1 + 2 + 3 + 4, 5 + 6 + 7 + 8]);
        assert_eq!(meter.windows(at(0), at(8)), [1 + 2 + 3 + 4]);
        assert!(meter.windows(at(8), at(0)).is_empty());
        assert_eq!(WINDOWS_PER_SECOND, 10.0);
    }

    #[test]
    fn the_longest_delay_of_a_stretch_counts() {
        let meter = Meter::begin();
        let past = meter.begun.checked_sub(TICK * 10).unwrap_or(meter.begun);
        let meter = Meter { begun: past, ..meter };
        for (tick, delay) in meter.delays.iter().zip([900, 3, 40, 2]) {
            tick.store(delay, Relaxed);
        }
        assert_eq!(meter.delay(meter.begun + TICK), Duration::from_millis(40));
        assert_eq!(meter.delay(meter.begun + TICK * 3), Duration::from_millis(2));
    }

    #[test]
    fn coming_back_is_measured_to_the_end_of_the_window() {
        let meter = Meter::begin();
        let past = meter.begun.checked_sub(TICK * 10).unwrap_or(meter.begun);
        let meter = Meter { begun: past, ..meter };
        for tick in &meter.ticks[4..8] {
            tick.store(10, Relaxed);
        }
        let moment = meter.begun + TICK * 2;
        assert_eq!(meter.back(moment, 40), Some(TICK * 6));
        assert_eq!(meter.back(moment, 41), None);
    }
}
