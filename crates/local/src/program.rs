//! Running another program to its end, but not for ever.

use std::io::{self, Read, Seek};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How a program ended and everything it said, standard output and standard error in the order of writing.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) said: String,
}

/// Runs `command` and waits at most `limit`; then it is killed and the error is `TimedOut`.
///
/// The output goes to a file without a name, so that a talkative program can not block on a full pipe.
pub(crate) fn run(command: &mut Command, limit: Duration) -> io::Result<Ended> {
    let mut output = tempfile::tempfile()?;
    let mut child =
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output.try_clone()?).spawn()?;
    let deadline = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            let why = format!("it did not end within {} s", limit.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let mut said = Vec::new();
    output.rewind()?;
    output.read_to_end(&mut said)?;
    Ok(Ended { status, said: String::from_utf8_lossy(&said).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_is_killed_at_its_limit() {
        let started = Instant::now();
        let error = run(Command::new("sleep").arg("60"), Duration::from_millis(50)).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn what_a_program_says_comes_back_with_its_status() {
        let ended =
            run(Command::new("sh").args(["-c", "echo one; echo two >&2; exit 3"]), Duration::from_secs(10))
                .unwrap();
        assert_eq!(ended.said, "one\ntwo\n");
        assert_eq!(ended.status.code(), Some(3));
    }
}
