//! Each pattern under a race on a real cluster, and beside it the same work done without the pattern, which breaks.

mod balances;
mod followers;
mod hot_value;
mod order;
mod reader_copy;
mod scene;
mod session;
mod stock;
mod transfer;
