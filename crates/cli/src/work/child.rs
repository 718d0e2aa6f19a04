//! One run of the command for one job.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use echomq::Job;
use echomq_keyspace::Escaped;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin};

use super::tail::Tail;

/// What a command has left in its standard error when it ends is read for so long at most: a process that it has left
/// behind may hold the other end open for ever.
const LINGER: Duration = Duration::from_millis(500);

/// The command and its arguments.
#[derive(Clone, Debug)]
pub(super) struct Command {
    words: Vec<OsString>,
    /// Standard output is taken: what the command prints goes to standard error.
    quiet: bool,
}

/// How a run ended.
pub(super) enum Ended {
    Done,
    /// With the reason.
    Failed(String),
}

impl Command {
    pub(super) fn new(words: Vec<OsString>, quiet: bool) -> Command {
        Command { words, quiet }
    }

    /// Starts the command in a process group of its own: a Ctrl-C at the terminal is ours, not the command's, and
    /// with the group everything ends that the command has started.
    fn spawn(&self, job: &Job) -> io::Result<Child> {
        let (program, arguments) = self.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let stdout = if self.quiet { Stdio::from(io::stderr()) } else { Stdio::inherit() };
        tokio::process::Command::new(program)
            .args(arguments)
            .env("ECHOMQ_QUEUE", job.queue.as_str())
            .env("ECHOMQ_JOB_ID", OsStr::from_bytes(job.id.as_bytes()))
            .env("ECHOMQ_JOB_NAME", job.name.replace('\0', "\u{fffd}"))
            .env("ECHOMQ_ATTEMPT", job.attempt.to_string())
            .env("ECHOMQ_TOKEN", job.token.to_string())
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.words.first().map(|program| program.as_bytes()).unwrap_or_default();
        write!(f, "\"{}\"", Escaped(program))
    }
}

/// Runs the command once. When this is dropped before its end, everything that it has started is killed.
///
/// # Errors
///
/// When the command can not be started or waited for.
pub(super) async fn run(command: &Command, job: &Job) -> io::Result<Ended> {
    let mut child = command.spawn(job)?;
    let group = Group(child.id().and_then(|pid| Pid::from_raw(pid.cast_signed())));
    let mut tail = Tail::default();
    let status = attend(&mut child, &job.payload, &mut tail).await?;
    group.has_ended();
    Ok(if status.success() { Ended::Done } else { Ended::Failed(reason(status, &tail)) })
}

/// Feeds the child and listens to it until it has ended.
async fn attend(child: &mut Child, payload: &[u8], tail: &mut Tail) -> io::Result<ExitStatus> {
    let feed = feed(child.stdin.take(), payload);
    let listen = listen(child.stderr.take(), tail);
    tokio::pin!(feed, listen);
    let (mut fed, mut heard) = (false, false);
    let status = loop {
        tokio::select! {
            status = child.wait() => break status?,
            () = &mut feed, if !fed => fed = true,
            () = &mut listen, if !heard => heard = true,
        }
    };
    if !heard {
        // Whether it ends or not: what was heard is in the tail.
        let _ = tokio::time::timeout(LINGER, listen).await;
    }
    Ok(status)
}

/// Writes the payload and closes the pipe. A child need not read it: that is its own affair, and no failure.
async fn feed(stdin: Option<ChildStdin>, payload: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(payload).await;
    }
}

/// Passes on what the child says, and keeps the end of it.
async fn listen(stderr: Option<ChildStderr>, tail: &mut Tail) {
    let Some(mut stderr) = stderr else { return };
    let mut ours = tokio::io::stderr();
    let mut chunk = [0; 4096];
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        tail.push(&chunk[..read]);
        // Nobody may be there to see it.
        let _ = ours.write_all(&chunk[..read]).await;
        let _ = ours.flush().await;
    }
}

fn reason(status: ExitStatus, tail: &Tail) -> String {
    let said = tail.text();
    // The text of a status is as `exit status: 3` or `signal: 9 (SIGKILL)`.
    let how = status.to_string().replacen("exit status: ", "exit code ", 1).replacen(
        "signal: ",
        "killed by signal ",
        1,
    );
    if said.is_empty() { how } else { format!("{how}: {said}") }
}

/// The process group of a run, which is killed with it.
struct Group(Option<Pid>);

impl Group {
    /// The run has ended by itself. What it has left behind on purpose may stay.
    fn has_ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // It may have ended meanwhile.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}
