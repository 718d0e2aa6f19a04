//! Every transition, on states in which as many of its keys are there as can be.

use super::{Case, Halves};
use crate::store::{Body, Class, Due, Row};
use crate::tests::call::{added, claimed, extended, id, ids, lease, promoted, reclaimed, row, settled, yes};

/// Token and owner of the claim that holds `a` and `b`.
const HELD: &str = "pending p=1; active a=7 b=7; leases 7:30000:w=31000; tries a=1_1_0_0_oops; schedule s=9000; dead d=5; \
                    meta seq=3 token=7; job a=A b=B p=P s=S d=D";

macro_rules! case {
    ($what:literal, $before:expr, touches $touches:literal, $halves:ident, |$store:ident| $call:expr) => {
        Case {
            what: $what,
            before: $before,
            touches: $touches,
            halves: Halves::$halves,
            call: |$store| Box::pin(async move { $call }),
        }
    };
}

pub(super) fn cases() -> Vec<Case> {
    [enqueues(), claims(), settlings(), upkeep(), metas(), readers()].into_iter().flatten().collect()
}

fn enqueues() -> Vec<Case> {
    vec![
        case!("a small enqueue", HELD, touches "pending schedule meta", AlwaysWait, |store| {
            store.enqueue(&[row("x", Due::Now, "X"), row("y", Due::InMs(50), "Y")]).await.map(added)
        }),
        case!("a small enqueue of a taken id", HELD, touches "pending schedule meta job:p", Wait, |store| {
            store.enqueue(&[row("p", Due::Now, "other")]).await.map(added)
        }),
        case!("a large enqueue", HELD, touches "pending schedule meta", AlwaysWait, |store| {
            store.enqueue(&large(|_| Due::Now)).await.map(added)
        }),
        case!("a large enqueue, delayed", HELD, touches "pending schedule meta", AlwaysWait, |store| {
            store.enqueue(&large(|n| Due::AtMs(n * 100))).await.map(added)
        }),
        case!("the first enqueue of a queue", "", touches "", AlwaysWait, |store| {
            store.enqueue(&[row("x", Due::Now, "X")]).await.map(added)
        }),
        case!("the first large enqueue of a queue", "meta layout=1", touches "meta", AlwaysWait, |store| {
            store.enqueue(&large(|_| Due::Now)).await.map(added)
        }),
    ]
}

/// More than go through the script.
fn large(due: fn(u64) -> Due) -> Vec<Row> {
    (0..12).map(|n| row(&format!("x{n}"), due(n), format!("X{n}"))).collect()
}

fn claims() -> Vec<Case> {
    vec![
        case!("the first claim", "pending a=1 b=2; meta seq=2; job a=A b=B", touches "pending meta", AlwaysWait, |store| {
            store.claim(1, 30_000, "w").await.map(claimed)
        }),
        case!("a claim", HELD, touches "pending active leases meta tries", Wait, |store| {
            store.claim(10, 30_000, "w").await.map(claimed)
        }),
        case!("the bodies of a claim", HELD, touches "job:a job:b job:p", Go, |store| {
            let bodies = store.bodies(&ids("a b p")).await?;
            assert!(bodies.iter().all(|body| matches!(body, Body::Here(_))), "{bodies:?}");
            Ok(format!("{bodies:?}"))
        }),
    ]
}

fn settlings() -> Vec<Case> {
    vec![
        case!("completing a whole claim", HELD, touches "active leases meta tries job:a+job:b", Wait, |store| {
            store.complete(&lease(7, 2), &ids("a b")).await.map(settled)
        }),
        case!("completing a part of a claim", HELD, touches "active leases meta tries job:a", Wait, |store| {
            store.complete(&lease(7, 2), &ids("a")).await.map(settled)
        }),
        case!("completing what was lost", HELD, touches "active leases meta tries job:a", Wait, |store| {
            store.complete(&lease(6, 1), &ids("a")).await.map(settled)
        }),
        case!("a retry", HELD, touches "active leases meta tries schedule", Wait, |store| {
            store.retry(&lease(7, 2), &[(id("a"), 50, "oops".to_owned())]).await.map(settled)
        }),
        case!("a burial", HELD, touches "active leases meta tries dead", Wait, |store| {
            store.bury(&lease(7, 2), Class::Failed, &[(id("b"), "enough".to_owned())]).await.map(settled)
        }),
        case!("handing back", HELD, touches "active leases pending tries", Wait, |store| {
            store.release(&lease(7, 2), &ids("a b")).await.map(settled)
        }),
        case!("renewing a lease", HELD, touches "leases", Go, |store| {
            store.extend(&[lease(7, 2)], 60_000).await.map(extended)
        }),
    ]
}

fn upkeep() -> Vec<Case> {
    vec![
        case!("a promotion", "pending p=1; schedule a=900 b=9000; tries a=1_1_0_0_oops; meta seq=3; job a=A b=B p=P",
            touches "schedule pending meta tries", Wait, |store| store.promote(500).await.map(promoted)),
        case!("a reclaim", "pending p=1; active a=7 b=7 c=8; leases 7:30000:w=900 8:30000:v=9000; tries a=2_0_2_0_; dead d=5; \
            meta seq=3 token=8 swept=990; job a=A b=B c=C d=D p=P",
            touches "active leases meta tries pending+dead", Wait,
            |store| store.reclaim(500, 3, 30_000).await.map(reclaimed)),
        case!("a sweep after a gap", HELD, touches "active leases meta tries pending+dead", Wait, |store| {
            store.reclaim(500, 3, 30_000).await.map(reclaimed)
        }),
    ]
}

/// One key alone: it is there or it is not, and either side can tell.
fn metas() -> Vec<Case> {
    vec![
        case!("opening a new queue", "", touches "", Go, |store| {
            store.open("").await.map(|opened| format!("{opened:?}").split("now_ms").next().unwrap().to_owned())
        }),
        case!("opening a queue", "meta layout=1 producers=4", touches "meta", Go, |store| {
            store.open("ORD").await.map(|opened| format!("{opened:?}").split("now_ms").next().unwrap().to_owned())
        }),
        case!("a pause", HELD, touches "meta", Go, |store| {
            store.pause("ann").await.map(|changed| yes("paused", changed))
        }),
        case!("a resume", "meta paused=5_ann", touches "meta", Go, |store| {
            store.resume().await.map(|changed| yes("resumed", changed))
        }),
        case!("a limit", HELD, touches "meta", Go, |store| {
            store.bound(Some(9)).await.map(|changed| yes("bound", changed))
        }),
    ]
}

fn readers() -> Vec<Case> {
    vec![
        case!("counting", HELD, touches "pending active schedule dead leases+meta", Wait, |store| {
            store.counts().await.map(|mut counted| {
                counted.meta.sort();
                format!("{counted:?}")
            })
        }),
        case!("finding a job", HELD, touches "pending active schedule dead tries+job:a", Wait, |store| {
            store.find(&id("a")).await.map(|found| format!("{found:?}"))
        }),
        case!("reading a row", HELD, touches "job:a", Go, |store| {
            store.row(&id("a")).await.map(|row| format!("{row:?}"))
        }),
        case!("asking which ids are taken", HELD, touches "job:a job:b", Wait, |store| {
            store.taken(&[&id("a"), &id("b")]).await.map(|taken| format!("{taken:?}"))
        }),
    ]
}
