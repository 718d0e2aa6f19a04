//! Why a pattern could not do its work. What the pattern itself refuses is a result, not an error.

use std::fmt;

use echomq_keyspace::TagValueError;

/// A name that can not be used, a request that makes no sense, a connector's error, or stored data of another shape.
#[derive(Clone)]
pub struct Error(Box<Kind>);

#[derive(Clone)]
enum Kind {
    Name(TagValueError),
    Asked(String),
    Cluster(echomq_cluster::Error),
    Stored { what: &'static str, why: String },
}

impl Error {
    pub(crate) fn asked(why: impl Into<String>) -> Error {
        Error(Box::new(Kind::Asked(why.into())))
    }

    pub(crate) fn stored(what: &'static str, why: impl fmt::Display) -> Error {
        Error(Box::new(Kind::Stored { what, why: why.to_string() }))
    }

    /// A name that can not be a tag, or an argument out of its bounds. Nothing was sent.
    pub fn is_refused(&self) -> bool {
        matches!(&*self.0, Kind::Name(_) | Kind::Asked(_))
    }

    /// Others changed what was watched in each of the attempts; nothing was written.
    pub fn is_contended(&self) -> bool {
        self.cluster().is_some_and(echomq_cluster::Error::is_contended)
    }

    /// The connector's error, which tells by [`fate`](echomq_cluster::Error::fate) whether the request may have happened.
    pub fn cluster(&self) -> Option<&echomq_cluster::Error> {
        match &*self.0 {
            Kind::Cluster(error) => Some(error),
            _ => None,
        }
    }
}

impl From<TagValueError> for Error {
    fn from(error: TagValueError) -> Error {
        Error(Box::new(Kind::Name(error)))
    }
}

impl From<echomq_cluster::Error> for Error {
    fn from(error: echomq_cluster::Error) -> Error {
        Error(Box::new(Kind::Cluster(error)))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Name(error) => error.fmt(f),
            Kind::Asked(why) => f.write_str(why),
            Kind::Cluster(error) => error.fmt(f),
            Kind::Stored { what, why } => write!(
                f,
                "what is stored as {what} can not be read ({why}): other programs may use the same keys"
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
