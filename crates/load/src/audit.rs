//! The exact-delivery audit: every acknowledged job is accounted for, one by one.

use std::collections::HashMap;
use std::iter::Sum;
use std::ops::Add;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use echomq::{Error, JobId, Queue, State};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::Serialize;

/// So many jobs are asked for side by side.
const SIDE_BY_SIDE: usize = 64;

/// What a harness knows of one queue's jobs by itself: it is kept outside the server, so that it can not forget
/// together with the server.
#[derive(Debug, Default)]
pub struct Ledger {
    jobs: Mutex<HashMap<JobId, Entry>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    asked: Option<Instant>,
    acknowledged: bool,
    /// The token of each run that had its effect.
    tokens: Vec<u64>,
}

/// Where the server has a job that had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Dead,
    Waiting,
    Nowhere,
}

impl Ledger {
    /// The job is about to be enqueued.
    pub fn asked(&self, id: &JobId) {
        self.jobs().entry(id.clone()).or_default().asked = Some(Instant::now());
    }

    /// The queue has acknowledged it.
    pub fn acknowledged(&self, id: &JobId) {
        self.jobs().entry(id.clone()).or_default().acknowledged = true;
    }

    /// A handler's run under this token has had its effect. Returns how long ago the job was asked for, when this
    /// is its first effect.
    pub fn effect(&self, id: &JobId, token: u64) -> Option<Duration> {
        let mut jobs = self.jobs();
        let entry = jobs.entry(id.clone()).or_default();
        entry.tokens.push(token);
        entry.asked.filter(|_| entry.tokens.len() == 1).map(|asked| asked.elapsed())
    }

    /// How many jobs have had their effect.
    pub fn done(&self) -> u64 {
        self.jobs().values().filter(|entry| !entry.tokens.is_empty()).count() as u64
    }

    /// Asks the queue where each acknowledged job is that had no effect, and draws the balance.
    ///
    /// # Errors
    ///
    /// When the queue can not be asked.
    pub async fn audit(&self, queue: &Queue) -> Result<Audit, Error> {
        let entries: Vec<(JobId, Entry)> =
            self.jobs().iter().map(|(id, entry)| (id.clone(), entry.clone())).collect();
        let open = entries.iter().filter(|(_, entry)| entry.acknowledged && entry.tokens.is_empty());
        let places: HashMap<JobId, Place> = stream::iter(open.map(|(id, _)| id.clone()))
            .map(|id| async move {
                let place = match queue.job(&id).await?.map(|job| job.state) {
                    None | Some(State::Nowhere) => Place::Nowhere,
                    Some(State::Dead) => Place::Dead,
                    Some(State::Pending | State::Active | State::Schedule) => Place::Waiting,
                };
                Ok::<_, Error>((id, place))
            })
            .buffer_unordered(SIDE_BY_SIDE)
            .try_collect()
            .await?;
        Ok(balance(&entries, &places))
    }

    fn jobs(&self) -> MutexGuard<'_, HashMap<JobId, Entry>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn balance(entries: &[(JobId, Entry)], places: &HashMap<JobId, Place>) -> Audit {
    let mut audit = Audit::default();
    for (id, entry) in entries {
        audit.doubled += u64::from(entry.tokens.len() > 1);
        audit.twins += u64::from(has_twins(&entry.tokens));
        if !entry.acknowledged {
            audit.unasked += u64::from(!entry.tokens.is_empty());
            continue;
        }
        audit.acknowledged += 1;
        let count = match places.get(id) {
            _ if !entry.tokens.is_empty() => &mut audit.done,
            Some(Place::Dead) => &mut audit.dead,
            Some(Place::Waiting) => &mut audit.waiting,
            Some(Place::Nowhere) | None => &mut audit.lost,
        };
        *count += 1;
    }
    audit
}

fn has_twins(tokens: &[u64]) -> bool {
    let mut sorted = tokens.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// What became of the acknowledged jobs: `acknowledged = done + dead + waiting + lost`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// Jobs whose enqueue was acknowledged.
    pub acknowledged: u64,
    /// Those that had their effect.
    pub done: u64,
    /// Those in the dead set.
    pub dead: u64,
    /// Those that the queue still holds.
    pub waiting: u64,
    /// Those that had no effect and that the queue does not know: must be 0.
    pub lost: u64,
    /// Jobs that had their effect more than once. At least once is what is promised, so this may happen.
    pub doubled: u64,
    /// Jobs that had their effect twice under one token, which fencing could not tell apart: must be 0.
    pub twins: u64,
    /// Jobs that had their effect though their enqueue was never acknowledged.
    pub unasked: u64,
}

impl Add for Audit {
    type Output = Audit;

    fn add(self, other: Audit) -> Audit {
        Audit {
            acknowledged: self.acknowledged + other.acknowledged,
            done: self.done + other.done,
            dead: self.dead + other.dead,
            waiting: self.waiting + other.waiting,
            lost: self.lost + other.lost,
            doubled: self.doubled + other.doubled,
            twins: self.twins + other.twins,
            unasked: self.unasked + other.unasked,
        }
    }
}

impl Sum for Audit {
    fn sum<I: Iterator<Item = Audit>>(audits: I) -> Audit {
        audits.fold(Audit::default(), Audit::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(acknowledged: bool, tokens: &[u64]) -> Entry {
        Entry { asked: None, acknowledged, tokens: tokens.to_vec() }
    }

    #[test]
    fn every_acknowledged_job_is_in_exactly_one_column() {
        let id = |text: &str| JobId::parse(text).unwrap();
        let entries = [
            (id("done"), entry(true, &[7])),
            (id("twice"), entry(true, &[7, 9])),
            (id("twin"), entry(true, &[9, 7, 9])),
            (id("dead"), entry(true, &[])),
            (id("waiting"), entry(true, &[])),
            (id("gone"), entry(true, &[])),
            (id("unknown"), entry(true, &[])),
            (id("unasked"), entry(false, &[3])),
            (id("never"), entry(false, &[])),
        ];
        let places = HashMap::from([
            (id("dead"), Place::Dead),
            (id("waiting"), Place::Waiting),
            (id("gone"), Place::Nowhere),
        ]);
        let audit = balance(&entries, &places);
        let expected = Audit {
            acknowledged: 7,
            done: 3,
            dead: 1,
            waiting: 1,
            lost: 2,
            doubled: 2,
            twins: 1,
            unasked: 1,
        };
        assert_eq!(audit, expected);
        assert_eq!(audit.acknowledged, audit.done + audit.dead + audit.waiting + audit.lost);
        assert_eq!([audit, audit].into_iter().sum::<Audit>().lost, 4);
    }

    #[test]
    fn only_the_first_effect_has_a_latency() {
        let (ledger, id) = (Ledger::default(), JobId::parse("7").unwrap());
        ledger.asked(&id);
        assert!(ledger.effect(&id, 1).is_some());
        assert!(ledger.effect(&id, 2).is_none());
        assert_eq!(ledger.done(), 1);
        assert!(ledger.effect(&JobId::parse("8").unwrap(), 3).is_none());
    }
}
