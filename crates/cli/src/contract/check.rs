//! `echomq contract check`: whether the operations of a contract hold on a cluster.

use std::io::{self, Write};

use echomq_contract::{Finding, Proof, Report as Checked, Severity};
use serde::Serialize;

use super::input::File;
use crate::exit::Exit;
use crate::screen::{BAD, DIM, GOOD, HEAD, MARK, Report, Screen};

/// Prove each operation of a contract co-located, whatever the values are, and find what is wrong with its names.
///
/// A finding names its line and what to write instead. Exit code 1 when there is one, 2 when the file is no contract.
/// The form of the file is described in crates/contract/keyspace-toml.md.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: File,
}

#[derive(Serialize)]
struct ContractCheck<'a> {
    fine: bool,
    findings: &'a [Finding],
    proofs: &'a [Proof],
    #[serde(skip)]
    summary: String,
}

impl<'a> From<&'a Checked> for ContractCheck<'a> {
    fn from(checked: &'a Checked) -> ContractCheck<'a> {
        ContractCheck {
            fine: checked.is_clean(),
            findings: &checked.findings,
            proofs: &checked.proofs,
            summary: checked.summary(),
        }
    }
}

impl Report for ContractCheck<'_> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for finding in self.findings {
            let style = if finding.severity == Severity::Error { BAD } else { MARK };
            let Finding { severity, code, at, text, remedy, .. } = finding;
            writeln!(
                out,
                "line {}: {style}{severity}[{code}]{style:#} {HEAD}{}{HEAD:#}: {text}",
                at.line, at.path
            )?;
            writeln!(out, "    {remedy}")?;
        }
        for proof in self.proofs {
            writeln!(out, "{DIM}{proof}{DIM:#}")?;
        }
        let style = if self.fine { GOOD } else { BAD };
        writeln!(out, "{style}{}{style:#}", self.summary)
    }
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> anyhow::Result<Exit> {
    let checked = args.file.read()?.check();
    screen.show(&ContractCheck::from(&checked))?;
    Ok(Exit::finding_if(!checked.is_clean()))
}
