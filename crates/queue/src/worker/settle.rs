//! Brings outcomes to the server, gathered per claim: a claim settled whole costs one step.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use echomq_keyspace::JobId;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::desk::{Desk, Settle, Settlement};
use crate::store::{Class, Lease, MOST_IDS};

/// An outcome waits so long at most for others of its claim.
const GATHER: Duration = Duration::from_millis(5);
/// The wait before outcomes that could not be brought are tried again.
const AGAIN: Duration = Duration::from_millis(200);

/// The outcomes of one claim that wait to be brought.
struct Pile {
    since: Instant,
    not_before: Instant,
    settlements: Vec<Settlement>,
}

/// One claim's outcomes are brought by one call at a time, those of different claims side by side: a call that waits
/// for the server holds up nobody else's.
pub(super) async fn run(desk: Arc<Desk>, mut gathered: mpsc::UnboundedReceiver<Settlement>) {
    let mut piles: HashMap<Lease, Pile> = HashMap::new();
    let mut under_way = FuturesUnordered::new();
    let mut busy: HashSet<Lease> = HashSet::new();
    let mut open = true;
    while open || !piles.is_empty() || !under_way.is_empty() {
        let waiting = piles.iter().filter(|(lease, _)| !busy.contains(lease));
        let next = waiting.map(|(_, pile)| (pile.since + GATHER).max(pile.not_before)).min();
        tokio::select! {
            biased;
            first = gathered.recv(), if open => match first {
                Some(first) => {
                    add(&mut piles, first);
                    while let Ok(more) = gathered.try_recv() {
                        add(&mut piles, more);
                    }
                }
                None => open = false,
            },
            Some((lease, left)) = under_way.next() => {
                busy.remove(&lease);
                put_back(&desk, &mut piles, lease, left, open);
            }
            () = wait_until(next) => {}
        }
        for (lease, pile) in take_ripe(&desk, &mut piles, &busy, open) {
            busy.insert(lease.clone());
            under_way.push(bring(&desk, lease, pile));
        }
    }
}

/// What could not be brought is tried again, unless nobody waits any longer: then the lease will run out.
fn put_back(desk: &Desk, piles: &mut HashMap<Lease, Pile>, lease: Lease, left: Vec<Settlement>, open: bool) {
    if left.is_empty() {
        return;
    }
    if desk.stopping.is_cancelled() && !open {
        tracing::warn!(jobs = left.len(), queue = %desk.queue.name(), "outcomes could not be settled before the stop");
        return;
    }
    let now = Instant::now();
    let again = || Pile { since: now, not_before: now, settlements: Vec::new() };
    let pile = piles.entry(lease).or_insert_with(again);
    pile.not_before = now + AGAIN;
    pile.settlements.extend(left);
}

async fn wait_until(next: Option<Instant>) {
    match next {
        Some(next) => tokio::time::sleep_until(next).await,
        None => std::future::pending().await,
    }
}

fn add(piles: &mut HashMap<Lease, Pile>, settlement: Settlement) {
    let now = Instant::now();
    let empty = || Pile { since: now, not_before: now, settlements: Vec::new() };
    piles.entry(settlement.lease.clone()).or_insert_with(empty).settlements.push(settlement);
}

/// Piles that are complete, that have waited long enough, or for which nothing more can come.
fn take_ripe(
    desk: &Desk,
    piles: &mut HashMap<Lease, Pile>,
    busy: &HashSet<Lease>,
    open: bool,
) -> Vec<(Lease, Pile)> {
    let now = Instant::now();
    let ripe = |lease: &Lease, pile: &Pile| {
        !busy.contains(lease)
            && now >= pile.not_before
            && (!open || now >= pile.since + GATHER || pile.settlements.len() >= desk.open(lease))
    };
    let ripe: Vec<Lease> =
        piles.iter().filter(|(lease, pile)| ripe(lease, pile)).map(|(lease, _)| lease.clone()).collect();
    ripe.into_iter().filter_map(|lease| piles.remove_entry(&lease)).collect()
}

/// One pile, by kind of outcome. Returns what could not be brought.
async fn bring(desk: &Desk, lease: Lease, pile: Pile) -> (Lease, Vec<Settlement>) {
    let mut kinds: HashMap<Option<Class>, Vec<Settlement>> = HashMap::new();
    let (mut done, mut again, mut back) = (Vec::new(), Vec::new(), Vec::new());
    for settlement in pile.settlements {
        match &settlement.what {
            Settle::Complete => done.push(settlement),
            Settle::Retry { .. } => again.push(settlement),
            Settle::Release => back.push(settlement),
            Settle::Bury { class, .. } => kinds.entry(Some(*class)).or_default().push(settlement),
        }
    }
    let mut left = Vec::new();
    for batch in [done, again, back].into_iter().chain(kinds.into_values()) {
        for chunk in chunks(batch) {
            left.extend(bring_chunk(desk, &lease, chunk).await);
        }
    }
    (lease, left)
}

fn chunks(mut batch: Vec<Settlement>) -> Vec<Vec<Settlement>> {
    let mut chunks = Vec::new();
    while !batch.is_empty() {
        let rest = batch.split_off(batch.len().min(MOST_IDS));
        chunks.push(std::mem::replace(&mut batch, rest));
    }
    chunks
}

/// Outcomes of one kind. They come back when the server gave no answer and the lease may still be ours.
async fn bring_chunk(desk: &Desk, lease: &Lease, chunk: Vec<Settlement>) -> Vec<Settlement> {
    let Some(first) = chunk.first() else { return chunk };
    let lost = match &first.what {
        Settle::Complete => desk.store().complete(lease, &ids(&chunk)).await,
        Settle::Release => desk.store().release(lease, &ids(&chunk)).await,
        Settle::Bury { class, .. } => desk.store().bury(lease, *class, &reasons(&chunk)).await,
        Settle::Retry { .. } => desk.store().retry(lease, &retries(&chunk)).await,
    };
    match lost {
        Ok(lost) => {
            desk.count(&first.what, chunk.len() - lost.len(), lost.len());
            for id in &lost {
                tracing::warn!(%id, token = lease.token, queue = %desk.queue.name(), "lease lost: the outcome was refused");
            }
            desk.let_go(lease, chunk.len());
            Vec::new()
        }
        Err(error) if desk.open(lease) > 0 => {
            tracing::debug!(%error, queue = %desk.queue.name(), "an outcome waits for the server");
            chunk
        }
        Err(_) => {
            desk.count(&first.what, 0, chunk.len());
            Vec::new()
        }
    }
}

fn ids(chunk: &[Settlement]) -> Vec<JobId> {
    chunk.iter().map(|settlement| settlement.id.clone()).collect()
}

fn reasons(chunk: &[Settlement]) -> Vec<(JobId, String)> {
    let reason = |settlement: &Settlement| match &settlement.what {
        Settle::Bury { reason, .. } => Some((settlement.id.clone(), reason.clone())),
        _ => None,
    };
    chunk.iter().filter_map(reason).collect()
}

fn retries(chunk: &[Settlement]) -> Vec<(JobId, u64, String)> {
    let retry = |settlement: &Settlement| match &settlement.what {
        Settle::Retry { delay_ms, error } => Some((settlement.id.clone(), *delay_ms, error.clone())),
        _ => None,
    };
    chunk.iter().filter_map(retry).collect()
}
