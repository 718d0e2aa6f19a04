//! The connector against real servers, and against what happens to them.

/// Requests on lanes of their own: WATCH, blocking, confirmed, from replicas.
mod apart;
/// Many channels at once, sharded and plain.
mod channels;
/// Services that show one endpoint and hide their nodes.
mod endpoint;
/// Nodes that die, hang or hang up.
mod failures;
/// A slot of which some keys are on one node and some on another.
mod half_moved;
/// `CLUSTER KEYSLOT` and `Slot::of` agree.
mod keyslot;
/// Users, passwords that are renewed, numbered databases.
mod login;
/// Commands over many slots: the six that may be split, and pipelines.
mod many_slots;
/// Sharded pub/sub through cuts, failovers and moves.
mod messages;
/// A slot that has moved, or moves as a whole.
mod moved;
mod proxy;
/// MOVED, ASK and TRYAGAIN, in the forms in which people met them.
mod redirected;
/// How often the map of the slots is asked for.
mod refreshing;
/// What is refused, here or by a server.
mod refused;
/// A primary that hangs while its replica takes over.
mod replaced;
/// Where a request goes, and what is never sent.
mod routing;
mod scene;
/// Scripts that a node has forgotten.
mod scripts;
mod terminator;
/// Encrypted connections.
mod tls;
/// Who owns what, as the servers tell it.
mod topology;
