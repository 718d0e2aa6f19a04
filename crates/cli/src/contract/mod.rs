//! `echomq contract`: key families in a file, proven and turned into constructors. No server is needed.

mod check;
mod generate;
mod input;

use clap::Subcommand;

use crate::exit::Exit;
use crate::screen::Screen;

/// Prove a contract of keys, and make constructors from it.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Check(check::Args),
    Gen(generate::Args),
}

pub(crate) fn run(verb: Verb, screen: &mut Screen) -> anyhow::Result<Exit> {
    match verb {
        Verb::Check(args) => check::run(&args, screen),
        Verb::Gen(args) => generate::run(&args, screen),
    }
}
