//! A copy for readers, read from replicas, that says how old it is at most.
//!
//! A page that is read a thousand times for each change may be read from replicas, which are some milliseconds behind or,
//! when their link is down, minutes. So what is read there is a [`ReaderCopy`], with its version held against the version that the
//! owner was asked for at most `bound` ago: one small read of the owner per bound, however many read.
//!
//! A decision must not rest on a copy. Here it can not: a change takes a [`Current`], which only the owner gives.
//!
//! ```no_run
//! # async fn example(client: echomq_cluster::Client) -> Result<(), echomq_patterns::Error> {
//! use std::time::Duration;
//! use echomq_patterns::reader_copy::{Page, Read, Updated};
//!
//! let page = Page::new(&client, "home")?;
//! match page.read(Duration::from_secs(1)).await? {
//!     Read::Within(copy) => println!("{} (at most {:?} old)", copy.body, copy.age_at_most),
//!     Read::Behind { have, owner, .. } => println!("the replica has version {have}, the owner had {owner}"),
//! }
//! let seen = page.current().await?;
//! if let Updated::Stale { version } = page.update(&seen, "new text").await? {
//!     println!("somebody made it version {version} meanwhile");
//! }
//! # Ok(()) }
//! ```
//!
//! # Guaranteed
//!
//! * A copy `Within` has every change that was acknowledged longer ago than its `age_at_most`.
//! * Of changes made from the same version one is done.
//!
//! # Not guaranteed
//!
//! That two reads never go back: replicas differ. And a failover that loses a change lets its version number be given
//! again, for another text; confirm changes by WAIT where that matters.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use echomq_cluster::{Client, Command, Repeat};
use echomq_keyspace::family;

use crate::Error;
use crate::call::{Source, read, run, script};

family! {
    /// The key of one page.
    pub struct PageKeys(page: "A-Za-z0-9_-", 1..=40) {
        /// `version` and `body`.
        text: Hash = "page:{page}:text";
    }
}

static UPDATE: Source = script!("reader_copy_update");

/// What the owner says: a decision may rest on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Current {
    version: u64,
    body: String,
}

impl Current {
    /// The number of its changes; 0 for a page that is not there.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The text.
    pub fn body(&self) -> &str {
        &self.body
    }
}

/// What a replica says: for showing, not for deciding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderCopy {
    /// The number of its changes.
    pub version: u64,
    /// The text.
    pub body: String,
    /// It has every change that was acknowledged before that. More than was asked for only when the owner answered slowly.
    pub age_at_most: Duration,
}

/// A read from a replica.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Read {
    /// As new as was asked for.
    Within(ReaderCopy),
    /// Older than was asked for: show it all the same, or ask [`Page::current`].
    Behind {
        /// The version that the replica has.
        have: u64,
        /// The version that the owner had.
        owner: u64,
        /// The replica's text.
        body: String,
    },
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Updated {
    /// It is this now.
    Done(Current),
    /// It was changed since it was read; nothing was written.
    Stale {
        /// The version it has.
        version: u64,
    },
}

/// A page that many read. Clones share what they know of the owner.
#[derive(Clone)]
pub struct Page {
    client: Client,
    keys: PageKeys,
    known: Arc<Mutex<Option<Known>>>,
}

/// The version that the owner had at some time.
#[derive(Clone, Copy)]
struct Known {
    version: u64,
    since: Instant,
}

impl Page {
    /// The page of this name. Nothing is sent.
    ///
    /// # Errors
    ///
    /// When the name can not be a tag.
    pub fn new(client: &Client, name: &str) -> Result<Page, Error> {
        Ok(Page { client: client.clone(), keys: PageKeys::new(name)?, known: Arc::default() })
    }

    /// Its key.
    pub fn keys(&self) -> &PageKeys {
        &self.keys
    }

    /// What the owner says now.
    ///
    /// # Errors
    ///
    /// Those of the connector.
    pub async fn current(&self) -> Result<Current, Error> {
        let (version, body) = parts(self.client.call(self.whole(), Repeat::Idempotent).await?)?;
        Ok(Current { version, body })
    }

    /// Changes the text, if it is still what the owner said.
    ///
    /// # Errors
    ///
    /// Those of the connector. It is not repeated: the second time would find its own change.
    pub async fn update(&self, seen: &Current, body: &str) -> Result<Updated, Error> {
        let args = (seen.version, body);
        let reply: (bool, u64) = run(&self.client, &UPDATE, &self.keys.all(), args, Repeat::Never).await?;
        match reply {
            (true, version) => Ok(Updated::Done(Current { version, body: body.to_owned() })),
            (false, version) => Ok(Updated::Stale { version }),
        }
    }

    /// Reads from a replica, and says whether that is as new as the owner was at most `bound` ago.
    ///
    /// # Errors
    ///
    /// Those of the connector.
    pub async fn read(&self, bound: Duration) -> Result<Read, Error> {
        let (version, body) = parts(self.client.read_replica(self.whole()).await?)?;
        let known = self.known_within(bound).await?;
        if version < known.version {
            return Ok(Read::Behind { have: version, owner: known.version, body });
        }
        Ok(Read::Within(ReaderCopy { version, body, age_at_most: known.since.elapsed() }))
    }

    async fn known_within(&self, bound: Duration) -> Result<Known, Error> {
        let known = *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.filter(|known| known.since.elapsed() <= bound) {
            return Ok(known);
        }
        // Before the question: what was acknowledged until here is in the answer.
        let since = Instant::now();
        let ask = Command::new("HGET").key(self.keys.text()).arg("version");
        let version: Option<u64> = read("a version", self.client.call(ask, Repeat::Idempotent).await?)?;
        let asked = Known { version: version.unwrap_or(0), since };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none_or(|known| known.since < since) {
            *known = Some(asked);
        }
        Ok(asked)
    }

    fn whole(&self) -> Command {
        Command::new("HMGET").key(self.keys.text()).arg(&["version", "body"])
    }
}

fn parts(reply: redis::Value) -> Result<(u64, String), Error> {
    let (version, body): (Option<u64>, Option<String>) = read("a page", reply)?;
    Ok((version.unwrap_or(0), body.unwrap_or_default()))
}
