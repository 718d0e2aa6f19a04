//! A set that is too large, or too hot, for one key: cut into shares, in one of two ways that are not the same.
//!
//! | | sub-keys of one tag | spread tags |
//! |---|---|---|
//! | key | `followers:{ann}:3` | `followers:{ann~0aF}:members` |
//! | a key has | a share of the members | a share of the members |
//! | a slot has | **all** members and **all** requests | a share of both |
//! | several shares at once | in one transaction, of one moment | one by one, merged |
//!
//! Sub-keys cut a key that is too big: each can be moved, deleted or read in reasonable time. They do **not** cut the load,
//! since one tag is one slot, and one slot is on one node. What is too hot needs tags of its own.
//!
//! ```no_run
//! # async fn example(client: echomq_cluster::Client) -> Result<(), echomq_patterns::Error> {
//! use echomq_patterns::followers::Followers;
//!
//! let fans = Followers::spread_tags(&client, "ann", 6)?;
//! fans.add("ben").await?;
//! println!("{} followers on {} slots", fans.count().await?, fans.slots().len());
//! # Ok(()) }
//! ```
//!
//! # Guaranteed
//!
//! A member is always in the same share, found without asking. With sub-keys, a count is of one moment.
//!
//! # Not guaranteed
//!
//! With spread tags a count is a sum of counts of several moments. The number of shares is for ever: with another one the
//! members would be looked for elsewhere.

use std::collections::BTreeSet;

use echomq_cluster::{Client, Command, Repeat, Transaction};
use echomq_keyspace::{FamilyKey, Slot, crc16, family, tag_for};

use crate::Error;
use crate::call::{Source, read, run, script};

family! {
    /// All shares on the slot of the user.
    pub struct SubKeys(user: "A-Za-z0-9_-", 1..=40) {
        /// One share.
        share(number): Set = "followers:{user}:<number>";
    }
}

family! {
    /// A share on a slot of its own. Its tag is the user's name, `~`, and what leads to the slot; no user's name has a `~`.
    pub struct SpreadTag(share: "A-Za-z0-9_~-", 1..=44) {
        /// The share's members.
        members: Set = "followers:{share}:members";
    }
}

static RENAME: Source = script!("followers_rename");

/// More shares than this cost more to count than they save.
pub const MOST_SHARES: u16 = 1_024;

/// The followers of one user, in shares.
#[derive(Clone)]
pub struct Followers {
    client: Client,
    shares: Vec<FamilyKey>,
}

impl Followers {
    /// In so many sub-keys of one tag. Nothing is sent.
    ///
    /// # Errors
    ///
    /// When the user's name can not be a tag, or for no share or more than [`MOST_SHARES`].
    pub fn sub_keys(client: &Client, user: &str, shares: u16) -> Result<Followers, Error> {
        let keys = SubKeys::new(user)?;
        let shares = (0..checked(shares)?).map(|number| keys.share(number.to_string())).collect();
        Ok(Followers { client: client.clone(), shares })
    }

    /// In so many shares with a tag each, evenly over all slots, from the user's own on. Nothing is sent.
    ///
    /// # Errors
    ///
    /// As for [`Followers::sub_keys`].
    pub fn spread_tags(client: &Client, user: &str, shares: u16) -> Result<Followers, Error> {
        let (first, prefix) = (SubKeys::new(user)?.slot().get(), format!("{user}~"));
        let count = u32::from(checked(shares)?);
        let keys = (0..count).map(|number| {
            let slot = (u32::from(first) + number * u32::from(Slot::COUNT) / count) % u32::from(Slot::COUNT);
            let slot = Slot::new(slot as u16).unwrap_or(Slot::MIN);
            let suffix = tag_for(&prefix, slot).map_err(|error| Error::asked(error.to_string()))?;
            Ok(SpreadTag::new(format!("{prefix}{suffix}"))?.members())
        });
        Ok(Followers { client: client.clone(), shares: keys.collect::<Result<_, Error>>()? })
    }

    /// The key of each share.
    pub fn keys(&self) -> &[FamilyKey] {
        &self.shares
    }

    /// The slots that the shares are on.
    pub fn slots(&self) -> BTreeSet<Slot> {
        self.shares.iter().map(FamilyKey::slot).collect()
    }

    /// The share of a member.
    pub fn share_of(&self, member: &str) -> &FamilyKey {
        &self.shares[usize::from(crc16(member.as_bytes())) % self.shares.len()]
    }

    /// Adds a member; `false` when it was there.
    ///
    /// # Errors
    ///
    /// Those of the connector. As it may be sent twice, `false` can mean that the first time did it.
    pub async fn add(&self, member: &str) -> Result<bool, Error> {
        self.one("SADD", member).await
    }

    /// Removes a member; `false` when it was not there.
    ///
    /// # Errors
    ///
    /// As for [`Followers::add`].
    pub async fn remove(&self, member: &str) -> Result<bool, Error> {
        self.one("SREM", member).await
    }

    /// Whether it is a member.
    ///
    /// # Errors
    ///
    /// Those of the connector.
    pub async fn contains(&self, member: &str) -> Result<bool, Error> {
        self.one("SISMEMBER", member).await
    }

    async fn one(&self, command: &'static str, member: &str) -> Result<bool, Error> {
        let command = Command::new(command).key(self.share_of(member)).arg(member);
        read("a share", self.client.call(command, Repeat::Idempotent).await?)
    }

    /// Gives a member another name, at once for every reader; `false` when the old one is no member.
    ///
    /// # Errors
    ///
    /// Refused before it is sent when the names' shares are on two slots, as they mostly are with spread tags; those of the connector.
    pub async fn rename(&self, old: &str, new: &str) -> Result<bool, Error> {
        let keys = [self.share_of(old).clone(), self.share_of(new).clone()];
        run(&self.client, &RENAME, &keys, &[old, new], Repeat::Never).await
    }

    /// How many there are: of one moment where all shares are on one slot, else the sum of each share's own moment.
    ///
    /// # Errors
    ///
    /// Those of the connector. There is no count without one of the shares.
    pub async fn count(&self) -> Result<u64, Error> {
        let counts = self.shares.iter().map(|share| Command::new("SCARD").key(share));
        let replies = if self.slots().len() == 1 {
            self.client.transaction(Transaction::of(counts)?, Repeat::Idempotent).await?
        } else {
            let replies = self.client.pipeline(counts.collect(), Repeat::Idempotent).await;
            replies.into_iter().collect::<Result<_, _>>()?
        };
        let counts: Vec<u64> = read("a share", redis::Value::Array(replies))?;
        Ok(counts.iter().sum())
    }
}

fn checked(shares: u16) -> Result<u16, Error> {
    match shares {
        1..=MOST_SHARES => Ok(shares),
        _ => Err(Error::asked(format!("{shares} shares can not be; use 1 to {MOST_SHARES}"))),
    }
}
