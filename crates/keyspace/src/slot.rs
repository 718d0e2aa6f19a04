//! A slot: a number below 16384 by construction.

use crate::tag::hashed_crc;
use core::fmt;

/// One of the 16384 slots that a cluster deals out to its nodes.
///
/// Each key has exactly one slot, so two keys can meet in one transaction or script only when their slots are equal.
///
/// ```
/// use echomq_keyspace::Slot;
///
/// const ORDERS: Slot = Slot::of(b"emq:{orders}:pending");
/// assert_eq!(ORDERS.get(), 105);
/// assert_eq!(ORDERS, Slot::of(b"orders"));
/// assert_eq!(Slot::new(16384), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u16);

impl Slot {
    /// How many slots there are: 16384.
    pub const COUNT: u16 = 16384;

    /// The lowest slot, 0.
    pub const MIN: Slot = Slot(0);

    /// The highest slot, 16383.
    pub const MAX: Slot = Slot(Self::COUNT - 1);

    /// The slot of a key: CRC16 of its [`hash_tag`](crate::hash_tag), modulo 16384. Any bytes are a key, the empty key too (slot 0).
    ///
    /// The rule is that of the [cluster specification](https://valkey.io/topics/cluster-spec/); a server answers the
    /// same number to `CLUSTER KEYSLOT`.
    #[inline]
    pub const fn of(key: &[u8]) -> Slot {
        Slot::from_crc(hashed_crc(key))
    }

    /// The slot with this number, when there is one.
    pub const fn new(number: u16) -> Option<Slot> {
        if number < Self::COUNT { Some(Slot(number)) } else { None }
    }

    /// The number, below [`Slot::COUNT`].
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Every slot, in order.
    pub fn all() -> impl DoubleEndedIterator<Item = Slot> + ExactSizeIterator + Clone {
        (0..Self::COUNT).map(Slot)
    }

    /// The slot of what has this CRC: the count is a power of two, so modulo is its low bits.
    pub(crate) const fn from_crc(crc: u16) -> Slot {
        Slot(crc % Self::COUNT)
    }

    /// The slot that stands `distance` slots further, starting again at 0 after the last.
    pub(crate) const fn wrapping_add(self, distance: u16) -> Slot {
        Slot((self.0 + distance % Self::COUNT) % Self::COUNT)
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slot({})", self.0)
    }
}

impl From<Slot> for u16 {
    fn from(slot: Slot) -> u16 {
        slot.0
    }
}
