//! Names of queues, and what the server at hand can do.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use echomq_local::Engine;

/// The server that all tests of this process run on.
///
/// # Panics
///
/// When there is none; the text names the ways to get one.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::find().unwrap_or_else(|error| panic!("{error}")))
}

/// A queue name that no other test uses, with `label` in it for the reader of a log.
///
/// # Panics
///
/// When `label` is empty, longer than 60 bytes, or not of ASCII letters, digits, `-`, `_` and `.`.
#[track_caller]
pub fn unique_queue(label: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    assert!((1..=60).contains(&label.len()) && label.bytes().all(plain), "{label:?} is no label for a queue");
    format!("{label}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Whether the server can move slots atomically, which takes Valkey 9. If not, the test that asks is to return: its
/// name is written to the terminal, whether or not the harness captures output, and added to the file that
/// `ECHOMQ_SKIPPED_FILE` names, so that a skipped test is never mistaken for a passed one.
///
/// # Panics
///
/// When that file can not be written.
pub fn valkey9(test_name: &str) -> bool {
    if engine().has_atomic_migration() {
        return true;
    }
    // One write each: the lines of parallel tests must not mix.
    let line = format!("skipped: {test_name} (needs Valkey 9)\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os("ECHOMQ_SKIPPED_FILE") {
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(format!("{test_name}\n").as_bytes()))
            .unwrap_or_else(|error| panic!("can not add to {path:?}: {error}"));
    }
    false
}
