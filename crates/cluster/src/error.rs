//! One opaque error for the connector; questions are asked by predicates.

use std::fmt;
use std::time::Duration;

use echomq_keyspace::{Escaped, Slot, judge};

use crate::Address;

/// Why a request did not succeed. The text says what to do.
#[derive(Clone)]
pub struct Error(Box<Kind>);

#[derive(Clone, Debug)]
enum Kind {
    Url { url: String, why: String },
    NoNode { tried: String, last: String },
    Deadline { waited: Duration, slot: Option<Slot>, reason: Waiting },
    Unknown { slot: Slot, node: Address, cause: String },
    Server { code: String, detail: String, node: Address },
    Reply { what: String, got: String },
    CrossSlot { command: &'static str, verdict: String },
    NoKey { command: &'static str },
}

/// What a request was waiting for when its deadline came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    SlotMoves,
    NoOwner,
    NotServing(String),
    Connect(String),
    Answer,
}

impl Error {
    fn new(kind: Kind) -> Error {
        Error(Box::new(kind))
    }

    pub(crate) fn url(url: &str, why: &str) -> Error {
        let shown = match (url.find("://"), url.rfind('@')) {
            (Some(scheme), Some(at)) if at > scheme => format!("{}://…{}", &url[..scheme], &url[at..]),
            _ => url.to_owned(),
        };
        Error::new(Kind::Url { url: Escaped(shown.as_bytes()).to_string(), why: why.to_owned() })
    }

    pub(crate) fn no_node(tried: &[Address], last: impl fmt::Display) -> Error {
        let tried = tried.iter().map(Address::to_string).collect::<Vec<_>>().join(", ");
        Error::new(Kind::NoNode { tried, last: last.to_string() })
    }

    pub(crate) fn deadline(waited: Duration, slot: Option<Slot>, reason: Waiting) -> Error {
        Error::new(Kind::Deadline { waited, slot, reason })
    }

    pub(crate) fn unknown(slot: Slot, node: &Address, cause: impl fmt::Display) -> Error {
        Error::new(Kind::Unknown { slot, node: node.clone(), cause: cause.to_string() })
    }

    pub(crate) fn server(code: &str, detail: &str, node: &Address) -> Error {
        Error::new(Kind::Server { code: code.to_owned(), detail: detail.to_owned(), node: node.clone() })
    }

    /// A reply of another shape than the command promises. For code that reads replies.
    pub fn reply(what: &str, got: &redis::Value) -> Error {
        Error::new(Kind::Reply { what: what.to_owned(), got: format!("{got:?}") })
    }

    pub(crate) fn crossslot(command: &'static str, keys: &[&[u8]]) -> Error {
        Error::new(Kind::CrossSlot { command, verdict: judge(keys).to_string() })
    }

    pub(crate) fn no_key(command: &'static str) -> Error {
        Error::new(Kind::NoKey { command })
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
                        "slot {slot} has no node; gave up after {waited:.1} s, nothing was written. Assign the slot (CLUSTER ADDSLOTS) or wait for the failover"
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
                    _ => write!(f, "no answer within {waited:.1} s"),
                }
            }
            Kind::Unknown { slot, node, cause } => write!(
                f,
                "the answer of {node} for slot {slot} never came ({cause}): the request may or may not have happened"
            ),
            Kind::Server { code, detail, node } => write!(f, "{node} answered {code} {detail}"),
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

/// The same text, since a `main` that returns an error shows this one.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
