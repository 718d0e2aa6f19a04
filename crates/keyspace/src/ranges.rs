//! Ranges of slots, and sets of ranges: who owns what.

use crate::slot::Slot;
use alloc::vec::Vec;
use core::fmt;

/// The slots from `start` to `end`, both included; never empty.
///
/// ```
/// use echomq_keyspace::{Slot, SlotRange};
///
/// let range = SlotRange::new(Slot::MIN, Slot::new(5460).unwrap()).unwrap();
/// assert_eq!((range.len(), range.to_string()), (5461, "0-5460".into()));
/// assert!(range.contains(Slot::of(b"orders")));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotRange {
    start: Slot,
    end: Slot,
}

impl SlotRange {
    /// All 16384 slots.
    pub const ALL: SlotRange = SlotRange { start: Slot::MIN, end: Slot::MAX };

    /// The range, unless it would end before it starts.
    pub const fn new(start: Slot, end: Slot) -> Option<SlotRange> {
        if start.get() <= end.get() { Some(SlotRange { start, end }) } else { None }
    }

    /// The first slot.
    pub const fn start(self) -> Slot {
        self.start
    }

    /// The last slot, which belongs to the range.
    pub const fn end(self) -> Slot {
        self.end
    }

    /// How many slots it holds: 1 to 16384.
    #[expect(clippy::len_without_is_empty, reason = "a range is never empty")]
    pub const fn len(self) -> u16 {
        self.end.get() - self.start.get() + 1
    }

    /// Whether the slot is one of the range.
    pub const fn contains(self, slot: Slot) -> bool {
        self.start.get() <= slot.get() && slot.get() <= self.end.get()
    }

    /// The slots, in order.
    pub fn slots(self) -> impl DoubleEndedIterator<Item = Slot> + Clone {
        (self.start.get()..=self.end.get()).filter_map(Slot::new)
    }
}

impl From<Slot> for SlotRange {
    fn from(slot: Slot) -> SlotRange {
        SlotRange { start: slot, end: slot }
    }
}

impl fmt::Display for SlotRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.start == self.end {
            write!(f, "{}", self.start)
        } else {
            write!(f, "{}-{}", self.start, self.end)
        }
    }
}

impl fmt::Debug for SlotRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SlotRange({self})")
    }
}

/// A set of slots, kept as the fewest ranges in order.
///
/// ```
/// use echomq_keyspace::{Slot, SlotRange, SlotSet};
///
/// let mut owned: SlotSet = [5, 6, 7, 100].into_iter().filter_map(Slot::new).collect();
/// assert_eq!(owned.to_string(), "5-7,100");
/// owned.insert(SlotRange::new(Slot::MIN, Slot::new(4).unwrap()).unwrap());
/// assert_eq!(owned.to_string(), "0-7,100");
/// assert_eq!(owned.gaps().to_string(), "8-99,101-16383");
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct SlotSet {
    /// In order, with at least one free slot between two neighbours.
    ranges: Vec<SlotRange>,
}

impl SlotSet {
    /// The set of no slots.
    pub const fn new() -> SlotSet {
        SlotSet { ranges: Vec::new() }
    }

    /// Adds a slot or a range; what is there already stays.
    pub fn insert(&mut self, range: impl Into<SlotRange>) {
        let mut merged = range.into();
        let touches_from = self.ranges.partition_point(|r| r.end.get() + 1 < merged.start.get());
        let touches_to = self.ranges.partition_point(|r| r.start.get() <= merged.end.get() + 1);
        for touched in &self.ranges[touches_from..touches_to] {
            merged.start = merged.start.min(touched.start);
            merged.end = merged.end.max(touched.end);
        }
        self.ranges.splice(touches_from..touches_to, [merged]);
    }

    /// Whether the slot is in the set.
    pub fn contains(&self, slot: Slot) -> bool {
        let next = self.ranges.partition_point(|r| r.end < slot);
        self.ranges.get(next).is_some_and(|r| r.contains(slot))
    }

    /// How many slots the set holds.
    pub fn len(&self) -> u16 {
        self.ranges.iter().map(|r| r.len()).sum()
    }

    /// Whether the set holds no slot.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether the set holds every slot.
    pub fn is_full(&self) -> bool {
        self.ranges == [SlotRange::ALL]
    }

    /// The fewest ranges that make up the set, in order.
    pub fn ranges(&self) -> &[SlotRange] {
        &self.ranges
    }

    /// The slots, in order.
    pub fn slots(&self) -> impl DoubleEndedIterator<Item = Slot> + Clone {
        self.ranges.iter().flat_map(|r| r.slots())
    }

    /// The slots that are not in the set: its complement.
    pub fn gaps(&self) -> SlotSet {
        let mut gaps = Vec::with_capacity(self.ranges.len() + 1);
        let mut next_free = 0;
        for range in &self.ranges {
            gaps.extend(between(next_free, range.start.get()));
            next_free = range.end.get() + 1;
        }
        gaps.extend(between(next_free, Slot::COUNT));
        SlotSet { ranges: gaps }
    }
}

/// The slots from `from` to just before `before`, when there are any.
fn between(from: u16, before: u16) -> Option<SlotRange> {
    SlotRange::new(Slot::new(from)?, Slot::new(before.checked_sub(1)?)?)
}

impl<R: Into<SlotRange>> FromIterator<R> for SlotSet {
    fn from_iter<I: IntoIterator<Item = R>>(ranges: I) -> SlotSet {
        let mut set = SlotSet::new();
        set.extend(ranges);
        set
    }
}

impl<R: Into<SlotRange>> Extend<R> for SlotSet {
    fn extend<I: IntoIterator<Item = R>>(&mut self, ranges: I) {
        ranges.into_iter().for_each(|range| self.insert(range));
    }
}

impl fmt::Display for SlotSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, range) in self.ranges.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{range}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for SlotSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SlotSet({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::string::ToString as _;
    use proptest::prelude::*;

    fn slot(number: u16) -> Slot {
        Slot::new(number).unwrap()
    }

    #[test]
    fn the_empty_set_and_the_full_set_are_each_others_gaps() {
        let full: SlotSet = [SlotRange::ALL].into_iter().collect();
        assert_eq!((full.len(), full.is_full(), full.gaps()), (16384, true, SlotSet::new()));
        assert_eq!((SlotSet::new().gaps(), SlotSet::new().to_string()), (full, "".into()));
    }

    #[test]
    fn the_slots_of_a_fresh_cluster_of_three_print_as_an_operator_writes_them() {
        let set: SlotSet = [(0, 5460), (6000, 6000)]
            .map(|(a, b)| SlotRange::new(slot(a), slot(b)).unwrap())
            .into_iter()
            .collect();
        assert_eq!(set.to_string(), "0-5460,6000");
        assert_eq!(SlotRange::new(slot(2), slot(1)), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_slot_set_is_a_set_of_slots(pairs in prop::collection::vec((0u16..16384, 0u16..400), 0..40)) {
            let mut model = BTreeSet::new();
            let mut set = SlotSet::new();
            for (start, more) in pairs {
                let range = SlotRange::new(slot(start), slot((start + more).min(16383))).unwrap();
                set.insert(range);
                model.extend(range.slots());
                prop_assert!(set.ranges().windows(2).all(|w| w[0].end().get() + 1 < w[1].start().get()));
            }
            prop_assert!(set.slots().eq(model.iter().copied()));
            prop_assert_eq!(usize::from(set.len()), model.len());
            let gaps = set.gaps();
            prop_assert!(Slot::all().all(|s| set.contains(s) == model.contains(&s) && gaps.contains(s) != set.contains(s)));
        }
    }
}
