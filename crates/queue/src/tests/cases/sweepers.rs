//! C046: several who reclaim at the same instant.

use futures_util::future::join_all;

use crate::store::{Due, Reclaimed, Store};
use crate::tests::call::{Call, claim, reclaim, row};
use crate::tests::stage::Stage;

const JOBS: u64 = 1_000;
/// Sweeps of 500, so that each sweeper needs several.
const STEP: usize = 500;

/// A queue whose jobs are all claimed, in claims of different sizes, by workers whose leases have run out.
async fn all_expired(stage: &Stage, jobs: u64) {
    let rows = (0..jobs).map(|n| row(&format!("job-{n:04}"), Due::Now, "x")).collect();
    assert_eq!(Call::Enqueue(rows).on(&stage.store).await, "added");
    let mut left = jobs as usize;
    for most in [1, 2, 7, 100].into_iter().cycle() {
        if left == 0 {
            break;
        }
        assert!(claim(most).on(&stage.store).await.starts_with("claimed"));
        left -= most.min(left);
    }
    let_grace_pass(stage).await;
}

/// The sweeps of the first lease: the first one gives every claim one more, after which all have run out.
async fn let_grace_pass(stage: &Stage) {
    for _ in 0..3 {
        let answer = reclaim(STEP, 3).on(&stage.store).await;
        assert!(answer.starts_with("reclaimed 0, dead 0"), "{answer}");
        stage.advance(10_000);
    }
}

/// Reclaims until nothing is left; says how many it brought back.
async fn sweep(store: Store) -> u64 {
    let mut brought = 0;
    loop {
        let Reclaimed { back, dead, .. } = store.reclaim(STEP, 3, 30_000).await.unwrap();
        assert_eq!(dead, 0);
        if back == 0 {
            return brought;
        }
        brought += back;
    }
}

async fn sweep_at_once(stage: &Stage, sweepers: usize) -> u64 {
    let stores = join_all((0..sweepers).map(|_| stage.other_process())).await;
    let sweeps = stores.into_iter().map(|store| tokio::spawn(sweep(store)));
    join_all(sweeps).await.into_iter().map(|brought| brought.unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn c046_five_sweepers_at_once_bring_each_expired_job_back_once() {
    let stage = Stage::new("c046").await;
    all_expired(&stage, JOBS).await;
    assert_eq!(sweep_at_once(&stage, 5).await, JOBS);
    let state = stage.state().await;
    assert_eq!((state.pending.len() as u64, state.number("lost")), (JOBS, JOBS));
    assert!(state.active.is_empty() && state.leases.is_empty() && state.dead.is_empty());
    assert_eq!(state.tries.len() as u64, JOBS);
    assert!(state.tries.values().all(|tries| tries == b"1 0 1 0 "), "each lost one lease and nothing else");
    stage.clear().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c046_two_sweepers_at_once_bring_one_job_back_once() {
    for _ in 0..20 {
        let stage = Stage::new("two-sweepers").await;
        all_expired(&stage, 1).await;
        assert_eq!(sweep_at_once(&stage, 2).await, 1);
        let state = stage.state().await;
        assert_eq!(state.pending.len(), 1);
        assert_eq!(state.tries[&b"job-0000"[..]], b"1 0 1 0 ");
        stage.clear().await;
    }
}

/// Claims of one job each: all that fit into a step come back in it, not a few per sweep.
#[tokio::test]
async fn one_step_reclaims_as_many_small_claims_as_it_may_jobs() {
    let stage = Stage::new("small-claims").await;
    let rows = (0..100).map(|n| row(&format!("job-{n:04}"), Due::Now, "x")).collect();
    Call::Enqueue(rows).on(&stage.store).await;
    for _ in 0..100 {
        claim(1).on(&stage.store).await;
    }
    let_grace_pass(&stage).await;
    assert_eq!(reclaim(STEP, 3).on(&stage.store).await, "reclaimed 100, dead 0");
    stage.clear().await;
}

/// A worker with a short lease sweeps too. After an outage a living worker with a long one renews only within a
/// third of its own lease: until one lease of *its* length has passed nothing of it may be reclaimed.
#[tokio::test]
async fn a_sweeper_with_a_short_lease_does_not_cut_the_grace_of_a_long_one() {
    let stage = Stage::new("mixed-long").await;
    assert_eq!(Call::Enqueue(vec![row("a", Due::Now, "x")]).on(&stage.store).await, "added");
    assert!(claim(1).on(&stage.store).await.starts_with("claimed"));
    stage.advance(31_000);
    for _ in 0..20 {
        stage.store.reclaim(STEP, 3, 100).await.unwrap();
        stage.advance(17);
    }
    assert_eq!(stage.state().await.number("lost"), 0, "reclaimed 340 ms after an outage of 31 s");
}

/// The other way round: what is no gap for a long lease is one for a short lease.
#[tokio::test]
async fn a_sweeper_with_a_long_lease_grants_grace_to_a_short_one() {
    let stage = Stage::new("mixed-short").await;
    assert_eq!(Call::Enqueue(vec![row("a", Due::Now, "x")]).on(&stage.store).await, "added");
    // Grace is over and a sweep has just been when the job is claimed for 200 ms and the outage begins.
    stage.store.reclaim(STEP, 3, 1_500).await.unwrap();
    for _ in 0..8 {
        stage.advance(250);
        stage.store.reclaim(STEP, 3, 1_500).await.unwrap();
    }
    stage.store.claim(1, 200, "short").await.unwrap();
    stage.advance(600);
    stage.store.reclaim(STEP, 3, 1_500).await.unwrap();
    assert_eq!(stage.state().await.number("lost"), 0, "reclaimed at once after an outage of 600 ms");
}

/// Two round trips of 20 ms to each sweep are over half of the shortest lease: every sweep sees a gap.
#[tokio::test]
async fn a_far_sweeper_with_a_short_lease_reclaims_in_the_end() {
    let stage = Stage::new("far").await;
    assert_eq!(Call::Enqueue(vec![row("a", Due::Now, "x")]).on(&stage.store).await, "added");
    stage.store.claim(1, 100, "dead").await.unwrap();
    for _ in 0..1_000 {
        stage.advance(57);
        stage.store.reclaim(STEP, 3, 100).await.unwrap();
    }
    assert_eq!(stage.state().await.number("lost"), 1, "held by a dead worker after 57 s of sweeps");
}
