//! A chaos run finds out each kind of client library that does not keep its word.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use echomq_cluster::Client;
use echomq_load::chaos::{self, Breaker, Class, Driver, Outcome, Plan, Pledge, Report, Strike, Write};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    /// Says that a write has happened, and drops it.
    Drops,
    /// The same of a write that a replica is to have.
    DropsReplicated,
    /// Sends a write twice.
    Repeats,
    /// Says that a write was refused, and sends it.
    Denies,
    /// Sends the commands of a transaction one by one.
    Tears,
    /// Commits without having watched.
    IsBlind,
    /// Makes up an error.
    Invents,
}

/// EchoMQ's connector, but for one write in fifty.
#[derive(Clone)]
struct Liar {
    client: Client,
    lie: Lie,
    writes: Arc<AtomicU32>,
}

impl Liar {
    fn lies(&self, lie: Lie) -> bool {
        self.lie == lie && self.writes.fetch_add(1, Relaxed).is_multiple_of(50)
    }
}

impl Driver for Liar {
    const CLASSES: &'static [&'static str] = <Client as Driver>::CLASSES;

    async fn write(&self, write: Write) -> Outcome {
        if self.lies(Lie::Drops) {
            return Outcome::Acknowledged;
        }
        if self.lies(Lie::Invents) {
            return Outcome::Refused("bad luck".into());
        }
        if self.lies(Lie::Repeats) {
            self.client.write(write.clone()).await;
        }
        let denies = self.lies(Lie::Denies);
        let outcome = self.client.write(write).await;
        if denies { Outcome::Refused("deadline".into()) } else { outcome }
    }

    async fn write_replicated(&self, write: Write) -> Outcome {
        match self.lies(Lie::DropsReplicated) {
            true => Outcome::Replicated,
            false => self.client.write(write).await,
        }
    }

    async fn transaction(&self, writes: Vec<Write>) -> Outcome {
        if !self.lies(Lie::Tears) {
            return Driver::transaction(&self.client, writes).await;
        }
        for write in writes {
            self.client.write(write).await;
        }
        Outcome::Acknowledged
    }

    async fn watch(
        &self,
        keys: [String; 2],
        decide: impl Fn([i64; 2]) -> Vec<Write> + Send + Sync + 'static,
    ) -> Outcome {
        if !self.lies(Lie::IsBlind) {
            return Driver::watch(&self.client, keys, decide).await;
        }
        let pair = self.client.pair(keys).await.unwrap();
        let balances = pair.map(|balance| balance.map_or(0, |text| text.parse().unwrap()));
        // Somebody else is faster.
        tokio::time::sleep(Duration::from_millis(20)).await;
        Driver::transaction(&self.client, decide(balances)).await
    }

    async fn script(&self, keys: [String; 4], token: String) -> Outcome {
        Driver::script(&self.client, keys, token).await
    }

    async fn pair(&self, keys: [String; 2]) -> Result<[Option<String>; 2], Class> {
        self.client.pair(keys).await
    }
}

/// Breaks nothing.
struct Idle;

impl Breaker for Idle {
    fn strike(&mut self) -> Strike {
        let now = Instant::now();
        Strike { kind: "none", what: "nothing at all".to_owned(), at: now, serving: now }
    }

    fn mend(&mut self) -> Vec<String> {
        Vec::new()
    }
}

async fn run(lie: Lie, pledge: Pledge) -> Report {
    let cluster = tokio::task::spawn_blocking(|| testkit::cluster_with(1, 0)).await.unwrap();
    let client = Client::connect(&cluster.url()).await.unwrap();
    let liar = Liar { client: client.clone(), lie, writes: Arc::default() };
    let plan = Plan {
        clients: 40,
        faults: 1,
        limit: Duration::from_secs(60),
        calm: Duration::from_secs(1),
        pause: Duration::from_millis(300),
        pace: Duration::from_millis(5),
        pledge,
        seed: 1,
    };
    chaos::run(&liar, &client, Idle, &plan, &|_| ()).await.unwrap()
}

/// Whether all that is broken, and there is something, is this.
#[track_caller]
fn assert_broken(report: &Report, what: &[&str]) {
    let broken = report.broken();
    assert!(!broken.is_empty(), "nobody noticed:\n{report}");
    for broken in &broken {
        assert!(what.iter().any(|what| broken.ends_with(what)), "{broken}:\n{report}");
    }
    assert!(!report.findings.is_empty() || !report.undocumented.is_empty(), "nothing is told:\n{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_that_drops_what_it_acknowledged_is_found_out() {
    assert_broken(&run(Lie::Drops, Pledge::AllKept).await, &["acknowledged writes are lost"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_that_drops_what_a_replica_was_to_have_is_found_out_though_others_may_be_lost() {
    let report = run(Lie::DropsReplicated, Pledge::ReplicatedKept).await;
    assert_broken(&report, &["writes that a replica had are lost"]);
    let allowed = run(Lie::Drops, Pledge::ReplicatedKept).await;
    assert!(allowed.broken().is_empty() && allowed.sum().lost > 0, "{allowed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_that_sends_twice_is_found_out() {
    assert_broken(&run(Lie::Repeats, Pledge::AllKept).await, &["writes are there twice"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_that_denies_what_it_did_is_found_out() {
    assert_broken(&run(Lie::Denies, Pledge::AllKept).await, &["refused or unasked writes are there"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_whose_transactions_are_none_is_found_out() {
    let what = ["writes are applied by half", "looks saw a write applied by half"];
    assert_broken(&run(Lie::Tears, Pledge::AllKept).await, &what);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_that_commits_unwatched_is_found_out() {
    assert_broken(&run(Lie::IsBlind, Pledge::AllKept).await, &["writes are applied by half"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_that_is_not_documented_is_found_out() {
    let report = run(Lie::Invents, Pledge::AllKept).await;
    assert_broken(&report, &["classes of errors are not documented"]);
    assert_eq!(report.undocumented, ["bad luck"]);
}
