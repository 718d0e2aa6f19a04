//! Where an order can stand, and which way it can go. Pure.

use std::fmt;

use crate::Error;

/// Where an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is there and nothing is paid.
    Placed,
    /// It may be shipped or cancelled.
    Paid,
    /// It is on its way.
    Shipped,
    /// An end.
    Delivered,
    /// An end.
    Cancelled,
}

impl Status {
    pub(super) const ALL: [Status; 5] =
        [Status::Placed, Status::Paid, Status::Shipped, Status::Delivered, Status::Cancelled];

    /// Whether an order may go from here to there.
    pub fn may_become(self, next: Status) -> bool {
        use Status::{Cancelled, Delivered, Paid, Placed, Shipped};
        matches!(
            (self, next),
            (Placed, Paid | Cancelled) | (Paid, Shipped | Cancelled) | (Shipped, Delivered)
        )
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Status::Placed => "placed",
            Status::Paid => "paid",
            Status::Shipped => "shipped",
            Status::Delivered => "delivered",
            Status::Cancelled => "cancelled",
        }
    }

    pub(super) fn parse(word: &str) -> Result<Status, Error> {
        let found = Status::ALL.into_iter().find(|status| status.word() == word);
        found.ok_or_else(|| Error::stored("the status of an order", format!("{word:?}")))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_read_back_and_the_longest_way_fits_the_history() {
        for status in Status::ALL {
            assert_eq!(Status::parse(status.word()).unwrap(), status);
        }
        assert!(Status::parse("lost").unwrap_err().to_string().contains("\"lost\""));
        fn longest(from: Status) -> usize {
            let next = Status::ALL.into_iter().filter(|next| from.may_become(*next));
            1 + next.map(longest).max().unwrap_or(0)
        }
        assert!(longest(Status::Placed) <= Status::ALL.len());
    }
}
