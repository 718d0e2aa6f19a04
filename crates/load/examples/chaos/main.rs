//! Hurts a cluster of three primaries and three replicas again and again while 64 clients write, and holds all that they
//! were told against what the servers have:
//!
//! ```text
//! cargo run --release -p echomq-load --example chaos -- --faults 200 --run b
//! ```
//!
//! Exit code 0 if all that was promised was kept, 1 if not, 2 if the run could not be brought to its end.

#![allow(clippy::print_stdout)]

mod faults;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use echomq_cluster::Client;
use echomq_load::chaos::{self, BACK_WITHIN, Error, Plan, Pledge, Progress, Report, sample_keys};
use testkit::{Cluster, Fault, Faults};

use self::faults::Hand;

#[derive(Parser)]
struct Args {
    /// So many faults.
    #[arg(long, default_value_t = 200)]
    faults: usize,
    /// Which faults.
    #[arg(long, value_enum, default_value = "b")]
    run: Run,
    /// Only these kinds of faults, by name, separated by commas.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Repeats the faults of a run.
    #[arg(long)]
    seed: Option<u64>,
    /// Clients that write side by side.
    #[arg(long, default_value_t = 64)]
    clients: u32,
    /// No further fault begins after this.
    #[arg(long, default_value_t = 40)]
    minutes: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Run {
    /// Those that keep data: no acknowledged write may be lost.
    A,
    /// All of them: no write may be lost that a replica had.
    B,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
    let cluster = testkit::cluster_with(3, 1);
    println!("{}", introduction(&args, seed, &cluster));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    match runtime.block_on(run(&args, seed, cluster)) {
        Ok(report) => conclusion(&report),
        Err(error) => {
            println!("the run ended early: {error}");
            ExitCode::from(2)
        }
    }
}

fn introduction(args: &Args, seed: u64, cluster: &Cluster) -> String {
    let engine = testkit::engine();
    let timeout = cluster.raw(0, &["CONFIG", "GET", "cluster-node-timeout"]);
    let timeout: Vec<String> =
        timeout.ok().and_then(|value| redis::from_redis_value(value).ok()).unwrap_or_default();
    format!(
        "run {:?}, --seed {seed}: {} faults, {} clients; {:?} {}, 3 primaries and 3 replicas, node timeout {} ms",
        args.run,
        args.faults,
        args.clients,
        engine.name(),
        engine.version(),
        timeout.last().map_or("?", String::as_str)
    )
}

async fn run(args: &Args, seed: u64, cluster: Cluster) -> Result<Report, Error> {
    let (kinds, pledge) = match args.run {
        Run::A => (&Fault::KEEPING[..], Pledge::AllKept),
        Run::B => (&Fault::ALL[..], Pledge::ReplicatedKept),
    };
    let plan = Plan {
        clients: args.clients,
        faults: args.faults,
        limit: Duration::from_secs(60 * args.minutes),
        calm: Duration::from_secs(10),
        pause: Duration::from_millis(1_500),
        pace: Duration::from_millis(10),
        pledge,
        seed,
    };
    let wanted = |kind: &Fault| args.only.is_empty() || args.only.iter().any(|name| name == kind.name());
    let kinds: Vec<Fault> = kinds.iter().copied().filter(wanted).collect();
    let driver = Client::connect(&cluster.url()).await?;
    let auditor = Client::connect(&cluster.url()).await?;
    let breaker = Hand(Faults::new(cluster, seed, &kinds, &sample_keys()));
    chaos::run(&driver, &auditor, breaker, &plan, &tell).await
}

fn tell(progress: Progress) {
    let Progress { faults, strike, back, rates, wanted, stalled, broken } = progress;
    let is_late = back.is_none_or(|back| back > BACK_WITHIN);
    let server = strike.serving.saturating_duration_since(strike.at).as_millis();
    let back = back.map_or("never".to_owned(), |back| format!("{} ms", back.as_millis()));
    let broken = if broken.is_empty() { String::new() } else { format!("; {}", broken.join(", ")) };
    println!("{faults:>4}  {}: servers {server} ms, then the rate {back}{broken}", strike.what);
    if is_late {
        let stalled = stalled.as_millis();
        println!("      answered in each 100 ms since, where {wanted} count as back: {rates:?}");
        println!("      meanwhile the machine did not let this process run for up to {stalled} ms");
    }
}

fn conclusion(report: &Report) -> ExitCode {
    println!("\n{} faults in {} s\n{report}", report.faults(), report.took.as_secs());
    let mut broken = report.broken();
    if report.late() > 0 {
        let limit = BACK_WITHIN.as_millis();
        broken.push(format!("{} times the rate was not back within {limit} ms", report.late()));
    }
    if broken.is_empty() {
        println!("all that was promised was kept");
        return ExitCode::SUCCESS;
    }
    broken.iter().for_each(|broken| println!("NOT KEPT: {broken}"));
    ExitCode::FAILURE
}
