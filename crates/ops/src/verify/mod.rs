//! Real keys, held against a contract.
//!
//! `probe` asks the servers and decides nothing; `tally` gathers what was seen, within bounds; `report` is what comes of it.

mod heat;
mod probe;
mod report;
mod scan;
mod tally;

use std::time::Duration;

use echomq_cluster::Client;
use echomq_contract::{Contract, Directory};
use echomq_keyspace::Slot;

use self::probe::Probe;
use self::scan::Scan;
use self::tally::Tally;

pub use self::heat::{Hot, HotSlot};
pub use self::report::{
    BeforeGroup, Comparison, Counted, Coverage, Mistyped, Moved, Shortfall, Stranger, StrangerGroup,
    Verification, WrongSlot,
};

/// How much is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// A scan ends after so many keys; `None` for all.
    pub keys: Option<u64>,
    /// A scan ends after so long; `None` for however long it takes.
    pub time: Option<Duration>,
    /// Only keys that match, as `SCAN` takes patterns; empty for all.
    pub matching: Vec<u8>,
    /// A text without braces that stands before each name of the contract; keys without it are passed over.
    pub prefix: Vec<u8>,
    /// Of at most so many keys the server is asked for the slot: the first of each kind of name, and some of each batch.
    pub compared: usize,
    /// So many keys are the first of a kind, and shown of each finding.
    pub examples: usize,
}

impl Default for Limits {
    /// 100,000 keys or a minute, all of them alike, 1,000 slots compared, 3 examples.
    fn default() -> Limits {
        Limits {
            keys: Some(100_000),
            time: Some(Duration::from_secs(60)),
            matching: Vec::new(),
            prefix: Vec::new(),
            compared: 1_000,
            examples: 3,
        }
    }
}

/// Of each batch so many keys are compared, whatever they are.
const SAMPLE: usize = 5;

/// Keys are looked at in batches of up to so many.
const BATCH: usize = 1_000;

/// Holds keys against a contract: those of a scan, those that it is given, or both. Nothing is written to the server.
///
/// Memory is bounded whatever the number of keys: findings are counted, and a few of each kind are kept.
pub struct Verifier<'a> {
    directory: Directory<'a>,
    limits: Limits,
    probe: Probe<'a>,
    tally: Tally<'a>,
}

impl<'a> Verifier<'a> {
    /// A verification that has seen nothing yet. The contract should be one whose check finds no errors: where two names
    /// can spell the same key, the first of them is taken.
    pub fn new(client: &'a Client, contract: &'a Contract, limits: Limits) -> Verifier<'a> {
        let tally = Tally::new(contract, limits.examples);
        Verifier { directory: contract.directory(), limits, probe: Probe::new(client), tally }
    }

    /// Looks at the keys of all primaries, page by page and in turn, within the limits. Some servers go through their keys
    /// slot by slot, so that a scan that ends early has seen few slots ([`Coverage::slots`]). What could not be read is told by
    /// [`Verification::shortfalls`], with the slots that it leaves out. `progress` is told after each round.
    pub async fn scan(&mut self, mut progress: impl FnMut(&Coverage)) {
        let mut scan = Scan::begin(&self.probe, &mut self.tally).await;
        let began = std::time::Instant::now();
        let limits = self.limits.clone();
        loop {
            let seen = self.tally.coverage.keys;
            let is_enough = limits.keys.is_some_and(|most| seen >= most)
                || limits.time.is_some_and(|most| began.elapsed() >= most);
            if is_enough || scan.is_over() {
                break;
            }
            let room =
                limits.keys.map_or(usize::MAX, |most| usize::try_from(most - seen).unwrap_or(usize::MAX));
            let mut keys = scan.round(&self.probe, &limits.matching, &mut self.tally).await;
            if keys.len() > room {
                keys.truncate(room);
                scan.cut();
            }
            self.look(keys).await;
            progress(&self.tally.coverage);
        }
        scan.end(&self.probe, &mut self.tally);
    }

    /// Looks at these keys. Those that do not exist are counted as gone.
    pub async fn keys(&mut self, keys: Vec<Vec<u8>>) {
        self.look(keys).await;
    }

    /// What all of it came to.
    pub fn finish(self) -> Verification {
        self.tally.finish(|slot| self.probe.node_of(slot))
    }

    async fn look(&mut self, keys: Vec<Vec<u8>>) {
        let mut keys = keys.into_iter();
        loop {
            let batch: Vec<Vec<u8>> = keys.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return;
            }
            self.look_at_batch(batch).await;
        }
    }

    async fn look_at_batch(&mut self, batch: Vec<Vec<u8>>) {
        let facts = self.probe.facts(&batch, &mut self.tally).await;
        let mut to_compare = Vec::new();
        for (n, (key, fact)) in batch.iter().zip(facts).enumerate() {
            let Some(name) = key.strip_prefix(self.limits.prefix.as_slice()) else {
                self.tally.coverage.passed_over += 1;
                continue;
            };
            let entry = self.directory.find(name);
            let is_first = self.tally.note(key, self.limits.prefix.len(), &entry, &fact);
            let compared = self.tally.comparison.compared as usize + to_compare.len();
            if (is_first || n < SAMPLE) && compared < self.limits.compared {
                to_compare.push(key);
            }
        }
        for (key, answer) in self.probe.slots(&to_compare, &mut self.tally).await {
            self.tally.compare(key, Slot::of(key), answer);
        }
    }
}
