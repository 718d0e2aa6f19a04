//! What one can see of a queue and of a job. Reads only.

use crate::envelope::Envelope;
use crate::store::{Counted, Found};
use crate::tries::Tries;
use echomq_keyspace::JobId;

/// How many jobs are in each state, and what has happened since the queue began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// May be claimed now.
    pub pending: u64,
    /// Held by a worker.
    pub active: u64,
    /// Due later: delayed, or waiting for a retry.
    pub schedule: u64,
    /// Not tried again by itself.
    pub dead: u64,
    /// When the first job of the schedule is due, in ms since 1970.
    pub next_due_ms: Option<u64>,
    /// Claim calls that still hold some job.
    pub claims: u64,
    /// Since when (ms since 1970) and by whom claims are refused.
    pub paused: Option<(u64, String)>,
    /// How many jobs may wait.
    pub limit: Option<u64>,
    /// Version of the stored layout; `None` for a queue that has never been used.
    pub layout: Option<String>,
    /// Jobs completed.
    pub done: u64,
    /// Failures that led to another try.
    pub retried: u64,
    /// Leases that ran out.
    pub lost: u64,
    /// Jobs buried because their row had gone.
    pub gone: u64,
    /// Jobs buried because their row could not be read.
    pub undecodable: u64,
}

impl Counts {
    pub(crate) fn read(counted: Counted) -> Counts {
        let text =
            |name: &str| counted.meta.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone());
        let number = |name: &str| text(name).and_then(|value| value.parse::<u64>().ok());
        let paused = text("paused").map(|text| {
            let (since, who) = text.split_once(' ').unwrap_or((&text, ""));
            (since.parse().unwrap_or(0), who.to_owned())
        });
        Counts {
            pending: counted.pending,
            active: counted.active,
            schedule: counted.schedule,
            dead: counted.dead,
            next_due_ms: counted.next_due_ms,
            claims: counted.claims,
            paused,
            limit: number("limit"),
            layout: text("layout"),
            done: number("done").unwrap_or(0),
            retried: number("retried").unwrap_or(0),
            lost: number("lost").unwrap_or(0),
            gone: number("dead:gone").unwrap_or(0),
            undecodable: number("dead:undecodable").unwrap_or(0),
        }
    }

    /// Jobs that the queue holds.
    pub fn held(&self) -> u64 {
        self.pending + self.active + self.schedule + self.dead
    }
}

/// A state of a job: the set that holds its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Brought here by an enqueue, a promotion or a lost lease; a claim moves it on.
    Pending,
    /// Brought here by a claim; the worker's settling or a lost lease moves it on.
    Active,
    /// Brought here by a delayed enqueue or a failure; a promotion moves it on when it is due.
    Schedule,
    /// Brought here by the last failure, a lost body or too many lost leases; only people move it on.
    Dead,
    /// In no set: only a row is left, which no transition leaves behind.
    Nowhere,
}

impl State {
    /// The word in keys and output.
    pub fn word(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Active => "active",
            State::Schedule => "schedule",
            State::Dead => "dead",
            State::Nowhere => "nowhere",
        }
    }

    fn read(word: &str) -> State {
        [State::Pending, State::Active, State::Schedule, State::Dead]
            .into_iter()
            .find(|state| state.word() == word)
            .unwrap_or(State::Nowhere)
    }
}

/// One job as it stands.
#[derive(Clone, Debug)]
pub struct JobView {
    /// Its id.
    pub id: JobId,
    /// Where it is.
    pub state: State,
    /// Its score there: a rank in pending, a token in active, ms since 1970 in schedule and dead.
    pub score: Option<f64>,
    /// What it has behind it, once it was tried.
    pub tries: Option<Tries>,
    /// What was enqueued; the error says why it can not be read.
    pub envelope: Result<Envelope, String>,
}

impl JobView {
    pub(crate) fn read(id: JobId, found: Found, row: Option<Vec<u8>>) -> JobView {
        let envelope = match row {
            Some(row) => Envelope::decode(row),
            None => Err("the job's row is gone".to_owned()),
        };
        JobView { id, state: State::read(&found.state), score: found.score, tries: found.tries, envelope }
    }
}
