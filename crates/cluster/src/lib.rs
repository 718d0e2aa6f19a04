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
//! * A request whose answer never came is repeated only when the caller said [`Repeat::Idempotent`].
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
mod errand;
mod error;
mod map;
mod node;
mod pacing;
mod pipeline;
mod pubsub;
mod refresh;
mod scatter;
mod script;
mod stats;
mod topology;
mod transaction;
mod watch;

pub use address::Address;
pub use client::{Client, DEADLINE};
pub use command::{Command, Repeat};
pub use confirm::{Confirm, Confirmation};
pub use error::{Error, Fate};
pub use pubsub::{Notice, Subscription};
pub use scatter::{Scattered, Share};
pub use script::Script;
pub use stats::Stats;
pub use transaction::Transaction;
pub use watch::{Decision, Ended, View};

pub use redis::Value;

/// A command for one node by name, built by hand: nothing is checked. For what has no key, see [`Client::call_node`].
pub fn raw(name: &str) -> redis::Cmd {
    redis::cmd(name)
}
