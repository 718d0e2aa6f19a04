//! `echomq contract verify`: whether the keys of a server follow a contract.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt as _;
use std::time::Duration;

use anyhow::{Context as _, bail};
use echomq_contract::Contract;
use echomq_ops::{Coverage, Limits, Verification, Verifier};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::input::File;
use crate::cli::Global;
use crate::exit::{self, Exit};
use crate::key::input::Spelling;
use crate::screen::{BAD, DIM, GOOD, HEAD, MARK, Report, Screen};
use crate::{server, span};

/// Hold the keys of a server against a contract: their types, their slots by the server's own word, names from before, and
/// keys that no family claims.
///
/// All primaries are scanned, a page of each in turn, until --keys or --time is reached. Nothing is written to the server.
/// With --prefix only the keys behind it are looked at. Exit code 1 when something differs, 2 when something could not be
/// checked, as where the user may not SCAN.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: File,
    /// Take the contract of EchoMQ's own keys instead of a file.
    #[arg(long, conflicts_with = "file")]
    own: bool,
    /// Scan only keys that match, as SCAN takes patterns.
    #[arg(long = "match", value_name = "GLOB")]
    matching: Option<OsString>,
    /// Scan at most so many keys.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    keys: u64,
    /// Scan at most so long.
    #[arg(long, value_name = "SPAN", default_value = "60s")]
    time: String,
    /// Scan all keys, however many they are and however long it takes.
    #[arg(long, conflicts_with_all = ["keys", "time"])]
    all: bool,
    /// Take the keys from standard input, one a line, instead of a scan.
    #[arg(long, conflicts_with_all = ["matching", "keys", "time", "all"])]
    stdin: bool,
    #[command(flatten)]
    spelling: Spelling,
}

/// A verification with its verdict before it.
#[derive(Serialize)]
struct ContractVerification<'a> {
    fine: bool,
    complete: bool,
    #[serde(flatten)]
    found: &'a Verification,
}

/// So many patterns of keys that no family claims are shown to people.
const SHOWN: usize = 20;
/// Keys of standard input are looked at in batches of so many.
const BATCH: usize = 1_000;

impl Report for ContractVerification<'_> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let found = self.found;
        summary(found, out)?;
        for mistyped in &found.mistyped {
            writeln!(
                out,
                "{BAD}wrong type{BAD:#} {HEAD}{}{HEAD:#} ({}) holds a {}, a {} is expected",
                mistyped.key, mistyped.name, mistyped.found, mistyped.expected
            )?;
        }
        more(out, found.mistyped.len() as u64, found.mistyped_keys, "keys of a wrong type")?;
        for wrong in &found.comparison.wrong {
            let (key, ours, theirs) = (&wrong.key, wrong.ours, wrong.theirs);
            writeln!(
                out,
                "{BAD}wrong slot{BAD:#} {HEAD}{key}{HEAD:#} is on slot {ours}, the server says {theirs}"
            )?;
        }
        for group in &found.before {
            write!(out, "{MARK}from before{MARK:#} {HEAD}{}{HEAD:#} of {}: ", group.pattern, group.name)?;
            write!(out, "{}", counted(group.keys, "key"))?;
            for example in group.examples.iter().take(1) {
                write!(out, ", such as {}, today {}", example.key, example.today)?;
            }
            writeln!(out)?;
        }
        for group in found.strangers.iter().take(SHOWN) {
            let (count, text) = (counted(group.keys, "key"), &group.text);
            write!(out, "{MARK}unclaimed{MARK:#} {HEAD}{}{HEAD:#}: {count}", group.pattern)?;
            for example in group.examples.iter().take(1) {
                write!(out, ", such as \"{example}\": {text}")?;
            }
            writeln!(out)?;
        }
        let (shown, all) = (found.strangers.len().min(SHOWN) as u64, found.strangers.len() as u64);
        more(out, shown, all, "patterns that no family claims; --json has them")?;
        more(out, 0, found.ungrouped_keys, "keys of patterns beyond these")?;
        for hot in &found.hot.slots {
            writeln!(out, "{MARK}hot{MARK:#} {hot}")?;
        }
        for shortfall in &found.shortfalls {
            let style = if shortfall.needed { BAD } else { DIM };
            writeln!(out, "{style}{shortfall}{style:#}")?;
        }
        match (self.complete, self.fine) {
            (false, _) => writeln!(out, "{BAD}incomplete: not all could be checked{BAD:#}"),
            (true, false) => writeln!(out, "{BAD}keys differ from the contract{BAD:#}"),
            (true, true) => agreement(found, out),
        }
    }
}

/// What no difference means: less, where less was looked at.
fn agreement(found: &Verification, out: &mut dyn Write) -> io::Result<()> {
    let Coverage { keys, gone, there, nodes, whole, .. } = found.coverage;
    match (keys - gone, there) {
        (0, _) => writeln!(out, "{MARK}nothing was checked: no key was there{MARK:#}"),
        (seen, Some(there)) if nodes > 0 && !whole => {
            writeln!(
                out,
                "{GOOD}the {seen} keys that were seen follow the contract{GOOD:#}, of about {there}"
            )
        }
        _ => writeln!(out, "{GOOD}all keys that were seen follow the contract{GOOD:#}"),
    }
}

fn summary(found: &Verification, out: &mut dyn Write) -> io::Result<()> {
    let Coverage { keys, gone, there, nodes, slots, whole, .. } = found.coverage;
    write!(out, "{}", counted(keys, "key"))?;
    if nodes > 0 {
        let there = there.map(|there| format!(" of {there}")).unwrap_or_default();
        write!(out, "{there} on {}", counted(nodes as u64, "primary"))?;
    }
    write!(out, " looked at, on {}", counted(slots, "slot"))?;
    if gone > 0 {
        write!(out, "; {gone} of them not there")?;
    }
    if nodes > 0 && !whole {
        write!(out, "; the scan did not see all (--all for no limit)")?;
    }
    writeln!(out, "; {} compared with the servers", counted(found.comparison.compared, "slot"))?;
    if !found.coverage.unseen_slots.is_empty() {
        writeln!(out, "{BAD}slots not seen: {}{BAD:#}", found.coverage.unseen_slots.join(", "))?;
    }
    let names: Vec<_> = found.families.iter().filter(|counted| counted.keys > 0).collect();
    let names: Vec<_> = names.iter().map(|counted| format!("{} {}", counted.name, counted.keys)).collect();
    let names =
        if names.is_empty() { "none that was seen is of the contract".to_owned() } else { names.join(", ") };
    writeln!(out, "{DIM}{names}{DIM:#}")
}

fn more(out: &mut dyn Write, shown: u64, all: u64, what: &str) -> io::Result<()> {
    if all > shown { writeln!(out, "… and {} more {what}", all - shown) } else { Ok(()) }
}

fn counted(count: u64, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) if stem.ends_with('r') => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}

pub(crate) fn run(args: &Args, global: &Global, screen: &mut Screen) -> anyhow::Result<Exit> {
    if args.stdin && args.file.is_stdin() {
        bail!("standard input can not be the contract and the keys at once; write the contract into a file");
    }
    let contract = if args.own { Contract::echomq() } else { args.file.read()? };
    let checked = contract.check();
    if checked.has_errors() {
        exit::note(&format!("keys are held against a contract without errors; mend these first\n{checked}"));
        return Ok(Exit::Finding);
    }
    let limits = limits(args, global)?;
    let bar = progress_bar();
    let found = server::with(global, async |mq| {
        let mut verifier = Verifier::new(mq.client(), &contract, limits);
        if args.stdin {
            given(args.spelling, &mut verifier, &bar).await?;
        } else {
            verifier.scan(|coverage| bar.set_message(counted(coverage.keys, "key"))).await;
        }
        Ok(verifier.finish())
    });
    bar.finish_and_clear();
    let found = found?;
    let (fine, complete) = (found.is_fine(), found.is_complete());
    screen.show(&ContractVerification { fine, complete, found: &found })?;
    Ok(if complete { Exit::finding_if(!fine) } else { Exit::Trouble })
}

fn limits(args: &Args, global: &Global) -> anyhow::Result<Limits> {
    let time = span::parse(&args.time).context("--time")?;
    Ok(Limits {
        keys: Some(args.keys).filter(|_| !args.all),
        time: Some(time).filter(|_| !args.all),
        matching: args.matching.clone().map(OsString::into_vec).unwrap_or_default(),
        prefix: global.prefix.as_encoded_bytes().to_vec(),
        ..Limits::default()
    })
}

/// Looks at the keys of standard input, in batches.
async fn given(spelling: Spelling, verifier: &mut Verifier<'_>, bar: &ProgressBar) -> anyhow::Result<()> {
    let mut lines = spelling.lines();
    let mut seen = 0;
    loop {
        let batch = lines.by_ref().take(BATCH).collect::<anyhow::Result<Vec<_>>>()?;
        if batch.is_empty() {
            return Ok(());
        }
        seen += batch.len() as u64;
        verifier.keys(batch).await;
        bar.set_message(counted(seen, "key"));
    }
}

/// On standard error, and only when that is a terminal.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_message("0 keys");
    bar.enable_steady_tick(Duration::from_millis(200));
    let style = ProgressStyle::with_template("{spinner} {msg}  {elapsed}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}
