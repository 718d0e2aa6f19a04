//! `echomq work`: one run of a command for each job.

mod child;
mod tail;

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use echomq::{Job, Queue, QueueName, Worker};
use rustix::io::Errno;
use serde::Serialize;
use tokio::sync::mpsc;

use self::child::{Command, Ended};
use crate::cli::Global;
use crate::exit::{Exit, note};
use crate::moment;
use crate::screen::Screen;
use crate::signals::Signals;
use crate::{server, span};

/// How often `--drain` looks whether the queue is empty.
const LOOK: Duration = Duration::from_millis(100);
/// The wait before a command is started again that the machine had no room for.
const AGAIN: Duration = Duration::from_millis(500);

/// Work a queue off with a command, one run per job.
///
/// The command gets the payload on standard input, and in its environment ECHOMQ_QUEUE, ECHOMQ_JOB_ID,
/// ECHOMQ_JOB_NAME, ECHOMQ_ATTEMPT (1 for the first run) and ECHOMQ_TOKEN (the fencing token, which grows with every
/// claim). Exit code 0 completes the job; anything else fails it, with the last lines of standard error as the
/// reason, and it is tried again later until its attempts are used up. It is no shell that runs the command: for one,
/// write --exec sh -c '…'.
///
/// Ctrl-C or SIGTERM ends it: nothing more is claimed, and what runs may end within --grace. What does not is killed
/// and its job handed back, no attempt counted. A second one ends at once: then the jobs go to others when their
/// leases have run out.
///
/// Exit code 1 when a job has died, 2 when the command can not be started (its job is handed back).
#[derive(clap::Args)]
#[command(override_usage = "echomq work [OPTIONS] <QUEUE> --exec <CMD>...")]
pub(crate) struct Args {
    /// The queue.
    queue: OsString,
    /// So many runs side by side; as many as there are processors if not said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: Option<u16>,
    /// How long a job stays ours without a sign of life, which is given every third of it.
    #[arg(long, value_name = "SPAN", default_value = "30s", allow_hyphen_values = true)]
    lease: String,
    /// How long runs may go on after the wish to end.
    #[arg(long, value_name = "SPAN", default_value = "30s", allow_hyphen_values = true)]
    grace: String,
    /// End when the queue is empty: nothing pending, nothing held, nothing due later.
    #[arg(long)]
    drain: bool,
    /// The command and its arguments, to the end of the line.
    #[arg(long, value_name = "CMD", num_args = 1.., required = true, allow_hyphen_values = true)]
    exec: Vec<OsString>,
}

struct Plan {
    queue: QueueName,
    concurrency: usize,
    lease: Duration,
    grace: Duration,
    drain: bool,
    command: Command,
}

/// What became of the jobs; the shape of `--json`.
#[derive(Serialize)]
struct Worked {
    queue: String,
    done: u64,
    retried: u64,
    buried: u64,
    released: u64,
    lost: u64,
}

impl Worked {
    fn new(queue: &QueueName, report: &echomq::Report) -> Worked {
        let echomq::Report { done, retried, buried, released, lost } = *report;
        Worked { queue: queue.to_string(), done, retried, buried, released, lost }
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {} done", self.queue, self.done);
        for (count, what) in [
            (self.retried, "failed and put off"),
            (self.buried, "dead"),
            (self.released, "handed back"),
            (self.lost, "refused, since the lease was lost"),
        ] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text
    }
}

impl Plan {
    fn new(args: Args, json: bool) -> anyhow::Result<Plan> {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Plan {
            queue: QueueName::parse(args.queue.as_bytes())?,
            concurrency: args.concurrency.map_or_else(processors, usize::from),
            lease: span::parse(&args.lease).context("--lease")?,
            grace: span::parse(&args.grace).context("--grace")?,
            drain: args.drain,
            command: Command::new(args.exec, json),
        })
    }
}

/// Why the work ends.
enum End {
    Asked,
    Drained,
    /// The command can not be started.
    Broken(io::Error),
}

pub(crate) fn run(args: Args, global: &Global, screen: &mut Screen) -> anyhow::Result<Exit> {
    let plan = Plan::new(args, screen.json)?;
    show_warnings();
    let (end, report) = server::with(global, async |mq| work(&plan, &mq.queue(plan.queue.as_str())?).await)?;
    let Some(report) = report else {
        note("ended at once; the jobs in hand go to others when their leases have run out");
        return Ok(Exit::Trouble);
    };
    let worked = Worked::new(&plan.queue, &report);
    if screen.json {
        screen.line(&worked)?;
    } else {
        // Standard output is the command's.
        note(&worked.text());
    }
    match end {
        End::Broken(error) => {
            note(&format!("{} can not be started: {error}; its job was handed back", plan.command));
            Ok(Exit::Trouble)
        }
        End::Asked | End::Drained => Ok(Exit::finding_if(report.buried > 0)),
    }
}

/// Works until something ends it; no report when that was a second wish to end.
async fn work(plan: &Plan, queue: &Queue) -> anyhow::Result<(End, Option<echomq::Report>)> {
    let mut signals = Signals::hear().context("signals can not be heard")?;
    if let Some((since, by)) = queue.counts().await?.paused {
        note(&format!(
            "queue \"{}\" is paused since {} by {by}: nothing is claimed",
            plan.queue,
            moment::text(since)
        ));
    }
    let (broken, mut breaks) = mpsc::unbounded_channel();
    let worker = start(plan, queue, broken).await?;
    let end = tokio::select! {
        () = signals.next() => End::Asked,
        () = drained(queue), if plan.drain => End::Drained,
        Some(error) = breaks.recv() => End::Broken(error),
    };
    let grace = if matches!(end, End::Broken(_)) { Duration::ZERO } else { plan.grace };
    let report = tokio::select! {
        report = worker.stop(grace) => Some(report),
        () = signals.next() => None,
    };
    Ok((end, report))
}

async fn start(
    plan: &Plan,
    queue: &Queue,
    broken: mpsc::UnboundedSender<io::Error>,
) -> anyhow::Result<Worker> {
    let command = Arc::new(plan.command.clone());
    let handler = move |job: Job| {
        let (command, broken) = (command.clone(), broken.clone());
        async move {
            let mut told = false;
            loop {
                match child::run(&command, &job).await {
                    Ok(Ended::Done) => return Ok(()),
                    Ok(Ended::Failed(reason)) => return Err(reason),
                    Err(error) => match Fault::of(&error) {
                        Fault::Job => {
                            return Err(format!("{command} can not be started for this job: {error}"));
                        }
                        Fault::Machine => {
                            if !std::mem::replace(&mut told, true) {
                                note(&format!(
                                    "{command} can not be started now: {error}; it is tried again"
                                ));
                            }
                            tokio::time::sleep(AGAIN).await;
                        }
                        Fault::Command => {
                            // The run is not to count: it waits until the worker, told to stop, hands the job back.
                            let _ = broken.send(error);
                            match std::future::pending::<Infallible>().await {}
                        }
                    },
                }
            }
        }
    };
    Ok(queue.worker(handler).concurrency(plan.concurrency).lease(plan.lease).start().await?)
}

/// Whose fault it is that a command can not be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// There is no such program, or it can not be run, whatever the job.
    Command,
    /// What this job puts into arguments or environment is too much.
    Job,
    /// Too many open files or processes, no memory: it passes.
    Machine,
}

impl Fault {
    /// What is not known to pass ends the worker, so that it does not wait for ever.
    fn of(error: &io::Error) -> Fault {
        match Errno::from_io_error(error) {
            Some(Errno::TOOBIG) => Fault::Job,
            Some(
                Errno::AGAIN
                | Errno::INTR
                | Errno::MFILE
                | Errno::NFILE
                | Errno::NOMEM
                | Errno::NOSPC
                | Errno::TXTBSY,
            ) => Fault::Machine,
            _ => Fault::Command,
        }
    }
}

/// Waits until the queue holds nothing but dead jobs. A look that fails says nothing.
async fn drained(queue: &Queue) {
    loop {
        if let Ok(counts) = queue.counts().await
            && counts.held() == counts.dead
        {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// What the worker has to say goes to standard error.
fn show_warnings() {
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .with_writer(io::stderr)
        .without_time()
        .with_target(false)
        .init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_fault_it_is_that_a_command_can_not_be_started() {
        for (fault, errors) in [
            (Fault::Job, &[Errno::TOOBIG][..]),
            (Fault::Machine, &[Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::TXTBSY]),
            (
                Fault::Command,
                &[
                    Errno::NOENT,
                    Errno::ACCESS,
                    Errno::PERM,
                    Errno::NOEXEC,
                    Errno::NOTDIR,
                    Errno::LOOP,
                    Errno::NAMETOOLONG,
                ],
            ),
        ] {
            for error in errors {
                assert_eq!(Fault::of(&io::Error::from(*error)), fault, "{error}");
            }
        }
        assert_eq!(Fault::of(&io::ErrorKind::InvalidInput.into()), Fault::Command);
    }
}
