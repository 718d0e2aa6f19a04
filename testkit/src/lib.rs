//! Break servers on purpose, for tests: kill, stop and cut them, move their slots, promote their replicas.
//!
//! Everything here is done to real servers that the test's own process started. The calls block, so that a test
//! reads as the order of what happens; they can be used in asynchronous tests as well. What can not be done is a
//! panic that says so, since a test that can not break what it wanted to break has failed.
//!
//! ```
//! let cluster = testkit::cluster();
//! let owner = cluster.owner_of(cluster.slot_of("emq:{mail}:pending"));
//! cluster.raw(owner, &["SET", "emq:{mail}:note", "hello"]).unwrap();
//! ```
//!
//! It knows nothing of queues and computes no slot: the servers are asked.

mod bare;
mod cluster;
mod failover;
mod faults;
mod moves;
mod names;
mod standalone;
mod stats;
mod wait;

pub use bare::{Bare, bare, free_port};
pub use cluster::{Cluster, cluster, cluster_configured, cluster_with};
pub use faults::{Fault, Faults, Struck};
pub use names::{engine, unique_queue, valkey9};
pub use standalone::{Standalone, standalone, standalone_configured};
pub use stats::CommandStat;
pub use wait::{LIMIT, wait_until};
