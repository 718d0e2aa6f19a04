//! The built `echomq`, run as people and scripts run it, on real servers.

/// Runs the binary and says how it went.
mod run;

/// Contracts proven, and constructors made from them.
mod contracts;
/// Delays and times: exact, or refused with what was typed.
mod delays;
/// The demo ends with every order done.
mod demo;
/// Jobs added and shown, bytes as they were.
mod jobs;
/// The JSON shapes are those of json.md.
mod json;
/// Slots, traces, verdicts and tags, without a server.
mod keys;
/// Queue names get one verdict everywhere.
mod names;
/// Colours, pipes that break, usage, completions and man pages.
mod output;
/// Queues listed, shown, paused and resumed.
mod queues;
/// Servers that are started, shared and ended.
mod servers;
/// A command runs for each job.
mod work;
