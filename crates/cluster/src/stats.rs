//! Counters one can ask for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::Address;
use crate::node::Node;

#[derive(Default)]
pub(crate) struct Counters {
    moved: AtomicU64,
    asked: AtomicU64,
    try_again: AtomicU64,
    no_script: AtomicU64,
    refused: AtomicU64,
    refreshes: AtomicU64,
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
    /// Scripts that a node did not know yet.
    pub no_script: u64,
    /// Commands refused before anything was sent.
    pub refused: u64,
    /// Times the topology was asked for.
    pub refreshes: u64,
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
    pub(crate) fn no_script(&self) {
        self.no_script.fetch_add(1, Relaxed);
    }
    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }
    pub(crate) fn refreshed(&self) {
        self.refreshes.fetch_add(1, Relaxed);
    }

    pub(crate) fn read(&self, nodes: &[Arc<Node>]) -> Stats {
        Stats {
            moved: self.moved.load(Relaxed),
            asked: self.asked.load(Relaxed),
            try_again: self.try_again.load(Relaxed),
            no_script: self.no_script.load(Relaxed),
            refused: self.refused.load(Relaxed),
            refreshes: self.refreshes.load(Relaxed),
            requests: nodes.iter().map(|node| (node.address.clone(), node.requests.load(Relaxed))).collect(),
        }
    }
}
