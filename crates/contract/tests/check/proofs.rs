//! A proof holds: whatever the patterns of a contract are, where an operation is proven, no values put its keys on two slots.

use echomq_contract::{Contract, Field};
use echomq_keyspace::Slot;
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pieces of a pattern; the tag field is `t`.
const PIECES: &[&str] = &["{", "}", "{t}", "{t}", "<t>", "{<t>}", "{c<t>}", "<x>", ":", "a"];

/// Alphabets with braces and without.
const ALPHABETS: &[&str] = &["ab", "a{", "b}", "{}", "!-~"];

fn a_pattern() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 1..6).prop_map(|pieces| pieces.concat())
}

fn a_contract() -> impl Strategy<Value = String> {
    let alphabet = || prop::sample::select(ALPHABETS);
    (a_pattern(), a_pattern(), alphabet(), alphabet(), 0..2_u8, 0..2_u8).prop_map(|(first, second, t, x, least_t, least_x)| {
        format!(
            "contract = 1\n[family.f]\ntag = {{ field = 't', alphabet = '{t}', length = [{least_t}, 3], cardinality = 2 }}\n\
             fields.x = {{ alphabet = '{x}', length = [{least_x}, 3] }}\n\
             keys.a = {{ type = 'set', pattern = '{first}' }}\nkeys.b = {{ type = 'set', pattern = '{second}' }}\n\
             [operation.o]\nkind = 'script'\nkeys = ['f.a', 'f.b']\n"
        )
    })
}

/// A value of a field, made of any bytes.
fn value(field: &Field, bytes: &[u8]) -> Vec<u8> {
    let letters: Vec<u8> = field.alphabet.bytes().collect();
    let len = bytes.len().clamp(field.min_bytes, field.max_bytes);
    (0..len).map(|at| letters[usize::from(*bytes.get(at).unwrap_or(&0)) % letters.len()]).collect()
}

static PROVEN: AtomicUsize = AtomicUsize::new(0);

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_values_put_the_keys_of_a_proven_operation_on_two_slots(
        text in a_contract(), values in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 60),
    ) {
        let contract = Contract::parse(&text).unwrap();
        let report = contract.check();
        let Some(proof) = report.proofs.first() else {
            prop_assert!(!report.is_clean(), "neither proven nor said why not: {}", text);
            return Ok(());
        };
        PROVEN.fetch_add(1, Ordering::Relaxed);
        let family = &contract.families[0];
        for values in values.chunks_exact(3) {
            let tag = value(&family.tag, &values[0]);
            let slot = |key: usize| {
                let field = value(&family.field("x"), &values[1 + key]);
                let template = family.keys[key].pattern.template().unwrap();
                Slot::of(&template.build(|name| if name == "t" { tag.as_slice() } else { &field }))
            };
            prop_assert_eq!(slot(0), slot(1), "{:?} in {}", values, text);
            prop_assert!(proof.slot.is_none_or(|constant| constant == slot(0).get()));
        }
    }
}

#[test]
fn the_random_contracts_are_not_all_refused() {
    no_values_put_the_keys_of_a_proven_operation_on_two_slots();
    assert!(PROVEN.load(Ordering::Relaxed) > 100, "{PROVEN:?}");
}
