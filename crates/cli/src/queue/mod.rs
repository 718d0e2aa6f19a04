//! `echomq queue`: look at queues, pause and resume them.

mod ls;
mod pause;
mod show;

use clap::Subcommand;

use crate::cli::Global;
use crate::exit::Exit;
use crate::screen::Screen;

/// Look at queues, pause and resume them.
#[derive(Subcommand)]
pub(crate) enum Verb {
    /// List the queues with their slots, nodes and counts.
    Ls,
    Show(show::Args),
    Pause(pause::PauseArgs),
    Resume(pause::ResumeArgs),
}

pub(crate) fn run(verb: Verb, global: &Global, screen: &mut Screen) -> anyhow::Result<Exit> {
    match verb {
        Verb::Ls => ls::run(global, screen),
        Verb::Show(args) => show::run(&args, global, screen),
        Verb::Pause(args) => pause::pause(&args, global, screen),
        Verb::Resume(args) => pause::resume(&args, global, screen),
    }
}
