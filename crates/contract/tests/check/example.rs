//! The two examples: one without faults, one with a fault of each kind, and what is said of each, byte for byte.

use super::{contract, found};
use echomq_contract::{Code, Report};
use std::collections::BTreeSet;
use std::path::Path;

/// Compares with a file under `tests/golden`, or writes it when `ECHOMQ_UPDATE_GOLDEN` is set.
fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("ECHOMQ_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).expect("a file");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == text, "{name} is not as it was (ECHOMQ_UPDATE_GOLDEN=1 writes it anew):\n{text}");
}

fn json(report: &Report) -> String {
    serde_json::to_string_pretty(report).expect("JSON") + "\n"
}

#[test]
fn the_example_with_faults_shows_every_kind_of_them() {
    let report = contract("crates/contract/contracts/faults.toml").check();
    let codes: BTreeSet<_> = report.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, Code::ALL.iter().copied().collect());
    assert!(found(&report).is_sorted_by_key(|(line, _)| *line));
    assert_golden("faults.txt", &report.to_string());
    assert_golden("faults.json", &json(&report));
}

#[test]
fn the_example_without_faults_is_proven_whole() {
    let contract = contract("crates/contract/contracts/shop.toml");
    let report = contract.check();
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.proofs.len(), contract.operations.len());
    assert_golden("shop.txt", &report.to_string());
    assert_golden("shop.json", &json(&report));
}
