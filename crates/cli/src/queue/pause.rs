//! `echomq queue pause` and `resume`.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;

use echomq::QueueName;
use serde::Serialize;

use crate::cli::Global;
use crate::exit::Exit;
use crate::screen::{MARK, Report, Screen};
use crate::server;

/// Let nobody claim jobs of a queue until it is resumed; jobs can still be added.
#[derive(clap::Args)]
pub(crate) struct PauseArgs {
    /// The queue.
    queue: OsString,
    /// Who pauses it, and perhaps why, for those who ask; user@host if not said.
    #[arg(long, value_name = "TEXT")]
    by: Option<String>,
}

/// Let jobs of a queue be claimed again.
#[derive(clap::Args)]
pub(crate) struct ResumeArgs {
    /// The queue.
    queue: OsString,
}

#[derive(Serialize)]
struct Paused {
    queue: String,
    paused: bool,
    /// Whether that is new.
    changed: bool,
    /// Who has paused it.
    by: Option<String>,
}

impl Report for Paused {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Paused { queue, .. } = self;
        let by = self.by.as_deref().unwrap_or("somebody");
        match (self.paused, self.changed) {
            (true, true) => writeln!(
                out,
                "{queue} is {MARK}paused{MARK:#} by {by}; resume it: echomq queue resume {queue}"
            ),
            (true, false) => writeln!(out, "{queue} was {MARK}paused{MARK:#} already, by {by}"),
            (false, true) => writeln!(out, "{queue} is resumed"),
            (false, false) => writeln!(out, "{queue} was not paused"),
        }
    }
}

pub(super) fn pause(args: &PauseArgs, global: &Global, screen: &mut Screen) -> anyhow::Result<Exit> {
    let name = QueueName::parse(args.queue.as_bytes())?;
    let by = args.by.clone().unwrap_or_else(user_at_host);
    let paused = server::with(global, async |mq| {
        let queue = mq.queue(name.as_str())?;
        let changed = queue.pause(&by).await?;
        // Who came first is named by the queue.
        let by = if changed { Some(by) } else { queue.counts().await?.paused.map(|(_, by)| by) };
        Ok(Paused { queue: name.to_string(), paused: true, changed, by })
    })?;
    screen.show(&paused)?;
    Ok(Exit::Fine)
}

pub(super) fn resume(args: &ResumeArgs, global: &Global, screen: &mut Screen) -> anyhow::Result<Exit> {
    let name = QueueName::parse(args.queue.as_bytes())?;
    let changed = server::with(global, async |mq| Ok(mq.queue(name.as_str())?.resume().await?))?;
    screen.show(&Paused { queue: name.to_string(), paused: false, changed, by: None })?;
    Ok(Exit::Fine)
}

fn user_at_host() -> String {
    let user = ["USER", "LOGNAME"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()));
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let user = user.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()));
    format!("{user}@{host}")
}
