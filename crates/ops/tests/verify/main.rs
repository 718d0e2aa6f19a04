//! Contracts, verified on real servers.

/// Cases from the field, C012 and C100.
mod cases;
/// What a verification sees, and what it says of what it could not see.
mod coverage;
/// From names of before to those of today, until the old ones may go.
mod renaming;
mod scene;
