//! Lock files.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Opens a lock file, which stays for ever: a lock on a file that somebody removes protects nothing.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Tries to lock for this holder alone until `deadline`; `false` if somebody still holds it then.
pub(crate) fn exclusive_by(file: &File, deadline: Instant) -> io::Result<bool> {
    by(deadline, || file.try_lock())
}

/// Tries to lock together with other sharers until `deadline`.
pub(crate) fn shared_by(file: &File, deadline: Instant) -> io::Result<bool> {
    by(deadline, || file.try_lock_shared())
}

fn by(deadline: Instant, attempt: impl Fn() -> Result<(), TryLockError>) -> io::Result<bool> {
    loop {
        match attempt() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Ok(false),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}
