//! The bounded form of the chaos run: every kind of fault, and nothing that was promised is lost.

#[path = "../examples/chaos/faults.rs"]
mod faults;

use std::time::Duration;

use echomq_cluster::Client;
use echomq_load::chaos::{self, Plan, Pledge, Report, Workload, sample_keys};
use testkit::{Fault, Faults};

use self::faults::Hand;

async fn run(kinds: &'static [Fault], faults: usize, pledge: Pledge) -> Report {
    let seed = fastrand::u64(..1_000_000);
    let cluster = tokio::task::spawn_blocking(|| testkit::cluster_with(3, 1)).await.unwrap();
    let (driver, auditor) =
        (Client::connect(&cluster.url()).await.unwrap(), Client::connect(&cluster.url()).await.unwrap());
    let hand = tokio::task::spawn_blocking(move || Hand(Faults::new(cluster, seed, kinds, &sample_keys())));
    let plan = Plan {
        clients: 64,
        faults,
        limit: Duration::from_secs(60),
        calm: Duration::from_secs(1),
        pause: Duration::from_millis(300),
        pace: Duration::from_millis(10),
        pledge,
        seed,
    };
    let report = chaos::run(&driver, &auditor, hand.await.unwrap(), &plan, &|_| ()).await;
    let report = report.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert_eq!(report.broken(), [""; 0], "seed {seed}:\n{report}");
    for workload in Workload::ALL {
        assert!(report.counts[&workload].acknowledged > 100, "hardly anything was done:\n{report}");
    }
    assert!(report.looks > 100, "hardly anybody looked:\n{report}");
    report
}

#[tokio::test(flavor = "multi_thread")]
async fn no_fault_loses_a_write_that_a_replica_had_or_doubles_one_or_applies_one_by_half() {
    let report = run(&Fault::ALL, 12, Pledge::ReplicatedKept).await;
    for kind in [Fault::Kill, Fault::Freeze] {
        assert!(!report.costs[kind.name()].server.is_empty());
    }
}
