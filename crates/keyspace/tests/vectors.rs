//! Keys and the slots that a real Valkey 9.1.2 answered.

use echomq_keyspace::{Escaped, Note, Slot, Why, crc16, hash_tag, trace};

const SEED_CASES: &str = include_str!("../../../testdata/vectors/seed-cases.tsv");
const KEYSLOT: &str = include_str!("../../../testdata/vectors/keyslot-valkey-9.1.tsv");
const SLOT_VECTORS: &str = include_str!("../../../testdata/cases/keys/slot-vectors.tsv");

fn rows<const N: usize>(table: &'static str) -> Vec<[&'static str; N]> {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| line.split('\t').collect::<Vec<_>>().try_into().expect("a row with all columns"))
        .collect()
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

#[test]
fn every_key_has_the_slot_that_the_server_answered() {
    let rows = rows::<2>(KEYSLOT);
    assert_eq!(rows.len(), 3000);
    for [hex, slot] in rows {
        let key = unhex(hex);
        assert_eq!(Slot::of(&key).to_string(), slot, "{hex}");
        assert_eq!(trace(&key).slot.to_string(), slot, "{hex}");
    }
}

#[test]
fn every_seed_case_is_explained_by_its_reason() {
    let rows = rows::<4>(SEED_CASES);
    assert_eq!(rows.len(), 20);
    for [key, hashed, why, slot] in rows {
        let trace = trace(key.as_bytes());
        let expected: (Why, &[Note]) = match why {
            "tag" => (Why::Tag, &[]),
            "first tag only" => (Why::Tag, &[Note::LaterTagIgnored]),
            "first brace to first closing brace" => (Why::Tag, &[Note::NestedBrace]),
            "no brace" | "no brace (CRC16 0x31C3)" => (Why::NoBrace, &[]),
            "empty tag" if key.ends_with("{bar}") => (Why::EmptyTag, &[Note::LaterTagIgnored]),
            "empty tag" => (Why::EmptyTag, &[]),
            other => panic!("{key}: no reason stands for {other:?}"),
        };
        assert_eq!((trace.why, trace.notes.as_slice()), expected, "{key}");
        assert_eq!((trace.hashed, trace.slot.to_string().as_str()), (hashed.as_bytes(), slot), "{key}");
    }
    assert_eq!(crc16(b"123456789"), 0x31C3);
}

#[test]
fn every_case_key_is_hashed_and_shown_as_listed() {
    let rows = rows::<4>(SLOT_VECTORS);
    assert_eq!(rows.len(), 40);
    for [hex, escaped, hashed, slot] in rows {
        let key = unhex(hex);
        assert_eq!(Escaped(&key).to_string(), escaped);
        assert_eq!(Escaped(hash_tag(&key)).to_string(), hashed, "{escaped}");
        assert_eq!(Slot::of(&key).to_string(), slot, "{escaped}");
    }
}
