//! A connector for Valkey Cluster, Redis Cluster and single servers: it gets a command, a transaction or a
//! script to the node that owns its slot, through whatever the cluster does meanwhile.
//!
//! ```no_run
//! # async fn example() -> Result<(), echomq_cluster::Error> {
//! use echomq_cluster::{Client, Command, Repeat, Transaction};
//!
//! let client = Client::connect("redis://127.0.0.1:7001,127.0.0.1:7002").await?;
//! client.call(Command::new("SET").key("user:{7}:name").arg("Ann"), Repeat::Idempotent).await?;
//! let both = [Command::new("INCR").key("user:{7}:visits"), Command::new("GET").key("user:{7}:name")];
//! let replies = client.transaction(Transaction::of(both)?, Repeat::Never).await?;
//! # Ok(()) }
//! ```
//!
//! * The slot is computed here from the keys; two slots are refused before a byte is sent, on a single
//!   server too.
//! * MOVED patches one slot at once and refreshes the map in the background; ASK holds for one request and
//!   is sent in one write with it; TRYAGAIN is waited out to the deadline; an unknown script is sent by text.
//! * A request whose answer never came is repeated only when the caller said [`Repeat::Idempotent`]; each error says by
//!   [`Error::fate`] whether its request may have happened.
//! * [`Client::watch`] is the optimistic lock, [`Client::call_confirmed`] waits for replicas, [`Client::call_blocking`] waits at
//!   the server, [`Client::read_replica`] reads what may be a little old: each over connections that hold up nobody else.
//!
//! # Settings
//!
//! [`Client::connect`] takes a URL, [`Client::connect_with`] takes [`Settings`]: login ([`Credentials`] that may be
//! renewed), numbered database, encryption ([`Tls`], with the feature `tls`), services that show one endpoint, partial
//! coverage, and a [`Resolver`] of host names.
//!
//! # Connections
//!
//! A client and all its clones have, of each kind,
//!
//! | kind | how many, at most |
//! |---|---|
//! | requests and topology, shared by all | one per node, replicas included |
//! | reads that a replica may answer, shared by all | one per replica, and only if there are such reads |
//! | sharded channels | one per primary that owns the slot of a subscribed channel |
//! | plain channels | one, or none if it is a node that sharded channels are heard from |
//! | blocking calls, WATCH | one per call under way; up to 8 per node are kept for the next |
//! | confirmed writes | one per primary while such writes are under way |
//!
//! so that 3 primaries with 3 replicas and any number of subscriptions make at most 6 + 3 + 3 + 1 connections, and calls
//! that need one of their own come on top. [`Stats::connections`] says how many are open now. A connection on which
//! nothing happens is probed by TCP after 15 s and given up after 30 s; one for messages is asked every 5 s whether it
//! lives.
//!
//! # How soon it goes on
//!
//! * A primary that died or fell silent is asked for no longer than 2 s by one attempt; the topology is asked for at
//!   once, then every 0.1 to 0.45 s while nothing new is heard. So a request that may be repeated succeeds within 3 s
//!   after the cluster has promoted a replica (which takes the cluster its node timeout and about a second more).
//! * When all known nodes are gone the seeds are looked up again: requests succeed within 2 s after the name leads to a
//!   node that answers.
//! * What changes while nothing is sent (a new replica, say) is learnt within a minute, or [`Settings::look_every`].
//! * A slot without a node is an error at once, after one fresh look at the topology ([`Error::is_uncovered`]).
//!
//! # What this crate does not do
//!
//! It knows no queue and no job. It has no RESP codec, no TLS and no socket code of its own: those are the
//! `redis` crate's. It splits no command over slots but those six whose name says so (`scatter_…`).

mod address;
mod answer;
mod client;
mod command;
mod confirm;
mod dial;
pub mod dual;
mod errand;
mod error;
mod login;
mod map;
mod node;
mod pacing;
mod pipeline;
mod pubsub;
mod refresh;
mod renewal;
mod resolver;
mod scatter;
mod script;
mod settings;
mod silence;
mod stats;
mod tls;
mod topology;
mod transaction;
mod url;
mod watch;

pub use address::Address;
pub use client::{Client, DEADLINE};
pub use command::{Command, Repeat};
pub use confirm::{Confirm, Confirmation};
pub use error::{Error, Fate};
pub use login::{Credentials, Login};
pub use pubsub::{Notice, Subscription};
pub use resolver::Resolver;
pub use scatter::{Scattered, Share};
pub use script::Script;
pub use settings::Settings;
pub use stats::Stats;
pub use tls::Tls;
pub use transaction::Transaction;
pub use watch::{Decision, Ended, View};

pub use redis::Value;

/// A command for one node by name, built by hand: nothing is checked. For what has no key, see [`Client::call_node`].
pub fn raw(name: &str) -> redis::Cmd {
    redis::cmd(name)
}
