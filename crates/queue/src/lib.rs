//! A job queue on Valkey Cluster whose keys are co-located by construction.
//!
//! Every key of a queue carries the queue's name as its hash tag, so that every step of a job's life is one
//! atomic script on one slot, and a client knows the node before it sends a byte.
//!
//! ```no_run
//! # async fn example() -> Result<(), echomq::Error> {
//! use echomq::{EchoMq, JobSpec};
//!
//! let mq = EchoMq::connect("redis://127.0.0.1:7001").await?;
//! let orders = mq.queue("orders")?;
//! orders.enqueue(JobSpec::new("{\"order\":7}")).await?;
//! let worker = orders.worker(|job| async move { println!("{}", job.id); Ok::<(), String>(()) }).start().await?;
//! worker.stop(std::time::Duration::from_secs(10)).await;
//! # Ok(()) }
//! ```
//!
//! * **Delivery is at least once.** A job runs twice when its lease ran out or a failover forgot its claim; the
//!   stale run's outcome is refused, see [`Job::token`].
//! * **The server's clock decides** what is due and whose lease has run out.
//! * **A payload is bytes**: what goes in comes out.
//!
//! # What this crate does not do
//!
//! It opens no socket itself (`echomq-cluster` does), builds no key by hand (`echomq-keyspace` does), and
//! decides nothing about a payload.

mod clock;
mod envelope;
mod error;
mod inspect;
mod policy;
mod producer;
mod queue;
mod reply;
mod scripts;
mod spec;
mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod tries;
mod worker;

#[cfg(test)]
mod tests;

pub use envelope::Envelope;
pub use error::Error;
pub use inspect::{Counts, JobView, State};
pub use policy::Backoff;
pub use queue::{EchoMq, PAYLOAD_MAX_BYTES, Queue};
pub use spec::{DUE_MAX_MS, Enqueued, JobSpec, NAME_MAX_BYTES};
pub use tries::Tries;
pub use worker::{Job, LEASE_MAX, LEASE_MIN, Report, Worker, WorkerBuilder};

pub use echomq_cluster::{Address, Client};
pub use echomq_keyspace::{JobId, Kind, Prefix, QueueName, Slot};

/// Compiles what the README shows.
#[cfg(all(doctest, feature = "local"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Compiles, and runs, what the manual shows.
#[cfg(doctest)]
mod manual {
    #[doc = include_str!("../../../docs/src/entity.md")]
    struct Entity;
    #[doc = include_str!("../../../docs/src/guarantees.md")]
    struct Guarantees;
    #[doc = include_str!("../../../docs/src/legal.md")]
    struct Legal;
    #[doc = include_str!("../../../docs/src/renaming.md")]
    struct Renaming;
}
