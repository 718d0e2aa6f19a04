//! A scan over all primaries, a page of each in turn, so that one that ends early has seen something of all.

use std::collections::VecDeque;

use echomq_cluster::Address;
use echomq_keyspace::{Slot, SlotSet};
use futures_util::future::join_all;

use super::probe::Probe;
use super::report::Shortfall;
use super::tally::Tally;

/// So many keys are asked for in a page.
const PAGE: usize = 250;
/// So many nodes are asked side by side.
const SIDE_BY_SIDE: usize = 8;
/// So often a node that failed is asked again for the same page.
const ATTEMPTS: u32 = 3;

pub(super) struct Scan {
    open: VecDeque<Cursor>,
    lost: Vec<Address>,
    /// Who owned each slot at the beginning.
    owners: Vec<Option<Address>>,
    /// Keys of a page were left out.
    is_cut: bool,
}

struct Cursor {
    node: Address,
    at: Vec<u8>,
    failures: u32,
}

impl Scan {
    pub(super) async fn begin(probe: &Probe<'_>, tally: &mut Tally<'_>) -> Scan {
        let nodes = probe.primaries();
        let owners = Slot::all().map(|slot| probe.owner(slot)).collect();
        let mut there = Some(0);
        for count in join_all(nodes.iter().map(|node| probe.count(node))).await {
            match count {
                Ok(keys) => there = there.map(|sum: u64| sum.saturating_add(keys)),
                Err(error) => {
                    there = None;
                    tally.shortfall(Shortfall::count(&error));
                }
            }
        }
        tally.coverage.there = there;
        tally.coverage.nodes = nodes.len();
        let cursor = |node| Cursor { node, at: b"0".to_vec(), failures: 0 };
        Scan { open: nodes.into_iter().map(cursor).collect(), lost: Vec::new(), owners, is_cut: false }
    }

    pub(super) fn is_over(&self) -> bool {
        self.open.is_empty()
    }

    /// Notes that not all keys of a page were looked at.
    pub(super) fn cut(&mut self) {
        self.is_cut = true;
    }

    /// The next page of some nodes.
    pub(super) async fn round(
        &mut self,
        probe: &Probe<'_>,
        matching: &[u8],
        tally: &mut Tally<'_>,
    ) -> Vec<Vec<u8>> {
        let turn: Vec<Cursor> = self.open.drain(..self.open.len().min(SIDE_BY_SIDE)).collect();
        let pages = turn.iter().map(|cursor| probe.page(&cursor.node, &cursor.at, matching, PAGE));
        let pages = join_all(pages).await;
        let mut keys = Vec::new();
        for (mut cursor, page) in turn.into_iter().zip(pages) {
            match page {
                Ok(page) => {
                    keys.extend(page.keys);
                    cursor.failures = 0;
                    cursor.at = page.next;
                    if cursor.at != b"0" {
                        self.open.push_back(cursor);
                    }
                }
                Err(error) if error.server_code().is_none() && cursor.failures + 1 < ATTEMPTS => {
                    cursor.failures += 1;
                    self.open.push_back(cursor);
                }
                Err(error) => {
                    tally.shortfall(Shortfall::scan(&cursor.node, &error));
                    self.lost.push(cursor.node);
                }
            }
        }
        keys
    }

    /// Says what was left out: nodes that did not answer, slots without a node, slots that moved meanwhile.
    pub(super) fn end(self, probe: &Probe<'_>, tally: &mut Tally<'_>) {
        tally.coverage.whole = self.open.is_empty() && self.lost.is_empty() && !self.is_cut;
        let (mut unseen, mut moved) = (SlotSet::new(), SlotSet::new());
        for (slot, before) in Slot::all().zip(&self.owners) {
            match before {
                Some(node) if !self.lost.contains(node) => {
                    if probe.owner(slot).as_ref() != Some(node) {
                        moved.insert(slot);
                    }
                }
                _ => unseen.insert(slot),
            }
        }
        if self.owners.iter().any(Option::is_none) {
            tally.shortfall(Shortfall::no_node());
        }
        if !moved.is_empty() {
            tally.shortfall(Shortfall::moved(&moved));
        }
        tally.coverage.whole &= unseen.is_empty() && moved.is_empty();
        tally.coverage.unseen_slots = unseen.ranges().iter().map(ToString::to_string).collect();
    }
}
