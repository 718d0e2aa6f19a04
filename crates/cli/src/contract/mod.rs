//! `echomq contract`: key families in a file, proven, turned into constructors, and held against real keys.

mod check;
mod generate;
mod input;
mod verify;

use clap::Subcommand;

use crate::cli::Global;
use crate::exit::Exit;
use crate::screen::Screen;

/// Prove a contract of keys, make constructors from it, and hold real keys against it.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Check(check::Args),
    Gen(generate::Args),
    Verify(verify::Args),
}

pub(crate) fn run(verb: Verb, global: &Global, screen: &mut Screen) -> anyhow::Result<Exit> {
    match verb {
        Verb::Check(args) => check::run(&args, screen),
        Verb::Gen(args) => generate::run(&args, screen),
        Verb::Verify(args) => verify::run(&args, global, screen),
    }
}
