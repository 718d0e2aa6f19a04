//! The connector against real servers, and against what happens to them.

/// A slot of which some keys are on one node and some on another.
mod half_moved;
/// `CLUSTER KEYSLOT` and `Slot::of` agree.
mod keyslot;
/// A slot that has moved, or moves as a whole.
mod moved;
/// Where a request goes, and what is never sent.
mod routing;
mod scene;
/// Scripts that a node has forgotten.
mod scripts;
