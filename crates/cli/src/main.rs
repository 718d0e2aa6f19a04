//! The `echomq` command: parse, plan, run, render, exit code.
//!
//! What was typed is read in `cli`. Each verb has a file of its own, which checks what it was given before
//! anything is done, does it, and shows what it came to on the `screen`, as text or as JSON.

mod bytes;
mod cli;
mod commands;
mod contract;
mod demo;
mod exit;
mod job;
mod key;
mod local;
mod moment;
mod prose;
mod queue;
mod screen;
mod server;
mod signals;
mod span;
mod work;

use std::io::Write as _;
use std::process::ExitCode;

use crate::cli::{Cli, Verb};
use crate::exit::Exit;
use crate::screen::Screen;

fn main() -> ExitCode {
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(usage) => return exit::usage(&usage),
    };
    let mut screen = Screen::new(cli.global.json, cli.global.color);
    let result = run(cli, &mut screen).and_then(|exit| {
        screen.flush()?;
        Ok(exit)
    });
    exit::code(result)
}

fn run(Cli { global, verb }: Cli, screen: &mut Screen) -> anyhow::Result<Exit> {
    match verb {
        Verb::Demo => demo::run(screen),
        Verb::Key(verb) => key::run(verb, screen),
        Verb::Contract(verb) => contract::run(verb, &global, screen),
        Verb::Local(args) => local::run(args, screen),
        Verb::Job(verb) => job::run(verb, &global, screen),
        Verb::Queue(verb) => queue::run(verb, &global, screen),
        Verb::Work(args) => work::run(args, &global, screen),
        Verb::Completions(args) => commands::completions(&args, screen),
        Verb::Man(args) => commands::man(&args, screen),
    }
}
