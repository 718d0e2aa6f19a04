//! Each pattern under a race on a real cluster, and beside it the same work done without the pattern, which breaks.

mod order;
mod scene;
mod session;
mod stock;
