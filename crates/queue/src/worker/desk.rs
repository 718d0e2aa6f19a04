//! What the tasks of one worker share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use echomq_keyspace::JobId;
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Options, Report};
use crate::Queue;
use crate::store::{Class, Lease, Store};

/// What is to become of one claimed job.
#[derive(Debug)]
pub(crate) enum Settle {
    Complete,
    Retry { delay_ms: u64, error: String },
    Bury { class: Class, reason: String },
    Release,
}

/// An outcome on its way to the server.
#[derive(Debug)]
pub(crate) struct Settlement {
    pub(crate) lease: Lease,
    pub(crate) id: JobId,
    pub(crate) what: Settle,
}

#[derive(Default)]
struct Tally {
    done: AtomicU64,
    retried: AtomicU64,
    buried: AtomicU64,
    released: AtomicU64,
    lost: AtomicU64,
}

pub(crate) struct Desk {
    pub(crate) queue: Queue,
    pub(crate) options: Options,
    /// No further claims.
    pub(crate) stopping: CancellationToken,
    /// Handlers are to end now.
    pub(crate) abandon: CancellationToken,
    /// Something may be pending.
    pub(crate) work: Notify,
    /// Something may have become due.
    pub(crate) due: Notify,
    /// A permit per handler.
    pub(crate) seats: Arc<Semaphore>,
    /// Claims that hold jobs of ours, with how many are not settled yet.
    held: Mutex<HashMap<Lease, usize>>,
    outcomes: Mutex<Option<mpsc::UnboundedSender<Settlement>>>,
    /// When the answer to a claim last got lost: the server may have carried it out.
    unanswered: Mutex<Option<Instant>>,
    tally: Tally,
}

impl Desk {
    pub(crate) fn new(queue: Queue, options: Options, outcomes: mpsc::UnboundedSender<Settlement>) -> Desk {
        Desk {
            seats: Arc::new(Semaphore::new(options.concurrency)),
            queue,
            options,
            stopping: CancellationToken::new(),
            abandon: CancellationToken::new(),
            work: Notify::new(),
            due: Notify::new(),
            held: Mutex::default(),
            outcomes: Mutex::new(Some(outcomes)),
            unanswered: Mutex::default(),
            tally: Tally::default(),
        }
    }

    pub(crate) fn store(&self) -> &Store {
        self.queue.first_part()
    }

    pub(crate) fn lease_ms(&self) -> u64 {
        self.options.lease.as_millis() as u64
    }

    /// Hands an outcome to the settling task.
    pub(crate) fn put(&self, settlement: Settlement) {
        let outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outcomes) = &*outcomes {
            // The receiver goes only when the worker is dropped, and then leases run out.
            let _ = outcomes.send(settlement);
        }
    }

    /// No further outcomes will come.
    pub(crate) fn close(&self) {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    pub(crate) fn hold(&self, lease: Lease, jobs: usize) {
        self.held().insert(lease, jobs);
    }

    /// So many jobs of the claim are settled.
    pub(crate) fn let_go(&self, lease: &Lease, jobs: usize) {
        let mut held = self.held();
        if let Some(open) = held.get_mut(lease) {
            *open = open.saturating_sub(jobs);
            if *open == 0 {
                held.remove(lease);
            }
        }
    }

    /// The answer to a claim got lost.
    pub(crate) fn miss_claim(&self) {
        *self.unanswered.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether the server may hold a claim for us that we do not know of. A request may reach it late, and what it
    /// gave then runs out a lease later.
    pub(crate) fn misses_claims(&self) -> bool {
        let unanswered = self.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
        unanswered.is_some_and(|since| since.elapsed() < 3 * self.options.lease)
    }

    pub(crate) fn lose(&self, lease: &Lease) {
        self.held().remove(lease);
    }

    /// How many jobs of a claim are not settled yet; 0 when the lease is lost.
    pub(crate) fn open(&self, lease: &Lease) -> usize {
        self.held().get(lease).copied().unwrap_or(0)
    }

    /// Whether the claim of this token is ours by our own word.
    pub(crate) fn knows(&self, token: u64) -> bool {
        self.held().keys().any(|lease| lease.token == token)
    }

    pub(crate) fn leases(&self) -> Vec<Lease> {
        self.held().keys().cloned().collect()
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Lease, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn running(&self) -> usize {
        self.options.concurrency - self.seats.available_permits()
    }

    /// Waits until no handler runs. No new one starts once `stopping` is set.
    pub(crate) async fn quiet(&self) {
        let all = self.options.concurrency.min(Semaphore::MAX_PERMITS) as u32;
        drop(self.seats.acquire_many(all).await);
    }

    pub(crate) fn count(&self, what: &Settle, settled: usize, lost: usize) {
        let tally = match what {
            Settle::Complete => &self.tally.done,
            Settle::Retry { .. } => &self.tally.retried,
            Settle::Bury { .. } => &self.tally.buried,
            Settle::Release => &self.tally.released,
        };
        tally.fetch_add(settled as u64, Relaxed);
        self.tally.lost.fetch_add(lost as u64, Relaxed);
    }

    pub(crate) fn report(&self) -> Report {
        Report {
            done: self.tally.done.load(Relaxed),
            retried: self.tally.retried.load(Relaxed),
            buried: self.tally.buried.load(Relaxed),
            released: self.tally.released.load(Relaxed),
            lost: self.tally.lost.load(Relaxed),
        }
    }
}
