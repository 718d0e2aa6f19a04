//! Several balances of one account (its *pots*), and money between them, by an optimistic lock.
//!
//! WATCH both pots, read them, decide here, and commit both in one MULTI: if anybody changed one of them in between,
//! nothing is written and it begins anew. For rules that are easier to say here than in a script.
//!
//! ```no_run
//! # async fn example(client: echomq_cluster::Client) -> Result<(), echomq_patterns::Error> {
//! use echomq_patterns::balances::{Balances, Shifted};
//!
//! let account = Balances::new(&client, "ann")?;
//! account.deposit("cash", 100).await?;
//! match account.shift("cash", "savings", 30, 10).await {
//!     Ok(Shifted::Done { from, to }) => println!("cash {from}, savings {to}"),
//!     Ok(Shifted::Insufficient { have }) => println!("only {have} there"),
//!     Err(error) if error.is_contended() => println!("too many at once, nothing was written: {error}"),
//!     Err(error) => return Err(error),
//! }
//! # Ok(()) }
//! ```
//!
//! # Guaranteed
//!
//! The sum never changes by a shift, for readers too, and no pot falls below 0. The attempts are bounded; who lost in each of
//! them is told.
//!
//! # Not guaranteed
//!
//! Fairness: under heavy contention a script does the same in one round trip and always gets its turn, see
//! [`stock`](crate::stock). Between two accounts it does not work at all, see [`transfer`](crate::transfer).

use echomq_cluster::{Client, Command, Decision, Ended, Repeat, Transaction, View};
use echomq_keyspace::{Colocated, family};

use crate::Error;
use crate::call::read;

family! {
    /// The keys of one account.
    pub struct AccountKeys(account: "A-Za-z0-9_-", 1..=40) {
        /// What is in one pot.
        pot(name): String = "account:{account}:pot:<name>";
    }
}

/// What became of a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Shifted {
    /// Both pots have changed.
    Done {
        /// What is left where it came from.
        from: i64,
        /// What is now where it went.
        to: i64,
    },
    /// There is less; nothing was written.
    Insufficient {
        /// So much there is.
        have: i64,
    },
}

/// The balances of one account.
#[derive(Clone)]
pub struct Balances {
    client: Client,
    keys: AccountKeys,
}

impl Balances {
    /// The balances of this account. Nothing is sent.
    ///
    /// # Errors
    ///
    /// When the account's name can not be a tag.
    pub fn new(client: &Client, account: &str) -> Result<Balances, Error> {
        Ok(Balances { client: client.clone(), keys: AccountKeys::new(account)? })
    }

    /// Its keys.
    pub fn keys(&self) -> &AccountKeys {
        &self.keys
    }

    /// Puts money into a pot, and returns what is in it then.
    ///
    /// # Errors
    ///
    /// Those of the connector. It is not repeated, since twice would be twice as much.
    pub async fn deposit(&self, pot: &str, amount: u32) -> Result<i64, Error> {
        let add = Command::new("INCRBY").key(self.keys.pot(pot)).arg(amount);
        read("a pot", self.client.call(add, Repeat::Never).await?)
    }

    /// Moves an amount from one pot to another, in so many attempts at most.
    ///
    /// # Errors
    ///
    /// [`Error::is_contended`] when others were faster in each attempt: nothing was written. The same pot twice; those of
    /// the connector.
    pub async fn shift(&self, from: &str, to: &str, amount: u32, attempts: u32) -> Result<Shifted, Error> {
        if from == to {
            return Err(Error::asked(format!("from {from:?} to itself is no shift; name two pots")));
        }
        let (source, target) = (self.keys.pot(from), self.keys.pot(to));
        let both = [source.as_bytes(), target.as_bytes()];
        let both = Colocated::of(both).map_err(echomq_cluster::Error::from)?;
        let decide = async |view: View| {
            let reply = view.read(Command::new("GET").key(&source)).await?;
            let have: Option<i64> = redis::from_redis_value_ref(&reply)
                .map_err(|_| echomq_cluster::Error::reply("GET", &reply))?;
            match have.unwrap_or(0) {
                have if have < i64::from(amount) => Ok(Decision::Leave(have)),
                _ => Ok(Decision::Commit(Transaction::of([
                    Command::new("DECRBY").key(&source).arg(amount),
                    Command::new("INCRBY").key(&target).arg(amount),
                ])?)),
            }
        };
        match self.client.watch(&both, attempts, decide).await? {
            Ended::Left(have) => Ok(Shifted::Insufficient { have }),
            Ended::Committed(replies) => {
                let (from, to) = read("two pots", redis::Value::Array(replies))?;
                Ok(Shifted::Done { from, to })
            }
        }
    }

    /// What is in these pots, of one moment.
    ///
    /// # Errors
    ///
    /// Those of the connector.
    pub async fn read(&self, pots: &[&str]) -> Result<Vec<i64>, Error> {
        let get = pots.iter().fold(Command::new("MGET"), |command, pot| command.key(self.keys.pot(pot)));
        let amounts: Vec<Option<i64>> = read("pots", self.client.call(get, Repeat::Idempotent).await?)?;
        Ok(amounts.into_iter().map(|amount| amount.unwrap_or(0)).collect())
    }
}
