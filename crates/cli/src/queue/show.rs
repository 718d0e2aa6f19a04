//! `echomq queue show`: all that is counted of a queue.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;

use echomq::{Counts, Queue, QueueName};
use echomq_keyspace::Escaped;
use serde::Serialize;

use crate::cli::Global;
use crate::exit::{Exit, note};
use crate::moment;
use crate::screen::{HEAD, MARK, Report, Screen};
use crate::server;

/// Show all that is counted of a queue.
///
/// Exit code 1 when the queue has never been used.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The queue.
    queue: OsString,
}

/// A queue as `ls` and `show` tell it.
#[derive(Serialize)]
pub(super) struct QueueCounts {
    pub(super) queue: String,
    pub(super) slot: u16,
    node: Option<String>,
    pub(super) pending: u64,
    pub(super) active: u64,
    pub(super) schedule: u64,
    pub(super) dead: u64,
    pub(super) done: u64,
    retried: u64,
    lost: u64,
    gone: u64,
    undecodable: u64,
    claims: u64,
    next_due_ms: Option<u64>,
    paused_since_ms: Option<u64>,
    pub(super) paused_by: Option<String>,
    limit: Option<u64>,
    layout: Option<String>,
}

impl QueueCounts {
    pub(super) fn new(queue: &Queue, counts: Counts) -> QueueCounts {
        let (since, by) = counts.paused.unzip();
        QueueCounts {
            queue: queue.name().to_string(),
            slot: queue.slot().get(),
            node: queue.node().map(|node| node.to_string()),
            pending: counts.pending,
            active: counts.active,
            schedule: counts.schedule,
            dead: counts.dead,
            done: counts.done,
            retried: counts.retried,
            lost: counts.lost,
            gone: counts.gone,
            undecodable: counts.undecodable,
            claims: counts.claims,
            next_due_ms: counts.next_due_ms,
            paused_since_ms: since,
            paused_by: by.map(|by| Escaped(by.as_bytes()).to_string()),
            limit: counts.limit,
            layout: counts.layout,
        }
    }

    pub(super) fn node_text(&self) -> &str {
        self.node.as_deref().unwrap_or("no node")
    }
}

impl Report for QueueCounts {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{HEAD}{}{HEAD:#} on slot {}, {}", self.queue, self.slot, self.node_text())?;
        if let (Some(since), Some(by)) = (self.paused_since_ms, &self.paused_by) {
            writeln!(out, "  {MARK}paused since {} by {by}{MARK:#}", moment::text(since))?;
        }
        let due =
            self.next_due_ms.map(|ms| format!("the next one at {}", moment::text(ms))).unwrap_or_default();
        let limit = self.limit.map(|limit| format!("of at most {limit}")).unwrap_or_default();
        let claims = if self.active > 0 { format!("in {} claims", self.claims) } else { String::new() };
        for (label, count, more) in [
            ("pending", self.pending, limit.as_str()),
            ("active", self.active, &claims),
            ("schedule", self.schedule, &due),
            ("dead", self.dead, ""),
            ("done", self.done, ""),
            ("retried", self.retried, "failures that led to another try"),
            ("lost", self.lost, "leases that ran out"),
            ("gone", self.gone, "buried: the row had gone"),
            ("undecodable", self.undecodable, "buried: the row could not be read"),
        ] {
            let line = format!("  {label:11} {count:>10}  {more}");
            writeln!(out, "{}", line.trim_end())?;
        }
        writeln!(out, "  {:11} {:>10}", "layout", self.layout.as_deref().unwrap_or("none"))
    }
}

pub(super) fn run(args: &Args, global: &Global, screen: &mut Screen) -> anyhow::Result<Exit> {
    let name = QueueName::parse(args.queue.as_bytes())?;
    let counts = server::with(global, async |mq| {
        let queue = mq.queue(name.as_str())?;
        let counts = queue.counts().await?;
        Ok(QueueCounts::new(&queue, counts))
    })?;
    screen.show(&counts)?;
    if counts.layout.is_none() {
        note(&format!("queue \"{name}\" has never been used"));
    }
    Ok(Exit::finding_if(counts.layout.is_none()))
}
