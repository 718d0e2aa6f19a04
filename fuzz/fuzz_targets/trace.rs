//! Any bytes as a key, and any lines as keys: slot, trace and verdict agree with the rule, and their texts are safe to print.

#![no_main]

use echomq_keyspace::{PatternSlot, Slot, Why, group_by_slot, hash_tag, judge, pattern, trace};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|key: &[u8]| {
    let trace = trace(key);
    assert_eq!(trace.slot, Slot::of(key));
    assert_eq!(trace.slot.get(), bitwise_crc16(by_the_rule(key)) % 16384);
    assert_eq!((trace.hashed, hash_tag(key)), (by_the_rule(key), by_the_rule(key)));
    assert_eq!(trace.why == Why::Tag, trace.hashed.len() < key.len());
    assert_printable(&trace.to_string());

    if !key.iter().any(|byte| b"*?[\\".contains(byte)) {
        assert_eq!(pattern(key), PatternSlot::One(trace.slot));
    }

    let keys: Vec<&[u8]> = key.split(|byte| *byte == b'\n').collect();
    let verdict = judge(&keys);
    assert_eq!(verdict.slot().is_some(), group_by_slot(&keys).len() == 1);
    assert_printable(&verdict.to_string());
    if let Some(renaming) = &verdict.renaming {
        assert!(renaming.names.iter().all(|name| Slot::of(&name.to) == renaming.slot));
    }
});

fn by_the_rule(key: &[u8]) -> &[u8] {
    let position = |bytes: &[u8], needle| bytes.iter().position(|byte| *byte == needle);
    let tag = position(key, b'{')
        .and_then(|open| position(&key[open + 1..], b'}').map(|len| &key[open + 1..][..len]));
    tag.filter(|tag| !tag.is_empty()).unwrap_or(key)
}

fn bitwise_crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc: u16, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    })
}

fn assert_printable(text: &str) {
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
}
