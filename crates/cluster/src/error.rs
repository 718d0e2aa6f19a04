//! One opaque error for the connector; questions are asked by predicates.

use std::fmt;
use std::time::Duration;

use echomq_keyspace::{Apart, Escaped, Slot, Unplaced, judge};

use crate::Address;
use crate::answer::{Answer, Class};
use crate::client::Shared;

/// Why a request did not succeed. The text says what to do.
#[derive(Clone)]
pub struct Error(Box<Kind>);

#[derive(Clone, Debug)]
enum Kind {
    Url { url: String, why: String },
    Settings { why: String },
    NoNode { tried: String, last: String },
    Deadline { waited: Duration, slot: Option<Slot>, reason: Waiting },
    Unknown { slot: Option<Slot>, node: Address, cause: String },
    Server { code: String, detail: String, node: Address, call: Call },
    Reply { what: String, got: String },
    CrossSlot { command: String, verdict: String },
    NoKey { command: String },
    Refused { command: String, why: String },
    OwnConnection { command: String, remedy: &'static str },
    Contended { keys: String, attempts: u32 },
}

/// Who asked for what, as an error tells it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    /// The command and its keys, no arguments.
    pub(crate) command: String,
    /// The user that a refusal of rights is about.
    pub(crate) user: Option<String>,
    /// Something before the refusal may have been written.
    pub(crate) partly: bool,
    /// A redirect where there was to be one endpoint.
    pub(crate) stray: bool,
}

impl Call {
    pub(crate) fn of(command: String, answer: &Answer, shared: &Shared) -> Call {
        let about_user = matches!(answer.class, Class::NotPermitted | Class::NotLoggedIn);
        let is_redirect = matches!(answer.class, Class::Moved { .. } | Class::Ask { .. });
        let stray = is_redirect && shared.dialer.settings.one_endpoint;
        Call { command, user: about_user.then(|| shared.user()), partly: answer.partly, stray }
    }
}

/// Whether a request that failed may have happened. See [`Error::fate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It did not happen: it was refused before it was sent, or by the server as a whole.
    NotDone,
    /// A script ran into an error. What it had written before stands.
    Partly,
    /// It was sent, and its answer never came.
    Unknown,
}

/// What a request was waiting for when its deadline came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    SlotMoves,
    NoOwner,
    NotServing(String),
    Connect(String),
    /// Those before it in a pipeline.
    Turn,
    Answer,
}

impl Error {
    fn new(kind: Kind) -> Error {
        Error(Box::new(kind))
    }

    pub(crate) fn url(url: &str, why: &str) -> Error {
        let shown = match (url.find("://"), url.rfind('@')) {
            (Some(scheme), Some(at)) if at > scheme => format!("{}://***{}", &url[..scheme], &url[at..]),
            (_, Some(at)) => format!("***{}", &url[at..]),
            _ => url.to_owned(),
        };
        Error::new(Kind::Url { url: Escaped(shown.as_bytes()).to_string(), why: why.to_owned() })
    }

    pub(crate) fn settings(why: String) -> Error {
        Error::new(Kind::Settings { why })
    }

    pub(crate) fn no_node(tried: &[Address], last: impl fmt::Display) -> Error {
        let tried = tried.iter().map(Address::to_string).collect::<Vec<_>>().join(", ");
        Error::new(Kind::NoNode { tried, last: last.to_string() })
    }

    pub(crate) fn deadline(waited: Duration, slot: Option<Slot>, reason: Waiting) -> Error {
        Error::new(Kind::Deadline { waited, slot, reason })
    }

    pub(crate) fn unknown(slot: Option<Slot>, node: &Address, cause: impl fmt::Display) -> Error {
        Error::new(Kind::Unknown { slot, node: node.clone(), cause: cause.to_string() })
    }

    pub(crate) fn server(code: &str, detail: &str, node: &Address, call: Call) -> Error {
        Error::new(Kind::Server {
            code: code.to_owned(),
            detail: detail.to_owned(),
            node: node.clone(),
            call,
        })
    }

    /// A reply of another shape than the command promises. For code that reads replies.
    pub fn reply(what: &str, got: &redis::Value) -> Error {
        Error::new(Kind::Reply { what: what.to_owned(), got: format!("{got:?}") })
    }

    pub(crate) fn crossslot(command: &str, keys: &[&[u8]]) -> Error {
        Error::new(Kind::CrossSlot { command: command.to_owned(), verdict: judge(keys).to_string() })
    }

    pub(crate) fn no_key(command: &str) -> Error {
        Error::new(Kind::NoKey { command: command.to_owned() })
    }

    pub(crate) fn unplaced(command: impl Into<String>, cause: Unplaced) -> Error {
        Error::new(Kind::Refused { command: command.into(), why: cause.to_string() })
    }

    /// The argument at `at` is a key and was not named as one, or the other way round.
    pub(crate) fn misplaced(command: &str, at: usize, arg: &[u8], is_key: bool) -> Error {
        let shown = Escaped(arg);
        let why = match is_key {
            true => format!("argument {at}, \"{shown}\", is a key of this command. Name it by key()"),
            false => format!("argument {at}, \"{shown}\", is no key of this command. Add it by arg()"),
        };
        Error::new(Kind::Refused { command: command.to_owned(), why })
    }

    pub(crate) fn apart(command: &str, remedy: &'static str) -> Error {
        Error::new(Kind::OwnConnection { command: command.to_owned(), remedy })
    }

    pub(crate) fn refused(command: &str, why: &str) -> Error {
        Error::new(Kind::Refused { command: command.to_owned(), why: why.to_owned() })
    }

    pub(crate) fn contended(keys: &[&[u8]], attempts: u32) -> Error {
        let keys: Vec<String> = keys.iter().map(|key| format!("\"{}\"", Escaped(key))).collect();
        Error::new(Kind::Contended { keys: keys.join(", "), attempts })
    }

    /// Whether the request may have happened: what a caller needs to know before it asks again.
    pub fn fate(&self) -> Fate {
        match &*self.0 {
            Kind::Unknown { .. } | Kind::Reply { .. } => Fate::Unknown,
            Kind::Server { call: Call { partly: true, .. }, .. } => Fate::Partly,
            _ => Fate::NotDone,
        }
    }

    /// Somebody else changed what was watched, in each of the attempts; nothing was written. Try again later, or with
    /// more attempts.
    pub fn is_contended(&self) -> bool {
        matches!(&*self.0, Kind::Contended { .. })
    }

    /// The command needs a connection of its own, and was not sent over the shared one.
    pub(crate) fn is_apart(&self) -> bool {
        matches!(&*self.0, Kind::OwnConnection { .. })
    }

    /// The command itself was wrong: its keys can not be told, or do not stand where the caller said. Nothing was sent.
    pub fn is_refused(&self) -> bool {
        matches!(&*self.0, Kind::Refused { .. } | Kind::OwnConnection { .. } | Kind::NoKey { .. })
    }

    /// The keys stand on more than one slot; nothing was sent.
    pub fn is_crossslot(&self) -> bool {
        matches!(&*self.0, Kind::CrossSlot { .. })
    }

    /// The slot was being moved to another node until the deadline; nothing was written.
    pub fn is_slot_moving(&self) -> bool {
        matches!(&*self.0, Kind::Deadline { reason: Waiting::SlotMoves, .. })
    }

    /// The deadline came before an answer, and it is certain that nothing was written.
    pub fn is_deadline(&self) -> bool {
        matches!(&*self.0, Kind::Deadline { .. })
    }

    /// No node serves the slot; nothing was written. It is told as soon as a fresh look at the topology shows it.
    pub fn is_uncovered(&self) -> bool {
        matches!(&*self.0, Kind::Deadline { reason: Waiting::NoOwner, .. })
    }

    /// The request was sent and its answer never came: it may or may not have happened.
    pub fn is_unknown(&self) -> bool {
        matches!(&*self.0, Kind::Unknown { .. })
    }

    /// No node could be reached at all.
    pub fn is_unreachable(&self) -> bool {
        matches!(&*self.0, Kind::NoNode { .. } | Kind::Deadline { reason: Waiting::Connect(_), .. })
    }

    /// The first word of a server's refusal, for instance `WRONGTYPE` or `OOM`.
    pub fn server_code(&self) -> Option<&str> {
        match &*self.0 {
            Kind::Server { code, .. } => Some(code),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Settings { why } => write!(f, "no connection can be made with these settings: {why}"),
            Kind::Url { url, why } => write!(f, "the URL \"{url}\" can not be used: {why}"),
            Kind::NoNode { tried, last } => write!(
                f,
                "no node answered (tried {tried}; last: {last}). Check the URL and that the server runs"
            ),
            Kind::Deadline { waited, slot, reason } => {
                let waited = waited.as_secs_f64();
                match (reason, slot) {
                    (Waiting::SlotMoves, Some(slot)) => write!(
                        f,
                        "slot {slot} is being moved; gave up after {waited:.1} s, nothing was written. Try again when the move has ended"
                    ),
                    (Waiting::NoOwner, Some(slot)) => write!(
                        f,
                        "slot {slot} has no node; gave up after {waited:.1} s, nothing was written. Assign the slot (CLUSTER ADDSLOTS)"
                    ),
                    (Waiting::NotServing(said), _) => {
                        write!(
                            f,
                            "the node does not serve yet ({said}); gave up after {waited:.1} s, nothing was written"
                        )
                    }
                    (Waiting::Connect(cause), _) => {
                        write!(f, "no connection ({cause}); gave up after {waited:.1} s, nothing was written")
                    }
                    (Waiting::Turn, _) => write!(
                        f,
                        "the commands before it took all of the {waited:.1} s; it was not sent. Try again, or allow more time"
                    ),
                    _ => write!(f, "no answer within {waited:.1} s"),
                }
            }
            Kind::Unknown { slot, node, cause } => {
                write!(f, "the answer of {node}")?;
                slot.map_or(Ok(()), |slot| write!(f, " for slot {slot}"))?;
                write!(f, " never came ({cause}): the request may or may not have happened")
            }
            Kind::Server { code, detail, node, call } => {
                if !call.command.is_empty() {
                    write!(f, "{}: ", call.command)?;
                }
                write!(f, "{node} answered {code} {detail}")?;
                if call.stray {
                    f.write_str(". It shows its nodes: leave out one-endpoint (Settings::one_endpoint)")?;
                }
                call.user
                    .as_ref()
                    .map_or(Ok(()), |user| write!(f, " (as user \"{}\")", Escaped(user.as_bytes())))
            }
            Kind::Refused { command, why } => write!(f, "{command} was not sent: {why}"),
            Kind::OwnConnection { command, remedy } => {
                write!(f, "{command} was not sent: it needs a connection of its own. {remedy}")
            }
            Kind::Contended { keys, attempts } => write!(
                f,
                "{keys}: changed by others in each of {attempts} attempts; nothing was written. Try again, or allow more attempts"
            ),
            Kind::CrossSlot { command, verdict } => write!(f, "{command} was not sent. {verdict}"),
            Kind::NoKey { command } => {
                write!(
                    f,
                    "{command} was not sent: it names no key, so no slot says which node to ask. Name a node"
                )
            }
            Kind::Reply { what, got } => write!(f, "unexpected reply to {what}: {got}"),
        }
    }
}

impl From<Apart> for Error {
    fn from(apart: Apart) -> Error {
        match apart.keys() {
            [] => Error::no_key("A request for many keys"),
            keys => Error::crossslot(
                "A request for many keys",
                &keys.iter().map(Vec::as_slice).collect::<Vec<_>>(),
            ),
        }
    }
}

/// The same text, since a `main` that returns an error shows this one.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
