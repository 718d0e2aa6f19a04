//! Scenarios and exact-delivery audits for EchoMQ: what demo, bench and chaos are made of.
//!
//! * [`Ledger`] is what a harness knows by itself, outside the server: which jobs were acknowledged, and which
//!   had their effect, under which token. Its [`Audit`] says of each acknowledged job what became of it.
//! * [`enqueue_surely`] does not rest until it is known whether the jobs are in.
//! * [`Latencies`] gathers durations and answers percentiles.
//! * [`demo`] is the scenario that `echomq demo` shows.
//! * [`chaos`] is a workload whose whole history is checked while a cluster is hurt.
//!
//! # What this crate does not do
//!
//! It prints nothing: a scenario tells its events to a callback and returns a report. It breaks no server but
//! one that it started itself; in [`chaos`] the caller brings who breaks them.

mod audit;
pub mod chaos;
pub mod demo;
mod latency;
mod producer;

pub use audit::{Audit, Ledger};
pub use latency::{Latencies, Percentiles};
pub use producer::enqueue_surely;
