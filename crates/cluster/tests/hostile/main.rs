//! The connector against callers that give up, and against servers that lie.

/// Requests that their callers drop halfway.
mod cancelled;
/// Thousands of confirmed writes at once.
mod crowds;
/// A server whose answers are made up.
mod liar;
/// What servers may say that makes no sense.
mod nonsense;
/// What no caller should ask for.
mod unreasonable;
