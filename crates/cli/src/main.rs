//! The `echomq` command.
fn main() {}
