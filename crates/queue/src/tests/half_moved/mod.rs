//! Each transition while its slot is half moved: it finishes just as it would at rest, or it leaves no trace and
//! says at its deadline that the slot is being moved.
//!
//! A move is opened, some of the keys are moved, and the transition is called; for every subset of the keys that it
//! touches, none and all included, from each side. The clock stands still, so that what it does is the same each time.

mod away;
mod load;
mod stored;
mod table;

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use echomq_cluster::Error;
use futures_util::future::join_all;
use testkit::Cluster;
use tokio::task::block_in_place;

use self::stored::{Stored, stored};
use super::stage::Stage;
use super::state::State;
use crate::store::Store;

/// How long a call waits for the move to end.
const DEADLINE: Duration = Duration::from_millis(300);
/// A busy machine may be late by this.
const LATE: Duration = Duration::from_secs(2);

type Answer<'s> = Pin<Box<dyn Future<Output = Result<String, Error>> + Send + 's>>;

/// One transition on one state.
#[derive(Clone, Copy)]
struct Case {
    what: &'static str,
    before: &'static str,
    /// What it touches of what is there, as the state names it, in up to five groups that leave together.
    touches: &'static str,
    call: for<'s> fn(&'s Store) -> Answer<'s>,
    /// Whether it can do with keys on both sides.
    halves: Halves,
}

#[derive(Clone, Copy, PartialEq)]
enum Halves {
    /// A key more is made, or several are touched at once: it waits unless all are on one side.
    Wait,
    /// A key is made that is nowhere yet, which an open slot never lets several keys' script do: it always waits.
    AlwaysWait,
    /// One key at a time: it never waits.
    Go,
}

#[tokio::test(flavor = "multi_thread")]
async fn every_transition_finishes_or_leaves_no_trace_whatever_subset_of_its_keys_has_left() {
    let sides = |case| [tokio::spawn(check(case, 0, 1)), tokio::spawn(check(case, 1, 0))];
    let cases = table::cases().into_iter().flat_map(sides);
    let checked: usize = join_all(cases).await.into_iter().map(|checked| checked.unwrap()).sum();
    assert!(checked > 500, "only {checked} half moved slots were seen");
}

/// Returns how many half moved slots it was called on.
async fn check(case: Case, from: usize, to: usize) -> usize {
    let stage = stage_at(from).await;
    let side = Side { stage: &stage, case: &case, slot: stage.store.keys.slot().get(), from, to };
    let at_rest = side.at_rest().await;
    let groups = side.touched();
    for subset in 0..1usize << groups.len() {
        let gone = groups.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1);
        let gone: Vec<Vec<u8>> = gone.flat_map(|(_, keys)| keys.clone()).collect();
        let one_side = gone.is_empty() || gone.len() == groups.concat().len();
        side.with_these_gone(&gone, one_side, &at_rest).await;
    }
    stage.clear().await;
    1 << groups.len()
}

/// A queue whose slot is on this node.
async fn stage_at(node: usize) -> Stage {
    loop {
        let stage = Stage::new("half").await;
        if stage.node() == node {
            return stage;
        }
    }
}

/// A case with its slot on one of the two nodes.
struct Side<'c> {
    stage: &'c Stage,
    case: &'c Case,
    slot: u16,
    from: usize,
    to: usize,
}

/// What a transition answers and what it leaves.
struct Outcome {
    answer: String,
    after: Stored,
}

impl Side<'_> {
    fn cluster(&self) -> &Cluster {
        &self.stage.cluster
    }

    async fn put(&self) {
        self.stage.put(&self.case.before.parse::<State>().unwrap()).await;
    }

    fn stored(&self) -> [Stored; 2] {
        block_in_place(|| [self.from, self.to].map(|node| stored(self.cluster(), node, self.slot)))
    }

    /// The keys that the case names, by group.
    fn touched(&self) -> Vec<Vec<Vec<u8>>> {
        let prefix = self.stage.store.keys.job_prefix().strip_suffix(b"job:").unwrap();
        let key = |name: &str| [prefix, name.as_bytes()].concat();
        self.case.touches.split_whitespace().map(|group| group.split('+').map(key).collect()).collect()
    }

    /// What the transition does when the slot is not moving.
    async fn at_rest(&self) -> Outcome {
        self.put().await;
        let [before, _] = self.stored();
        for key in self.touched().concat() {
            assert!(before.contains_key(&key), "{}: {} is not there", self.case.what, key.escape_ascii());
        }
        let answer = (self.case.call)(&self.stage.store).await.unwrap();
        let [after, elsewhere] = self.stored();
        assert!(elsewhere.is_empty());
        Outcome { answer, after }
    }

    /// A machine that stands still leaves an attempt without its answer, or without a connection; then it is tried
    /// again, for that is not what is to be seen here.
    async fn with_these_gone(&self, gone: &[Vec<u8>], one_side: bool, at_rest: &Outcome) {
        let mut tries = 0;
        while !self.told(gone, one_side, at_rest).await {
            tries += 1;
            assert!(tries < 5, "{}: the machine always stands still", self.case.what);
        }
    }

    /// False when the machine stood still.
    async fn told(&self, gone: &[Vec<u8>], one_side: bool, at_rest: &Outcome) -> bool {
        self.put().await;
        block_in_place(|| {
            self.cluster().begin_move(self.slot, self.from, self.to);
            self.cluster().move_keys(self.from, self.to, gone);
        });
        let before = self.stored();
        let hasty =
            Store { client: self.stage.store.client.with_deadline(DEADLINE), ..self.stage.store.clone() };
        let started = Instant::now();
        let answer = (self.case.call)(&hasty).await;
        let took = started.elapsed();
        let after = self.stored();

        let names: Vec<String> = gone.iter().map(|key| key.escape_ascii().to_string()).collect();
        let what = format!("{} with {names:?} gone from node {}", self.case.what, self.from);
        assert!(took < DEADLINE + LATE, "{what}: it took {took:?}");
        match (&answer, self.case.halves) {
            (Ok(answer), halves) => {
                assert!(halves == Halves::Go || halves == Halves::Wait && one_side, "{what}: it went on");
                assert_eq!(*answer, at_rest.answer, "{what}");
                self.assert_same_as_at_rest(&what, after, &at_rest.after);
            }
            (Err(error), _) if stood_still(error) => {}
            (Err(error), halves) => {
                assert!(
                    halves == Halves::AlwaysWait || halves == Halves::Wait && !one_side,
                    "{what}: {error}"
                );
                assert!(error.is_slot_moving(), "{what}: {error}");
                let says = format!("slot {} is being moved", self.slot);
                assert!(error.to_string().contains(&says), "{what}: {error}");
                assert!(took >= DEADLINE, "{what}: it gave up after {took:?}");
                assert_eq!(after, before, "{what}: it left a trace");
            }
        }
        block_in_place(|| self.cluster().abort_move(self.slot, self.from, self.to));
        !answer.is_err_and(|error| stood_still(&error))
    }

    fn assert_same_as_at_rest(&self, what: &str, [source, target]: [Stored; 2], at_rest: &Stored) {
        let both: Vec<&Vec<u8>> = source.keys().filter(|key| target.contains_key(*key)).collect();
        assert!(both.is_empty(), "{what}: on both sides: {both:?}");
        let union: Stored = source.into_iter().chain(target).collect();
        assert_eq!(union, *at_rest, "{what}: it did something else than at rest");
    }
}

fn stood_still(error: &Error) -> bool {
    error.is_unknown() || error.is_unreachable()
}
