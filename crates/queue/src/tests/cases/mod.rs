//! What people met in the field, a test a case, named by the id of the case.

mod bounds;
mod bytes;
mod clocks;
mod fencing;
mod poison;
mod sweepers;
