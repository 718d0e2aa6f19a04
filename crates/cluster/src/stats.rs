//! Counters one can ask for.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use echomq_keyspace::Slot;

use crate::Address;
use crate::node::Node;

#[derive(Default)]
pub(crate) struct Counters {
    moved: AtomicU64,
    asked: AtomicU64,
    try_again: AtomicU64,
    /// How often each node did not know each script.
    no_script: Mutex<BTreeMap<(Address, &'static str), u64>>,
    slots: SlotCounts,
    refused: AtomicU64,
    refreshes: AtomicU64,
}

/// Requests per slot.
struct SlotCounts(Box<[AtomicU64]>);

impl Default for SlotCounts {
    fn default() -> SlotCounts {
        SlotCounts((0..Slot::COUNT).map(|_| AtomicU64::new(0)).collect())
    }
}

/// What a client did since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// MOVED answers.
    pub moved: u64,
    /// ASK answers.
    pub asked: u64,
    /// TRYAGAIN answers.
    pub try_again: u64,
    /// Times that a node did not know a script, with its SHA-1.
    pub no_script: Vec<(Address, &'static str, u64)>,
    /// Commands refused before anything was sent.
    pub refused: u64,
    /// Times the topology was asked for.
    pub refreshes: u64,
    /// Connections that are open now. See [the crate's page](crate#connections) for how many there can be.
    pub connections: u64,
    /// Requests sent to each node of the present topology.
    pub requests: Vec<(Address, u64)>,
}

impl Counters {
    pub(crate) fn moved(&self) {
        self.moved.fetch_add(1, Relaxed);
    }
    pub(crate) fn asked(&self) {
        self.asked.fetch_add(1, Relaxed);
    }
    pub(crate) fn try_again(&self) {
        self.try_again.fetch_add(1, Relaxed);
    }
    pub(crate) fn no_script(&self, node: &Address, sha: &'static str) {
        let mut seen = self.no_script.lock().unwrap_or_else(PoisonError::into_inner);
        *seen.entry((node.clone(), sha)).or_default() += 1;
    }
    pub(crate) fn slot(&self, slot: Slot) {
        self.slots.0[usize::from(slot.get())].fetch_add(1, Relaxed);
    }

    /// The slots that were asked for, each with its requests.
    pub(crate) fn slots(&self) -> Vec<(Slot, u64)> {
        let counts = self.slots.0.iter().map(|count| count.load(Relaxed)).enumerate();
        let asked = counts.filter(|(_, count)| *count > 0);
        asked.filter_map(|(slot, count)| Some((Slot::new(u16::try_from(slot).ok()?)?, count))).collect()
    }
    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }
    pub(crate) fn refreshed(&self) {
        self.refreshes.fetch_add(1, Relaxed);
    }

    pub(crate) fn read(&self, nodes: &[Arc<Node>], connections: u64) -> Stats {
        let no_script = self.no_script.lock().unwrap_or_else(PoisonError::into_inner);
        Stats {
            moved: self.moved.load(Relaxed),
            asked: self.asked.load(Relaxed),
            try_again: self.try_again.load(Relaxed),
            no_script: no_script.iter().map(|((node, sha), times)| (node.clone(), *sha, *times)).collect(),
            refused: self.refused.load(Relaxed),
            refreshes: self.refreshes.load(Relaxed),
            connections,
            requests: nodes.iter().map(|node| (node.address.clone(), node.requests.load(Relaxed))).collect(),
        }
    }
}
