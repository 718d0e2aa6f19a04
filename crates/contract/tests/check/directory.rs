//! Keys of servers, looked up in a contract.

use super::{contract, read};
use echomq_contract::{Contract, Entry, Likeness};
use echomq_keyspace::QueueName;

/// What the list of keys calls a finding, in its words.
fn verdict(entry: &Entry<'_>, key: &str, found: &str) -> String {
    match entry {
        Entry::Today(title) if title.key.key_type.word() == found => "ok".to_owned(),
        Entry::Today(title) => format!("wrong type: {} expected", title.key.key_type),
        Entry::Nobody(Likeness::Braces { meant, .. }) => {
            assert!(!key.contains('{'));
            format!("no tag: not under the contract, looks like {}", String::from_utf8_lossy(meant))
        }
        Entry::Nobody(Likeness::Entity { value, .. }) => {
            format!("unknown key of entity {}", String::from_utf8_lossy(value))
        }
        Entry::Nobody(Likeness::Blanks { .. }) => "unknown key (trailing space)".to_owned(),
        Entry::Nobody(Likeness::Value { value, .. }) if value.is_empty() => "empty tag".to_owned(),
        other => panic!("{key}: {other:?}"),
    }
}

#[test]
fn c100_each_key_of_the_list_is_told_from_a_sound_one() {
    let contract = contract("testdata/contracts/queue-good.toml");
    let directory = contract.directory();
    let list = read("testdata/contracts/keys-to-validate.tsv");
    let mut keys = 0;
    for row in list.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = row.split('\t').collect();
        let &[key, found, expected] = columns.as_slice() else { panic!("{row:?}") };
        assert_eq!(verdict(&directory.find(key.as_bytes()), key, found), expected, "{key:?}");
        keys += 1;
    }
    assert_eq!(keys, 7);
}

#[test]
fn names_from_before_lead_to_the_names_of_today() {
    let contract = contract("crates/contract/contracts/shop.toml");
    let directory = contract.directory();
    for (before, title, today) in [
        ("order:A7-1", "order.head", "order:{A7-1}:head"),
        ("order:A7-1:items", "order.items", "order:{A7-1}:items"),
        ("order:A7-1:line:12", "order.line", "order:{A7-1}:line:12"),
    ] {
        let entry = directory.find(before.as_bytes());
        let Entry::Before { title: found, today: key, pattern, .. } = entry else { panic!("{entry:?}") };
        assert_eq!((found.to_string().as_str(), key.as_slice()), (title, today.as_bytes()));
        assert!(found.key.legacy.contains(pattern));
        assert!(matches!(directory.find(&key), Entry::Today(found) if found.to_string() == title));
    }
}

#[test]
fn a_value_that_the_family_does_not_allow_is_named() {
    let contract = contract("crates/contract/contracts/shop.toml");
    let entry = contract.directory().find(b"session:{ann}:data");
    let Entry::Nobody(Likeness::Value { title, value }) = &entry else { panic!("{entry:?}") };
    assert_eq!((title.to_string().as_str(), value.as_slice()), ("session.data", &b"ann"[..]));
}

#[test]
fn braces_at_the_wrong_place_are_told_with_the_right_one() {
    let contract = contract("crates/contract/contracts/shop.toml");
    for key in ["order:A7-1:{items}", "{order}:A7-1:items", "{order:A7-1:items}", "order:{A7-1:items"] {
        let entry = contract.directory().find(key.as_bytes());
        let Entry::Nobody(Likeness::Braces { meant, .. }) = &entry else { panic!("{key}: {entry:?}") };
        assert_eq!(meant, b"order:{A7-1}:items", "{key}");
    }
}

#[test]
fn what_has_nothing_of_the_contract_is_like_nothing() {
    let contract = contract("crates/contract/contracts/shop.toml");
    for key in [&b""[..], b"celery", b"{}", b"\xff\x00", b"order", b"sess", b" ", &[b'{'; 4_000]] {
        assert_eq!(contract.directory().find(key), Entry::Nobody(Likeness::Nothing), "{key:?}");
    }
}

#[test]
fn the_keys_of_echomq_are_its_contracts_own() {
    let contract = Contract::echomq();
    assert_eq!(contract, self::contract("crates/contract/contracts/echomq.toml"));
    assert!(
        matches!(contract.directory().find(b"emq:{orders~0vQ}:job:{x}"), Entry::Today(title) if title.key.name == "job")
    );
}

/// The contract knows bytes alone: of UTF-8 it knows which bytes can occur, and `~` it takes for that of a part.
#[test]
fn c008_the_contract_of_echomq_says_of_each_odd_name_what_the_library_says() {
    let contract = Contract::echomq();
    let directory = contract.directory();
    let mut verdicts = [0, 0];
    for row in read("testdata/cases/keys/queue-names.tsv").lines().filter(|line| !line.starts_with('#')) {
        let (hex, rest) = row.split_once('\t').unwrap();
        let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
        let name: Vec<u8> = digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
        let key = [b"emq:{", name.as_slice(), b"}:meta"].concat();
        let is_taken = matches!(directory.find(&key), Entry::Today(_));
        assert_eq!(is_taken, QueueName::parse(&name).is_ok(), "{rest}");
        verdicts[usize::from(is_taken)] += 1;
    }
    assert!(verdicts[0] > 3 && verdicts[1] > 3, "{verdicts:?}");
}
