//! `echomq key check`: whether keys can be used together.

use std::io::{self, Write};

use echomq_keyspace::{Basis, Escaped, Finding, Verdict, judge};
use serde::Serialize;

use super::input::Keys;
use super::trace::KeyTrace;
use crate::exit::Exit;
use crate::prose;
use crate::screen::{BAD, GOOD, MARK, Report, Screen};

/// Tell whether keys can be used together on a cluster, and if not, why and what to do.
///
/// Exit code 1 when they are not on one slot, or when their names do harm otherwise.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    keys: Keys,
}

#[derive(Serialize)]
struct KeyCheck {
    fine: bool,
    slot: Option<u16>,
    keys: Vec<KeyTrace>,
    findings: Vec<KeyFinding>,
    renaming: Option<KeyRenaming>,
    #[serde(skip)]
    text: String,
}

#[derive(Serialize)]
struct KeyFinding {
    code: &'static str,
    positions: Vec<usize>,
    text: String,
}

#[derive(Serialize)]
struct KeyRenaming {
    tag: String,
    slot: u16,
    basis: &'static str,
    names: Vec<NewName>,
}

#[derive(Serialize)]
struct NewName {
    from: String,
    to: String,
}

impl From<&Verdict<'_>> for KeyCheck {
    fn from(verdict: &Verdict<'_>) -> KeyCheck {
        let finding = |finding: &Finding<'_>| KeyFinding {
            code: finding.code(),
            positions: finding.positions().to_vec(),
            text: finding.to_string(),
        };
        let renaming = verdict.renaming.as_ref().map(|renaming| KeyRenaming {
            tag: Escaped(&renaming.tag).to_string(),
            slot: renaming.slot.get(),
            basis: match renaming.basis {
                Basis::Shared => "shared",
                Basis::Borrowed => "borrowed",
            },
            names: renaming
                .names
                .iter()
                .map(|name| NewName {
                    from: Escaped(name.from).to_string(),
                    to: Escaped(&name.to).to_string(),
                })
                .collect(),
        });
        KeyCheck {
            fine: is_fine(verdict),
            slot: verdict.slot().map(|slot| slot.get()),
            keys: verdict.traces.iter().map(KeyTrace::from).collect(),
            findings: verdict.findings.iter().map(finding).collect(),
            renaming,
            text: verdict.to_string(),
        }
    }
}

impl Report for KeyCheck {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let first = if self.slot.is_some() { GOOD } else { BAD };
        let mut in_first = true;
        for line in prose::set(&self.text, prose::width()).lines() {
            in_first &= !line.is_empty();
            match line.strip_prefix("- ") {
                _ if in_first => writeln!(out, "{first}{line}{first:#}")?,
                Some(finding) => writeln!(out, "{MARK}-{MARK:#} {finding}")?,
                None => writeln!(out, "{line}")?,
            }
        }
        Ok(())
    }
}

/// One slot, and nothing found that does harm. That different entities share a slot because their tags spell the same
/// is how keys of different kinds are brought together on purpose: it is told, and is fine.
fn is_fine(verdict: &Verdict<'_>) -> bool {
    let harmless = |finding: &Finding<'_>| matches!(finding, Finding::SameSpelling { .. });
    verdict.slot().is_some() && verdict.findings.iter().all(harmless)
}

pub(crate) fn run(args: Args, screen: &mut Screen) -> anyhow::Result<Exit> {
    let keys = args.keys.read_all()?;
    anyhow::ensure!(!keys.is_empty(), "no keys to check: give some, or lines on standard input");
    let verdict = judge(&keys);
    let report = KeyCheck::from(&verdict);
    screen.show(&report)?;
    Ok(Exit::finding_if(!report.fine))
}
