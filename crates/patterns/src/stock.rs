//! The stock of an article: what is available, reserved and sold, changed by scripts on the article's slot.
//!
//! Each reservation has a name of the caller's (an order's number, say), so that asking twice reserves once, and nobody
//! can release or sell more than was reserved.
//!
//! ```no_run
//! # async fn example(client: echomq_cluster::Client) -> Result<(), echomq_patterns::Error> {
//! use echomq_patterns::stock::{Reserved, Stock};
//!
//! let stock = Stock::new(&client, "MUG7")?;
//! stock.receive(10).await?;
//! match stock.reserve("order-1", 3).await? {
//!     Reserved::Held => assert_eq!(stock.sell("order-1").await?, Some(3)),
//!     Reserved::Insufficient { available } => println!("only {available} left"),
//!     Reserved::Other { held } => println!("this name already holds {held}"),
//! }
//! # Ok(()) }
//! ```
//!
//! # Guaranteed
//!
//! * No overselling: `available` never falls below 0, however many ask at once.
//! * Available, reserved and sold always add up to what was received, for readers too.
//!
//! # Not guaranteed
//!
//! A reservation does not end by itself: who reserved releases or sells. All of an article is on one slot, so one very hot
//! article is as fast as one core of one node; cut its stock into several articles then.

use echomq_cluster::{Client, Command, Repeat};
use echomq_keyspace::family;

use crate::Error;
use crate::call::{Source, read, run, script};

family! {
    /// The keys of one article.
    pub struct StockKeys(sku: "A-Za-z0-9-", 1..=40) {
        /// What can be reserved.
        available: String = "stock:{sku}:available";
        /// What is reserved and not yet sold.
        reserved: String = "stock:{sku}:reserved";
        /// What was sold.
        sold: String = "stock:{sku}:sold";
        /// Name of a reservation → how many.
        holds: Hash = "stock:{sku}:holds";
    }
}

static RESERVE: Source = script!("stock_reserve");
static SETTLE: Source = script!("stock_settle");

/// How an article stands at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// What can be reserved. Signed, so that a reader would see it fall below 0.
    pub available: i64,
    /// What is reserved and not yet sold.
    pub reserved: i64,
    /// What was sold.
    pub sold: i64,
}

impl Levels {
    /// All pieces that were ever received.
    pub fn total(&self) -> i64 {
        self.available + self.reserved + self.sold
    }
}

/// What became of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Reserved {
    /// They are held under this name, now or since an earlier call.
    Held,
    /// There are fewer; nothing was written.
    Insufficient {
        /// So many there are.
        available: u64,
    },
    /// The name holds another quantity; nothing was written.
    Other {
        /// So many it holds.
        held: u64,
    },
}

/// The stock of one article.
#[derive(Clone)]
pub struct Stock {
    client: Client,
    keys: StockKeys,
}

impl Stock {
    /// The stock of this article. Nothing is sent.
    ///
    /// # Errors
    ///
    /// When the article's name can not be a tag.
    pub fn new(client: &Client, sku: &str) -> Result<Stock, Error> {
        Ok(Stock { client: client.clone(), keys: StockKeys::new(sku)? })
    }

    /// Its keys.
    pub fn keys(&self) -> &StockKeys {
        &self.keys
    }

    /// Adds pieces to what is available, and returns what is available then.
    ///
    /// # Errors
    ///
    /// Those of the connector. It is not repeated, since twice would be twice as many.
    pub async fn receive(&self, quantity: u32) -> Result<i64, Error> {
        let add = Command::new("INCRBY").key(self.keys.available()).arg(quantity);
        read("what is available", self.client.call(add, Repeat::Never).await?)
    }

    /// Reserves all of `quantity`, or nothing, under a name. While the name holds it, the same call may be repeated.
    ///
    /// # Errors
    ///
    /// A quantity of 0; those of the connector.
    pub async fn reserve(&self, name: &str, quantity: u32) -> Result<Reserved, Error> {
        if quantity == 0 {
            return Err(Error::asked("a reservation of 0 pieces holds nothing; use 1 or more"));
        }
        let keys = [self.keys.available(), self.keys.reserved(), self.keys.holds()];
        let args = (name, quantity);
        let reply: (String, u64) = run(&self.client, &RESERVE, &keys, args, Repeat::Idempotent).await?;
        match (reply.0.as_str(), reply.1) {
            ("held", _) => Ok(Reserved::Held),
            ("insufficient", available) => Ok(Reserved::Insufficient { available }),
            ("other", held) => Ok(Reserved::Other { held }),
            _ => Err(Error::stored("a reservation", format!("{reply:?}"))),
        }
    }

    /// Makes what a name holds available again. Returns how many; none when the name holds nothing, which is also so when
    /// it was sold or released before.
    ///
    /// # Errors
    ///
    /// Those of the connector. When the fate is unknown, call it again: none means then that the first call did it.
    pub async fn release(&self, name: &str) -> Result<Option<u64>, Error> {
        self.settle(name, self.keys.available()).await
    }

    /// Sells what a name holds. Returns how many; none when the name holds nothing.
    ///
    /// # Errors
    ///
    /// As for [`Stock::release`].
    pub async fn sell(&self, name: &str) -> Result<Option<u64>, Error> {
        self.settle(name, self.keys.sold()).await
    }

    async fn settle(&self, name: &str, to: echomq_keyspace::FamilyKey) -> Result<Option<u64>, Error> {
        let keys = [self.keys.reserved(), to, self.keys.holds()];
        run(&self.client, &SETTLE, &keys, name, Repeat::Never).await
    }

    /// All three, of one moment.
    ///
    /// # Errors
    ///
    /// Those of the connector.
    pub async fn levels(&self) -> Result<Levels, Error> {
        let keys = [self.keys.available(), self.keys.reserved(), self.keys.sold()];
        let all = keys.iter().fold(Command::new("MGET"), |command, key| command.key(key));
        let replies: Vec<Option<i64>> = read("levels", self.client.call(all, Repeat::Idempotent).await?)?;
        match replies[..] {
            [available, reserved, sold] => Ok(Levels {
                available: available.unwrap_or(0),
                reserved: reserved.unwrap_or(0),
                sold: sold.unwrap_or(0),
            }),
            _ => Err(Error::stored("levels", format!("{} values of 3", replies.len()))),
        }
    }
}
