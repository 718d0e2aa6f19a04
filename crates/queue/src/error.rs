//! One opaque error for the queue; questions are asked by predicates.

use std::fmt;

use echomq_keyspace::{Escaped, IdError, JobId, NameError};

use crate::store::Mistyped;

/// Why a call on a queue did not succeed. The text says what to do.
pub struct Error(Box<Kind>);

#[derive(Debug)]
enum Kind {
    Cluster(echomq_cluster::Error),
    Name(NameError),
    Id(IdError),
    Layout {
        queue: String,
        stored: String,
        ours: u32,
    },
    Mistyped {
        queue: String,
        mistyped: Mistyped,
    },
    Foreign {
        queue: String,
        fixed: String,
        wanted: String,
    },
    TooLarge {
        bytes: usize,
        limit: usize,
    },
    TooLong {
        what: &'static str,
        bytes: usize,
        limit: usize,
    },
    Duration {
        what: &'static str,
        given: String,
        rule: &'static str,
    },
    Unknown {
        ids: Vec<JobId>,
        cause: echomq_cluster::Error,
    },
    Gone,
    #[cfg(feature = "local")]
    Local(echomq_local::Error),
}

impl Error {
    fn new(kind: Kind) -> Error {
        Error(Box::new(kind))
    }

    pub(crate) fn layout(queue: &str, stored: &str, ours: u32) -> Error {
        Error::new(Kind::Layout { queue: queue.to_owned(), stored: stored.to_owned(), ours })
    }

    pub(crate) fn mistyped(queue: &str, mistyped: Mistyped) -> Error {
        Error::new(Kind::Mistyped { queue: queue.to_owned(), mistyped })
    }

    pub(crate) fn other_kind(queue: &str, fixed: &str, wanted: &str) -> Error {
        Error::new(Kind::Foreign {
            queue: queue.to_owned(),
            fixed: fixed.to_owned(),
            wanted: wanted.to_owned(),
        })
    }

    pub(crate) fn too_large(bytes: usize, limit: usize) -> Error {
        Error::new(Kind::TooLarge { bytes, limit })
    }

    pub(crate) fn too_long(what: &'static str, bytes: usize, limit: usize) -> Error {
        Error::new(Kind::TooLong { what, bytes, limit })
    }

    pub(crate) fn duration(what: &'static str, given: impl fmt::Display, rule: &'static str) -> Error {
        Error::new(Kind::Duration { what, given: given.to_string(), rule })
    }

    pub(crate) fn unknown(ids: Vec<JobId>, cause: echomq_cluster::Error) -> Error {
        Error::new(Kind::Unknown { ids, cause })
    }

    pub(crate) fn stopped() -> Error {
        Error::new(Kind::Gone)
    }

    /// The slot of the queue was being moved until the deadline; nothing was written.
    pub fn is_slot_moving(&self) -> bool {
        matches!(&*self.0, Kind::Cluster(error) if error.is_slot_moving())
    }

    /// The server could not be reached or did not serve until the deadline; nothing was written, and trying later may help.
    pub fn is_not_now(&self) -> bool {
        matches!(&*self.0, Kind::Cluster(error) if error.is_deadline() || error.is_unreachable())
    }

    /// The answer never came: the call may or may not have happened.
    pub fn is_unknown(&self) -> bool {
        match &*self.0 {
            Kind::Unknown { .. } => true,
            Kind::Cluster(error) => error.is_unknown(),
            _ => false,
        }
    }

    /// The queue is stored in a layout of another version.
    pub fn is_layout(&self) -> bool {
        matches!(&*self.0, Kind::Layout { .. })
    }

    /// A key of the queue holds another type than ours: something else has stored it, or another version.
    pub fn is_wrong_type(&self) -> bool {
        matches!(&*self.0, Kind::Mistyped { .. })
    }

    /// A payload is over the limit; nothing was sent.
    pub fn is_too_large(&self) -> bool {
        matches!(&*self.0, Kind::TooLarge { .. })
    }

    /// The ids of an enqueue whose fate is unknown. Enqueueing them again under the same ids is refused as a
    /// duplicate while their jobs are still there.
    pub fn unknown_ids(&self) -> &[JobId] {
        match &*self.0 {
            Kind::Unknown { ids, .. } => ids,
            _ => &[],
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Cluster(error) => error.fmt(f),
            Kind::Name(error) => error.fmt(f),
            Kind::Id(error) => error.fmt(f),
            Kind::Layout { queue, stored, ours } => write!(
                f,
                "queue \"{queue}\" is stored in layout {}, this program speaks layout {ours}: use a release that speaks the stored one",
                Escaped(stored.as_bytes())
            ),
            Kind::Mistyped { queue, mistyped: Mistyped { key, found, expected } } => write!(
                f,
                "queue \"{queue}\" was not opened: its key \"{}\" holds a {found}, a {expected} is expected; nothing was written or deleted. Find out who stored it; then move it away (RENAME), or give the queue another name or prefix",
                Escaped(key)
            ),
            Kind::Foreign { queue, fixed, wanted } => {
                write!(
                    f,
                    "queue \"{queue}\" takes ids of kind {fixed} alone, not {wanted}; nothing was written"
                )
            }
            Kind::TooLarge { bytes, limit } => write!(
                f,
                "the payload has {bytes} bytes, the limit is {limit}; nothing was sent. Store it elsewhere and enqueue a reference, or raise the limit"
            ),
            Kind::TooLong { what, bytes, limit } => {
                write!(
                    f,
                    "{what} has {bytes} bytes, the limit is {limit}; nothing was sent. Put what is long into the payload"
                )
            }
            Kind::Duration { what, given, rule } => write!(f, "{what} of {given} is refused: {rule}"),
            Kind::Unknown { ids, cause } => {
                write!(f, "{} job(s) may or may not have been added, first id {}: {cause}", ids.len(), ids[0])
            }
            Kind::Gone => write!(f, "the worker has stopped"),
            #[cfg(feature = "local")]
            Kind::Local(error) => error.fmt(f),
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

impl From<echomq_cluster::Error> for Error {
    fn from(error: echomq_cluster::Error) -> Error {
        Error::new(Kind::Cluster(error))
    }
}

impl From<NameError> for Error {
    fn from(error: NameError) -> Error {
        Error::new(Kind::Name(error))
    }
}

impl From<IdError> for Error {
    fn from(error: IdError) -> Error {
        Error::new(Kind::Id(error))
    }
}

#[cfg(feature = "local")]
impl From<echomq_local::Error> for Error {
    fn from(error: echomq_local::Error) -> Error {
        Error::new(Kind::Local(error))
    }
}
