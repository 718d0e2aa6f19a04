//! How the command ends: 0 fine, 1 something was found or refused, 2 trouble.

use std::io::{self, Write as _};
use std::process::ExitCode;

/// What a verb came to, when nothing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Fine,
    Finding,
    /// Already told on standard error.
    Trouble,
}

impl Exit {
    /// A finding, if there is one.
    pub(crate) fn finding_if(found: bool) -> Exit {
        if found { Exit::Finding } else { Exit::Fine }
    }
}

/// The exit code of a verb; an error is told on standard error.
pub(crate) fn code(result: anyhow::Result<Exit>) -> ExitCode {
    match result {
        Ok(Exit::Fine) => ExitCode::SUCCESS,
        Ok(Exit::Finding) => ExitCode::from(1),
        Ok(Exit::Trouble) => ExitCode::from(2),
        // Who reads us has seen enough, as `head` has after ten lines.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            note(&format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}

/// The exit code of a command line that was not understood, or that asked for help.
pub(crate) fn usage(usage: &clap::Error) -> ExitCode {
    // Nobody is left to be told when this fails.
    let _ = usage.print();
    ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
}

/// One line, or a few, for people, on standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "echomq: {text}");
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let pipe = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(pipe))
}
