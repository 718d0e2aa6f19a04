//! The chaos workload of `echomq-load`, on the cluster client of `redis` or on the connector of this repository.

use std::time::Duration;

use echomq_cluster::Client;
use echomq_load::chaos::{Driver, Plan, Pledge, Progress, Report, run as run_plan, sample_keys};
use testkit::{Fault, Faults};

use self::faults::Hand;
use self::redis::Redis;
use crate::client::Name;

// The hand that breaks the cluster is that of the chaos run itself.
#[path = "../../../../crates/load/examples/chaos/faults.rs"]
mod faults;
mod redis;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// On this client: echomq or redis
    #[arg(long, value_enum, default_value = "redis")]
    on: Name,
    /// So many faults
    #[arg(long, default_value_t = 30)]
    faults: usize,
    /// Only these kinds of faults, by name, separated by commas; if not said, all
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Repeats the faults of a run
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Tasks that write side by side
    #[arg(long, default_value_t = 64)]
    clients: u32,
    /// No further fault begins after this
    #[arg(long, default_value_t = 10)]
    minutes: u64,
}

/// Runs and prints the table; `false` if a promise was not kept.
pub(crate) fn run(args: &Args) -> Result<bool, String> {
    let cluster = testkit::cluster_with(3, 1);
    let addresses = cluster.addresses();
    println!(
        "{} {}: up to {} faults, --seed {}, {} tasks on one client; {}, 3 primaries and 3 replicas",
        args.on.package(),
        args.on.version(),
        args.faults,
        args.seed,
        args.clients,
        testkit::engine(),
    );
    let runtime = tokio::runtime::Runtime::new().map_err(|error| format!("no runtime: {error}"))?;
    let report = runtime.block_on(async {
        let url = cluster.url();
        let auditor = Client::connect(&url).await.map_err(|error| error.to_string())?;
        let hand = Hand(Faults::new(cluster, args.seed, &args.kinds(), &sample_keys()));
        match args.on {
            Name::Echomq => {
                let ours = Client::connect(&url).await.map_err(|error| error.to_string())?;
                chaos(&ours, &auditor, hand, args).await
            }
            Name::Redis => chaos(&Redis::connect(&addresses).await?, &auditor, hand, args).await,
            other => Err(format!("the chaos workload is not written for {}", other.package())),
        }
    });
    runtime.shutdown_background();
    let report = report?;
    println!("\n{} faults in {} s\n{report}", report.faults(), report.took.as_secs());
    let broken = report.broken();
    broken.iter().for_each(|broken| println!("NOT KEPT: {broken}"));
    Ok(broken.is_empty())
}

impl Args {
    fn kinds(&self) -> Vec<Fault> {
        let named = |kind: &Fault| self.only.is_empty() || self.only.iter().any(|name| name == kind.name());
        Fault::ALL.iter().copied().filter(named).collect()
    }
}

async fn chaos<D: Driver>(driver: &D, auditor: &Client, hand: Hand, args: &Args) -> Result<Report, String> {
    let plan = Plan {
        clients: args.clients,
        faults: args.faults,
        limit: Duration::from_secs(60 * args.minutes),
        calm: Duration::from_secs(10),
        pause: Duration::from_millis(1_500),
        pace: Duration::from_millis(10),
        pledge: Pledge::ReplicatedKept,
        seed: args.seed,
    };
    run_plan(driver, auditor, hand, &plan, &tell)
        .await
        .map_err(|error| format!("the run ended early: {error}"))
}

fn tell(progress: Progress) {
    let Progress { faults, strike, back, wanted, broken, .. } = progress;
    let server = strike.serving.saturating_duration_since(strike.at).as_millis();
    let back = back.map_or("never".to_owned(), |back| format!("{} ms", back.as_millis()));
    let broken = broken.join(", ");
    println!(
        "{faults:>4}  {}: servers {server} ms, then {wanted} in 100 ms after {back}  {broken}",
        strike.what
    );
}
