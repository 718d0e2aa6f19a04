//! The parts of a logical queue: one tag and one slot each.

use crate::names::{Fault, NameError, QueueName, Role};
use crate::slot::Slot;
use crate::spread::{Suffix, suffix_for};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroU16;

/// One slot's share of a logical queue.
///
/// The first part has the queue's name as its tag. A further part has `name~xyz`, where the suffix is chosen so that the
/// tag falls on the wanted slot. Cloning shares the text.
///
/// ```
/// use echomq_keyspace::{Part, PartCount, QueueName};
///
/// let orders = QueueName::parse("orders")?;
/// let parts = Part::spread(&orders, PartCount::new(4).unwrap());
/// assert_eq!(parts[0], Part::first(&orders));
/// assert_eq!(parts.iter().map(|p| p.slot().get()).collect::<Vec<_>>(), [105, 4201, 8297, 12393]);
/// assert_eq!(Part::from_tag(parts[1].tag())?, parts[1]);
/// # Ok::<(), echomq_keyspace::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    queue: QueueName,
    suffix: Option<Suffix>,
    tag: Arc<str>,
    slot: Slot,
}

impl Part {
    /// The longest tag of a part, in bytes.
    pub const TAG_MAX_BYTES: usize = 128;

    /// Parts a queue's name from the suffix of a part; no name has it.
    const SEPARATOR: char = '~';

    /// The first part, whose tag is the queue's name; the only one of a queue that is not spread.
    pub fn first(queue: &QueueName) -> Part {
        Part::new(queue.clone(), None)
    }

    /// The parts of a queue that is spread over `n` slots, all different.
    ///
    /// Part 0 is [`Part::first`]; part i stands on slot(name) + floor(i · 16384 / n), modulo 16384. So the parts of n are
    /// among those of k · n, a queue can grow in place, and each equal division of the slots gets its share.
    pub fn spread(queue: &QueueName, n: PartCount) -> Vec<Part> {
        let start = Slot::of(queue.as_str().as_bytes());
        let stem = format!("{queue}{}", Part::SEPARATOR);
        let further = (1..n.get()).map(|i| {
            let distance = u32::from(i) * u32::from(Slot::COUNT) / u32::from(n.get());
            let slot = start.wrapping_add(distance as u16);
            Part::new(queue.clone(), Some(suffix_for(stem.as_bytes(), slot)))
        });
        core::iter::once(Part::first(queue)).chain(further).collect()
    }

    /// The part with this tag: a queue's name, or a name, `~` and a suffix.
    ///
    /// # Errors
    ///
    /// When the tag is neither.
    pub fn from_tag(tag: &str) -> Result<Part, NameError> {
        let Some((name, suffix)) = tag.split_once(Part::SEPARATOR) else {
            return QueueName::parse(tag).map(|queue| Part::first(&queue));
        };
        let suffix = Suffix::from_chars(suffix.as_bytes())
            .ok_or_else(|| NameError::new(Role::PartTag, tag.as_bytes(), Fault::BadSuffix))?;
        Ok(Part::new(QueueName::parse(name)?, Some(suffix)))
    }

    pub(crate) fn new(queue: QueueName, suffix: Option<Suffix>) -> Part {
        let tag: Arc<str> = match suffix {
            None => queue.as_str().into(),
            Some(suffix) => {
                let mut tag = String::from(queue.as_str());
                tag.push(Part::SEPARATOR);
                tag.push_str(suffix.as_str());
                tag.into()
            }
        };
        let slot = Slot::of(tag.as_bytes());
        Part { queue, suffix, tag, slot }
    }

    /// The logical queue that the part belongs to.
    pub fn queue(&self) -> &QueueName {
        &self.queue
    }

    /// The suffix of the tag; none for the first part.
    pub fn suffix(&self) -> Option<Suffix> {
        self.suffix
    }

    /// What stands between the braces of the part's keys, at most [`Part::TAG_MAX_BYTES`].
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The slot of every key of the part.
    pub fn slot(&self) -> Slot {
        self.slot
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.tag)
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Part({:?} on slot {})", self.tag, self.slot)
    }
}

/// How many parts a queue has: 1 to 16384.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartCount(NonZeroU16);

impl PartCount {
    /// One part: a queue that is not spread.
    pub const ONE: PartCount = PartCount(NonZeroU16::MIN);

    /// The count, when it is 1 to 16384.
    pub const fn new(n: u16) -> Option<PartCount> {
        match NonZeroU16::new(n) {
            Some(n) if n.get() <= Slot::COUNT => Some(PartCount(n)),
            _ => None,
        }
    }

    /// The number.
    pub const fn get(self) -> u16 {
        self.0.get()
    }
}

impl fmt::Display for PartCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
