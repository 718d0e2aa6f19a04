//! A text that is no contract is refused with its line and what to write.

use echomq_contract::{Contract, OperationKind};
use echomq_keyspace::KeyType;
use proptest::prelude::*;

const GOOD: &str = r#"contract = 1

[family.order]
tag = { field = "order", alphabet = "A-Z0-9", length = [1, 16], cardinality = 1_000_000 }

[family.order.fields]
number = { alphabet = "0-9", length = [1, 4] }

[family.order.keys]
head = { type = "hash", pattern = "order:{order}:head", legacy = ["order:<order>"] }
line = { type = "hash", pattern = "order:{order}:line:<number>" }

[operation.add]
kind = "script"
keys = [
    "order.head",
    "order.line",
]
"#;

#[test]
fn a_contract_is_read_in_the_order_of_the_file_with_the_lines() {
    let contract = Contract::parse(GOOD).unwrap();
    let family = &contract.families[0];
    assert_eq!((family.name.as_str(), family.line, family.cardinality), ("order", 3, 1_000_000));
    assert_eq!((family.tag.min_bytes, family.tag.max_bytes, family.tag.line), (1, 16, 4));
    let keys: Vec<_> =
        family.keys.iter().map(|key| (key.name.as_str(), key.pattern.line, key.key_type)).collect();
    assert_eq!(keys, [("head", 10, KeyType::Hash), ("line", 11, KeyType::Hash)]);
    assert_eq!(family.keys[0].legacy[0].text, "order:<order>");
    let operation = &contract.operations[0];
    assert_eq!((operation.line, operation.kind), (13, OperationKind::Script));
    assert_eq!(operation.keys.iter().map(|key| key.line).collect::<Vec<_>>(), [16, 17]);
    assert_eq!(contract.shards, 16);
}

/// The error for the good contract with one text in place of another.
#[track_caller]
fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    Contract::parse(&GOOD.replacen(from, to, 1)).expect_err(to).to_string()
}

/// A text of the good contract, what stands in its place, and how the error begins.
const FAULTS: &[(&str, &str, &str)] = &[
    (
        "contract = 1",
        "contract = 2",
        "line 1, contract: this version of the format is not known; write contract = 1",
    ),
    ("contract = 1\n", "\n", "line 1: `contract` is missing; write contract = 1 first"),
    (
        "[family.order]",
        "[famly.order]",
        "line 3, famly: `famly` is no setting here; use contract, cluster, family, operation",
    ),
    (
        "alphabet = \"A-Z0-9\",",
        "",
        "line 4, family.order.tag: `alphabet` is missing; write which bytes a value may have",
    ),
    (
        "\"A-Z0-9\"",
        "\"9-0\"",
        "line 4, family.order.tag.alphabet: byte 0: a range of the alphabet runs backwards; write its lower end",
    ),
    (
        "[1, 16]",
        "[16, 1]",
        "line 4, family.order.tag.length: the shortest value is longer than the longest; write the shortest",
    ),
    ("[1, 16]", "[1, 2, 3]", "line 4, family.order.tag.length: a length has two bounds; "),
    (
        "[1, 16]",
        "[1, 513]",
        "line 4, family.order.tag.length: the longest value has 513 bytes; write 1 to 512",
    ),
    ("[1, 16]", "[0]", "line 4, family.order.tag.length: the longest value has 0 bytes; write 1 to 512"),
    (
        "[1, 16]",
        "16",
        "line 4, family.order.tag.length: it is to be a list, and is of type integer; write it in brackets",
    ),
    (
        "1_000_000",
        "-1",
        "line 4, family.order.tag.cardinality: it is to be a whole number that is not negative",
    ),
    ("1_000_000", "\"many\"", "line 4, family.order.tag.cardinality: it is to be a whole number"),
    (
        "field = \"order\"",
        "field = \"Order\"",
        "line 4, family.order.tag.field: this is no field name; use words of a-z",
    ),
    (
        "number = {",
        "order = {",
        "line 7, family.order: field `order` is the tag field, and is declared with it; remove it here",
    ),
    (
        "number = {",
        "\"no\\n\" = {",
        "line 7, family.order.fields.no\\n: \"no\\n\" can not be a name here; use words of a-z",
    ),
    (
        "head = {",
        "head_legacy = {",
        "line 10, family.order.keys.head_legacy: constructors have a method of this name for the names from before",
    ),
    (
        "type = \"hash\"",
        "type = \"json\"",
        "line 10, family.order.keys.head.type: `json` is no type of a key; use one of string, list",
    ),
    (
        "type = \"hash\"",
        "typ = \"hash\"",
        "line 10, family.order.keys.head.typ: `typ` is no setting here; use about, type, pattern",
    ),
    (
        ":head\"",
        ":<head\"",
        "line 10, family.order.keys.head.pattern: byte 14: a \"<\" is never closed; write a field as <name>",
    ),
    (
        "[\"order:<order>\"]",
        "[\"order:>\"]",
        "line 10, family.order.keys.head.legacy: byte 6: a \">\" has no",
    ),
    (
        "legacy = [",
        "alone = 1, legacy = [",
        "line 10, family.order.keys.head.alone: it is to be true or false, and is of type integer",
    ),
    (
        "kind = \"script\"",
        "kind = \"lua\"",
        "line 14, operation.add.kind: `lua` is no kind of operation; use one of script, transaction",
    ),
    (
        "    \"order.head\",",
        "    7,",
        "line 16, operation.add.keys: it is to be a text, and is of type integer; write it in quotes",
    ),
    (
        "[operation.add]",
        "[cluster]\nshards = 0\n[operation.add]",
        "line 14, cluster.shards: a cluster has 1 to 16384 primaries",
    ),
    (
        "[operation.add]",
        "[operation.\"\\u001b[2J\"]",
        "line 13, operation.\\x1b[2J: \"\\x1b[2J\" can not be a name here",
    ),
    ("line = {", "head = {", "line 11: duplicate key; mend the TOML there"),
];

#[test]
fn each_fault_of_the_form_names_its_line_and_what_to_write() {
    for (from, to, text) in FAULTS {
        let refused = refused(from, to);
        assert!(refused.starts_with(text), "{refused}\n{text}");
    }
}

#[test]
fn a_family_without_keys_is_refused() {
    let bare = &GOOD[..GOOD.find("head =").unwrap()];
    assert!(
        Contract::parse(bare).unwrap_err().to_string().starts_with("line 3, family.order: it has no keys; ")
    );
    let none = &GOOD[..GOOD.find("[family.order.keys]").unwrap()];
    assert!(
        Contract::parse(none)
            .unwrap_err()
            .to_string()
            .starts_with("line 3, family.order: `keys` is missing; ")
    );
}

#[test]
fn the_example_of_the_formats_description_is_a_contract_without_faults() {
    let page = include_str!("../../keyspace-toml.md");
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let report = Contract::parse(example).unwrap_or_else(|error| panic!("{error}")).check();
    assert!(report.is_clean() && report.proofs.len() == 1, "{report}");
}

proptest! {
    #[test]
    fn no_text_panics(at in 0..GOOD.len(), cut in 0..40_usize, put in "[\\PC\n\"'{}<>=\\[\\]]{0,8}") {
        let end = (at + cut).min(GOOD.len());
        let text = [&GOOD[..at], &put, &GOOD[end..]].concat();
        match Contract::parse(&text) {
            Ok(contract) => drop(contract.check().to_string()),
            Err(error) => prop_assert!(error.line() >= 1 && error.line() <= text.lines().count().max(1) + 1, "{}", error),
        }
    }
}
