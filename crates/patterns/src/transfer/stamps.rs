//! Stamps, and what two of them say. Pure.

use std::fmt;

use crate::Error;

/// Which transfer was the last one between two accounts: the source's version, and the caller's token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The source's version with this transfer; it orders the stamps of one pair.
    pub version: u64,
    /// The caller's name for the transfer.
    pub token: String,
}

impl Stamp {
    /// Before the first transfer.
    pub(super) fn none() -> Stamp {
        Stamp { version: 0, token: "-".to_owned() }
    }

    /// Reads what is stored; nothing is [`Stamp::none`].
    pub(super) fn parse(text: Option<&str>) -> Result<Stamp, Error> {
        let Some(text) = text else { return Ok(Stamp::none()) };
        let parts = text.split_once(' ').and_then(|(version, token)| Some((version.parse().ok()?, token)));
        let (version, token) = parts.ok_or_else(|| Error::stored("a stamp", format!("{text:?}")))?;
        Ok(Stamp { version, token: token.to_owned() })
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.version, self.token)
    }
}

/// A transfer that is not committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Intent {
    pub(super) stamp: Stamp,
    pub(super) amount: u32,
    /// The stamp of the transfer before it, to the same account.
    pub(super) before: Stamp,
    pub(super) to: String,
}

impl Intent {
    /// Reads `version amount version-before token-before to`.
    pub(super) fn parse(token: &str, text: &str) -> Result<Intent, Error> {
        let words: Vec<&str> = text.split(' ').collect();
        let read = || {
            let [version, amount, before, token_before, to] = words[..] else { return None };
            Some(Intent {
                stamp: Stamp { version: version.parse().ok()?, token: token.to_owned() },
                amount: amount.parse().ok()?,
                before: Stamp { version: before.parse().ok()?, token: token_before.to_owned() },
                to: to.to_owned(),
            })
        };
        read().ok_or_else(|| Error::stored("an intent", format!("{text:?}")))
    }
}

/// One of the two accounts of a [`Pair`](super::Pair).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one that was named first.
    First,
    /// The other.
    Second,
}

/// Whether what was read of two accounts belongs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Each transfer between them is in both or in none: the amounts add up.
    Same,
    /// One has a transfer that the other has not.
    Torn {
        /// The one that has it. None where that can not be told: each has one that the other has not, or they gave the same
        /// version to two transfers, as after a failover that lost one.
        newer: Option<Side>,
    },
}

impl Seen {
    /// What the stamps of one direction say: what the source has sent, and what the destination has received.
    pub(super) fn of(sent: &Stamp, received: &Stamp, source: Side) -> Seen {
        let destination = if source == Side::First { Side::Second } else { Side::First };
        match sent.version.cmp(&received.version) {
            _ if sent == received => Seen::Same,
            std::cmp::Ordering::Greater => Seen::Torn { newer: Some(source) },
            std::cmp::Ordering::Less => Seen::Torn { newer: Some(destination) },
            std::cmp::Ordering::Equal => Seen::Torn { newer: None },
        }
    }

    /// Both directions together.
    pub(super) fn and(self, other: Seen) -> Seen {
        match (self, other) {
            (Seen::Same, seen) | (seen, Seen::Same) => seen,
            (one, two) if one == two => one,
            _ => Seen::Torn { newer: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(version: u64, token: &str) -> Stamp {
        Stamp { version, token: token.to_owned() }
    }

    #[test]
    fn equal_stamps_are_the_same_and_the_higher_version_is_newer() {
        let torn = |newer| Seen::Torn { newer };
        let rows = [
            (stamp(3, "a"), stamp(3, "a"), Seen::Same),
            (stamp(3, "a"), stamp(2, "b"), torn(Some(Side::First))),
            (stamp(3, "a"), stamp(4, "b"), torn(Some(Side::Second))),
            (stamp(3, "a"), stamp(3, "b"), torn(None)),
            (Stamp::none(), Stamp::none(), Seen::Same),
        ];
        for (sent, received, seen) in rows {
            assert_eq!(Seen::of(&sent, &received, Side::First), seen, "{sent} and {received}");
        }
        let (first, second) = (torn(Some(Side::First)), torn(Some(Side::Second)));
        assert_eq!(Seen::Same.and(Seen::Same), Seen::Same);
        assert_eq!((Seen::Same.and(first), first.and(Seen::Same), first.and(first)), (first, first, first));
        assert_eq!(first.and(second), torn(None));
    }

    #[test]
    fn what_is_stored_is_read_or_refused() {
        assert_eq!(Stamp::parse(None).unwrap(), Stamp::none());
        let read = Stamp::parse(Some("12 rent")).unwrap();
        assert_eq!((read.clone(), read.to_string()), (stamp(12, "rent"), "12 rent".to_owned()));
        let intent = Intent::parse("rent", "12 30 9 gift ben").unwrap();
        let same =
            Intent { stamp: stamp(12, "rent"), amount: 30, before: stamp(9, "gift"), to: "ben".into() };
        assert_eq!(intent, same);
        for bad in ["", "12", "x rent"] {
            assert!(Stamp::parse(Some(bad)).is_err(), "{bad}");
        }
        for bad in ["", "12 30 9 gift", "12 30 9 gift ben more", "12 -3 9 gift ben"] {
            let error = Intent::parse("rent", bad).unwrap_err().to_string();
            assert!(error.starts_with("what is stored as an intent can not be read"), "{error}");
        }
    }
}
