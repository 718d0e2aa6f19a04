//! Reading two accounts, noticing when they do not belong together, and repairing what can be.

use std::time::Duration;

use echomq_cluster::{Command, Repeat, Transaction};

use super::stamps::Intent;
use super::{Account, Seen, Side, Stamp};
use crate::Error;
use crate::call::read;

/// What was read of two accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What is on the first and on the second.
    pub amounts: (i64, i64),
    /// Whether the two belong together.
    pub seen: Seen,
}

/// One account, as it was at one moment, and its last transfers with another.
struct View {
    amount: i64,
    sent: Stamp,
    received: Stamp,
}

/// Reads two accounts, each of a moment of its own, and says whether they belong together. Changes nothing.
///
/// # Errors
///
/// Those of the connector.
pub async fn read_pair(first: &Account, second: &Account) -> Result<Pair, Error> {
    let (one, two) = (first.view(second).await?, second.view(first).await?);
    let there = Seen::of(&one.sent, &two.received, Side::First);
    let back = Seen::of(&two.sent, &one.received, Side::Second);
    Ok(Pair { amounts: (one.amount, two.amount), seen: there.and(back) })
}

/// Reads two accounts until they belong together: first so many times with a growing pause, since most transfers that are seen
/// half done are done a moment later; then it finishes those that were left, and reads once more.
///
/// # Errors
///
/// Those of the connector. A pair that is torn all the same is no error, see [`Pair::seen`]: there is more traffic than attempts, or
/// an account has lost a transfer for good.
pub async fn read_settled(first: &Account, second: &Account, attempts: u32) -> Result<Pair, Error> {
    for attempt in 0..attempts {
        let pair = read_pair(first, second).await?;
        if pair.seen == Seen::Same {
            return Ok(pair);
        }
        let most = 1_000 << attempt.min(6);
        tokio::time::sleep(Duration::from_micros(fastrand::u64(most / 2..most))).await;
    }
    for (from, to) in [(first, second), (second, first)] {
        from.recover().await?;
        from.credit_again(to).await?;
    }
    read_pair(first, second).await
}

impl Account {
    async fn view(&self, other: &Account) -> Result<View, Error> {
        let name = other.name();
        let reads = Transaction::of([
            Command::new("HGET").key(self.keys.balance()).arg("amount"),
            Command::new("HGET").key(self.keys.sent()).arg(&name),
            Command::new("HGET").key(self.keys.received()).arg(&name),
        ])?;
        let replies = self.client.transaction(reads, Repeat::Idempotent).await?;
        let (amount, sent, received): (Option<i64>, Option<String>, Option<String>) =
            read("an account", redis::Value::Array(replies))?;
        Ok(View {
            amount: amount.unwrap_or(0),
            sent: Stamp::parse(sent.as_deref())?,
            received: Stamp::parse(received.as_deref())?,
        })
    }

    /// Credits the last transfer again if it is committed and the other account has lost it; the marker has its intent.
    async fn credit_again(&self, other: &Account) -> Result<(), Error> {
        let sent = self.view(other).await?.sent;
        let get = Command::new("GET").key(self.keys.done(&sent.token));
        let marker: Option<String> = read("a marker", self.client.call(get, Repeat::Idempotent).await?)?;
        if let Some(intent) = marker {
            self.credited(&Intent::parse(&sent.token, &intent)?).await?;
        }
        Ok(())
    }
}
