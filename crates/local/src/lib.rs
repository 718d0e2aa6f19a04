//! Find, start, join and end Valkey servers on this machine.
//!
//! * [`Engine`] finds a `valkey-server` or `redis-server`, or fetches a pinned one.
//! * [`Launch`] starts a server or a whole cluster of this process's own, as a [`Local`]: for tests, demonstrations,
//!   and a cluster on one command.
//! * [`Embedded`] is the private server of a folder, which all processes of a user share: it is started by the first
//!   and ends with the last.
//!
//! ```no_run
//! use echomq_local::Launch;
//!
//! let local = Launch::cluster(3).replicas(1).start()?;
//! println!("{} serves at {}", local.engine(), local.url());
//! local.nodes()[0].kill();
//! // Here the others agree on a replica to take its place.
//! local.stop();
//! # Ok::<(), echomq_local::Error>(())
//! ```
//!
//! # Nothing is left behind
//!
//! A server never outlives the processes that want it, however they end: by a dropped value, a panic, Ctrl-C or
//! SIGKILL. Each runs under a few lines of POSIX shell that read from a pipe whose other end only those processes
//! hold; the kernel closes it with the last of them, and the shell ends the server. A temporary folder goes as well,
//! except after a failed start, whose error points at the logs in it.
//!
//! # What this crate does not do
//!
//! It knows nothing of jobs or keys. It is blocking: from asynchronous code, call it where a thread may be blocked.
//! It listens on loopback only, sets no passwords, and runs on Linux and macOS. It computes no slots but for the
//! even shares that a new cluster starts with.

mod admin;
mod conf;
mod embedded;
mod engine;
mod error;
mod fetch;
mod forming;
mod guard;
mod launch;
mod lock;
mod node;
mod places;
mod ports;
mod program;
mod running;
mod view;

pub use embedded::Embedded;
pub use engine::{Engine, EngineName, Version};
pub use error::Error;
pub use launch::Launch;
pub use node::Node;
pub use running::Local;
