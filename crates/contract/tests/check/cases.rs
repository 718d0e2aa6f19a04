//! Cases from the field, C011, C012, C019 and C079: what the check of a contract says of each.

use super::{contract, read};
use echomq_contract::{Code, Contract, Severity};
use echomq_keyspace::Slot;
use std::collections::BTreeSet;

/// What a file expects of its own check: `# expect: line 10, no-tag`.
fn expected(text: &str) -> (usize, &str) {
    let expect = text
        .lines()
        .find_map(|line| line.strip_prefix("# expect: line "))
        .expect("a line with what is expected");
    let (line, code) = expect.split_once(", ").expect("a line and a code");
    (line.parse().expect("a number"), code)
}

fn violation(case: &str) -> String {
    read(format!("testdata/contracts/violations/{}.toml", case.replace(' ', "-")))
}

/// The contract of a violation, when its check says what is expected and nothing else.
fn checked(case: &str) -> (Code, Severity, String) {
    let text = violation(case);
    assert!(text.contains(&format!("# case: {case}\n")), "{case}");
    let report = Contract::parse(&text).unwrap_or_else(|error| panic!("{case}: {error}")).check();
    let [finding] = report.findings.as_slice() else { panic!("{case}: {report}") };
    assert_eq!((finding.at.line, finding.code.word()), expected(&text), "{case}: {report}");
    (finding.code, finding.severity, format!("{} {}", finding.text, finding.remedy))
}

#[test]
fn every_violation_of_the_list_is_found_and_weighed_as_expected() {
    let list: serde_json::Value =
        serde_json::from_str(&read("testdata/contracts/violations.json")).expect("JSON");
    let list = list.as_array().expect("a list");
    assert_eq!(list.len(), 8);
    let mut files = BTreeSet::new();
    for violation in list {
        let (case, expect) =
            (violation["case"].as_str().expect("a case"), violation["expect"].as_str().expect("a verdict"));
        let (_, severity, _) = checked(case);
        let weight = if expect.starts_with("warned") { Severity::Warning } else { Severity::Error };
        assert_eq!(severity, weight, "{case}: {expect}");
        files.insert(format!("{}.toml", case.replace(' ', "-")));
    }
    let folder = std::fs::read_dir(super::root().join("testdata/contracts/violations")).expect("a folder");
    let there: BTreeSet<_> =
        folder.map(|file| file.expect("a file").file_name().into_string().expect("UTF-8")).collect();
    assert_eq!(there, files);
}

#[test]
fn the_good_queue_of_the_list_is_proven() {
    let (contract, json) =
        (contract("testdata/contracts/queue-good.toml"), read("testdata/contracts/queue-good.json"));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let keys = contract.families[0].keys.iter();
    let keys: Vec<_> = keys
        .map(|key| serde_json::json!({"pattern": key.pattern.text, "type": key.key_type.word()}))
        .collect();
    assert_eq!(json["keys"], serde_json::Value::Array(keys));
    let report = contract.check();
    assert!(report.is_clean(), "{report}");
    let names: Vec<_> =
        json["operations"].as_array().expect("a list").iter().map(|operation| &operation["name"]).collect();
    assert_eq!(names, report.proofs.iter().map(|proof| proof.operation.as_str()).collect::<Vec<_>>());
    for (operation, proof) in json["operations"].as_array().expect("a list").iter().zip(&report.proofs) {
        let short = |pattern: &String| serde_json::Value::from(pattern.rsplit_once("}:").expect("a tag").1);
        assert_eq!(operation["keys"], proof.keys.iter().map(short).collect::<serde_json::Value>());
    }
}

#[test]
fn c011_an_operation_with_a_blank_key_is_refused() {
    let (code, severity, text) = checked("optional key given as empty text");
    assert_eq!((code, severity), (Code::BlankKey, Severity::Error));
    assert!(
        text.contains("the empty key is on slot 0") && text.contains("where a key is optional"),
        "{text}"
    );
    for blank in [" ", "\\t"] {
        let text = violation("optional key given as empty text").replace("\"\"", &format!("\"{blank}\""));
        assert_eq!(Contract::parse(&text).unwrap().check().findings[0].code, Code::BlankKey);
    }
}

#[test]
fn c012_a_constant_tag_is_a_warning_of_its_own_that_names_the_slot_of_everything() {
    let (code, severity, text) = checked("constant tag");
    assert_eq!((code, severity), (Code::ConstantTag, Severity::Warning));
    let slot = Slot::of(b"emq");
    assert!(text.contains(&format!("co-located, but every entity shares slot {slot}: ")), "{text}");
    assert!(text.ends_with("put the braces around the field: emq:{queue}:pending"), "{text}");
}

#[test]
fn c012_an_operation_under_a_constant_tag_is_proven_with_its_slot() {
    let text =
        violation("constant tag") + "[operation.peek]\nkind = \"command\"\nkeys = [\"queue.pending\"]\n";
    let report = Contract::parse(&text).unwrap().check();
    assert!(!report.has_errors() && !report.is_clean());
    assert_eq!(report.proofs[0].slot, Some(Slot::of(b"emq").get()));
    assert_eq!(report.proofs[0].tag.as_deref(), Some("{emq}"));
}

#[test]
fn c019_an_operation_without_keys_is_refused() {
    let (code, severity, text) = checked("operation without keys");
    assert_eq!((code, severity), (Code::NoKeys, Severity::Error));
    assert!(text.contains("a script without keys can not be routed"), "{text}");
}

#[test]
fn c079_a_claim_that_spans_a_jobs_key_and_a_workers_is_refused_and_sound_ones_are_proven() {
    const FILE: &str = "testdata/contracts/job-and-worker.toml";
    let report = contract(FILE).check();
    let [finding] = report.findings.as_slice() else { panic!("{report}") };
    assert_eq!((finding.at.line, finding.code.word()), expected(&read(FILE)));
    assert_eq!(finding.text, "two tags: job.row has {<job>}, and worker.running has {<worker>}");
    assert_eq!(
        finding.remedy,
        "keep under {job} what changes together, and write the rest apart, where its delay does no harm"
    );
    let proofs: Vec<_> =
        report.proofs.iter().map(|proof| (proof.operation.as_str(), proof.tag.as_deref())).collect();
    assert_eq!(proofs, [("start", Some("{<job>}")), ("note", Some("{<worker>}"))]);
}
