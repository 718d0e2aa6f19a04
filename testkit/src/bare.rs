//! A server with whatever configuration, for what [`Launch`](echomq_local::Launch) keeps in its own hands: other
//! addresses to listen at, a Unix socket alone, encryption.

use std::io;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::names::engine;

/// Ends the server when the pipe at its input is closed, which the kernel does however this process ends.
const GUARD: &str = "\"$@\" </dev/null & server=$!; read -r _; kill -9 $server; wait $server 2>/dev/null";

/// A server that ends when this is dropped.
#[derive(Debug)]
pub struct Bare {
    guard: Child,
    dir: TempDir,
}

/// Starts a server in a folder of its own with these arguments. Whether it answers is for the caller to wait for.
///
/// # Errors
///
/// What the operating system says.
pub fn bare(arguments: &[&str]) -> io::Result<Bare> {
    let dir = tempfile::Builder::new().prefix("echomq-").tempdir()?;
    let log = std::fs::File::create(dir.path().join("log"))?;
    let guard = Command::new("sh")
        .args(["-c", GUARD, "sh"])
        .arg(engine().path())
        .args(["--save", "", "--appendonly", "no"])
        .args(arguments)
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(log)
        .stderr(Stdio::null())
        .spawn()?;
    Ok(Bare { guard, dir })
}

impl Bare {
    /// What it has printed.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// A port that is free on this address now, below those that the system gives to outgoing connections.
///
/// # Panics
///
/// When there is none.
#[track_caller]
pub fn free_port(address: &str) -> u16 {
    let start = 12_000 + (std::process::id() % 7_000) as u16;
    let free = |port: &u16| std::net::TcpListener::bind((address, *port)).is_ok();
    let free = (start..19_999).chain(12_000..start).find(free);
    free.unwrap_or_else(|| panic!("no free port on {address}"))
}
