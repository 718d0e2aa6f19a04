//! The shop: queues, a ledger for each, and the workers.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use echomq::{Backoff, EchoMq, Job, JobSpec, Queue, Worker};
use futures_util::future::{join_all, try_join_all};
use tokio::sync::watch;
use tokio::time::Instant;

use super::orders::{Fault, Order, Orders, names};
use super::{Error, Progress, QueueProgress};
use crate::{Audit, Latencies, Ledger, Percentiles, enqueue_surely};

/// Handlers of each queue that may run side by side.
const CONCURRENCY: usize = 50;
/// Short, since a claim whose answer is cut off comes back only when its lease has run out.
const LEASE: Duration = Duration::from_secs(1);
/// How long one enqueue may be asked again before the demo gives up.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a look at the queues may take before the view shows the last one again.
const LOOK: Duration = Duration::from_millis(80);

/// Short, so that the retries of a demo are seen.
const BACKOFF: Backoff = Backoff { base_ms: 200, cap_ms: 2_000, jitter: true };

pub(super) struct Shop {
    pub(super) orders: Orders,
    counters: Vec<Counter>,
    latencies: Mutex<Latencies>,
    altered: AtomicU64,
    done: watch::Sender<u64>,
}

/// One queue as its producer and its handlers see it.
struct Counter {
    /// Over the producers' connections.
    queue: Queue,
    ledger: Ledger,
    done: AtomicU64,
    retried: AtomicU64,
    /// When the newest of the jobs that are done was asked for.
    newest: watch::Sender<Option<Instant>>,
}

impl Shop {
    pub(super) fn open(mq: &EchoMq) -> Result<Shop, Error> {
        let counter = |name| {
            let queue = mq.queue(name)?;
            let (ledger, newest) = (Ledger::default(), watch::Sender::new(None));
            Ok(Counter { queue, ledger, done: AtomicU64::new(0), retried: AtomicU64::new(0), newest })
        };
        Ok(Shop {
            orders: Orders::shipped().map_err(Error::Orders)?,
            counters: names().into_iter().map(counter).collect::<Result<_, Error>>()?,
            latencies: Mutex::default(),
            altered: AtomicU64::new(0),
            done: watch::Sender::new(0),
        })
    }

    pub(super) fn queues(&self) -> impl Iterator<Item = &Queue> {
        self.counters.iter().map(|counter| &counter.queue)
    }

    /// A worker for each queue, over connections of their own.
    pub(super) async fn hire(self: &Arc<Shop>, mq: &EchoMq) -> Result<Vec<Worker>, Error> {
        let starts = names().into_iter().enumerate().map(async |(place, name)| {
            let shop = self.clone();
            let handler = move |job: Job| {
                let shop = shop.clone();
                async move { shop.handle(place, &job) }
            };
            Ok::<_, Error>(
                mq.queue(name)?.worker(handler).concurrency(CONCURRENCY).lease(LEASE).start().await?,
            )
        });
        try_join_all(starts).await
    }

    fn handle(&self, place: usize, job: &Job) -> Result<(), Fault> {
        let counter = &self.counters[place];
        match self.orders.work(&job.id, &job.payload, job.attempt) {
            Ok(()) => {
                if let Some(latency) = counter.ledger.effect(&job.id, job.token) {
                    self.first_effect(counter, latency);
                }
                Ok(())
            }
            Err(fault) => {
                let count = if fault == Fault::Altered { &self.altered } else { &counter.retried };
                count.fetch_add(1, Relaxed);
                Err(fault)
            }
        }
    }

    fn first_effect(&self, counter: &Counter, latency: Duration) {
        self.latencies.lock().unwrap_or_else(PoisonError::into_inner).record(latency);
        counter.done.fetch_add(1, Relaxed);
        let asked = Instant::now() - latency;
        counter.newest.send_if_modified(|newest| {
            let is_newer = newest.is_none_or(|before| before < asked);
            if is_newer {
                *newest = Some(asked);
            }
            is_newer
        });
        self.done.send_modify(|done| *done += 1);
    }

    /// Adds these orders to their queues, all queues side by side.
    pub(super) async fn enqueue(&self, orders: &[Order]) -> Result<(), Error> {
        let calls = self.counters.iter().enumerate().map(async |(place, counter)| {
            let of_queue: Vec<&Order> = orders.iter().filter(|order| order.queue == place).collect();
            for chunk in of_queue.chunks(1_000) {
                let specs = chunk.iter().map(|order| spec(order)).collect();
                chunk.iter().for_each(|order| counter.ledger.asked(&order.id));
                let results = enqueue_surely(&counter.queue, specs, PATIENCE).await?;
                results
                    .iter()
                    .filter(|result| result.is_added())
                    .for_each(|added| counter.ledger.acknowledged(added.id()));
            }
            Ok::<_, Error>(())
        });
        try_join_all(calls).await.map(drop)
    }

    /// Waits until so many orders are done.
    pub(super) async fn until_done(&self, orders: u64) {
        // The sender is our own field, so the channel does not close.
        let _ = self.done.subscribe().wait_for(|done| *done >= orders).await;
    }

    /// Waits until a job of queue `place` is done that was asked for after `moment`; returns how long after.
    pub(super) async fn on_again(&self, place: usize, moment: Instant) -> Duration {
        let mut newest = self.counters[place].newest.subscribe();
        let _ = newest.wait_for(|asked| asked.is_some_and(|asked| asked > moment)).await;
        moment.elapsed()
    }

    /// The latencies gathered so far; the gathering begins anew.
    pub(super) fn take_latencies(&self) -> Percentiles {
        let mut latencies = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *latencies).percentiles()
    }

    /// What handlers and servers say now. A server that does not answer at once does not hold up the view.
    pub(super) async fn look(&self, before: &Progress) -> Progress {
        let counts = join_all(self.counters.iter().map(|counter| counter.queue.counts()));
        let counts = tokio::time::timeout(LOOK, counts).await.unwrap_or_default();
        let mut counts = counts.into_iter();
        let queues = self.counters.iter().enumerate().map(|(place, counter)| {
            let last = before.queues.get(place).cloned().unwrap_or_default();
            let mut seen = QueueProgress {
                name: counter.queue.name().to_string(),
                slot: counter.queue.slot().get(),
                node: counter.queue.node().map(|node| node.to_string()).unwrap_or_default(),
                done: counter.done.load(Relaxed),
                ..last
            };
            if let Some(Ok(counts)) = counts.next() {
                (seen.pending, seen.active, seen.schedule) = (counts.pending, counts.active, counts.schedule);
            }
            seen
        });
        Progress { jobs: self.orders.all.len() as u64, queues: queues.collect() }
    }

    pub(super) fn retried(&self) -> u64 {
        self.counters.iter().map(|counter| counter.retried.load(Relaxed)).sum()
    }

    pub(super) fn altered(&self) -> u64 {
        self.altered.load(Relaxed)
    }

    pub(super) async fn audit(&self) -> Result<Audit, Error> {
        let audits = self.counters.iter().map(|counter| counter.ledger.audit(&counter.queue));
        Ok(try_join_all(audits).await?.into_iter().sum())
    }
}

fn spec(order: &Order) -> JobSpec {
    JobSpec::new(order.line).id(order.id.clone()).name(order.status).backoff(BACKOFF)
}
