//! `echomq job add`: one job, or a job a line.

use std::ffi::OsString;
use std::io::{self, Read as _, Write};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use echomq::{Enqueued, JobId, JobSpec, QueueName};
use serde::Serialize;

use super::lines;
use crate::cli::Global;
use crate::exit::{Exit, note};
use crate::screen::{Report, Screen};
use crate::{moment, server, span};

/// How long an enqueue whose answer never came is asked again.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Add a job, or a job for each line of a file.
///
/// Prints the id of the job. Exit code 1 when a job was refused, because one of its id is there already, because the
/// queue is full, or because its line is bad.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The queue.
    queue: OsString,
    /// The bytes for the handler; - reads them from standard input, to its end. Bytes that begin with - go behind --,
    /// after all options: job add mail -- -5.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    payload: Option<OsString>,
    /// Add a job for each line of this file, whose payload is the line; - is standard input. Empty lines are passed
    /// over.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The job's id; a second job under the same id is refused while the first is there.
    #[arg(long, conflicts_with = "file")]
    id: Option<OsString>,
    /// With --file: each line is a JSON object, whose field of this name is the job's id. The same file can then be
    /// added again without harm.
    #[arg(long, value_name = "FIELD", requires = "file")]
    id_from: Option<String>,
    /// What kind of work it is, for the handler to tell apart.
    #[arg(long)]
    name: Option<String>,
    /// Not before so long from now: 250ms, 10s, 1h30m, 7d.
    #[arg(long, value_name = "SPAN", conflicts_with = "at", allow_hyphen_values = true)]
    delay: Option<String>,
    /// Not before this time: 2100-01-01T00:00:00Z, or milliseconds since 1970.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    at: Option<String>,
    /// After so many failed runs the job is dead; 5 if not said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    attempts: Option<u32>,
}

/// What holds for every job of a call.
pub(super) struct Plan {
    pub(super) queue: QueueName,
    pub(super) id_from: Option<String>,
    name: Option<String>,
    due: Due,
    attempts: Option<u32>,
}

enum Due {
    Now,
    In(Duration),
    AtMs(u64),
}

#[derive(Serialize)]
struct Added {
    queue: String,
    slot: u16,
    id: String,
    outcome: &'static str,
}

impl Report for Added {
    /// The id alone, so that a script can take it.
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.outcome == "added" { writeln!(out, "{}", self.id) } else { Ok(()) }
    }
}

pub(crate) fn run(args: Args, global: &Global, screen: &mut Screen) -> anyhow::Result<Exit> {
    let plan = Plan::new(&args)?;
    if let Some(file) = args.file {
        return lines::run(&plan, &file, global, screen);
    }
    let id = args.id.map(|id| JobId::parse(id.as_bytes())).transpose()?;
    let payload = payload(args.payload.unwrap_or_default())?;
    let spec = plan.spec(id, payload);
    server::with(global, async |mq| {
        let queue = mq.queue(plan.queue.as_str())?;
        let results = echomq_load::enqueue_surely(&queue, vec![spec], PATIENCE).await?;
        let result = results.first().context("the queue answered nothing")?;
        let outcome = outcome(result);
        let id = result.id().to_string();
        match result {
            Enqueued::Added(_) => {}
            Enqueued::Duplicate(_) => note(&format!("job \"{id}\" is there already; nothing was changed")),
            Enqueued::Full(_) => note(&format!("queue \"{}\" is full; nothing was stored", plan.queue)),
        }
        screen.show(&Added { queue: plan.queue.to_string(), slot: queue.slot().get(), id, outcome })?;
        Ok(Exit::finding_if(!result.is_added()))
    })
}

pub(super) fn outcome(result: &Enqueued) -> &'static str {
    match result {
        Enqueued::Added(_) => "added",
        Enqueued::Duplicate(_) => "duplicate",
        Enqueued::Full(_) => "full",
    }
}

fn payload(given: OsString) -> anyhow::Result<Vec<u8>> {
    if given != "-" {
        return Ok(given.into_vec());
    }
    // One byte more than is allowed shows that it is too much, however much more there is.
    let mut payload = Vec::new();
    let most = echomq::PAYLOAD_MAX_BYTES as u64;
    io::stdin().lock().take(most + 1).read_to_end(&mut payload).context("standard input can not be read")?;
    ensure!(
        payload.len() as u64 <= most,
        "the payload on standard input has more than {most} bytes; store it elsewhere and add a reference"
    );
    Ok(payload)
}

impl Plan {
    fn new(args: &Args) -> anyhow::Result<Plan> {
        let due = match (&args.delay, &args.at) {
            (Some(delay), _) => Due::In(span::parse(delay).context("--delay")?),
            (None, Some(at)) => Due::AtMs(moment::parse(at).context("--at")?),
            (None, None) => Due::Now,
        };
        Ok(Plan {
            queue: QueueName::parse(args.queue.as_bytes())?,
            id_from: args.id_from.clone(),
            name: args.name.clone(),
            due,
            attempts: args.attempts,
        })
    }

    pub(super) fn spec(&self, id: Option<JobId>, payload: Vec<u8>) -> JobSpec {
        let mut spec = JobSpec::new(payload);
        if let Some(id) = id {
            spec = spec.id(id);
        }
        if let Some(name) = &self.name {
            spec = spec.name(name.as_str());
        }
        if let Some(attempts) = self.attempts {
            spec = spec.attempts(attempts);
        }
        match self.due {
            Due::Now => spec,
            Due::In(delay) => spec.delay(delay),
            Due::AtMs(ms) => spec.run_at_ms(ms),
        }
    }
}
