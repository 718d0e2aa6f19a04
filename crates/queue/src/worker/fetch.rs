//! Claims jobs and starts their handlers.

use std::sync::Arc;
use std::time::Duration;

use echomq_keyspace::JobId;
use tokio::sync::OwnedSemaphorePermit;

use super::desk::{Desk, Settle, Settlement};
use super::{BATCH, Handler, Job, Outcome, job, reason};
use crate::envelope::Envelope;
use crate::policy::{Backoff, Next, after_failure};
use crate::store::{Body, Claimed, Class, Lease};
use crate::tries::Tries;

/// With few seats free, so long is waited for more: one claim for many jobs is cheaper than many for one.
const GATHER: Duration = Duration::from_millis(1);
/// Waits after an error: the first and the longest.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

pub(super) async fn run(desk: Arc<Desk>, handler: Handler) {
    let mut failing = Failing::default();
    let mut ghosts = Ghosts::default();
    loop {
        // No claim is under way here, so what the server holds for us and we do not know of is a ghost.
        ghosts.hand_back(&desk).await;
        let seats = match tokio::time::timeout(ghosts.patience(&desk), free_seats(&desk)).await {
            Ok(Some(seats)) => seats,
            Ok(None) => return,
            Err(_) => continue,
        };
        let owner = &desk.options.owner;
        match desk.store().claim(seats.len(), desk.lease_ms(), owner).await {
            Ok(Claimed::Jobs { lease, jobs }) => {
                failing.over();
                desk.hold(lease.clone(), jobs.len());
                start(&desk, &handler, lease, jobs, seats).await;
            }
            Ok(Claimed::Empty | Claimed::Paused) => {
                failing.over();
                drop(seats);
                idle(&desk, ghosts.patience(&desk)).await;
            }
            Err(error) => {
                drop(seats);
                if error.is_unknown() {
                    desk.miss_claim();
                }
                failing.pause(&desk, &error).await;
            }
        }
    }
}

/// All free seats, up to a batch, but at least one; `None` when the worker stops.
async fn free_seats(desk: &Desk) -> Option<Vec<OwnedSemaphorePermit>> {
    let stopped = desk.stopping.cancelled();
    let first = tokio::select! {
        biased;
        () = stopped => return None,
        seat = desk.seats.clone().acquire_owned() => seat.ok()?,
    };
    if desk.seats.available_permits() + 1 < desk.options.concurrency.min(BATCH) / 2 {
        tokio::time::sleep(GATHER).await;
    }
    let mut seats = vec![first];
    while seats.len() < BATCH {
        match desk.seats.clone().try_acquire_owned() {
            Ok(seat) => seats.push(seat),
            Err(_) => break,
        }
    }
    Some(seats)
}

/// Waits for a wake-up, for the slow poll that covers a lost one, or for the next look after lost claims.
async fn idle(desk: &Desk, patience: Duration) {
    let poll = desk.options.poll.mul_f64(1.0 + fastrand::f64()).min(patience);
    tokio::select! {
        () = desk.stopping.cancelled() => {}
        () = desk.work.notified() => {}
        () = tokio::time::sleep(poll) => {}
    }
}

/// Fetches the bodies and starts a handler for each job that has a readable one.
async fn start(
    desk: &Arc<Desk>,
    handler: &Handler,
    lease: Lease,
    jobs: Vec<(JobId, Tries)>,
    mut seats: Vec<OwnedSemaphorePermit>,
) {
    let ids: Vec<JobId> = jobs.iter().map(|(id, _)| id.clone()).collect();
    let bodies = match desk.store().bodies(&ids).await {
        Ok(bodies) => bodies,
        Err(error) => {
            tracing::warn!(%error, queue = %desk.queue.name(), "bodies could not be fetched, the jobs are handed back");
            vec![Body::Away; ids.len()]
        }
    };
    for ((id, tries), body) in jobs.into_iter().zip(bodies) {
        let what = match body {
            Body::Here(row) => match Envelope::decode(row) {
                Ok(envelope) => {
                    if let Some(seat) = seats.pop() {
                        tokio::spawn(handle(
                            desk.clone(),
                            handler.clone(),
                            lease.clone(),
                            (id, tries),
                            envelope,
                            seat,
                        ));
                    }
                    continue;
                }
                Err(reason) => Settle::Bury { class: Class::Undecodable, reason },
            },
            Body::Gone => Settle::Bury { class: Class::Gone, reason: "the job's row is gone".to_owned() },
            Body::Away => Settle::Release,
        };
        desk.put(Settlement { lease: lease.clone(), id, what });
    }
}

async fn handle(
    desk: Arc<Desk>,
    handler: Handler,
    lease: Lease,
    (id, tries): (JobId, Tries),
    envelope: Envelope,
    seat: OwnedSemaphorePermit,
) {
    let (attempts, backoff) = (envelope.attempts, envelope.backoff);
    let job = job(desk.queue.name(), id.clone(), tries.clone(), lease.token, envelope);
    let what = match outcome(&desk, handler, job).await {
        Some(Ok(())) => Settle::Complete,
        Some(Err(error)) => failed(attempts, backoff, &tries, error),
        None => Settle::Release,
    };
    desk.put(Settlement { lease, id, what });
    drop(seat);
}

/// What the handler said, a panic as a failure; `None` when the worker did not wait for it.
async fn outcome(desk: &Desk, handler: Handler, job: Job) -> Option<Outcome> {
    let mut run = tokio::spawn(async move { handler(job).await });
    tokio::select! {
        biased;
        ended = &mut run => Some(match ended {
            Ok(outcome) => outcome,
            Err(error) => Err(panic_text(error)),
        }),
        () = desk.abandon.cancelled() => {
            run.abort();
            None
        }
    }
}

fn panic_text(error: tokio::task::JoinError) -> String {
    match error.try_into_panic() {
        Ok(payload) => {
            let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
            format!("the handler panicked: {}", text.as_deref().unwrap_or("no message"))
        }
        Err(error) => error.to_string(),
    }
}

fn failed(attempts: u32, backoff: Backoff, tries: &Tries, error: String) -> Settle {
    match after_failure(attempts, backoff, tries, fastrand::f64()) {
        Next::Retry { delay_ms } => Settle::Retry { delay_ms, error: reason(error) },
        Next::Bury => Settle::Bury { class: Class::Failed, reason: reason(error) },
    }
}

/// Claims that the server carried out though their answers got lost. Their jobs were not run, so they go back, and no
/// lost lease is counted. A request may reach the server late, so they are looked for more than once.
#[derive(Default)]
struct Ghosts {
    looked: Option<tokio::time::Instant>,
}

impl Ghosts {
    async fn hand_back(&mut self, desk: &Desk) {
        let pause = desk.options.lease / 10;
        if !desk.misses_claims() || self.looked.is_some_and(|looked| looked.elapsed() < pause) {
            return;
        }
        self.looked = Some(tokio::time::Instant::now());
        let claims = match desk.store().claims_of(&desk.options.owner).await {
            Ok(claims) => claims,
            Err(error) => {
                return tracing::debug!(%error, queue = %desk.queue.name(), "own claims could not be looked up");
            }
        };
        for (lease, ids) in claims {
            if ids.is_empty() || desk.knows(lease.token) {
                continue;
            }
            match desk.store().release(&lease, &ids).await {
                Ok(_) => tracing::debug!(
                    token = lease.token,
                    jobs = ids.len(),
                    "handed back a claim whose answer got lost"
                ),
                Err(error) => {
                    tracing::debug!(%error, "a claim whose answer got lost could not be handed back")
                }
            }
        }
    }

    /// How long to wait for a free seat or a wake-up before looking again.
    fn patience(&self, desk: &Desk) -> Duration {
        if desk.misses_claims() { desk.options.lease / 8 } else { super::LEASE_MAX }
    }
}

/// One log line when trouble begins and one when it ends, however long it lasts.
#[derive(Default)]
pub(super) struct Failing {
    since: Option<tokio::time::Instant>,
    tries: u32,
}

impl Failing {
    pub(super) async fn pause(&mut self, desk: &Desk, error: &echomq_cluster::Error) {
        if self.since.is_none() {
            self.since = Some(tokio::time::Instant::now());
            tracing::warn!(%error, queue = %desk.queue.name(), "not consuming");
        }
        let pause = (PAUSE.0 * 2u32.pow(self.tries.min(5))).min(PAUSE.1).mul_f64(0.5 + fastrand::f64());
        self.tries += 1;
        tokio::select! {
            () = desk.stopping.cancelled() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }

    pub(super) fn over(&mut self) {
        if let Some(since) = self.since.take() {
            tracing::warn!(after = ?since.elapsed(), "consuming again");
        }
        self.tries = 0;
    }
}
