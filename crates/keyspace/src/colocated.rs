//! Keys proven to be of one slot.

use crate::judge::{Verdict, judge};
use crate::slot::Slot;
use alloc::vec::Vec;
use core::fmt;

/// Keys of one slot. It can only be made from such keys, so that who holds one may touch them in one transaction, under
/// one WATCH or in one script, on any node that has the slot.
///
/// ```
/// use echomq_keyspace::Colocated;
///
/// let keys = Colocated::of(["stock:{MUG7}:available", "stock:{MUG7}:reserved"])?;
/// assert_eq!((keys.slot().get(), keys.len()), (12491, 2));
///
/// let apart = Colocated::of(["stock:MUG7:available", "stock:MUG7:reserved"]).unwrap_err();
/// assert!(apart.to_string().contains("2 keys on 2 slots"));
/// # Ok::<(), echomq_keyspace::Apart>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colocated<'k> {
    slot: Slot,
    keys: Vec<&'k [u8]>,
}

impl<'k> Colocated<'k> {
    /// Proves that keys share a slot. The order is kept, and a key may stand there twice.
    ///
    /// # Errors
    ///
    /// When there are two slots, or no key at all: then no slot says which node to ask.
    pub fn of<K: AsRef<[u8]> + ?Sized + 'k>(
        keys: impl IntoIterator<Item = &'k K>,
    ) -> Result<Colocated<'k>, Apart> {
        let keys: Vec<&[u8]> = keys.into_iter().map(AsRef::as_ref).collect();
        let mut slots = keys.iter().map(|key| Slot::of(key));
        match slots.next() {
            Some(slot) if slots.all(|other| other == slot) => Ok(Colocated { slot, keys }),
            _ => Err(Apart { keys: keys.into_iter().map(<[u8]>::to_vec).collect() }),
        }
    }

    /// The slot of all of them.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The keys, in the order given.
    pub fn keys(&self) -> &[&'k [u8]] {
        &self.keys
    }

    /// How many there are; never 0.
    #[allow(clippy::len_without_is_empty, reason = "there is no empty proof")]
    pub fn len(&self) -> usize {
        self.keys.len()
    }
}

/// Keys that are not of one slot. The text is the [`Verdict`]: each key with its slot and the reason, what catches people,
/// and names that would meet.
#[derive(Clone, PartialEq, Eq)]
pub struct Apart {
    keys: Vec<Vec<u8>>,
}

impl Apart {
    /// The keys, in the order given; none when there were none.
    pub fn keys(&self) -> &[Vec<u8>] {
        &self.keys
    }

    /// Why they are apart, and what would bring them together.
    pub fn verdict(&self) -> Verdict<'_> {
        judge(&self.keys)
    }
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.verdict(), f)
    }
}

impl fmt::Debug for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Apart({self})")
    }
}

impl core::error::Error for Apart {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_proof_is_given_just_where_the_verdict_has_a_slot(keys in prop::collection::vec("[ab{}]{0,4}", 0..5)) {
            let slot = judge(&keys).slot();
            match Colocated::of(&keys) {
                Ok(proof) => {
                    prop_assert_eq!(Some(proof.slot()), slot);
                    prop_assert!(proof.keys().iter().copied().eq(keys.iter().map(String::as_bytes)));
                }
                Err(apart) => {
                    prop_assert_eq!(slot, None);
                    prop_assert!(apart.keys().iter().map(Vec::as_slice).eq(keys.iter().map(String::as_bytes)));
                }
            }
        }
    }
}
