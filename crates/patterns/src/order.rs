//! An order with items, totals, status and history, which all change together.
//!
//! Everything is tagged with the order's number. A status goes with its entry of the history in one script, and only
//! from the status that the caller saw: of two who decide at the same time one is refused. Items go with the totals.
//!
//! ```no_run
//! # async fn example(client: echomq_cluster::Client) -> Result<(), echomq_patterns::Error> {
//! use echomq_patterns::order::{Changed, Item, Order, Status};
//!
//! let order = Order::new(&client, "A7")?;
//! order.place(&[Item::new("MUG", 2, 950)?]).await?;
//! match order.change(Status::Placed, Status::Paid).await? {
//!     Changed::Done => println!("paid"),
//!     Changed::Stands(status) => println!("somebody was faster: {status}"),
//!     Changed::Illegal | Changed::Missing => println!("not possible"),
//! }
//! # Ok(()) }
//! ```
//!
//! # Guaranteed
//!
//! * A snapshot is of one moment: its status is that of the last entry, its totals are those of its items.
//! * Of racing changes from the same status one is done.
//!
//! # Not guaranteed
//!
//! A change whose answer never came is not repeated (`fate` says so); the snapshot tells whether it happened.

mod status;

pub use status::Status;

use echomq_cluster::{Client, Command, Repeat, Transaction};
use echomq_keyspace::family;

use crate::Error;
use crate::call::{Source, read, run, script};

family! {
    /// The keys of one order.
    pub struct OrderKeys(order: "A-Za-z0-9-", 1..=40) {
        /// The status, and when it was placed, in ms.
        head: Hash = "order:{order}:head";
        /// Article → `quantity cents`.
        items: Hash = "order:{order}:items";
        /// `quantity` and `cents` of all items.
        totals: Hash = "order:{order}:totals";
        /// `ms status`, oldest first; as long as the longest way from placed to its end.
        history: List = "order:{order}:history";
    }
}

static PLACE: Source = script!("order_place");
static CHANGE: Source = script!("order_change");

/// So many items an order has at most: it is placed in one script, and read in one go.
pub const MOST_ITEMS: usize = 1_000;

/// One line of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    article: String,
    quantity: u32,
    cents: u32,
}

impl Item {
    /// So many of an article, `cents` each.
    ///
    /// # Errors
    ///
    /// When the quantity is 0.
    pub fn new(article: impl Into<String>, quantity: u32, cents: u32) -> Result<Item, Error> {
        let article = article.into();
        match quantity {
            0 => Err(Error::asked(format!("0 of {article:?} can not be ordered; use 1 or more"))),
            _ => Ok(Item { article, quantity, cents }),
        }
    }
}

/// What became of a change of the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Changed {
    /// Status and history have it.
    Done,
    /// The order is in this status, not in the one the caller saw; nothing was written.
    Stands(Status),
    /// No order may go that way; nothing was sent.
    Illegal,
    /// There is no such order.
    Missing,
}

/// An order as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Where it stands.
    pub status: Status,
    /// Its items, by article.
    pub items: Vec<Item>,
    /// How many pieces.
    pub quantity: u64,
    /// What all of them cost.
    pub cents: u64,
    /// Each status with the server's time in ms, oldest first.
    pub history: Vec<(u64, Status)>,
}

/// One order.
#[derive(Clone)]
pub struct Order {
    client: Client,
    keys: OrderKeys,
}

impl Order {
    /// The order of this number. Nothing is sent.
    ///
    /// # Errors
    ///
    /// When the number can not be a tag.
    pub fn new(client: &Client, number: &str) -> Result<Order, Error> {
        Ok(Order { client: client.clone(), keys: OrderKeys::new(number)? })
    }

    /// Its keys.
    pub fn keys(&self) -> &OrderKeys {
        &self.keys
    }

    /// Places the order, with totals and the first entry of its history. `false` when there is one of this number, which
    /// stays as it is.
    ///
    /// # Errors
    ///
    /// Without items, with an article twice, or with more than [`MOST_ITEMS`]; those of the connector.
    pub async fn place(&self, items: &[Item]) -> Result<bool, Error> {
        let mut articles: Vec<&str> = items.iter().map(|item| item.article.as_str()).collect();
        articles.sort_unstable();
        articles.dedup();
        if !(1..=MOST_ITEMS).contains(&items.len()) || articles.len() != items.len() {
            return Err(Error::asked(format!(
                "{} items of {} articles can not be an order; use 1 to {MOST_ITEMS}, each article once",
                items.len(),
                articles.len()
            )));
        }
        let cents: u64 = items.iter().map(|item| u64::from(item.quantity) * u64::from(item.cents)).sum();
        let quantity: u64 = items.iter().map(|item| u64::from(item.quantity)).sum();
        let mut args = vec![quantity.to_string(), cents.to_string()];
        for item in items {
            args.push(item.article.clone());
            args.push(format!("{} {}", item.quantity, item.cents));
        }
        let word: String = run(&self.client, &PLACE, &self.keys.all(), args, Repeat::Never).await?;
        Ok(word == "placed")
    }

    /// Changes the status and adds its entry to the history, both or none, if the order is still in the status `seen`.
    ///
    /// # Errors
    ///
    /// Those of the connector.
    pub async fn change(&self, seen: Status, next: Status) -> Result<Changed, Error> {
        if !seen.may_become(next) {
            return Ok(Changed::Illegal);
        }
        let keys = [self.keys.head(), self.keys.history()];
        let reply: Vec<String> =
            run(&self.client, &CHANGE, &keys, &[seen.word(), next.word()], Repeat::Never).await?;
        match reply.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["done"] => Ok(Changed::Done),
            ["missing"] => Ok(Changed::Missing),
            ["stands", status] => Ok(Changed::Stands(Status::parse(status)?)),
            _ => Err(Error::stored("an order", format!("{reply:?}"))),
        }
    }

    /// All of it, read in one MULTI; none when there is no such order.
    ///
    /// # Errors
    ///
    /// Those of the connector, and stored data of another shape.
    pub async fn read(&self) -> Result<Option<Snapshot>, Error> {
        let reads = Transaction::of([
            Command::new("HGET").key(self.keys.head()).arg("status"),
            Command::new("HGETALL").key(self.keys.items()),
            Command::new("HMGET").key(self.keys.totals()).arg(&["quantity", "cents"]),
            Command::new("LRANGE").key(self.keys.history()).arg(0).arg(Status::ALL.len()),
        ])?;
        let replies = self.client.transaction(reads, Repeat::Idempotent).await?;
        let [status, items, totals, history] = <[_; 4]>::try_from(replies)
            .map_err(|replies| Error::stored("an order", format!("{} replies", replies.len())))?;
        let Some(status) = read::<Option<String>>("the status of an order", status)? else { return Ok(None) };
        let stored: Vec<(String, String)> = read("the items of an order", items)?;
        let mut items = Vec::with_capacity(stored.len());
        for (article, line) in stored {
            let (quantity, cents) = pair(&line)?;
            items.push(Item { article, quantity, cents });
        }
        items.sort_by(|a, b| a.article.cmp(&b.article));
        let (quantity, cents) = read("the totals of an order", totals)?;
        let entries: Vec<String> = read("the history of an order", history)?;
        let history = entries.iter().map(|entry| {
            let (ms, word) = pair::<u64, String>(entry)?;
            Ok((ms, Status::parse(&word)?))
        });
        let history = history.collect::<Result<_, Error>>()?;
        Ok(Some(Snapshot { status: Status::parse(&status)?, items, quantity, cents, history }))
    }
}

/// Two words of a stored line.
fn pair<A: std::str::FromStr, B: std::str::FromStr>(line: &str) -> Result<(A, B), Error> {
    let parts = line.split_once(' ').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parts.ok_or_else(|| Error::stored("a line of an order", format!("{line:?}")))
}
