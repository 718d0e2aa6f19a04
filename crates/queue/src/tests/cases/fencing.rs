//! C044, C045: what a worker that was away too long still tries. The timelines are those of
//! `testdata/cases/queue/lease-timelines.tsv`: a lease of 30 s, a sweep every 5 s.

use crate::store::{Claimed, Class, Due, Lease};
use crate::tests::call::{Call, id, reclaim, row};
use crate::tests::stage::Stage;

const LEASE_MS: u64 = 30_000;

/// A queue with one job, swept every 5 s for a while already, so that its grace is over.
struct Timeline {
    stage: Stage,
    begun_ms: u64,
    swept_s: u64,
}

impl Timeline {
    async fn begin(label: &str) -> Timeline {
        let stage = Stage::new(label).await;
        let mut timeline = Timeline { stage, begun_ms: 1_800_000_000_000, swept_s: 0 };
        timeline.sweeps_to(40).await;
        timeline.begun_ms += 40_000;
        timeline.swept_s = 0;
        let added = Call::Enqueue(vec![row("job", Due::Now, "body")]).on(&timeline.stage.store).await;
        assert_eq!(added, "added");
        timeline
    }

    fn at(&self, t_s: f64) {
        self.stage.set_clock(self.begun_ms + (t_s * 1_000.0) as u64);
    }

    /// The sweeps that are due up to this time.
    async fn sweeps_to(&mut self, t_s: u64) {
        while self.swept_s + 5 <= t_s {
            self.swept_s += 5;
            self.at(self.swept_s as f64);
            reclaim(500, 3).on(&self.stage.store).await;
        }
    }

    /// Claims the job; says which attempt it is.
    async fn claim(&self, owner: &str) -> (Lease, u32) {
        match self.stage.store.claim(10, LEASE_MS, owner).await.unwrap() {
            Claimed::Jobs { lease, jobs } => {
                assert_eq!(jobs.len(), 1);
                (lease, jobs[0].1.attempt())
            }
            other => panic!("{owner} got {other:?}"),
        }
    }

    /// Calls what must be refused and must not change a byte.
    async fn refused(&self, call: Call, answer: &str) {
        let stored = self.stage.dumps().await;
        assert_eq!(call.on(&self.stage.store).await, answer, "{call:?}");
        assert_eq!(self.stage.dumps().await, stored, "{call:?}");
    }

    async fn is_in_pending(&self) -> bool {
        let state = self.stage.state().await;
        state.pending.len() == 1 && state.active.is_empty() && state.leases.is_empty()
    }
}

fn settles(lease: &Lease) -> [Call; 4] {
    let job = id("job");
    [
        Call::Complete(lease.clone(), vec![job.clone()]),
        Call::Retry(lease.clone(), vec![(job.clone(), 1_000, "late".to_owned())]),
        Call::Bury(lease.clone(), Class::Failed, vec![(job.clone(), "late".to_owned())]),
        Call::Release(lease.clone(), vec![job]),
    ]
}

#[tokio::test]
async fn c044_a_worker_paused_longer_than_its_lease_can_not_complete_and_the_seconds_completion_stands() {
    let mut timeline = Timeline::begin("c044").await;
    let (a, attempt) = timeline.claim("a").await;
    assert_eq!(attempt, 1);
    timeline.sweeps_to(35).await;
    assert!(timeline.is_in_pending().await);
    assert_eq!(timeline.stage.state().await.tries[&b"job"[..]], b"1 0 1 0 ");
    timeline.at(36.0);
    let (b, attempt) = timeline.claim("b").await;
    assert_eq!(attempt, 2);
    assert!(b.token > a.token);
    timeline.at(41.0);
    for call in settles(&a) {
        timeline.refused(call, "lost job").await;
    }
    timeline.at(45.0);
    assert_eq!(settles(&b)[0].on(&timeline.stage.store).await, "settled");
    let state = timeline.stage.state().await;
    assert_eq!((state.number("done"), state.number("lost")), (1, 1));
    assert!(state.job.is_empty() && state.active.is_empty() && state.tries.is_empty());
    for call in settles(&a).into_iter().chain(settles(&b)) {
        timeline.refused(call, "lost job").await;
    }
}

#[tokio::test]
async fn c045_a_stale_worker_writes_nothing_into_a_job_that_another_has_settled() {
    for second in 0..4 {
        let mut timeline = Timeline::begin("c045").await;
        let (a, _) = timeline.claim("a").await;
        timeline.sweeps_to(35).await;
        timeline.at(36.0);
        let (b, _) = timeline.claim("b").await;
        timeline.at(37.0);
        assert_eq!(settles(&b)[second].on(&timeline.stage.store).await, "settled");
        timeline.at(41.0);
        for call in settles(&a) {
            timeline.refused(call, "lost job").await;
        }
        timeline.refused(Call::Extend(vec![a.clone()], LEASE_MS), &format!("lost {}", a.entry())).await;
    }
}

#[tokio::test]
async fn c045_a_renewal_in_the_last_moment_holds_for_a_whole_lease() {
    let mut timeline = Timeline::begin("late-renew").await;
    let (a, _) = timeline.claim("a").await;
    timeline.sweeps_to(25).await;
    timeline.at(29.9);
    assert_eq!(Call::Extend(vec![a.clone()], LEASE_MS).on(&timeline.stage.store).await, "extended");
    timeline.sweeps_to(55).await;
    assert_eq!(timeline.stage.state().await.active.len(), 1);
    timeline.sweeps_to(60).await;
    assert!(timeline.is_in_pending().await);
}

#[tokio::test]
async fn c045_a_renewal_after_the_loss_is_refused_and_does_not_take_the_job_back() {
    let mut timeline = Timeline::begin("renew-after-loss").await;
    let (a, _) = timeline.claim("a").await;
    timeline.sweeps_to(35).await;
    timeline.at(36.0);
    timeline.refused(Call::Extend(vec![a.clone()], LEASE_MS), &format!("lost {}", a.entry())).await;
    assert!(timeline.is_in_pending().await);
}

/// Every timeline of the file has its test: `two-sweepers` stands with C046. `removed` waits for the removal of
/// jobs, which no transition does yet.
#[test]
fn the_timelines_of_the_file_are_those_that_are_tested() {
    let file = include_str!("../../../../../testdata/cases/queue/lease-timelines.tsv");
    let lines = file.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut names: Vec<&str> = lines.filter_map(|line| line.split('\t').next()).collect();
    names.dedup();
    assert_eq!(
        names,
        ["paused-40s", "stale-fail", "two-sweepers", "late-renew", "renew-after-loss", "removed"]
    );
}
