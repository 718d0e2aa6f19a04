//! Throughput without faults: the connector and the cluster client of `redis`, taking turns in one process.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Client, EchoMq, Name, Redis};
use crate::ground;

/// So much of the other's median rate is enough.
const ENOUGH: f64 = 0.95;
const KEYS: usize = 4_096;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pairs of rounds for each mix
    #[arg(long, default_value_t = 30)]
    rounds: usize,
    /// The length of a round in milliseconds
    #[arg(long, default_value_t = 500)]
    round_ms: u64,
    /// Tasks that share the one client
    #[arg(long, default_value_t = 64)]
    tasks: usize,
    /// Only this client, for a profiler: echomq or redis
    #[arg(long, value_enum)]
    only: Option<Name>,
    /// Both with TCP_NODELAY, which both leave off by default
    #[arg(long)]
    nodelay: bool,
}

/// What the tasks send.
#[derive(Clone, Copy, Debug)]
enum Mix {
    /// `GET`, `SET`, `INCR` in turn, on keys all over the slots.
    Single,
    /// `MULTI` of three `INCR`, each time on another tag.
    Multi,
}

/// One round of one client.
#[derive(Clone, Copy)]
struct Round {
    per_second: f64,
    /// Processor time of this process per request; `None` where the system does not tell.
    cpu_us: Option<f64>,
}

/// Measures and prints; `false` if the connector's median ratio is too low.
pub(crate) fn run(args: &Args, as_json: bool) -> Result<bool, String> {
    let cluster = ground::primaries();
    let runtime = tokio::runtime::Runtime::new().map_err(|error| format!("no runtime: {error}"))?;
    let addresses = cluster.addresses();
    let results = runtime.block_on(async {
        let ours = EchoMq::connect_with(&addresses, args.nodelay).await?;
        let theirs = Redis::connect_with(&addresses, args.nodelay).await?;
        let keys = Arc::new(Keys::new());
        if let Some(only) = args.only {
            alone(args, only, &keys, &ours, &theirs).await?;
            return Ok(Vec::new());
        }
        let mut results = Vec::new();
        for mix in [Mix::Single, Mix::Multi] {
            results.push((mix, pairs(args, mix, &keys, &ours, &theirs).await?));
        }
        Ok::<_, String>(results)
    })?;
    runtime.shutdown_background();
    if args.only.is_some() {
        return Ok(true);
    }
    let tables: Vec<Comparison> = results.iter().map(|(mix, pairs)| Comparison::of(*mix, pairs)).collect();
    if as_json {
        println!("{:#}", json!(tables.iter().map(Comparison::json).collect::<Vec<_>>()));
    } else {
        let versions =
            [Name::Echomq, Name::Redis].map(|name| format!("{} {}", name.package(), name.version()));
        println!(
            "server: {}; {} tasks on one client; {}",
            testkit::engine(),
            args.tasks,
            versions.join(" against ")
        );
        tables.iter().for_each(|table| println!("{}", table.text()));
    }
    Ok(tables.iter().all(|table| table.ratio.median >= ENOUGH))
}

/// Rounds of one client, told one by one.
async fn alone(
    args: &Args,
    only: Name,
    keys: &Arc<Keys>,
    ours: &EchoMq,
    theirs: &Redis,
) -> Result<(), String> {
    for mix in [Mix::Single, Mix::Multi] {
        for _ in 0..args.rounds {
            let Round { per_second, cpu_us } = match only {
                Name::Echomq => round(args, mix, keys, ours).await?,
                Name::Redis => round(args, mix, keys, theirs).await?,
                other => return Err(format!("throughput is not measured for {}", other.package())),
            };
            println!("{mix:?}: {per_second:.0} requests/s, {:.1} µs of CPU each", cpu_us.unwrap_or(f64::NAN));
        }
    }
    Ok(())
}

/// Each pair begins with the other client than the one before, so that drift of the machine hits both alike.
async fn pairs(
    args: &Args,
    mix: Mix,
    keys: &Arc<Keys>,
    ours: &EchoMq,
    theirs: &Redis,
) -> Result<Vec<[Round; 2]>, String> {
    round(args, mix, keys, ours).await?;
    round(args, mix, keys, theirs).await?;
    let mut pairs = Vec::new();
    for i in 0..args.rounds {
        pairs.push(if i % 2 == 0 {
            let first = round(args, mix, keys, ours).await?;
            [first, round(args, mix, keys, theirs).await?]
        } else {
            let first = round(args, mix, keys, theirs).await?;
            [round(args, mix, keys, ours).await?, first]
        });
    }
    Ok(pairs)
}

async fn round<C: Client>(args: &Args, mix: Mix, keys: &Arc<Keys>, client: &C) -> Result<Round, String> {
    let done = Arc::new(AtomicU64::new(0));
    let cpu = cpu_us();
    let begun = Instant::now();
    let until = begun + Duration::from_millis(args.round_ms);
    let tasks: Vec<_> = (0..args.tasks)
        .map(|i| tokio::spawn(work(client.clone(), mix, Arc::clone(keys), i, until, Arc::clone(&done))))
        .collect();
    for task in tasks {
        task.await.map_err(|error| error.to_string())??;
    }
    let done = done.load(Ordering::Relaxed) as f64;
    let cpu_us = cpu.zip(cpu_us()).map(|(before, after)| (after - before) / done);
    Ok(Round { per_second: done / begun.elapsed().as_secs_f64(), cpu_us })
}

async fn work<C: Client>(
    client: C,
    mix: Mix,
    keys: Arc<Keys>,
    task: usize,
    until: Instant,
    done: Arc<AtomicU64>,
) -> Result<(), String> {
    let mut count = 0;
    while Instant::now() < until {
        // A stride that is prime to the number of keys: each task goes through all of them.
        let at = (task * 61 + count * 17) % KEYS;
        match (mix, count % 3) {
            (Mix::Multi, _) => drop(client.incr_all(&keys.families[at]).await?),
            (Mix::Single, 0) => drop(client.get(&keys.texts[at]).await?),
            (Mix::Single, 1) => {
                client.set(&keys.texts[at], "a value of some forty bytes, as they often are").await?
            }
            (Mix::Single, _) => drop(client.incr(&keys.numbers[at]).await?),
        }
        count += 1;
    }
    done.fetch_add(count as u64, Ordering::Relaxed);
    Ok(())
}

struct Keys {
    texts: Vec<String>,
    numbers: Vec<String>,
    families: Vec<[String; 3]>,
}

impl Keys {
    fn new() -> Keys {
        let named = |kind: &str| (0..KEYS).map(|i| format!("{kind}:{i}")).collect();
        let family = |i| ["visits", "orders", "total"].map(|name| format!("user:{{{i}}}:{name}"));
        Keys { texts: named("text"), numbers: named("number"), families: (0..KEYS).map(family).collect() }
    }
}

/// User and system time of this process so far.
fn cpu_us() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    // Linux counts in hundredths of a second here, whatever its own clock.
    Some(ticks * 10_000.0)
}

#[derive(Clone, Copy)]
struct Spread {
    min: f64,
    median: f64,
    max: f64,
}

impl Spread {
    /// # Panics
    ///
    /// When there are no values.
    fn of(values: impl Iterator<Item = f64>) -> Spread {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        Spread { min: values[0], median: values[values.len() / 2], max: values[values.len() - 1] }
    }

    fn json(self) -> serde_json::Value {
        json!({ "min": self.min, "median": self.median, "max": self.max })
    }
}

struct Comparison {
    mix: Mix,
    rate: BTreeMap<&'static str, Spread>,
    cpu_us: Option<BTreeMap<&'static str, Spread>>,
    ratio: Spread,
}

const SIDES: [&str; 2] = ["echomq-cluster", "redis"];

impl Comparison {
    fn of(mix: Mix, pairs: &[[Round; 2]]) -> Comparison {
        let side = |of: usize| pairs.iter().map(move |pair| pair[of]);
        let rate = |of: usize| (SIDES[of], Spread::of(side(of).map(|round| round.per_second)));
        let cpu = |of: usize| {
            let all = side(of).map(|round| round.cpu_us).collect::<Option<Vec<f64>>>()?;
            Some((SIDES[of], Spread::of(all.into_iter())))
        };
        let ratio = pairs.iter().map(|[ours, theirs]| ours.per_second / theirs.per_second);
        Comparison {
            mix,
            rate: [rate(0), rate(1)].into(),
            cpu_us: [0, 1].map(cpu).into_iter().collect(),
            ratio: Spread::of(ratio),
        }
    }

    fn json(&self) -> serde_json::Value {
        let spreads = |of: &BTreeMap<&'static str, Spread>| {
            of.iter()
                .map(|(side, spread)| ((*side).to_owned(), spread.json()))
                .collect::<serde_json::Map<_, _>>()
        };
        json!({
            "mix": format!("{:?}", self.mix).to_lowercase(),
            "per_second": spreads(&self.rate),
            "client_cpu_us": self.cpu_us.as_ref().map(spreads),
            "ratio": self.ratio.json(),
        })
    }

    fn text(&self) -> String {
        let title = match self.mix {
            Mix::Single => "GET, SET, INCR of single keys over all slots",
            Mix::Multi => "MULTI of three INCR",
        };
        let mut lines = vec![format!("\n{title:44}  {:>9}  {:>9}  {:>9}", "min", "median", "max")];
        let mut row = |name: String, spread: &Spread, digits: usize| {
            let Spread { min, median, max } = spread;
            lines.push(format!("  {name:42}  {min:9.digits$}  {median:9.digits$}  {max:9.digits$}"));
        };
        for (side, spread) in &self.rate {
            row(format!("{side}, requests/s"), spread, 0);
        }
        for (side, spread) in self.cpu_us.iter().flatten() {
            row(format!("{side}, client's CPU, µs/request"), spread, 1);
        }
        row("ratio of each pair of rounds".to_owned(), &self.ratio, 3);
        lines.join("\n")
    }
}
