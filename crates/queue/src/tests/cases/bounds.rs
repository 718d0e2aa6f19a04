//! C052, C078: what a step costs does not grow with the queue. On a server of the test's own, so that what it did can
//! be asked of it.

use std::sync::Arc;

use echomq_cluster::Command;
use echomq_keyspace::JobId;

use crate::store::{Claimed, Due, Row};
use crate::tests::call::{Call, complete, id, row};
use crate::tests::stage::Stage;

async fn stage_alone(label: &str) -> Stage {
    let cluster = tokio::task::spawn_blocking(|| testkit::cluster_with(1, 0)).await.unwrap();
    Stage::on(Arc::new(cluster), label).await
}

#[tokio::test(flavor = "multi_thread")]
async fn c052_twenty_thousand_jobs_due_at_once_are_promoted_in_steps_in_order_and_none_is_lost() {
    const JOBS: usize = 20_000;
    const STEP: usize = 500;
    const RUN_MAX_US: u64 = 10_000;
    let stage = stage_alone("c052").await;
    let names: Vec<String> = (0..JOBS).map(|n| format!("job-{n:05}")).collect();
    for chunk in names.chunks(1_000) {
        let rows: Vec<Row> = chunk.iter().map(|name| row(name, Due::AtMs(5_000), "x")).collect();
        assert_eq!(Call::Enqueue(rows).on(&stage.store).await, "added");
    }
    stage.set_clock(5_000);
    // Processor time, since the time by the clock is as much that of whoever else is busy on the machine.
    let mut slowest_us = 0;
    for step in 1..=JOBS / STEP {
        let begun_us = stage.cluster.main_thread_cpu_us(0);
        let left = if step == JOBS / STEP { "" } else { ", next in 0" };
        assert_eq!(Call::Promote(STEP).on(&stage.store).await, format!("promoted {STEP}{left}"));
        slowest_us = slowest_us.max(stage.cluster.main_thread_cpu_us(0) - begun_us);
    }
    assert!(slowest_us < RUN_MAX_US, "a step took {slowest_us} us");
    assert_eq!(Call::Promote(STEP).on(&stage.store).await, "promoted 0");
    let mut claimed: Vec<JobId> = Vec::new();
    while let Claimed::Jobs { jobs, .. } = stage.store.claim(1_000, 30_000, "w").await.unwrap() {
        claimed.extend(jobs.into_iter().map(|(id, _)| id));
    }
    assert!(
        claimed.iter().map(JobId::as_bytes).eq(names.iter().map(String::as_bytes)),
        "not all, or not in order"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn c078_one_of_many_active_jobs_is_completed_by_its_id_at_a_cost_that_does_not_grow() {
    let stage = stage_alone("c078").await;
    let few_us = cost_of_a_complete_us(&stage, 100).await;
    let many_us = cost_of_a_complete_us(&stage, 100_000).await;
    // A sorted set's depth is 17 instead of 7; a walk along it would make a thousandfold of it.
    assert!(many_us < 10.0 * few_us, "{few_us} us of 100, {many_us} us of 100,000");
}

/// The best of several rounds of completes of one job of a claim of ten, in microseconds of the server.
async fn cost_of_a_complete_us(stage: &Stage, active: usize) -> f64 {
    const ROUNDS: usize = 5;
    const CALLS: usize = 10;
    stage.clear().await;
    fill_active(stage, active).await;
    let mut best_us = f64::INFINITY;
    for round in 0..ROUNDS {
        let before = evalsha(stage);
        for call in 0..CALLS {
            // Every tenth job is the first of its claim.
            let claim = (round * CALLS + call) % (active / 10);
            let job = claim * 10 + (round * CALLS + call) / (active / 10);
            let answer = complete(1_000 + claim as u64, 10, &format!("job-{job}")).on(&stage.store).await;
            assert_eq!(answer, "settled");
            let next = stage.store.row(&id(format!("job-{}", job + 1))).await.unwrap();
            assert_eq!(next.unwrap(), b"equal", "the other one with the same bytes stays");
        }
        let after = evalsha(stage);
        best_us = best_us.min((after.usec - before.usec) as f64 / (after.calls - before.calls) as f64);
    }
    best_us
}

fn evalsha(stage: &Stage) -> testkit::CommandStat {
    stage.cluster.commandstats(0).get("evalsha").copied().unwrap_or_default()
}

/// So many jobs in claims of ten, all with the same payload.
async fn fill_active(stage: &Stage, active: usize) {
    let keys = &stage.store.keys;
    let jobs: Vec<usize> = (0..active).collect();
    for jobs in jobs.chunks(1_000) {
        let (mut ids, mut rows) = (Command::new("ZADD").key(keys.active()), Command::new("MSET"));
        let mut leases = Command::new("ZADD").key(keys.leases());
        for job in jobs {
            let token = 1_000 + job / 10;
            ids = ids.arg(token).arg(format!("job-{job}"));
            rows = rows.key(keys.job(&id(format!("job-{job}")))).arg("equal");
            leases = leases.arg(99_000).arg(format!("{token}:w"));
        }
        for write in [ids, rows, leases] {
            stage.must(write).await;
        }
    }
}
