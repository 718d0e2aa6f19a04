//! A server whose memory is full takes no more jobs, and lets those that it has be worked off.

use std::sync::Arc;

use crate::store::{Class, Due};
use crate::tests::call::{Call, bury, claim, complete, lease, reclaim, release, retry, row};
use crate::tests::stage::Stage;

async fn full_stage(before: &str) -> Stage {
    let cluster = tokio::task::spawn_blocking(|| testkit::cluster_with(1, 0)).await.unwrap();
    let stage = Stage::on(Arc::new(cluster), "full").await;
    stage.put(&before.parse().unwrap()).await;
    stage.cluster.raw(0, &["CONFIG", "SET", "maxmemory-policy", "noeviction"]).unwrap();
    set_limit(&stage, "1");
    stage
}

fn set_limit(stage: &Stage, bytes: &str) {
    stage.cluster.raw(0, &["CONFIG", "SET", "maxmemory", bytes]).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_server_refuses_an_enqueue_and_nothing_of_it_is_stored() {
    let before = "pending a=1; meta seq=1; job a=A";
    let stage = full_stage(before).await;
    for jobs in [1, 9] {
        set_limit(&stage, "1");
        let rows: Vec<_> = (0..jobs).map(|n| row(&format!("job-{n}"), Due::Now, "x")).collect();
        let error = stage.store.enqueue(&rows).await.unwrap_err();
        assert_eq!(error.server_code(), Some("OOM"), "{error}");
        // A full server may refuse even to show what it has.
        set_limit(&stage, "0");
        assert_eq!(stage.state().await, before.parse().unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_server_lets_its_jobs_be_worked_off() {
    let stage =
        full_stage("pending a=1 b=2 c=3 d=4; schedule e=1; meta seq=4 swept=1; job a=A b=B c=C d=D e=E")
            .await;
    for (call, answer) in [
        (claim(4), "claimed 1000000: a b c d"),
        (Call::Extend(vec![lease(1_000_000, 4)], 30_000), "extended"),
        (complete(1_000_000, 4, "a"), "settled"),
        (retry(1_000_000, &[("b", 9_000, "x")]), "settled"),
        (bury(1_000_000, Class::Failed, &[("c", "x")]), "settled"),
        (release(1_000_000, "d"), "settled"),
        (Call::Promote(10), "promoted 1, next in 9000"),
        (reclaim(10, 3), "reclaimed 0, dead 0"),
        (Call::Pause("me".to_owned()), "paused"),
        (Call::Resume, "resumed"),
    ] {
        assert_eq!(call.on(&stage.store).await, answer, "{call:?}");
    }
}
