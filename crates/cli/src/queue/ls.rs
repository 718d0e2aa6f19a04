//! `echomq queue ls`: every queue in a line.

use std::io::{self, Write};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::Serialize;

use super::show::QueueCounts;
use crate::cli::Global;
use crate::exit::Exit;
use crate::screen::{HEAD, MARK, Report, Screen};
use crate::server;

/// So many queues are asked side by side.
const SIDE_BY_SIDE: usize = 32;

/// All queues: a table for people, an object a queue in JSON.
#[derive(Serialize)]
struct Listing(Vec<QueueCounts>);

impl Report for Listing {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Listing(queues) = self;
        if queues.is_empty() {
            return writeln!(
                out,
                "No queues yet. A queue comes into being with its first job: echomq job add QUEUE hello"
            );
        }
        let width = |cell: fn(&QueueCounts) -> &str, head: &str| {
            queues.iter().map(|queue| cell(queue).chars().count()).chain([head.len()]).max().unwrap_or(0)
        };
        let (name, node) = (width(|queue| &queue.queue, "QUEUE"), width(|queue| queue.node_text(), "NODE"));
        writeln!(
            out,
            "{HEAD}{:name$}  {:>5}  {:node$} {:>8} {:>7} {:>8} {:>6} {:>9}{HEAD:#}",
            "QUEUE", "SLOT", "NODE", "PENDING", "ACTIVE", "SCHEDULE", "DEAD", "DONE"
        )?;
        for queue in queues {
            write!(
                out,
                "{:name$}  {:>5}  {:node$} {:>8} {:>7} {:>8} {:>6} {:>9}",
                queue.queue,
                queue.slot,
                queue.node_text(),
                queue.pending,
                queue.active,
                queue.schedule,
                queue.dead,
                queue.done
            )?;
            match &queue.paused_by {
                Some(by) => writeln!(out, "  {MARK}paused by {by}{MARK:#}")?,
                None => writeln!(out)?,
            }
        }
        Ok(())
    }
}

pub(super) fn run(global: &Global, screen: &mut Screen) -> anyhow::Result<Exit> {
    let listing = server::with(global, async |mq| {
        let names = mq.queues().await?;
        let counted = stream::iter(names).map(|name| async move {
            let queue = mq.queue(name.as_str())?;
            let counts = queue.counts().await?;
            Ok::<_, echomq::Error>(QueueCounts::new(&queue, counts))
        });
        Ok(Listing(counted.buffered(SIDE_BY_SIDE).try_collect().await?))
    })?;
    if screen.json {
        listing.0.iter().try_for_each(|queue| screen.line(queue))?;
    } else {
        screen.show(&listing)?;
    }
    Ok(Exit::Fine)
}
