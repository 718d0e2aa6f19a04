//! `echomq key`: what can be known of a key without a server.

mod check;
pub(crate) mod input;
mod slot;
mod tag;
mod trace;

use clap::Subcommand;

use crate::exit::Exit;
use crate::screen::Screen;

/// Explain and check keys.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Slot(slot::Args),
    Trace(trace::Args),
    Check(check::Args),
    Tag(tag::Args),
}

pub(crate) fn run(verb: Verb, screen: &mut Screen) -> anyhow::Result<Exit> {
    match verb {
        Verb::Slot(args) => slot::run(args, screen),
        Verb::Trace(args) => trace::run(args, screen),
        Verb::Check(args) => check::run(args, screen),
        Verb::Tag(args) => tag::run(args, screen),
    }
}
