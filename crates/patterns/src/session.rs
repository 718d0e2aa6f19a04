//! A session: data, user, cart and expiry, which live and end together.
//!
//! The key `expiry` says when the session ends, by the server's clock, and is the proof that it lives: each change is a
//! script that looks there first, and gives every key it writes that same end. So a session is there as a whole or not
//! at all, whoever touches, changes and ends it at the same time.
//!
//! ```no_run
//! # async fn example(client: echomq_cluster::Client) -> Result<(), echomq_patterns::Error> {
//! use std::time::Duration;
//! use echomq_patterns::session::{Login, Session};
//!
//! let session = Session::new(&client, "9f2c")?;
//! session.begin(Duration::from_secs(1800)).await?;
//! session.add_to_cart("MUG7", 1).await?;
//! // What Ann had in her cart elsewhere joins what is in this one.
//! let Login::Done = session.log_in("ann", &[("MUG7", 2)]).await? else { return Ok(()) };
//! if !session.touch(Duration::from_secs(1800)).await? {
//!     println!("it has ended: log in again");
//! }
//! # Ok(()) }
//! ```
//!
//! # Guaranteed
//!
//! * All keys of a session end in the same millisecond.
//! * What comes after the end changes nothing and says so: no key comes back without the others, or without an end.
//! * A touch never brings the end nearer.
//!
//! # Not guaranteed
//!
//! The cart of a user elsewhere is on another slot: it is read before and handed to [`Session::log_in`], which may be
//! repeated. What was added there in between is not seen.

use std::time::Duration;

use echomq_cluster::{Client, Command, Repeat};
use echomq_keyspace::family;

use crate::Error;
use crate::call::{Source, read, run, script};

family! {
    /// The keys of one session.
    pub struct SessionKeys(session: "A-Za-z0-9_-", 1..=64) {
        /// When it ends, in ms of the server's clock; it ends with the others.
        expiry: String = "session:{session}:expiry";
        /// What the application keeps.
        data: Hash = "session:{session}:data";
        /// Who is logged in.
        user: String = "session:{session}:user";
        /// Article → how many.
        cart: Hash = "session:{session}:cart";
    }
}

static BEGIN: Source = script!("session_begin");
static TOUCH: Source = script!("session_touch");
static WRITE: Source = script!("session_write");
static LOG_IN: Source = script!("session_log_in");
static READ: Source = script!("session_read");

/// No arguments.
const NONE: &[&str] = &[];

/// So many lines of a cart are merged at a login at most.
pub const MOST_LINES: usize = 1_000;

/// What became of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Login {
    /// The session is this user's, and the carts are one.
    Done,
    /// Another user is logged in; nothing was written.
    Other(String),
    /// The session has ended; nothing was written.
    Ended,
}

/// A session as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// How long it lives if nobody touches it.
    pub left: Duration,
    /// Who is logged in.
    pub user: Option<String>,
    /// What the application keeps, by name.
    pub data: Vec<(String, String)>,
    /// Article and how many, by article.
    pub cart: Vec<(String, u32)>,
}

/// One session.
#[derive(Clone)]
pub struct Session {
    client: Client,
    keys: SessionKeys,
}

impl Session {
    /// The session of this id. Nothing is sent.
    ///
    /// # Errors
    ///
    /// When the id can not be a tag.
    pub fn new(client: &Client, id: &str) -> Result<Session, Error> {
        Ok(Session { client: client.clone(), keys: SessionKeys::new(id)? })
    }

    /// Its keys.
    pub fn keys(&self) -> &SessionKeys {
        &self.keys
    }

    /// Begins the session; it ends after `ttl` without a touch. `false` when it lives already.
    ///
    /// # Errors
    ///
    /// A `ttl` below a millisecond; those of the connector.
    pub async fn begin(&self, ttl: Duration) -> Result<bool, Error> {
        run(&self.client, &BEGIN, &self.keys.all(), ms(ttl)?, Repeat::Never).await
    }

    /// Lets it live for `ttl` from now, unless it lives longer anyway. `false` when it has ended.
    ///
    /// # Errors
    ///
    /// A `ttl` below a millisecond; those of the connector.
    pub async fn touch(&self, ttl: Duration) -> Result<bool, Error> {
        run(&self.client, &TOUCH, &self.keys.all(), ms(ttl)?, Repeat::Idempotent).await
    }

    /// Keeps a value. `false` when the session has ended.
    ///
    /// # Errors
    ///
    /// Those of the connector.
    pub async fn put(&self, name: &str, value: &str) -> Result<bool, Error> {
        let keys = [self.keys.expiry(), self.keys.data()];
        run(&self.client, &WRITE, &keys, ("HSET", name, value), Repeat::Idempotent).await
    }

    /// Adds pieces of an article to the cart. `false` when the session has ended.
    ///
    /// # Errors
    ///
    /// Those of the connector. It is not repeated, since twice would be twice as many.
    pub async fn add_to_cart(&self, article: &str, quantity: u32) -> Result<bool, Error> {
        let keys = [self.keys.expiry(), self.keys.cart()];
        run(&self.client, &WRITE, &keys, ("HINCRBY", article, quantity), Repeat::Never).await
    }

    /// Makes the session a user's, and joins the cart that the user has elsewhere: of each article the larger number
    /// counts, so that a repeated login adds nothing.
    ///
    /// # Errors
    ///
    /// More than [`MOST_LINES`] lines; those of the connector.
    pub async fn log_in(&self, user: &str, saved: &[(&str, u32)]) -> Result<Login, Error> {
        if saved.len() > MOST_LINES {
            return Err(Error::asked(format!(
                "a cart of {} lines can not be merged; use at most {MOST_LINES}",
                saved.len()
            )));
        }
        let keys = [self.keys.expiry(), self.keys.user(), self.keys.cart()];
        let lines =
            saved.iter().flat_map(|(article, quantity)| [(*article).to_owned(), quantity.to_string()]);
        let args: Vec<String> = [user.to_owned()].into_iter().chain(lines).collect();
        let reply: Vec<String> = run(&self.client, &LOG_IN, &keys, args, Repeat::Idempotent).await?;
        match reply.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["done"] => Ok(Login::Done),
            ["ended"] => Ok(Login::Ended),
            ["other", user] => Ok(Login::Other(user.to_owned())),
            _ => Err(Error::stored("a session", format!("{reply:?}"))),
        }
    }

    /// Ends it. `false` when it had ended already.
    ///
    /// # Errors
    ///
    /// Those of the connector.
    pub async fn end(&self) -> Result<bool, Error> {
        let all = self.keys.all().iter().fold(Command::new("UNLINK"), |command, key| command.key(key));
        let gone: u64 = read("the reply of UNLINK", self.client.call(all, Repeat::Idempotent).await?)?;
        Ok(gone > 0)
    }

    /// All of it, of one moment; none when it has ended.
    ///
    /// # Errors
    ///
    /// Those of the connector, and stored data of another shape.
    pub async fn read(&self) -> Result<Option<Snapshot>, Error> {
        type Reply = (u64, Option<String>, Vec<(String, String)>, Vec<(String, u32)>);
        let reply: Option<Reply> =
            run(&self.client, &READ, &self.keys.all(), NONE, Repeat::Idempotent).await?;
        Ok(reply.map(|(left, user, mut data, mut cart)| {
            data.sort_unstable();
            cart.sort_unstable();
            Snapshot { left: Duration::from_millis(left), user, data, cart }
        }))
    }
}

fn ms(ttl: Duration) -> Result<u64, Error> {
    match u64::try_from(ttl.as_millis()) {
        // A century: the sum with the clock stays far below what Lua's numbers hold.
        Ok(ms @ 1..=3_153_600_000_000) => Ok(ms),
        _ => Err(Error::asked(format!("a session can not live for {ttl:?}; use 1 ms to 100 years"))),
    }
}
