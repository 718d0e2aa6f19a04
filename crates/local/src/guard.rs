//! A server as a child that can not outlive its keeper.
//!
//! The server is not spawned itself but by a few lines of shell (`guard.sh`) in a process group of their own. They
//! watch something that the kernel closes when the keeper's process ends, however it ends: a pipe for the one
//! keeper of a private server, a FIFO for the many keepers of a shared one. When it closes they end the server, and
//! they end when the server does.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

const GUARD: &str = include_str!("guard.sh");

/// The server writes its log here, in its folder.
pub(crate) const LOG: &str = "server.log";

/// A killed server is gone, and its guard with it, long before this.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// Whose end ends the server.
pub(crate) enum Keeper<'a> {
    /// The process that spawns it. `sweep` is removed once that process has gone without ending the server itself.
    Spawner { sweep: Option<&'a Path> },
    /// All who hold the FIFO `life` open for writing. The server keeps `lock` open as long as it lives.
    Holders { life: &'a Path, lock: File },
}

/// A running server with its guard. Dropping it kills the server, unless holders keep it.
#[derive(Debug)]
pub(crate) struct Guarded {
    guard: Child,
    server: Pid,
    /// `None` for a server that holders keep.
    life: Option<ChildStdin>,
}

/// Spawns `engine` with the configuration file `conf` in `dir`, which becomes its current folder.
pub(crate) fn spawn(engine: &Path, dir: &Path, conf: &str, keeper: Keeper<'_>) -> io::Result<Guarded> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(GUARD).arg("echomq-guard");
    match keeper {
        Keeper::Spawner { sweep } => {
            command.args(["", if sweep.is_some() { "KILL" } else { "TERM" }]);
            command.arg(sweep.unwrap_or(Path::new(""))).stdin(Stdio::piped());
        }
        Keeper::Holders { life, lock } => {
            command.arg(life).args(["TERM", ""]).stdin(lock);
        }
    }
    command.arg(engine).arg(conf).current_dir(dir).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut guard = command.process_group(0).spawn()?;
    let life = guard.stdin.take();
    let mut line = String::new();
    if let Some(said) = guard.stdout.take() {
        BufReader::new(said).read_line(&mut line)?;
    }
    match line.trim().parse().ok().and_then(Pid::from_raw) {
        Some(server) => Ok(Guarded { guard, server, life }),
        None => {
            drop(life);
            let status = guard.wait()?;
            Err(io::Error::other(format!("sh could not start the server in {dir:?} ({status})")))
        }
    }
}

impl Guarded {
    /// The server's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.server.as_raw_pid().unsigned_abs()
    }

    /// The guard ends only after it has seen the server end, so the server's id is not another's before that.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.guard.try_wait(), Ok(None))
    }

    /// Signals the server, if it runs.
    pub(crate) fn signal(&mut self, signal: Signal) -> io::Result<()> {
        if self.is_running() {
            kill_process(self.server, signal)?;
        }
        Ok(())
    }

    /// Waits until the server has ended; `false` if it has not within `limit`.
    pub(crate) fn wait(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while self.is_running() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Kills the server and returns when it is gone.
    pub(crate) fn kill(&mut self) {
        // A signal can fail only because the server has just ended by itself.
        let _ = self.signal(Signal::KILL);
        if !self.wait(KILL_LIMIT) {
            // The guard itself is stuck, be it that somebody stopped it. It is not reaped yet, so the group is its own.
            let _ = kill_process_group(Pid::from_child(&self.guard), Signal::KILL);
            let _ = self.guard.wait();
        }
    }

    /// Asks the server to end, which lets it write out its data, and kills it if it has not within `limit`.
    pub(crate) fn end(&mut self, limit: Duration) {
        let _ = self.signal(Signal::TERM);
        let _ = self.signal(Signal::CONT);
        if !self.wait(limit) {
            self.kill();
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if self.life.is_some() {
            self.kill();
        }
    }
}
