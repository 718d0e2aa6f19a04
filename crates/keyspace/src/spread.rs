//! A tag for a wanted slot: the reverse of hashing.

use crate::crc::crc16;
use crate::escaped::Quoted;
use crate::id::BASE62;
use crate::slot::Slot;
use alloc::boxed::Box;
use core::fmt;

/// Three characters of `0-9`, `A-Z`, `a-z` that move a tag to another slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Suffix([u8; Suffix::BYTES]);

impl Suffix {
    /// The length of every suffix, in bytes.
    pub const BYTES: usize = 3;

    /// The characters as text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The suffix with these characters, when they are three of the alphabet.
    pub(crate) fn from_chars(chars: &[u8]) -> Option<Suffix> {
        let chars: [u8; Suffix::BYTES] = chars.try_into().ok()?;
        chars.iter().all(u8::is_ascii_alphanumeric).then_some(Suffix(chars))
    }
}

/// The suffix that makes `prefix` + suffix, set in braces, a tag for `slot`. Every slot has one, for any prefix; where several
/// fit it is the first in byte order, so the answer never changes.
///
/// ```
/// use echomq_keyspace::{Slot, tag_for};
///
/// let slot = Slot::new(9000).unwrap();
/// let tag = format!("cart:{}", tag_for("cart:", slot)?);
/// assert_eq!(Slot::of(format!("{{{tag}}}:items").as_bytes()), slot);
/// # Ok::<(), echomq_keyspace::TagError>(())
/// ```
///
/// # Errors
///
/// When the prefix has a `}`: the tag would end there, before the suffix.
pub fn tag_for(prefix: impl AsRef<[u8]>, slot: Slot) -> Result<Suffix, TagError> {
    let prefix = prefix.as_ref();
    if prefix.contains(&b'}') {
        return Err(TagError(prefix.into()));
    }
    Ok(suffix_for(prefix, slot))
}

/// As [`tag_for`], for a prefix that is known to hold no `}`.
///
/// The CRC is linear: that of prefix + suffix is that of the prefix with zeros in the suffix's place, exclusive-or that of
/// the suffix alone. So the search is for a suffix of a known CRC, the same for all prefixes; and once two characters are
/// chosen, the low byte of what is missing names the third.
pub(crate) fn suffix_for(prefix: &[u8], slot: Slot) -> Suffix {
    let mut zeroed = prefix.to_vec();
    zeroed.extend([0; Suffix::BYTES]);
    let wanted = crc16(&zeroed) ^ slot.get();
    for &a in BASE62 {
        for &b in BASE62 {
            let missing = wanted ^ crc16(&[a, b, 0]);
            let c = LAST_BY_CRC[usize::from(missing as u8)];
            if c != 0 && Slot::from_crc(missing ^ crc16(&[c])) == Slot::MIN {
                return Suffix([a, b, c]);
            }
        }
    }
    unreachable!("each of the 16384 slots has a suffix: a test goes through all of them")
}

/// The character whose CRC has this low byte, or 0; no two characters share one.
const LAST_BY_CRC: [u8; 256] = {
    let mut last = [0; 256];
    let mut i = 0;
    while i < BASE62.len() {
        let low = crc16(&[BASE62[i]]) as u8 as usize;
        assert!(last[low] == 0);
        last[low] = BASE62[i];
        i += 1;
    }
    last
};

/// A prefix that no suffix can turn into a tag, because it has a `}`.
#[derive(Clone, PartialEq, Eq)]
pub struct TagError(Box<[u8]>);

impl TagError {
    /// The prefix that was refused, as it was given.
    pub fn input(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for TagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "tag prefix {} refused: a tag ends at its first \"}}\"; use a prefix without one",
            Quoted(&self.0)
        )
    }
}

impl fmt::Debug for TagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TagError({self})")
    }
}

impl core::error::Error for TagError {}

impl fmt::Display for Suffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Suffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Suffix({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Part, PartCount, QueueName};
    use alloc::format;
    use alloc::string::ToString as _;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// How many of the tags fall on each of `shards` equal divisions of the slots.
    fn shares(tags: impl IntoIterator<Item = Slot>, shards: u16) -> Vec<u16> {
        let mut shares = vec![0; usize::from(shards)];
        tags.into_iter().for_each(|slot| shares[usize::from(slot.get() / (Slot::COUNT / shards))] += 1);
        shares
    }

    fn spread(name: &str, n: u16) -> Vec<Part> {
        Part::spread(&QueueName::parse(name).unwrap(), PartCount::new(n).unwrap())
    }

    #[test]
    fn every_slot_has_a_suffix_and_it_is_the_first_in_byte_order() {
        let mut first = vec![None; usize::from(Slot::COUNT)];
        for (a, b, c) in BASE62
            .iter()
            .flat_map(|a| BASE62.iter().flat_map(move |b| BASE62.iter().map(move |c| (*a, *b, *c))))
        {
            first[usize::from(Slot::of(&[b'x', a, b, c]).get())].get_or_insert(Suffix([a, b, c]));
        }
        for slot in Slot::all() {
            assert_eq!(Some(tag_for("x", slot).unwrap()), first[usize::from(slot.get())], "slot {slot}");
        }
    }

    #[test]
    fn a_prefix_that_would_end_the_tag_is_refused() {
        let refused = tag_for("a}b", Slot::MIN).unwrap_err();
        assert_eq!(refused.input(), b"a}b");
        assert!(refused.to_string().starts_with("tag prefix \"a}b\" refused"), "{refused}");
    }

    #[test]
    fn each_equal_division_of_the_slots_gets_its_share_of_a_spread_queue() {
        for n in [1, 2, 3, 4, 8, 16, 32, 64, 100, 1024] {
            let parts = spread("orders", n);
            for shards in [1, 2, 4, 8, 16, 64, 1024] {
                let shares = shares(parts.iter().map(Part::slot), shards);
                let (low, high) = (n / shards, n.div_ceil(shards));
                let fair = |share: &u16| (low..=high).contains(share);
                assert!(shares.iter().all(fair), "{n} parts over {shards} shards: {shares:?}");
            }
        }
    }

    #[test]
    fn counters_as_tags_leave_half_of_the_shards_idle() {
        let idle =
            |slots: Vec<Slot>, shards| shares(slots, shards).iter().filter(|&&share| share == 0).count();
        let of = |name: &dyn Fn(u16) -> alloc::string::String| {
            (0..32).map(|i| Slot::of(name(i).as_bytes())).collect::<Vec<_>>()
        };
        for shards in [8, 16] {
            let half = usize::from(shards / 2);
            assert_eq!(idle(of(&|i| format!("{{{i}}}")), shards), half, "{{0}}..{{31}} over {shards}");
            assert_eq!(idle(of(&|i| format!("queue-{i}")), shards), half, "queue-0..31 over {shards}");
            assert_eq!(idle(spread("queue", 32).iter().map(Part::slot).collect(), shards), 0);
        }
    }

    #[test]
    fn a_queue_can_be_spread_over_every_slot() {
        let mut slots: Vec<_> = spread("orders", Slot::COUNT).iter().map(Part::slot).collect();
        slots.sort();
        assert!(slots.into_iter().eq(Slot::all()));
        assert_eq!((PartCount::new(0), PartCount::new(16385)), (None, None));
    }

    proptest! {
        #[test]
        fn a_suffix_moves_any_prefix_to_any_slot(prefix in prop::collection::vec(any::<u8>().prop_filter("closing brace", |b| *b != b'}'), 0..150), number in 0u16..16384) {
            let slot = Slot::new(number).unwrap();
            let suffix = tag_for(&prefix, slot).unwrap();
            let key = [b"emq:{", prefix.as_slice(), suffix.as_str().as_bytes(), b"}:pending"].concat();
            prop_assert_eq!(Slot::of(&key), slot);
        }

        #[test]
        fn a_queue_grows_without_moving_a_part(name in "[a-z]{1,120}", n in 1u16..40, k in 1u16..8) {
            let (few, many) = (spread(&name, n), spread(&name, n * k));
            prop_assert_eq!(few[0].tag(), &name);
            for (i, part) in few.iter().enumerate() {
                prop_assert_eq!(part, &many[i * usize::from(k)]);
                let expected = (u32::from(few[0].slot().get()) + i as u32 * 16384 / u32::from(n)) % 16384;
                prop_assert_eq!(u32::from(part.slot().get()), expected);
                prop_assert!(part.tag().len() <= Part::TAG_MAX_BYTES);
                prop_assert_eq!(&Part::from_tag(part.tag()).unwrap(), part);
            }
        }
    }
}
