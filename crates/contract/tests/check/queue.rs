//! The contract of EchoMQ's own keys is its key file, and its operations are its scripts.

use super::contract;
use echomq_contract::{Contract, OperationKind};
use echomq_keyspace::{JobId, KeyKind, KeyName, KeyType, Part, PartCount, Prefix, QueueName};
use proptest::prelude::*;
use std::collections::BTreeMap;

const KEY_FILE: &str = include_str!("../../../keyspace/src/keys.rs");

fn own() -> Contract {
    contract("crates/contract/contracts/echomq.toml")
}

/// The type that the key file's documentation gives each pattern: ``/// Sorted set, `emq:{q}:pending`: …``.
fn documented() -> BTreeMap<&'static str, KeyType> {
    let types = [
        ("String", KeyType::String),
        ("Hash", KeyType::Hash),
        ("Sorted set", KeyType::SortedSet),
        ("Sharded pub/sub channel", KeyType::Channel),
    ];
    let lines =
        KEY_FILE.lines().filter_map(|line| line.trim().strip_prefix("/// ")?.split_once(", `emq:{q}:"));
    lines
        .map(|(noun, rest)| {
            let (_, key_type) =
                types.iter().find(|(name, _)| *name == noun).unwrap_or_else(|| panic!("{noun}"));
            (rest.split_once('`').expect("a closing mark").0, *key_type)
        })
        .collect()
}

#[test]
fn the_contract_has_every_key_of_the_key_file_with_its_type_and_no_other() {
    let (contract, documented) = (own(), documented());
    let keys = &contract.families[0].keys;
    assert_eq!(keys.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), KeyKind::ALL.map(KeyKind::word));
    assert_eq!(documented.len(), KeyKind::ALL.len());
    for (key, kind) in keys.iter().zip(KeyKind::ALL) {
        let fields: Vec<_> = key.pattern.template().unwrap().fields().collect();
        assert_eq!(fields, if kind.has_id() { vec!["q", "id"] } else { vec!["q"] }, "{kind}");
        let rest = key.pattern.text.strip_prefix("emq:{q}:").unwrap();
        assert_eq!(documented.get(rest), Some(&key.key_type), "{kind}");
        assert_eq!(kind.key_type(), key.key_type, "{kind}");
    }
}

#[test]
fn every_operation_on_the_queue_is_proven_under_the_queues_name() {
    let report = own().check();
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.proofs.len(), own().operations.len());
    assert!(report.proofs.iter().all(|proof| proof.tag.as_deref() == Some("{<q>}")));
}

/// The kinds of key in a script's header, in its order.
fn header_keys(script: &str) -> Vec<String> {
    let header = script.lines().skip(1).take_while(|line| line.starts_with("-- "));
    let keys = header.filter_map(|line| line.strip_prefix("-- KEYS[")?.split_once("] emq:{q}:"));
    keys.map(|(_, rest)| format!("queue.{}", rest.split([':', ' ']).next().unwrap_or_default())).collect()
}

#[test]
fn each_script_of_the_queue_is_an_operation_with_the_keys_of_its_header() {
    let contract = own();
    let mut operations: BTreeMap<_, _> = contract
        .operations
        .iter()
        .filter(|operation| operation.kind == OperationKind::Script)
        .map(|operation| {
            (operation.name.as_str(), operation.keys.iter().map(|key| key.text.as_str()).collect::<Vec<_>>())
        })
        .collect();
    for file in std::fs::read_dir(super::root().join("crates/queue/src/scripts")).expect("a folder").flatten()
    {
        let path = file.path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("UTF-8");
        let keys = header_keys(&std::fs::read_to_string(&path).expect("a script"));
        let declared = operations.remove(name);
        assert_eq!(
            declared,
            Some(keys.iter().map(String::as_str).collect()),
            "[operation.{name}] of echomq.toml"
        );
    }
    assert!(operations.is_empty(), "operations without a script: {operations:?}");
}

proptest! {
    #[test]
    fn the_contract_and_the_key_file_spell_the_same_keys(
        name in "[^{}:~\\s\\p{Cc}]{1,24}", id in prop::collection::vec(any::<u8>(), 1..40), part in 0..3_usize,
    ) {
        let (Ok(queue), Ok(id)) = (QueueName::parse(&name), JobId::parse(&id)) else { return Ok(()) };
        let part = &Part::spread(&queue, PartCount::new(3).unwrap())[part];
        let contract = own();
        let family = &contract.families[0];
        for (key, kind) in family.keys.iter().zip(KeyKind::ALL) {
            let job = kind.has_id().then(|| id.clone());
            let mut key_name = KeyName::parse(&Prefix::none(), b"emq:{q}:meta").unwrap();
            (key_name.queue, key_name.suffix, key_name.kind, key_name.id) = (queue.clone(), part.suffix(), kind, job);
            let value = |field: &str| if field == "q" { part.tag().as_bytes() } else { id.as_bytes() };
            prop_assert_eq!(key_name.build(&Prefix::none()), key.pattern.template().unwrap().build(value));
            for field in key.pattern.template().unwrap().fields() {
                let rule = family.field(field);
                prop_assert!((rule.min_bytes..=rule.max_bytes).contains(&value(field).len()));
                prop_assert!(value(field).iter().all(|byte| rule.alphabet.contains(*byte)), "{:?}", value(field));
            }
        }
    }
}
