//! `echomq job show`: one job as it stands.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;

use anyhow::bail;
use echomq::{JobId, JobView, QueueName, State};
use echomq_keyspace::Escaped;
use serde::Serialize;

use crate::bytes::{hex, printable};
use crate::cli::Global;
use crate::exit::{Exit, note};
use crate::moment;
use crate::screen::{BAD, DIM, HEAD, Report, Screen};
use crate::server;

/// Show a job: where it is, what it has behind it, and its payload.
///
/// Exit code 1 when the queue knows no such job.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The queue.
    queue: OsString,
    /// The job's id.
    id: OsString,
    /// Write the bytes of the payload and nothing else.
    #[arg(long, conflicts_with = "json")]
    raw: bool,
}

#[derive(Serialize)]
struct Job {
    queue: String,
    id: String,
    state: &'static str,
    /// For a job in active: the token of the claim that holds it.
    token: Option<u64>,
    due_ms: Option<u64>,
    died_ms: Option<u64>,
    created_ms: Option<u64>,
    name: Option<String>,
    attempts: Option<u32>,
    tries: Option<Tries>,
    /// Why the job's row can not be read.
    unreadable: Option<String>,
    payload_bytes: Option<usize>,
    payload: Option<String>,
    payload_hex: Option<String>,
}

#[derive(Serialize)]
struct Tries {
    claims: u32,
    failures: u32,
    lost: u32,
    error: String,
}

impl Job {
    fn new(queue: &QueueName, view: &JobView) -> Job {
        let envelope = view.envelope.as_ref().ok();
        // Scores of these states are whole numbers below 2^53.
        let score_in = |state: State| view.score.filter(|_| view.state == state).map(|score| score as u64);
        let text = envelope.and_then(|envelope| std::str::from_utf8(&envelope.payload).ok());
        Job {
            queue: queue.to_string(),
            id: view.id.to_string(),
            state: view.state.word(),
            token: score_in(State::Active),
            due_ms: score_in(State::Schedule),
            died_ms: score_in(State::Dead),
            created_ms: envelope.map(|envelope| envelope.created_at_ms(&view.id)),
            name: envelope.map(|envelope| envelope.name.clone()),
            attempts: envelope.map(|envelope| envelope.attempts),
            tries: view.tries.as_ref().map(|tries| Tries {
                claims: tries.claims,
                failures: tries.failures,
                lost: tries.lost,
                error: String::from_utf8_lossy(&tries.error).into_owned(),
            }),
            unreadable: view.envelope.as_ref().err().cloned(),
            payload_bytes: envelope.map(|envelope| envelope.payload.len()),
            payload_hex: envelope.filter(|_| text.is_none()).map(|envelope| hex(&envelope.payload)),
            payload: text.map(str::to_owned),
        }
    }
}

/// A job for people, with its payload as it is.
struct Shown<'a>(&'a Job, &'a JobView);

impl Serialize for Shown<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Report for Shown<'_> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Shown(job, view) = self;
        writeln!(out, "{HEAD}{}{HEAD:#} in {}: {HEAD}{}{HEAD:#}", job.id, job.queue, job.state)?;
        let mut fact = |label: &str, value: Option<String>| match value {
            Some(value) if !value.is_empty() => writeln!(out, "  {label:10} {value}"),
            _ => Ok(()),
        };
        fact("name", job.name.as_ref().map(|name| Escaped(name.as_bytes()).to_string()))?;
        fact("added", job.created_ms.map(moment::text))?;
        fact("due", job.due_ms.map(moment::text))?;
        fact("died", job.died_ms.map(moment::text))?;
        fact("token", job.token.map(|token| token.to_string()))?;
        let (failures, lost) = job.tries.as_ref().map_or((0, 0), |tries| (tries.failures, tries.lost));
        fact("failed", job.attempts.map(|attempts| format!("{failures} of {attempts} attempts")))?;
        fact("lost", (lost > 0).then(|| format!("{lost} leases ran out")))?;
        let error = job.tries.as_ref().map(|tries| tries.error.as_str()).unwrap_or_default();
        for (i, line) in error.lines().enumerate() {
            fact(if i == 0 { "last error" } else { "" }, Some(Escaped(line.as_bytes()).to_string()))?;
        }
        match &view.envelope {
            Err(why) => writeln!(out, "  {BAD}{why}{BAD:#}"),
            Ok(envelope) => payload(out, &envelope.payload),
        }
    }
}

/// Text as it is when a terminal can show it; anything else escaped, and said to be.
fn payload(out: &mut dyn Write, payload: &[u8]) -> io::Result<()> {
    match printable(payload) {
        Some(text) => writeln!(out, "{DIM}payload, {} bytes:{DIM:#}\n{text}", payload.len()),
        None => writeln!(out, "{DIM}payload, {} bytes, escaped:{DIM:#}\n{}", payload.len(), Escaped(payload)),
    }
}

pub(crate) fn run(args: &Args, global: &Global, screen: &mut Screen) -> anyhow::Result<Exit> {
    let name = QueueName::parse(args.queue.as_bytes())?;
    let id = JobId::parse(args.id.as_bytes())?;
    let view = server::with(global, async |mq| Ok(mq.queue(name.as_str())?.job(&id).await?))?;
    let Some(view) = view else {
        note(&format!("queue \"{name}\" knows no job \"{id}\": it is done, or was never added"));
        return Ok(Exit::Finding);
    };
    if args.raw {
        match &view.envelope {
            Ok(envelope) => screen.raw(&envelope.payload)?,
            Err(why) => bail!("job \"{id}\" of queue \"{name}\" has no payload that can be read: {why}"),
        }
    } else {
        screen.show(&Shown(&Job::new(&name, &view), &view))?;
    }
    Ok(Exit::Fine)
}
