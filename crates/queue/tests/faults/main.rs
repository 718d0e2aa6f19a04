//! The queue through its public face, on real servers, and what happens to it there.

/// Servers that are killed, forget their scripts, or hang up.
mod crashes;
/// When a delayed job is due.
mod delays;
/// Replicas that take over with all that their primary knew, or without the latest of it.
mod failover;
/// Claims that the server carried out though their answers got lost.
mod ghosts;
/// Workers that were away for longer than their lease.
mod leases;
/// Wake-ups that do not arrive.
mod messages;
/// Names of queues and ids of jobs.
mod names;
/// What a job carries.
mod payloads;
/// What a user may do.
mod rights;
mod scene;
/// A single server, under the rules of a cluster.
mod single;
/// Keys of a queue that something else has stored.
mod types;
/// What a worker does with handlers that succeed, fail, panic or do not end.
mod worker;
