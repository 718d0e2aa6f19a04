//! Keys that change their names, on real servers.

/// Announcements, and what they allow.
mod announcements;
/// Each call by itself, and from each state that a crash can leave.
mod calls;
/// Readers, writers and relocations at once, some of them killed.
mod races;
mod scene;
