//! Random calls on a real server, compared with the model after each, and the laws that hold whatever was called.
//!
//! `ECHOMQ_MODEL_OPS` and `ECHOMQ_MODEL_SEED` set how many calls and which; a failure prints what repeats it.

use std::collections::BTreeMap;

use echomq_keyspace::JobId;
use fastrand::Rng;
use futures_util::future::join_all;

use super::call::Call;
use super::laws::{self, Step};
use super::model::Model;
use super::stage::Stage;
use super::state::State;
use crate::store::{Class, Due, Lease, Row};

/// So many calls, then anew with an empty queue and the next seed: nothing leaves the dead set.
const WALK: usize = 500;
/// Queues that are walked side by side, since most of the time is spent waiting for answers.
const LANES: usize = 4;
/// A round time, so that round tokens and times are met too.
const BEGIN_MS: u64 = 1_800_000_000_000;
/// So few ids that most calls meet a job that is there already.
const IDS: usize = 40;
/// Claims that are remembered, so that stale ones are used.
const CLAIMS: usize = 12;
const LEASE_MS: u64 = 30_000;

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_random_calls_do_what_the_model_does() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let calls = number("ECHOMQ_MODEL_OPS").unwrap_or(10_000);
    let first = number("ECHOMQ_MODEL_SEED").unwrap_or(1);
    let walks: Vec<(u64, u64)> = (first..)
        .zip((0..calls).step_by(WALK))
        .map(|(seed, begun)| (seed, (calls - begun).min(WALK as u64)))
        .collect();
    let lanes = walks.chunks(walks.len().div_ceil(LANES)).map(|walks| {
        let walks = walks.to_vec();
        tokio::spawn(async move {
            let stage = Stage::new("walk").await;
            for (seed, calls) in walks {
                walk(&stage, seed, calls).await;
            }
        })
    });
    for lane in join_all(lanes).await {
        lane.expect("a walk failed, see above");
    }
}

async fn walk(stage: &Stage, seed: u64, calls: u64) {
    stage.clear().await;
    stage.set_clock(BEGIN_MS);
    let mut ear = stage.ear().await;
    let mut walker = Walker { rng: Rng::with_seed(seed), claims: Vec::new() };
    let (mut model, mut jobs_added, mut before) = (Model::default(), 0, State::default());
    for n in 1..=calls {
        walker.turn_clock(stage);
        let call = walker.draw();
        let wanted = model.on(stage.now_ms(), &call);
        let answer = call.on(&stage.store).await;
        let (heard, state) = (ear.heard().await, stage.state().await);
        if let (Call::Enqueue(rows), "added") = (&call, answer.as_str()) {
            jobs_added += rows.len() as u64;
        }
        let step = Step { before: &before, call: &call, heard: heard.as_deref(), after: &state, jobs_added };
        let law = laws::broken(&step);
        assert!(
            answer == wanted && state == model.state && law.is_none(),
            "ECHOMQ_MODEL_SEED={seed} ECHOMQ_MODEL_OPS={n}, at {} ms: {call:?}\nanswered {answer}, the model {wanted}\n\
             broken law: {law:?}, heard: {heard:?}\nfrom before to after:\n{}\nfrom the model to what is:\n{}",
            stage.now_ms(),
            before.changes(&state),
            model.state.changes(&state),
        );
        walker.remember(&call, &before, &state);
        before = state;
    }
}

/// Draws calls; knows of the queue only what its workers would know.
struct Walker {
    rng: Rng,
    /// The latest claims with the jobs they were given, settled since or not.
    claims: Vec<(Lease, Vec<JobId>)>,
}

impl Walker {
    fn turn_clock(&mut self, stage: &Stage) {
        match self.rng.u32(0..100) {
            0..40 => {}
            40..85 => stage.advance(self.rng.u64(0..2_000)),
            85..96 => stage.advance(self.rng.u64(0..LEASE_MS)),
            96 => stage.advance(self.rng.u64(0..10 * LEASE_MS)),
            _ => stage.set_clock(stage.now_ms() - self.rng.u64(0..2 * LEASE_MS)),
        }
    }

    fn draw(&mut self) -> Call {
        match self.rng.u32(0..100) {
            0..22 => self.enqueue(),
            22..44 => self.claim(),
            44..56 => self.of_a_claim(|_, lease, ids| Call::Complete(lease, ids)),
            56..64 => self.of_a_claim(Walker::retry),
            64..68 => self.of_a_claim(Walker::bury),
            68..72 => self.of_a_claim(|_, lease, ids| Call::Release(lease, ids)),
            72..76 => self.extend(),
            76..84 => Call::Promote(self.rng.usize(1..6)),
            84..94 => Call::Reclaim {
                most: self.rng.usize(1..8),
                lost_limit: self.rng.u32(2..4),
                lease_ms: LEASE_MS,
            },
            94 => Call::Pause("the walk".to_owned()),
            95..98 => Call::Resume,
            98 => Call::Bound(Some(self.rng.u64(10..IDS as u64))),
            _ => Call::Bound(None),
        }
    }

    fn enqueue(&mut self) -> Call {
        let most = if self.rng.bool() { 3 } else { 14 };
        let ids = self.some_ids(most);
        Call::Enqueue(ids.into_iter().map(|id| Row { id, due: self.due(), body: self.body() }).collect())
    }

    fn due(&mut self) -> Due {
        match self.rng.u32(0..10) {
            0..7 => Due::Now,
            7..9 => Due::InMs(self.rng.u64(0..60_000)),
            _ => Due::AtMs(BEGIN_MS + self.rng.u64(0..100_000)),
        }
    }

    fn body(&mut self) -> Vec<u8> {
        let long = if self.rng.u32(0..30) == 0 { 9_000 } else { 12 };
        (0..self.rng.usize(0..long)).map(|_| self.rng.u8(..)).collect()
    }

    fn claim(&mut self) -> Call {
        let owner = ["w", "a:b", "ein Name"][self.rng.usize(0..3)].to_owned();
        Call::Claim { most: self.rng.usize(1..6), lease_ms: LEASE_MS, owner }
    }

    fn retry(&mut self, lease: Lease, ids: Vec<JobId>) -> Call {
        let jobs = ids.into_iter().map(|id| (id, self.rng.u64(0..20_000), self.error()));
        Call::Retry(lease, jobs.collect())
    }

    fn bury(&mut self, lease: Lease, ids: Vec<JobId>) -> Call {
        let class = [Class::Failed, Class::Undecodable, Class::Gone][self.rng.usize(0..3)];
        Call::Bury(lease, class, ids.into_iter().map(|id| (id, self.error())).collect())
    }

    fn error(&mut self) -> String {
        ["", "no luck", "1 2 3 4 5", "two\nlines\r\n", "nul \0 and \u{1f980}"][self.rng.usize(0..5)]
            .to_owned()
    }

    fn extend(&mut self) -> Call {
        let mut leases: Vec<Lease> = self.claims.iter().map(|(lease, _)| lease.clone()).collect();
        self.rng.shuffle(&mut leases);
        leases.truncate(self.rng.usize(1..4));
        if leases.is_empty() {
            return self.claim();
        }
        Call::Extend(leases, LEASE_MS)
    }

    /// All or some of the jobs that one of the latest claims was given.
    fn of_a_claim(&mut self, call: impl FnOnce(&mut Walker, Lease, Vec<JobId>) -> Call) -> Call {
        let Some((lease, mut ids)) = self.rng.choice(&self.claims).cloned() else { return self.claim() };
        if self.rng.bool() {
            self.rng.shuffle(&mut ids);
            ids.truncate(self.rng.usize(1..=ids.len()));
        }
        call(self, lease, ids)
    }

    /// A few different ids, in byte order or not.
    fn some_ids(&mut self, most: usize) -> Vec<JobId> {
        let mut ids: Vec<usize> = (0..IDS).collect();
        self.rng.shuffle(&mut ids);
        ids.truncate(self.rng.usize(1..=most));
        if self.rng.bool() {
            ids.sort_unstable();
        }
        ids.into_iter().map(|n| JobId::parse(format!("job:{{{n:02}}} é")).unwrap()).collect()
    }

    /// Keeps the lease and the jobs of a claim, as its worker would.
    fn remember(&mut self, call: &Call, before: &State, after: &State) {
        let Call::Claim { owner, lease_ms, .. } = call else { return };
        let mut claimed: BTreeMap<u64, Vec<JobId>> = BTreeMap::new();
        for (id, token) in after.active.iter().filter(|(id, _)| !before.active.contains_key(*id)) {
            claimed.entry(*token as u64).or_default().push(JobId::parse(id).unwrap());
        }
        for (token, ids) in claimed {
            self.claims
                .push((Lease { token, lease_ms: *lease_ms, owner: owner.clone(), jobs: ids.len() }, ids));
        }
        if self.claims.len() > CLAIMS {
            self.claims.remove(0);
        }
    }
}
