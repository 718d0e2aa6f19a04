//! For programs that measure or test a queue: its transitions, one by one.
//!
//! A worker strings them together; here each is a call of its own, so that its cost can be read off a server
//! and its effect can be looked at.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use echomq_keyspace::JobId;

use crate::clock::Clock;
use crate::envelope::Envelope;
use crate::policy::Backoff;
use crate::store::{Added, Body, Claimed, Due, Lease, Row, Store};
use crate::{Error, Queue};

/// The transitions of one queue.
#[derive(Clone)]
pub struct Transitions {
    store: Store,
}

/// What one claim call handed out.
#[derive(Clone, Debug)]
pub struct Claim {
    lease: Lease,
    ids: Vec<JobId>,
}

impl Claim {
    /// The fencing token.
    pub fn token(&self) -> u64 {
        self.lease.token
    }

    /// The jobs, in the queue's order.
    pub fn ids(&self) -> &[JobId] {
        &self.ids
    }
}

impl Transitions {
    /// Those of this queue, by the server's clock.
    pub fn of(queue: &Queue) -> Transitions {
        Transitions { store: queue.first_part().clone() }
    }

    /// The same by a clock of the caller's, in ms since 1970.
    #[must_use]
    pub fn with_clock(mut self, ms: Arc<AtomicU64>) -> Transitions {
        self.store.clock = Clock::fixed(ms);
        self
    }

    /// Adds these jobs in one call. False when an id is taken or the queue is full; then nothing was added.
    pub async fn enqueue(&self, ids: &[JobId], payload: &[u8]) -> Result<bool, Error> {
        let envelope = Envelope {
            name: String::new(),
            attempts: Envelope::ATTEMPTS,
            backoff: Backoff::default(),
            created_ms: 0,
            payload: payload.to_vec(),
        };
        let body = envelope.encode();
        let rows: Vec<Row> =
            ids.iter().map(|id| Row { id: id.clone(), due: Due::Now, body: body.clone() }).collect();
        Ok(self.store.enqueue(&rows).await? == Added::All)
    }

    /// Claims up to `most` jobs; `None` when there is none, or the queue is paused.
    pub async fn claim(&self, most: usize, lease_ms: u64, owner: &str) -> Result<Option<Claim>, Error> {
        match self.store.claim(most, lease_ms, owner).await? {
            Claimed::Jobs { lease, jobs } => {
                Ok(Some(Claim { lease, ids: jobs.into_iter().map(|(id, _)| id).collect() }))
            }
            Claimed::Empty | Claimed::Paused => Ok(None),
        }
    }

    /// The rows of a claim; how many of them are there.
    pub async fn bodies(&self, claim: &Claim) -> Result<usize, Error> {
        let bodies = self.store.bodies(&claim.ids).await?;
        Ok(bodies.iter().filter(|body| matches!(body, Body::Here(_))).count())
    }

    /// Completes all jobs of a claim; returns those that were lost.
    pub async fn complete(&self, claim: &Claim) -> Result<Vec<JobId>, Error> {
        Ok(self.store.complete(&claim.lease, &claim.ids).await?)
    }
}
