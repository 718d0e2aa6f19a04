//! What a caller asks for: a job to be added, and what became of it.

use std::time::Duration;

use echomq_keyspace::JobId;

use crate::Error;
use crate::envelope::Envelope;
use crate::policy::Backoff;
use crate::store::Due;

/// The latest time a job may be due, in ms since 1970: above 2^53 a sorted set's score is not exact.
pub const DUE_MAX_MS: u64 = (1 << 53) - 1;

/// The longest name of a job, in bytes.
pub const NAME_MAX_BYTES: usize = 256;

/// A job as it is asked for.
///
/// ```
/// use std::time::Duration;
/// let job = echomq::JobSpec::new("{\"order\":7}").name("mail").delay(Duration::from_secs(10)).attempts(3);
/// ```
#[derive(Clone, Debug)]
pub struct JobSpec {
    pub(crate) id: Option<JobId>,
    pub(crate) name: String,
    pub(crate) attempts: u32,
    pub(crate) backoff: Backoff,
    pub(crate) due: Due,
    pub(crate) payload: Vec<u8>,
}

impl JobSpec {
    /// A job with these bytes for its handler, due at once, with an id that EchoMQ mints.
    pub fn new(payload: impl Into<Vec<u8>>) -> JobSpec {
        JobSpec {
            id: None,
            name: String::new(),
            attempts: Envelope::ATTEMPTS,
            backoff: Backoff::default(),
            due: Due::Now,
            payload: payload.into(),
        }
    }

    /// An id of the caller's own; a second job under the same id is refused while the first is there.
    #[must_use]
    pub fn id(mut self, id: JobId) -> JobSpec {
        self.id = Some(id);
        self
    }

    /// What kind of work it is, for the handler to tell apart.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> JobSpec {
        self.name = name.into();
        self
    }

    /// After this many failed runs the job is dead; at least 1, 5 when not said.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> JobSpec {
        self.attempts = attempts.max(1);
        self
    }

    /// How long to wait after each failure.
    #[must_use]
    pub fn backoff(mut self, backoff: Backoff) -> JobSpec {
        self.backoff = backoff;
        self
    }

    /// Not before so long after it was added, by the server's clock. Part of a millisecond counts as one.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> JobSpec {
        let ms = delay.as_nanos().div_ceil(1_000_000);
        self.due = if ms == 0 { Due::Now } else { Due::InMs(u64::try_from(ms).unwrap_or(u64::MAX)) };
        self
    }

    /// Not before this time, in ms since 1970, by the server's clock.
    #[must_use]
    pub fn run_at_ms(mut self, ms: u64) -> JobSpec {
        self.due = Due::AtMs(ms);
        self
    }

    /// `now_ms` is the server's time as far as known; it only decides what is refused.
    pub(crate) fn check(&self, payload_max_bytes: usize, now_ms: u64) -> Result<(), Error> {
        if self.payload.len() > payload_max_bytes {
            return Err(Error::too_large(self.payload.len(), payload_max_bytes));
        }
        if self.name.len() > NAME_MAX_BYTES {
            return Err(Error::too_long("the name of a job", self.name.len(), NAME_MAX_BYTES));
        }
        let rule = "a job can not be due after the year 287396, since a later time is not stored exactly";
        match self.due {
            Due::InMs(ms) if ms.saturating_add(now_ms) > DUE_MAX_MS => {
                Err(Error::duration("a delay", format!("{ms} ms"), rule))
            }
            Due::AtMs(ms) if ms > DUE_MAX_MS => Err(Error::duration("a due time", format!("{ms} ms"), rule)),
            _ => Ok(()),
        }
    }
}

/// What became of one job of an enqueue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enqueued {
    /// It is stored and will run.
    Added(JobId),
    /// A job of this id is there already; nothing was changed.
    Duplicate(JobId),
    /// As many jobs wait as the queue may hold; nothing was stored.
    Full(JobId),
}

impl Enqueued {
    /// The id that was asked for, or minted.
    pub fn id(&self) -> &JobId {
        match self {
            Enqueued::Added(id) | Enqueued::Duplicate(id) | Enqueued::Full(id) => id,
        }
    }

    /// The job is stored.
    pub fn is_added(&self) -> bool {
        matches!(self, Enqueued::Added(_))
    }
}
