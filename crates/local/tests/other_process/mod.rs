//! A second process that keeps servers: this test program again, told by its environment what to do.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

const TASK: &str = "ECHOMQ_TEST_TASK";

/// The task given to this process, if it is an other process: to be asked in a test that is named `other_process`.
pub(crate) fn task() -> Option<String> {
    std::env::var(TASK).ok()
}

/// Tells the process that spawned this one what it wants to know.
pub(crate) fn tell(line: impl std::fmt::Display) {
    let mut stdout = std::io::stdout();
    stdout.write_all(format!("TOLD {line}\n").as_bytes()).unwrap();
}

/// Waits until the process that spawned this one lets go or ends.
pub(crate) fn wait_for_release() {
    let _ = std::io::stdin().read(&mut [0]);
}

/// A process that does a task of the test `other_process` of this program.
pub(crate) struct OtherProcess {
    child: Child,
    release: Option<ChildStdin>,
    said: BufReader<std::process::ChildStdout>,
}

impl OtherProcess {
    pub(crate) fn doing(task: &str) -> OtherProcess {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "other_process", "--nocapture"])
            .env(TASK, task)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let release = child.stdin.take();
        let said = BufReader::new(child.stdout.take().unwrap());
        OtherProcess { child, release, said }
    }

    /// The next line that it tells.
    pub(crate) fn told(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.said.read_line(&mut line).unwrap(), 0, "the other process ended without telling");
            // The test harness prints on the same line.
            if let Some((_, told)) = line.split_once("TOLD ") {
                return told.trim_end().to_owned();
            }
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends it with a signal and returns when it is gone.
    pub(crate) fn end_by(mut self, signal: Signal) {
        self.signal(signal);
        self.child.wait().unwrap();
    }

    /// Lets it go on to its end, and returns when it is gone.
    pub(crate) fn release(mut self) {
        drop(self.release.take());
        self.child.wait().unwrap();
    }
}

impl Drop for OtherProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
