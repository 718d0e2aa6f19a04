//! One helper for every test: run the binary, with a deadline, and look at what it did.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::Value;

/// No run may take longer.
const LIMIT: Duration = Duration::from_secs(100);

/// The command line that is to be run.
pub(crate) struct Echomq(Command, Vec<u8>);

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; 128 and the signal when one ended it.
    pub(crate) code: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

/// `echomq` with these arguments and nothing of the environment that would change what it does.
pub(crate) fn echomq<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Echomq {
    let mut command = Command::new(env!("CARGO_BIN_EXE_echomq"));
    command.args(arguments);
    for name in ["ECHOMQ_URL", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    Echomq(command, Vec::new())
}

/// `echomq` on the cluster that all tests share.
pub(crate) fn on<S: AsRef<OsStr>>(
    cluster: &testkit::Cluster,
    arguments: impl IntoIterator<Item = S>,
) -> Echomq {
    echomq(arguments).env("ECHOMQ_URL", cluster.url())
}

pub(crate) fn cluster() -> Arc<testkit::Cluster> {
    testkit::cluster()
}

impl Echomq {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Echomq {
        self.0.env(name, value);
        self
    }

    /// What stands on standard input.
    pub(crate) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Echomq {
        self.1 = bytes.into();
        self
    }

    /// Starts it.
    #[track_caller]
    pub(crate) fn start(self) -> Running {
        let Echomq(mut command, input) = self;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // It may end without having read all.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        Running { child, out: reader(out), err: reader(err) }
    }

    /// Runs it to its end.
    #[track_caller]
    pub(crate) fn run(self) -> Ran {
        self.start().end()
    }

    /// Runs it; it must end with exit code 0 and say nothing on standard error. Returns its output as text.
    #[track_caller]
    pub(crate) fn fine(self) -> String {
        let ran = self.run();
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
        ran.text()
    }

    /// Runs it; its output is one JSON object.
    #[track_caller]
    pub(crate) fn object(self) -> Value {
        let text = self.fine();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Without pipes, for a test that has its own.
    pub(crate) fn command(self) -> Command {
        self.0
    }
}

/// A run that goes on. It is killed when the test does not wait for its end.
pub(crate) struct Running {
    child: Child,
    out: Receiver<Vec<u8>>,
    err: Receiver<Vec<u8>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, or its test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ran {
        let deadline = Instant::now() + LIMIT;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it has not ended after {LIMIT:?}");
            std::thread::sleep(Duration::from_millis(5));
        };
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
        // A pipe that stays open is held by something that it has left behind.
        let said = |pipe: &Receiver<Vec<u8>>| {
            let left = deadline.saturating_duration_since(Instant::now());
            pipe.recv_timeout(left).unwrap_or_else(|_| panic!("its pipe is still open after {LIMIT:?}"))
        };
        let err = String::from_utf8_lossy(&said(&self.err)).into_owned();
        Ran { code, out: said(&self.out), err }
    }
}

fn reader(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        pipe.read_to_end(&mut all).unwrap();
        // Nobody waits for it when the test has failed.
        let _ = sender.send(all);
    });
    receiver
}

impl Ran {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.out.clone()).unwrap()
    }

    /// It must have ended so, with this in what it said on standard error.
    #[track_caller]
    pub(crate) fn said(&self, code: i32, part: &str) {
        assert!(self.code == code && self.err.contains(part), "expected code {code} and {part:?}: {self:?}");
    }
}
