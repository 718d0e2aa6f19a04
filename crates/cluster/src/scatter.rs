//! The commands that may be split per slot, and nothing else: MGET, MSET, DEL, UNLINK, EXISTS, TOUCH.
//!
//! Each is what its name says for one key at a time, so that many keys are only many such commands. A command
//! whose keys belong together (MSETNX, RENAME, BITOP, LMOVE …) is never split: half of it would be another command.

use echomq_keyspace::{Slot, group_by_slot};
use futures_util::future::join_all;
use redis::Value;

use crate::{Client, Command, Error, Repeat};

/// What became of one slot's share of a scattered command.
#[derive(Clone, Debug)]
pub struct Share {
    /// The slot.
    pub slot: Slot,
    /// Where the share's keys stood in the call.
    pub positions: Vec<usize>,
    /// The server's reply. An error says by [`Error::is_unknown`] whether the share may have been carried out
    /// all the same; any other error means that it was not.
    pub outcome: Result<Value, Error>,
}

/// The shares of a scattered command. It was **not atomic**: each slot's share happened on its own, and while
/// some failed others may have been carried out.
#[derive(Clone, Debug)]
#[must_use]
pub struct Scattered {
    shares: Vec<Share>,
    keys: usize,
}

impl Scattered {
    /// A share per slot.
    pub fn shares(&self) -> &[Share] {
        &self.shares
    }

    /// Every share was carried out.
    pub fn is_whole(&self) -> bool {
        self.shares.iter().all(|share| share.outcome.is_ok())
    }

    /// The values in the order of the call's keys, `None` where there was no such key.
    ///
    /// # Errors
    ///
    /// All shares, when one was not carried out.
    pub fn values(self) -> Result<Vec<Option<Vec<u8>>>, Scattered> {
        let mut values = vec![None; self.keys];
        for share in &self.shares {
            let Ok(Value::Array(replies)) = &share.outcome else { return Err(self) };
            for (&position, reply) in share.positions.iter().zip(replies) {
                match reply {
                    Value::BulkString(bytes) => values[position] = Some(bytes.clone()),
                    _ => values[position] = None,
                }
            }
        }
        Ok(values)
    }

    /// The sum of what the shares counted, for DEL, UNLINK, EXISTS and TOUCH.
    ///
    /// # Errors
    ///
    /// All shares, when one was not carried out.
    pub fn sum(self) -> Result<u64, Scattered> {
        let count = |share: &Share| match share.outcome {
            Ok(Value::Int(count)) => u64::try_from(count).ok(),
            _ => None,
        };
        match self.shares.iter().map(count).sum() {
            Some(sum) => Ok(sum),
            None => Err(self),
        }
    }

    /// For MSET: that every share was carried out.
    ///
    /// # Errors
    ///
    /// All shares, when one was not.
    pub fn done(self) -> Result<(), Scattered> {
        if self.is_whole() { Ok(()) } else { Err(self) }
    }
}

impl Client {
    /// MGET over any slots, side by side. No keys, no round trip.
    pub async fn scatter_mget<K: AsRef<[u8]>>(&self, keys: &[K]) -> Scattered {
        self.scatter("MGET", keys, |_, command| command).await
    }

    /// MSET over any slots, side by side.
    pub async fn scatter_mset<K: AsRef<[u8]>, V: AsRef<[u8]>>(&self, pairs: &[(K, V)]) -> Scattered {
        let keys: Vec<&[u8]> = pairs.iter().map(|(key, _)| key.as_ref()).collect();
        self.scatter("MSET", &keys, |position, command| command.arg(pairs[position].1.as_ref())).await
    }

    /// DEL over any slots, side by side. After an answer that never came it is sent again, so that a key may have
    /// been deleted and yet not be counted.
    pub async fn scatter_del<K: AsRef<[u8]>>(&self, keys: &[K]) -> Scattered {
        self.scatter("DEL", keys, |_, command| command).await
    }

    /// UNLINK over any slots, side by side; see [`Client::scatter_del`].
    pub async fn scatter_unlink<K: AsRef<[u8]>>(&self, keys: &[K]) -> Scattered {
        self.scatter("UNLINK", keys, |_, command| command).await
    }

    /// EXISTS over any slots, side by side. A key named twice counts twice.
    pub async fn scatter_exists<K: AsRef<[u8]>>(&self, keys: &[K]) -> Scattered {
        self.scatter("EXISTS", keys, |_, command| command).await
    }

    /// TOUCH over any slots, side by side.
    pub async fn scatter_touch<K: AsRef<[u8]>>(&self, keys: &[K]) -> Scattered {
        self.scatter("TOUCH", keys, |_, command| command).await
    }

    async fn scatter<K: AsRef<[u8]>>(
        &self,
        name: &'static str,
        keys: &[K],
        after_key: impl Fn(usize, Command) -> Command,
    ) -> Scattered {
        let groups = group_by_slot(keys.iter().map(AsRef::as_ref));
        let shares = groups.into_iter().map(|group| {
            let places = group.keys.iter().zip(&group.positions);
            let command = places
                .fold(Command::new(name), |command, (key, &position)| after_key(position, command.key(key)));
            async move {
                let outcome = self.call(command, Repeat::Idempotent).await;
                Share { slot: group.slot, positions: group.positions, outcome }
            }
        });
        Scattered { shares: join_all(shares).await, keys: keys.len() }
    }
}
