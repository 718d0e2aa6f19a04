//! The trials: each on a cluster of its own, with one client that all its tasks share.

use std::time::Duration;

use testkit::Cluster;

use crate::client::Client;
use crate::findings::Findings;

mod after_migration;
mod half_moved;
mod pipeline;
mod transaction;
mod under_migration;

/// A command that has not been answered after so long counts as hung, and its task ends.
pub(crate) const HUNG: Duration = Duration::from_secs(8);

/// The trials that can be named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Trial {
    /// transactions only, after an atomic slot migration
    #[value(name = "S1")]
    AfterMigration,
    /// increments during six atomic migrations
    #[value(name = "S3")]
    UnderMigration,
    /// increments on a slot in classic migration, and on others
    #[value(name = "S4")]
    HalfMoved,
    /// transactions on a slot in classic migration
    #[value(name = "S4b")]
    Transaction,
    /// a pipeline that meets TRYAGAIN
    #[value(name = "S5")]
    Pipeline,
}

impl Trial {
    /// What stands above its rows.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Trial::AfterMigration => "transactions only, after an atomic migration of their slot",
            Trial::UnderMigration => "8 streams of INCR during 6 atomic migrations of their slot (20 MB)",
            Trial::HalfMoved => {
                "64 tasks, one client: 32 on a half-moved slot (all keys at the target), 32 elsewhere"
            }
            Trial::Transaction => "MULTI on a half-moved slot, both keys at the target",
            Trial::Pipeline => {
                "pipeline [INCR n; MGET a b] on a half-moved slot, a at the target: TRYAGAIN until the move ends"
            }
        }
    }

    /// Runs it and says what was found.
    pub(crate) async fn run<C: Client>(self, cluster: &Cluster) -> Result<Findings, String> {
        match self {
            Trial::AfterMigration => after_migration::run::<C>(cluster).await,
            Trial::UnderMigration => under_migration::run::<C>(cluster).await,
            Trial::HalfMoved => half_moved::run::<C>(cluster).await,
            Trial::Transaction => transaction::run::<C>(cluster).await,
            Trial::Pipeline => pipeline::run::<C>(cluster).await,
        }
    }
}

async fn connect<C: Client>(cluster: &Cluster) -> Result<C, String> {
    match tokio::time::timeout(HUNG, C::connect(&cluster.addresses())).await {
        Ok(connected) => connected.map_err(|error| format!("no connection: {error}")),
        Err(_) => Err("connecting hung".to_owned()),
    }
}

/// Sends transactions one after another, each an `INCR` of both keys, and counts those whose replies are the next
/// numbers. Ends at the first one that hangs.
async fn transactions<C: Client>(
    client: &C,
    keys: &[String; 2],
    mut last: i64,
    count: usize,
) -> Transactions {
    let mut seen = Transactions::default();
    for _ in 0..count {
        match tokio::time::timeout(HUNG, client.incr_all(keys)).await {
            Ok(Ok(replies)) if replies == [last + 1, last + 1] => {
                seen.ok += 1;
                last += 1;
            }
            Ok(Ok(replies)) => {
                seen.wrong += 1;
                seen.said.get_or_insert(format!("replies {replies:?} after {last}"));
            }
            Ok(Err(error)) => {
                seen.errors += 1;
                seen.said.get_or_insert(error);
            }
            Err(_) => {
                seen.hung = true;
                break;
            }
        }
    }
    seen
}

/// What became of transactions.
#[derive(Default)]
struct Transactions {
    ok: usize,
    /// Answered as a success with other numbers.
    wrong: usize,
    errors: usize,
    hung: bool,
    /// The first error or wrong reply.
    said: Option<String>,
}

impl Transactions {
    fn tell(&self, findings: &mut Findings, count: usize) {
        let hung = if self.hung { ", then hung" } else { "" };
        findings.set(&format!("ok of {count}"), format!("{}{hung}", self.ok));
        findings.set("errors", self.errors);
        findings.set("wrong replies", self.wrong);
        if let Some(said) = &self.said {
            findings.set("first said", said);
        }
        findings.expect(self.ok == count, || format!("{} of {count} transactions", self.ok));
    }
}
