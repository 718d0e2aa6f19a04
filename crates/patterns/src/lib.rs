//! What co-location is for, ready to use on a Valkey or Redis Cluster: entities whose keys share a slot and are changed
//! together, hot data kept apart, and what to do where keys can not share a slot. Each module is one pattern, with what it
//! guarantees and what not, an example of the same name (`cargo run --example order`) and a test that shows what becomes
//! of the same work done without it.
//!
//! | module | what | how |
//! |---|---|---|
//! | [`order`] | header, items, totals, status and history of an order | scripts on the order's slot |
//! | [`stock`] | reserve, release and sell without overselling | scripts on the article's slot |
//! | [`session`] | data, user, cart and expiry that end together | scripts on the session's slot |
//! | [`balances`] | two balances of one account | WATCH, bounded attempts |
//! | [`followers`] | a set too large, or too hot, for one key | sub-keys of one tag, or spread tags |
//! | [`hot_value`] | what everybody reads, away from its entity's slot | a key without a tag, newer versions only |
//! | [`reader_copy`] | a copy for readers, read from replicas | a version, confirmed by the owner |
//! | [`transfer`] | two entities on two slots | write stamps, roll forward |
//!
//! # What this crate does not do
//!
//! It starts no server, keeps no connection of its own and decides no names for you beyond its patterns: for entities of
//! your own, declare a family with [`family!`](echomq_keyspace::family!) and take a module as a model. It makes nothing
//! durable: what a primary acknowledged and no replica has is lost when it dies, see
//! [`Client::call_confirmed`](echomq_cluster::Client::call_confirmed).

pub mod balances;
mod call;
mod error;
pub mod followers;
pub mod hot_value;
pub mod order;
pub mod reader_copy;
pub mod session;
pub mod stock;
pub mod transfer;

pub use error::Error;
