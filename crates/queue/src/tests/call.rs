//! A call of a transition as a value, and its answer in words: what the tables list, the walk draws, the model answers.

use echomq_keyspace::JobId;

use super::state::word;
use crate::store::{Added, Claimed, Class, Due, Lease, Promoted, Reclaimed, Row, Store};
use crate::tries::Tries;

#[derive(Clone, Debug)]
pub(super) enum Call {
    Enqueue(Vec<Row>),
    Claim { most: usize, lease_ms: u64, owner: String },
    Complete(Lease, Vec<JobId>),
    Retry(Lease, Vec<(JobId, u64, String)>),
    Bury(Lease, Class, Vec<(JobId, String)>),
    Release(Lease, Vec<JobId>),
    Extend(Vec<Lease>, u64),
    Promote(usize),
    Reclaim { most: usize, lost_limit: u32, lease_ms: u64 },
    Pause(String),
    Resume,
    Bound(Option<u64>),
}

impl Call {
    /// Calls the store and says what it answered.
    pub(super) async fn on(&self, store: &Store) -> String {
        let answer = match self.clone() {
            Call::Enqueue(rows) => store.enqueue(&rows).await.map(added),
            Call::Claim { most, lease_ms, owner } => store.claim(most, lease_ms, &owner).await.map(claimed),
            Call::Complete(lease, ids) => store.complete(&lease, &ids).await.map(settled),
            Call::Retry(lease, jobs) => store.retry(&lease, &jobs).await.map(settled),
            Call::Bury(lease, class, jobs) => store.bury(&lease, class, &jobs).await.map(settled),
            Call::Release(lease, ids) => store.release(&lease, &ids).await.map(settled),
            Call::Extend(leases, lease_ms) => store.extend(&leases, lease_ms).await.map(extended),
            Call::Promote(most) => store.promote(most).await.map(promoted),
            Call::Reclaim { most, lost_limit, lease_ms } => {
                store.reclaim(most, lost_limit, lease_ms).await.map(reclaimed)
            }
            Call::Pause(who) => store.pause(&who).await.map(|changed| yes("paused", changed)),
            Call::Resume => store.resume().await.map(|changed| yes("resumed", changed)),
            Call::Bound(most) => store.bound(most).await.map(|changed| yes("bound", changed)),
        };
        answer.unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }
}

pub(super) fn added(added: Added) -> String {
    match added {
        Added::All => "added",
        Added::Full => "full",
        Added::Taken => "taken",
    }
    .to_owned()
}

/// `claimed 7: a b(1 0 1 0 why)`, with the tries of those that have some.
pub(super) fn claimed(claimed: Claimed) -> String {
    match claimed {
        Claimed::Empty => "empty".to_owned(),
        Claimed::Paused => "paused".to_owned(),
        Claimed::Jobs { lease, jobs } => {
            assert_eq!(lease.jobs, jobs.len(), "the lease knows how many jobs it covers");
            let job = |(id, tries): &(JobId, Tries)| match tries {
                tries if *tries == Tries::default() => format!(" {}", word(id.as_bytes())),
                Tries { claims, failures, lost, priority, error } => {
                    format!(" {}({claims} {failures} {lost} {priority} {})", word(id.as_bytes()), word(error))
                }
            };
            format!("claimed {}:{}", lease.token, jobs.iter().map(job).collect::<String>())
        }
    }
}

pub(super) fn settled(lost: Vec<JobId>) -> String {
    if lost.is_empty() {
        return "settled".to_owned();
    }
    lost.iter().fold("lost".to_owned(), |text, id| text + " " + &word(id.as_bytes()))
}

pub(super) fn extended(lost: Vec<Lease>) -> String {
    if lost.is_empty() {
        return "extended".to_owned();
    }
    lost.iter().fold("lost".to_owned(), |text, lease| format!("{text} {}", lease.entry()))
}

pub(super) fn promoted(Promoted { jobs, next_in_ms }: Promoted) -> String {
    match next_in_ms {
        Some(ms) => format!("promoted {jobs}, next in {ms}"),
        None => format!("promoted {jobs}"),
    }
}

pub(super) fn reclaimed(Reclaimed { back, dead, extended }: Reclaimed) -> String {
    let more = if extended > 0 { format!(", {extended} got more time") } else { String::new() };
    format!("reclaimed {back}, dead {dead}{more}")
}

pub(super) fn yes(word: &str, changed: bool) -> String {
    if changed { word.to_owned() } else { "already".to_owned() }
}

// What makes calls short to write.

pub(super) fn id(id: impl AsRef<[u8]>) -> JobId {
    JobId::parse(id).unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn ids(words: &str) -> Vec<JobId> {
    words.split_whitespace().map(id).collect()
}

pub(super) fn row(name: &str, due: Due, body: impl Into<Vec<u8>>) -> Row {
    Row { id: id(name), due, body: body.into() }
}

/// The lease of a claim that took so many jobs, held by the worker `w`.
pub(super) fn lease(token: u64, jobs: usize) -> Lease {
    Lease { token, lease_ms: 30_000, owner: "w".to_owned(), jobs }
}

pub(super) fn claim(most: usize) -> Call {
    Call::Claim { most, lease_ms: 30_000, owner: "w".to_owned() }
}

pub(super) fn complete(token: u64, jobs: usize, names: &str) -> Call {
    Call::Complete(lease(token, jobs), ids(names))
}

pub(super) fn release(token: u64, names: &str) -> Call {
    Call::Release(lease(token, 0), ids(names))
}

pub(super) fn retry(token: u64, jobs: &[(&str, u64, &str)]) -> Call {
    let jobs = jobs.iter().map(|(name, delay_ms, error)| (id(name), *delay_ms, (*error).to_owned()));
    Call::Retry(lease(token, 0), jobs.collect())
}

pub(super) fn bury(token: u64, class: Class, jobs: &[(&str, &str)]) -> Call {
    let jobs = jobs.iter().map(|(name, reason)| (id(name), (*reason).to_owned()));
    Call::Bury(lease(token, 0), class, jobs.collect())
}

pub(super) fn reclaim(most: usize, lost_limit: u32) -> Call {
    Call::Reclaim { most, lost_limit, lease_ms: 30_000 }
}
