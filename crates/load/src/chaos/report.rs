//! What a chaos run came to, as figures and as a table.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::check::{Count, Finding, Wrong};
use super::driver::Class;
use super::meter::median;
use super::{Fate, Pledge, Workload};

/// So many findings are kept in words; all are counted.
pub(super) const MOST_FINDINGS: usize = 50;

/// A rate is to be back within this after the new primary answers.
pub const BACK_WITHIN: Duration = Duration::from_secs(1);

/// What the faults of one kind cost.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// From each fault until the servers served again: their own time.
    pub server: Vec<Duration>,
    /// From then until the rate was back; `None` where it was not within the time that a run waits for it.
    pub back: Vec<Option<Duration>>,
    /// Acknowledged writes that are lost since.
    pub lost: u64,
}

impl Cost {
    /// How many of them took longer than [`BACK_WITHIN`] to be back.
    pub fn late(&self) -> usize {
        self.back.iter().filter(|back| back.is_none_or(|back| back > BACK_WITHIN)).count()
    }
}

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What the clients were promised.
    pub pledge: Pledge,
    /// Operations answered in a second before the first fault, as fast as the clients can: the median of all windows.
    pub undisturbed: u64,
    /// The same at the clients' pace, before each fault.
    pub paced: u64,
    /// What each kind of fault cost.
    pub costs: BTreeMap<&'static str, Cost>,
    /// What became of the writes of each workload.
    pub counts: BTreeMap<Workload, Count>,
    /// How often clients met an error of each class.
    pub errors: BTreeMap<(Workload, Class), u64>,
    /// Of those classes, the ones that the library does not document.
    pub undocumented: Vec<String>,
    /// Looks at keys that belong together.
    pub looks: u64,
    /// Looks that saw a write applied by half.
    pub halves_seen: u64,
    /// The first findings, in words.
    pub findings: Vec<String>,
    /// What happened to the cluster that nobody wanted.
    pub surprises: Vec<String>,
    /// How long the run took.
    pub took: Duration,
}

impl Report {
    /// How many faults there were.
    pub fn faults(&self) -> usize {
        self.costs.values().map(|cost| cost.back.len()).sum()
    }

    /// The sum over all workloads.
    pub fn sum(&self) -> Count {
        self.counts.values().copied().sum()
    }

    /// What the run promised and did not keep, a sentence each.
    pub fn broken(&self) -> Vec<String> {
        let sum = self.sum();
        let lost = match self.pledge {
            Pledge::AllKept => ("acknowledged writes are lost", sum.lost),
            Pledge::ReplicatedKept => ("writes that a replica had are lost", sum.lost_replicated),
        };
        let never = [
            lost,
            ("writes are there twice", sum.doubled),
            ("refused or unasked writes are there", sum.foreign),
            ("writes are applied by half", sum.half_applied),
            ("looks saw a write applied by half", self.halves_seen),
            ("classes of errors are not documented", self.undocumented.len() as u64),
        ];
        never.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{count} {what}")).collect()
    }

    /// How many faults the rate was not back after within [`BACK_WITHIN`].
    pub fn late(&self) -> usize {
        self.costs.values().map(Cost::late).sum()
    }

    /// What the pledge allows is counted, but not told.
    fn is_allowed(&self, finding: &Finding) -> bool {
        let is_replicated = finding.event.as_ref().is_some_and(|event| event.fate == Fate::Replicated);
        self.pledge == Pledge::ReplicatedKept && finding.wrong == Wrong::Lost && !is_replicated
    }

    pub(super) fn add_findings(&mut self, after: &str, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            if !self.is_allowed(&finding) {
                self.add_finding(format!("after {after}: {finding}"));
            }
        }
    }

    pub(super) fn add_finding(&mut self, finding: String) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(finding);
        }
    }
}

impl fmt::Display for Report {
    /// The table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "operations a second, median: {} without faults, {} at the pace before each fault",
            self.undisturbed, self.paced
        )?;
        self.fmt_costs(f)?;
        self.fmt_counts(f)?;
        writeln!(f, "\nlooks at keys that belong together: {}, torn: {}", self.looks, self.halves_seen)?;
        self.fmt_errors(f)?;
        let words = self.surprises.iter().chain(&self.findings);
        words.into_iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl Report {
    fn fmt_costs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let late = format!("late (> {} s)", BACK_WITHIN.as_secs());
        writeln!(
            f,
            "\n{:<14} {:>5}  {:>10} {:>7}  {:>10} {:>7}  {late:>12} {:>6}",
            "fault", "count", "server ms", "max", "back ms", "max", "lost"
        )?;
        for (kind, cost) in &self.costs {
            let back: Vec<Duration> = cost.back.iter().map(|back| back.unwrap_or(Duration::MAX)).collect();
            let (count, late, lost) = (cost.back.len(), cost.late(), cost.lost);
            let [server, server_max] = middle_and_most(&cost.server);
            let [back, back_max] = middle_and_most(&back);
            writeln!(
                f,
                "{kind:<14} {count:>5}  {server:>10} {server_max:>7}  {back:>10} {back_max:>7}  {late:>12} {lost:>6}"
            )?;
        }
        Ok(())
    }

    fn fmt_counts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles = "attempted acknowledged replicated unknown refused lost (replicated) doubled foreign half-applied";
        writeln!(f, "\n{:<12} {titles}", "workload")?;
        let sum = self.sum();
        let rows = self.counts.iter().map(|(workload, count)| (workload.name(), count));
        for (name, count) in rows.chain([("all", &sum)]) {
            writeln!(
                f,
                "{name:<12} {:>9} {:>12} {:>10} {:>7} {:>7} {:>4} {:>12} {:>7} {:>7} {:>12}",
                count.attempted,
                count.acknowledged,
                count.replicated,
                count.unknown,
                count.refused,
                count.lost,
                count.lost_replicated,
                count.doubled,
                count.foreign,
                count.half_applied
            )?;
        }
        Ok(())
    }

    fn fmt_errors(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:<12} {:<24} {:>8}", "workload", "class of error", "count")?;
        for ((workload, class), count) in &self.errors {
            let mark = if self.undocumented.iter().any(|one| one == class) { "  not documented" } else { "" };
            writeln!(f, "{:<12} {class:<24} {count:>8}{mark}", workload.name())?;
        }
        Ok(())
    }
}

fn middle_and_most(times: &[Duration]) -> [String; 2] {
    let most = times.iter().max().copied().unwrap_or_default();
    [median(times), most].map(|time| match time {
        Duration::MAX => "never".to_owned(),
        time => time.as_millis().to_string(),
    })
}
