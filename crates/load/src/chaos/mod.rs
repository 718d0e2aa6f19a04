//! Chaos with a checked history: clients write without a pause while the cluster is hurt, and after each blow all that
//! they were told is held against what the servers have.
//!
//! * [`Driver`] is the client library under test; EchoMQ's own connector is one, another library plugs in by
//!   implementing it.
//! * [`Breaker`] hurts the cluster and mends it.
//! * [`run`] brings the two together and returns a [`Report`].
//! * [`check`](check()) is the judge: pure, of [`Event`]s and [`Page`]s.
//!
//! First the clients are left alone and write as fast as they can: the rate without faults. From then on they keep a
//! pace that the machine can hold, so that the rate tells how many of them are served; only while a blow falls they
//! write as fast as they can again, so that it falls on as many requests as there are clients. The clients that ask for a
//! replica do not count in the rate: where a shard has none left, each of their writes waits in vain for as long as they said.
//!
//! A run is cut into stretches, one for each fault. In a stretch all clients write to keys that no other stretch
//! has; when the cluster is whole again they go on with the next stretch, and the one before is checked
//! and removed.

mod check;
mod clients;
mod connector;
mod driver;
mod entity;
mod history;
mod meter;
mod report;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use echomq_cluster::Client;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

pub use self::check::{Count, Finding, Page, Pages, Verdict, Wrong, check};
pub use self::clients::HUNG;
use self::clients::{Batch, Crew};
pub use self::driver::{Class, Driver, Outcome, SCRIPT, Write};
pub use self::entity::sample_keys;
pub use self::history::{Event, Fate, Token, Workload};
use self::meter::{Meter, WINDOWS_PER_SECOND, median};
pub use self::report::{BACK_WITHIN, Cost, Report};

/// The share of the median rate at which a rate counts as back.
const BACK: f64 = 0.9;
/// How long a run waits for the rate to be back before it goes on.
const BACK_LIMIT: Duration = Duration::from_secs(15);
/// So long before a blow the clients begin to write as fast as they can.
const RUSH: Duration = Duration::from_millis(200);
/// How often it looks.
const LOOK: Duration = Duration::from_millis(10);
/// The rate that is to be back is the median of so many windows: those before this fault, and before the ones before.
const WINDOWS: usize = 60;

/// What the clients of a run are promised of writes that were acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pledge {
    /// All of them are kept: no fault of the run takes data away.
    #[default]
    AllKept,
    /// Those that a replica was said to have are kept; others may be lost with their primary.
    ReplicatedKept,
}

/// How a run goes.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Clients that write side by side.
    pub clients: u32,
    /// So many faults.
    pub faults: usize,
    /// No further fault begins after this.
    pub limit: Duration,
    /// How long the clients are left alone at first, as fast as they can.
    pub calm: Duration,
    /// How long they are left alone before each fault, at their pace: what they do then is what the rate is to be back at.
    pub pause: Duration,
    /// From the beginning of a client's operation to that of its next one.
    pub pace: Duration,
    /// What they are promised.
    pub pledge: Pledge,
    /// Repeats a run: the same choices by clients. What a [`Breaker`] chooses has a seed of its own.
    pub seed: u64,
}

/// Hurts a cluster and mends it. Both methods block.
pub trait Breaker: Send + 'static {
    /// Strikes once and returns when the servers serve again, in whichever way.
    fn strike(&mut self) -> Strike;

    /// Mends what the last strike left and returns when the cluster is whole: with what happened to it that nobody
    /// wanted, in words.
    fn mend(&mut self) -> Vec<String>;
}

/// One blow.
#[derive(Clone, Debug)]
pub struct Strike {
    /// What kind of fault, in a word.
    pub kind: &'static str,
    /// What was done to which node.
    pub what: String,
    /// When it fell.
    pub at: Instant,
    /// When the servers served again: for a primary that was lost, when the new one answered as a primary.
    pub serving: Instant,
}

/// What happens, as it happens.
#[derive(Clone, Debug)]
pub struct Progress {
    /// So many faults there were.
    pub faults: usize,
    /// The last one.
    pub strike: Strike,
    /// How long after the servers served again the rate was back.
    pub back: Option<Duration>,
    /// Operations that were answered in each 100 ms since the servers served again, until the rate was back.
    pub rates: Vec<u32>,
    /// How many would have counted as back.
    pub wanted: u32,
    /// The longest time for which the machine did not let this process run meanwhile.
    pub stalled: Duration,
    /// What is broken so far.
    pub broken: Vec<String>,
}

/// Why a run could not be brought to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// So many requests did not end, not even in an error.
    #[error("{0} clients hang: their requests did not end within {limit} s", limit = HUNG.as_secs())]
    Hung(usize),
    /// The cluster did not become what it was to become.
    #[error("the cluster could not be hurt or mended: {0}")]
    Breaker(String),
    /// What the clients left can not be read.
    #[error("what the clients left can not be read: {0}")]
    Unreadable(#[from] echomq_cluster::Error),
}

/// Runs the workload on `driver` while `breaker` hurts the cluster. `auditor` reads what is left, when the cluster
/// is whole.
///
/// # Errors
///
/// When the run can not go on. What is wrong with the history is no error: [`Report::broken`] says it.
pub async fn run<D: Driver, B: Breaker>(
    driver: &D,
    auditor: &Client,
    breaker: B,
    plan: &Plan,
    tell: &(dyn Fn(Progress) + Sync),
) -> Result<Report, Error> {
    let meter = Arc::new(Meter::begin());
    Meter::watch_the_machine(&meter);
    let crew = Crew::start(driver, plan.clients, plan.seed, &meter);
    let report = Report { pledge: plan.pledge, ..Report::default() };
    let mut run = Run { meter, auditor, crew, report, stretch: 0, paced: Vec::new(), documented: D::CLASSES };
    let mut breaker = breaker;
    run.calm(plan).await;
    for fault in 1..=plan.faults {
        if run.meter.elapsed() >= plan.limit {
            break;
        }
        run.pause(plan).await;
        let (back_then, strike) = blocking(breaker, Breaker::strike).await?;
        run.crew.set_pace(plan.pace);
        let wanted = run.wanted();
        let back = run.until_back(&strike, wanted).await;
        let (rates, stalled) =
            (run.meter.windows(strike.serving, Instant::now()), run.meter.delay(strike.serving));
        let surprises;
        (breaker, surprises) = blocking(back_then, Breaker::mend).await?;
        run.report.surprises.extend(surprises.into_iter().map(|what| format!("fault {fault}: {what}")));
        run.note(fault, &strike, back).await?;
        let broken = run.report.broken();
        tell(Progress { faults: fault, strike, back, rates, wanted, stalled, broken });
    }
    run.end().await
}

/// Hands `breaker` to a thread that may block, and takes it back. A breaker that panics could not do its work.
async fn blocking<B: Breaker, T: Send + 'static>(
    mut breaker: B,
    work: impl FnOnce(&mut B) -> T + Send + 'static,
) -> Result<(B, T), Error> {
    let done = spawn_blocking(move || {
        let result = work(&mut breaker);
        (breaker, result)
    });
    done.await.map_err(|failed| match failed.try_into_panic() {
        Ok(panic) => {
            Error::Breaker(panic.downcast::<String>().map_or_else(|_| "it panicked".into(), |text| *text))
        }
        Err(cancelled) => Error::Breaker(cancelled.to_string()),
    })
}

/// A run under way.
struct Run<'r> {
    meter: Arc<Meter>,
    auditor: &'r Client,
    crew: Crew,
    report: Report,
    stretch: u64,
    /// What was done at the pace in each window in which nothing was wrong.
    paced: Vec<u32>,
    documented: &'static [&'static str],
}

impl Run<'_> {
    /// Leaves the clients alone as they do what they can.
    async fn calm(&mut self, plan: &Plan) {
        let from = Instant::now();
        sleep(plan.calm).await;
        self.report.undisturbed = per_second(median(&self.meter.windows(from, Instant::now())));
        self.crew.set_pace(plan.pace);
    }

    /// Leaves them alone at their pace and takes their rate; then lets them rush.
    async fn pause(&mut self, plan: &Plan) {
        // What hangs over from the last stretch is no part of the rate.
        sleep(plan.pace * 2).await;
        let from = Instant::now();
        sleep(plan.pause).await;
        self.paced.extend(self.meter.windows(from, Instant::now()));
        self.crew.set_pace(Duration::ZERO);
        sleep(RUSH).await;
    }

    /// What counts as back.
    fn wanted(&self) -> u32 {
        let before = &self.paced[self.paced.len().saturating_sub(WINDOWS)..];
        (f64::from(median(before)) * BACK).ceil() as u32
    }

    /// How long after the servers served again the clients did what they do at other times.
    async fn until_back(&self, strike: &Strike, wanted: u32) -> Option<Duration> {
        while strike.serving.elapsed() < BACK_LIMIT {
            if let Some(back) = self.meter.back(strike.serving, wanted) {
                return Some(back);
            }
            sleep(LOOK).await;
        }
        None
    }

    /// Notes a fault's cost, ends the stretch it fell in and checks that.
    async fn note(&mut self, fault: usize, strike: &Strike, back: Option<Duration>) -> Result<(), Error> {
        let cost = self.report.costs.entry(strike.kind).or_default();
        cost.server.push(strike.serving.saturating_duration_since(strike.at));
        cost.back.push(back);
        let batch = self.crew.next_stretch().await?;
        let fell = self.meter.elapsed().saturating_sub(strike.at.elapsed());
        let after = format!("fault {fault} ({}, at {:.3} s)", strike.what, fell.as_secs_f64());
        let lost = self.judge(&after, batch).await?;
        self.report.costs.entry(strike.kind).or_default().lost += lost;
        Ok(())
    }

    /// Checks what a stretch has left, and returns how many acknowledged writes it has lost.
    async fn judge(&mut self, after: &str, batch: Batch) -> Result<u64, Error> {
        let Batch { history, errors, looks, halves } = batch;
        let pages = entity::read(self.auditor, self.stretch).await?;
        let verdict = check(&history, &pages);
        entity::remove(self.auditor, self.stretch).await?;
        self.stretch += 1;
        let lost = verdict.counts.values().map(|count| count.lost).sum();
        for (workload, count) in verdict.counts {
            *self.report.counts.entry(workload).or_default() += count;
        }
        self.report.add_findings(after, verdict.findings);
        self.report.looks += looks;
        self.report.halves_seen += halves.len() as u64;
        halves.into_iter().for_each(|half| self.report.add_finding(format!("after {after}: {half}")));
        self.note_errors(errors);
        Ok(lost)
    }

    fn note_errors(&mut self, errors: BTreeMap<(Workload, Class), u64>) {
        for ((workload, class), count) in errors {
            let known = |list: &[String]| list.iter().any(|one| *one == class);
            if !self.documented.contains(&&*class) && !known(&self.report.undocumented) {
                self.report.undocumented.push(class.to_string());
            }
            *self.report.errors.entry((workload, class)).or_default() += count;
        }
    }

    async fn end(mut self) -> Result<Report, Error> {
        let batch = self.crew.end().await?;
        self.judge("the last fault", batch).await?;
        self.report.paced = per_second(median(&self.paced));
        self.report.took = self.meter.elapsed();
        Ok(self.report)
    }
}

fn per_second(window: u32) -> u64 {
    (f64::from(window) * WINDOWS_PER_SECOND) as u64
}
