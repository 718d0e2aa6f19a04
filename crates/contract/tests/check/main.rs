//! Contracts and what is said of them.

mod cases;
mod directory;
mod example;
mod faults;
mod format;
mod proofs;
mod queue;

use echomq_contract::{Code, Contract, Report};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn contract(path: impl AsRef<Path>) -> Contract {
    let path = path.as_ref();
    Contract::parse(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The line and the code of each finding.
fn found(report: &Report) -> Vec<(usize, Code)> {
    report.findings.iter().map(|finding| (finding.at.line, finding.code)).collect()
}
