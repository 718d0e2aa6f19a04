//! Keys by slot, with their way back.

use crate::slot::Slot;
use alloc::vec::Vec;

/// The keys of one slot, and where each stood among all keys.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlotGroup<K> {
    /// The slot of all of them.
    pub slot: Slot,
    /// Where the keys stood, in rising order; as long as `keys`.
    pub positions: Vec<usize>,
    /// The keys; never empty.
    pub keys: Vec<K>,
}

/// Groups keys by slot: the groups in the order of slots, the keys of a group in the order given. A key that is given twice
/// comes out twice, so that answers can be put back where they belong.
///
/// ```
/// use echomq_keyspace::group_by_slot;
///
/// let groups = group_by_slot(["a:{mail}", "b:{orders}", "c:{mail}"]);
/// let shown: Vec<_> = groups.iter().map(|g| (g.slot.get(), g.positions.as_slice())).collect();
/// assert_eq!(shown, [(105, [1].as_slice()), (4247, &[0, 2])]);
/// ```
pub fn group_by_slot<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = K>) -> Vec<SlotGroup<K>> {
    let mut placed: Vec<_> =
        keys.into_iter().enumerate().map(|(position, key)| (Slot::of(key.as_ref()), position, key)).collect();
    placed.sort_by_key(|(slot, ..)| *slot);
    let mut groups: Vec<SlotGroup<K>> = Vec::new();
    for (slot, position, key) in placed {
        match groups.last_mut() {
            Some(group) if group.slot == slot => {
                group.positions.push(position);
                group.keys.push(key);
            }
            _ => groups.push(SlotGroup { slot, positions: [position].into(), keys: [key].into() }),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_put_back_give_the_keys_in_order(keys in prop::collection::vec("[ab]{0,2}", 0..30)) {
            let groups = group_by_slot(&keys);
            prop_assert!(groups.is_sorted_by(|a, b| a.slot < b.slot));
            let mut back: Vec<_> = groups
                .iter()
                .flat_map(|g| {
                    assert!(g.positions.is_sorted() && g.keys.iter().all(|key| Slot::of(key.as_bytes()) == g.slot));
                    g.positions.iter().zip(&g.keys)
                })
                .collect();
            back.sort();
            prop_assert!(back.into_iter().map(|(_, key)| *key).eq(&keys));
        }
    }
}
