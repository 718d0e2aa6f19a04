//! A transfer between two entities, whose keys can not share a slot.
//!
//! No transaction and no script spans two slots, so a transfer is three steps, each atomic on one account's slot:
//!
//! | step | on the slot of | what |
//! |---|---|---|
//! | debit | the source | the amount leaves; in the same script an *intent* says where to |
//! | credit | the destination | the amount arrives, if it is this transfer's turn |
//! | commit | the source | the intent becomes the *commit marker*, kept for a day |
//!
//! Both sides keep for each other account the *stamp* (version and token) of their last transfer with it. A transfer's intent
//! holds the stamp of the one before it, and the destination takes it only after that one: so it is credited once, whoever
//! sends it and however often, without remembering every token. Two accounts read one after the other are of the same
//! moment when their stamps are equal; else the read is [torn](Seen::Torn), and the stamps tell who is newer.
//!
//! ```no_run
//! # async fn example(client: echomq_cluster::Client) -> Result<(), echomq_patterns::Error> {
//! use echomq_patterns::transfer::{Account, Outcome, Transfer, read_settled};
//!
//! let (ann, ben) = (Account::new(&client, "ann")?, Account::new(&client, "ben")?);
//! ann.deposit(100).await?;
//! // The same token again moves nothing again.
//! let outcome = Transfer::new(&ann, &ben, 30, "rent-2026-12")?.run().await?;
//! assert_eq!(outcome, Outcome::Done);
//! let pair = read_settled(&ann, &ben, 5).await?;
//! println!("{:?}: {} and {}", pair.seen, pair.amounts.0, pair.amounts.1);
//! # Ok(()) }
//! ```
//!
//! # Guaranteed
//!
//! * Ended between any two steps, a transfer has happened not at all (before the debit) or is finished, exactly once, by
//!   whoever comes first: a repetition with its token, [`Account::recover`], a reader, or the next transfer of that pair.
//! * Amounts that are read as [`Seen::Same`] add up.
//!
//! # Not guaranteed
//!
//! * Isolation: between debit and credit the amount is on neither side; a reader is told.
//! * A credit is never refused: what the destination may refuse has to be reserved there first.
//! * What a failover loses is lost. The stamps show it: what only the destination lost is credited again while the marker
//!   stands, anything else stays [`Seen::Torn`], is [`Outcome::Diverged`] for what follows, and is for a human to decide.
//! * A token that is used again after a day is a new transfer.

mod reading;
mod stamps;
mod steps;

pub use reading::{Pair, read_pair, read_settled};
pub use stamps::{Seen, Side, Stamp};
pub use steps::{Outcome, Transfer};

use std::collections::BTreeSet;
use std::time::Duration;

use echomq_cluster::{Client, Command, Repeat};
use echomq_keyspace::family;

use crate::Error;
use crate::call::{Source, read, run, script};
use stamps::Intent;

family! {
    /// The keys of one account. The stored words are separated by blanks.
    pub struct LedgerKeys(account: "A-Za-z0-9_-", 1..=40) {
        /// `amount`, and `version`, which counts the transfers in and out.
        balance: Hash = "ledger:{account}:balance";
        /// Other account → stamp of the last transfer to it.
        sent: Hash = "ledger:{account}:sent";
        /// Other account → stamp of the last transfer from it.
        received: Hash = "ledger:{account}:received";
        /// Token → version, of the transfers that are not committed.
        open: SortedSet = "ledger:{account}:open";
        /// Token → `version amount stamp-before to`, of the same ones.
        intents: Hash = "ledger:{account}:intents";
        /// The commit marker: the intent of a transfer that is done.
        done(token): String = "ledger:{account}:done:<token>";
    }
}

static CREDIT: Source = script!("transfer_credit");
static COMMIT: Source = script!("transfer_commit");

/// So long a marker stands, and a repeated token is known.
pub const REMEMBERED: Duration = Duration::from_secs(24 * 3600);

/// So many intents are read at a time.
const STEP: usize = 100;

/// What a recovery came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// So many transfers were finished, by this call or meanwhile by another.
    pub finished: usize,
    /// The accounts whose stamps do not follow on this one's: one of the two has lost a transfer. Theirs stay open.
    pub diverged: BTreeSet<String>,
}

/// One account.
#[derive(Clone)]
pub struct Account {
    client: Client,
    keys: LedgerKeys,
}

impl Account {
    /// The account of this name. Nothing is sent.
    ///
    /// # Errors
    ///
    /// When the name can not be a tag.
    pub fn new(client: &Client, name: &str) -> Result<Account, Error> {
        Ok(Account { client: client.clone(), keys: LedgerKeys::new(name)? })
    }

    /// Its keys.
    pub fn keys(&self) -> &LedgerKeys {
        &self.keys
    }

    /// Its name.
    pub fn name(&self) -> String {
        String::from_utf8_lossy(self.keys.account()).into_owned()
    }

    /// Adds an amount from outside, and returns what is there then.
    ///
    /// # Errors
    ///
    /// Those of the connector. It is not repeated, since twice would be twice as much.
    pub async fn deposit(&self, amount: u32) -> Result<i64, Error> {
        let add = Command::new("HINCRBY").key(self.keys.balance()).arg("amount").arg(amount);
        read("a balance", self.client.call(add, Repeat::Never).await?)
    }

    /// Finishes the transfers from here that were debited until now and are not committed. Any number may do it at once.
    ///
    /// # Errors
    ///
    /// Those of the connector; what was finished until then stays finished.
    pub async fn recover(&self) -> Result<Recovered, Error> {
        let ask = Command::new("HGET").key(self.keys.balance()).arg("version");
        let version: Option<u64> = read("a balance", self.client.call(ask, Repeat::Idempotent).await?)?;
        self.recover_until(version.unwrap_or(0)).await
    }

    /// In the order of their versions: of each pair, a transfer is credited only when the one before it is committed.
    async fn recover_until(&self, last: u64) -> Result<Recovered, Error> {
        let (mut recovered, mut from) = (Recovered::default(), 0);
        loop {
            let (listed, intents) = self.open_between(from, last).await?;
            for intent in &intents {
                if recovered.diverged.contains(&intent.to) {
                    continue;
                }
                if self.finish(intent).await? {
                    recovered.finished += 1;
                } else {
                    recovered.diverged.insert(intent.to.clone());
                }
            }
            if listed < STEP {
                return Ok(recovered);
            }
            from = intents.last().map_or(from, |newest| newest.stamp.version.saturating_add(1));
        }
    }

    /// The first intents of these versions, and how many were listed: what is missing was committed in between.
    async fn open_between(&self, first: u64, last: u64) -> Result<(usize, Vec<Intent>), Error> {
        let list = Command::new("ZRANGE").key(self.keys.open()).arg(first).arg(last);
        let list = list.arg("BYSCORE").arg("LIMIT").arg(0).arg(STEP);
        let tokens: Vec<String> = read("open transfers", self.client.call(list, Repeat::Idempotent).await?)?;
        if tokens.is_empty() {
            return Ok((0, Vec::new()));
        }
        let get = Command::new("HMGET").key(self.keys.intents()).arg(&tokens);
        let texts: Vec<Option<String>> = read("intents", self.client.call(get, Repeat::Idempotent).await?)?;
        let stand = tokens.iter().zip(texts).filter_map(|(token, text)| Some((token, text?)));
        let intents = stand.map(|(token, text)| Intent::parse(token, &text)).collect::<Result<_, _>>()?;
        Ok((tokens.len(), intents))
    }

    /// Credit and commit. `false` when the other account's stamp does not follow on this one's.
    async fn finish(&self, intent: &Intent) -> Result<bool, Error> {
        if !self.credit(intent).await? {
            return Ok(false);
        }
        self.commit(intent).await?;
        Ok(true)
    }

    /// Brings an intent of this account to its destination. `false` as for [`Account::finish`].
    async fn credit(&self, intent: &Intent) -> Result<bool, Error> {
        if self.credited(intent).await? {
            return Ok(true);
        }
        // Somebody else may have finished this one and the next one as well; then it is not open any more.
        let ask = Command::new("ZSCORE").key(self.keys.open()).arg(&intent.stamp.token);
        let open: Option<f64> = read("open transfers", self.client.call(ask, Repeat::Idempotent).await?)?;
        Ok(open.is_none())
    }

    /// Whether the destination has it, now or since an earlier call.
    async fn credited(&self, intent: &Intent) -> Result<bool, Error> {
        let to = LedgerKeys::new(&intent.to)?;
        let args = (self.name(), intent.stamp.to_string(), intent.before.to_string(), intent.amount);
        let keys = [to.balance(), to.received()];
        let word: String = run(&self.client, &CREDIT, &keys, args, Repeat::Idempotent).await?;
        Ok(word == "done")
    }

    async fn commit(&self, intent: &Intent) -> Result<(), Error> {
        let keys = [self.keys.open(), self.keys.intents(), self.keys.done(&intent.stamp.token)];
        let args = (&intent.stamp.token, intent.stamp.version, REMEMBERED.as_millis() as u64);
        // `gone` means that somebody else was faster.
        let _: String = run(&self.client, &COMMIT, &keys, args, Repeat::Idempotent).await?;
        Ok(())
    }
}
