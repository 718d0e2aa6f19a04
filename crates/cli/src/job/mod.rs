//! `echomq job`: add jobs and look at them.

mod add;
mod lines;
mod show;

use clap::Subcommand;

use crate::cli::Global;
use crate::exit::Exit;
use crate::screen::Screen;

/// Add jobs and look at them.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Add(add::Args),
    Show(show::Args),
}

pub(crate) fn run(verb: Verb, global: &Global, screen: &mut Screen) -> anyhow::Result<Exit> {
    match verb {
        Verb::Add(args) => add::run(args, global, screen),
        Verb::Show(args) => show::run(&args, global, screen),
    }
}
