//! Find, start, join and end Valkey servers on this machine
#![doc = ""]
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
