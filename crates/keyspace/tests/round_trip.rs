//! Names, ids and keys, there and back.

use echomq_keyspace::{
    IdSource, JobId, KeyKind, KeyName, Kind, Part, PartCount, PartKeys, Prefix, QueueName, Slot, tag_for,
};
use proptest::prelude::*;

fn key_of(keys: &PartKeys, kind: KeyKind, id: &JobId) -> Vec<u8> {
    match kind {
        KeyKind::Pending => keys.pending().to_vec(),
        KeyKind::Active => keys.active().to_vec(),
        KeyKind::Leases => keys.leases().to_vec(),
        KeyKind::Tries => keys.tries().to_vec(),
        KeyKind::Schedule => keys.schedule().to_vec(),
        KeyKind::Dead => keys.dead().to_vec(),
        KeyKind::Unique => keys.unique().to_vec(),
        KeyKind::UniqueOf => keys.uniqueof().to_vec(),
        KeyKind::Meta => keys.meta().to_vec(),
        KeyKind::Wake => keys.wake().to_vec(),
        KeyKind::Job => keys.job(id),
        KeyKind::Mark => keys.mark(id),
        other => panic!("{other} has no function"),
    }
}

prop_compose! {
    fn part()(name in "[^\\p{C}\\p{Z}{}:~]{1,24}", suffix in prop::option::of(0u16..16384)) -> Part {
        let queue = QueueName::parse(&name).unwrap();
        match suffix.and_then(Slot::new) {
            None => Part::first(&queue),
            Some(slot) => Part::from_tag(&format!("{name}~{}", tag_for(format!("{name}~"), slot).unwrap())).unwrap(),
        }
    }
}

fn prefix() -> impl Strategy<Value = Prefix> {
    "[^\\p{C}\\p{Z}{}]{0,12}".prop_map(|prefix| Prefix::parse(prefix).unwrap())
}

fn id() -> impl Strategy<Value = JobId> {
    prop::collection::vec(any::<u8>().prop_filter("control", |byte| !byte.is_ascii_control()), 1..=256)
        .prop_map(|id| JobId::parse(id).unwrap())
}

/// Pieces of keys, put together to be mistaken for each other.
fn almost_a_key() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "emq:", "{", "}", ":", "q", "~", "q~0vQ", "job", "meta", "pending", "1", "\n", "}:",
    ]);
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #[test]
    fn a_key_that_is_built_is_read_back(prefix in prefix(), part in part(), id in id()) {
        let keys = PartKeys::new(&prefix, &part);
        for kind in KeyKind::ALL {
            let key = key_of(&keys, kind, &id);
            let name = KeyName::parse(&prefix, &key).unwrap();
            prop_assert_eq!(&name.part(), &part);
            prop_assert_eq!((name.kind, name.id.as_ref()), (kind, kind.has_id().then_some(&id)));
            prop_assert_eq!(name.build(&prefix), key.clone());
            prop_assert_eq!(Slot::of(&key), part.slot());
        }
    }

    #[test]
    fn a_key_that_is_read_is_built_again(tail in almost_a_key(), head in prop::bool::weighted(0.8)) {
        let key = [if head { b"emq:{".as_slice() } else { b"" }, &tail].concat();
        match KeyName::parse(&Prefix::none(), &key) {
            Ok(name) => prop_assert_eq!(name.build(&Prefix::none()), key),
            Err(error) => prop_assert_eq!(error.key(), key),
        }
    }

    #[test]
    fn two_names_never_share_a_key(
        a in (prefix(), part(), id(), prop::sample::select(KeyKind::ALL.to_vec())),
        b in (prefix(), part(), id(), prop::sample::select(KeyKind::ALL.to_vec())),
        mix in prop::array::uniform4(any::<bool>()),
    ) {
        // Most fields are equal, so that a difference in one has nothing else to show in.
        let b = (
            if mix[0] { a.0.clone() } else { b.0 },
            if mix[1] { a.1.clone() } else { b.1 },
            if mix[2] { a.2.clone() } else { b.2 },
            if mix[3] { a.3 } else { b.3 },
        );
        let key = |(prefix, part, id, kind): &(Prefix, Part, JobId, KeyKind)| key_of(&PartKeys::new(prefix, part), *kind, id);
        let same = a.0 == b.0 && a.1 == b.1 && a.3 == b.3 && (a.2 == b.2 || !a.3.has_id());
        prop_assert_eq!(key(&a) == key(&b), same);
    }

    #[test]
    fn a_name_is_what_the_rule_says(name in prop::collection::vec(prop_oneof![any::<char>(), prop::sample::select(vec!['{', '}', ':', '~', ' ', '\n', 'a'])], 0..40)) {
        let text: String = name.iter().collect();
        let forbidden = |c: &char| "{}:~".contains(*c) || c.is_control() || c.is_whitespace();
        let allowed = !text.is_empty() && text.len() <= 120 && !name.iter().any(forbidden);
        prop_assert_eq!(QueueName::parse(&text).is_ok(), allowed);
    }

    #[test]
    fn an_id_is_what_the_rule_says(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let allowed = (1..=256).contains(&bytes.len()) && !bytes.iter().any(u8::is_ascii_control);
        prop_assert_eq!(JobId::parse(&bytes).is_ok(), allowed);
    }

    #[test]
    fn minted_ids_sort_as_their_numbers(a in any::<u64>(), b in any::<u64>()) {
        let kind = Kind::parse("ORD").unwrap();
        let id = JobId::from_serial(kind, a);
        prop_assert_eq!((id.kind(), id.serial()), (Some(kind), Some(a)));
        prop_assert_eq!(id.cmp(&JobId::from_serial(kind, b)), a.cmp(&b));
        prop_assert_eq!(JobId::parse(id.as_bytes()).unwrap(), id);
    }

    #[test]
    fn the_numbers_of_a_source_grow_whatever_the_clock_does(node in any::<u16>(), clock in prop::collection::vec((prop_oneof![0u64..50, any::<u64>()], 1usize..5000), 1..12)) {
        let mut ids = IdSource::new(node);
        let mut last = None;
        for (now_ms, times) in clock {
            for _ in 0..times {
                let next = ids.next(now_ms);
                prop_assert!(Some(next) > last);
                prop_assert_eq!(next >> 12 & 1023, u64::from(node % 1024));
                last = Some(next);
            }
        }
    }
}

#[test]
fn no_kind_of_white_space_or_control_character_gets_into_a_name() {
    for c in (0..=0x2fff)
        .chain([0x3000])
        .filter_map(char::from_u32)
        .filter(|c| c.is_whitespace() || c.is_control())
    {
        let error = QueueName::parse(format!("a{c}b")).unwrap_err();
        assert!(error.to_string().contains("at byte 1"), "{error}");
        assert!(Prefix::parse(format!("a{c}b")).is_err());
    }
}

#[test]
fn the_limits_of_names_ids_and_tags_are_exact() {
    assert!(QueueName::parse("q".repeat(120)).is_ok() && QueueName::parse("q".repeat(121)).is_err());
    assert!(Prefix::parse("p".repeat(120)).is_ok() && Prefix::parse("p".repeat(121)).is_err());
    assert!(JobId::parse("i".repeat(256)).is_ok() && JobId::parse("i".repeat(257)).is_err());
    let longest = QueueName::parse("q".repeat(120)).unwrap();
    let parts = Part::spread(&longest, PartCount::new(2).unwrap());
    assert!(parts.iter().all(|part| part.tag().len() <= Part::TAG_MAX_BYTES));
}

#[test]
fn the_example_of_a_minted_id_decodes_and_encodes() {
    let id = JobId::parse("ORD0NgWEfAEJfs").unwrap();
    assert_eq!((id.kind().unwrap().as_str(), id.serial()), ("ORD", Some(320_636_799_581_945_856)));
    assert_eq!(JobId::from_serial(id.kind().unwrap(), id.serial().unwrap()), id);
}

#[test]
fn what_is_almost_a_minted_id_has_no_kind() {
    for id in [
        "ORd0NgWEfAEJfs",
        "OR00NgWEfAEJfs",
        "ORD0NgWEfAEJf",
        "ORD0NgWEfAEJfsx",
        "ORD0NgWEfAEJf-",
        "ORDLygHa16AHYG",
    ] {
        assert_eq!(JobId::parse(id).unwrap().kind(), None, "{id}");
    }
    assert_eq!(JobId::parse("ORDLygHa16AHYF").unwrap().serial(), Some(u64::MAX));
    for kind in ["", "OR", "ord", "ORDS", "ÄB", "A1B"] {
        assert!(Kind::parse(kind).unwrap_err().to_string().contains("use three letters A to Z"));
    }
}

#[test]
fn a_key_of_another_program_is_refused_with_the_place_where_it_differs() {
    let prefix = Prefix::parse("eu:").unwrap();
    for (key, says) in [
        (b"emq:{q}:meta".as_slice(), "does not begin with \"eu:emq:{\""),
        (b"eu:emq:{q:meta", "never closed"),
        (b"eu:emq:{}:meta", "its tag is not"),
        (b"eu:emq:{\xff}:meta", "its tag is not"),
        (b"eu:emq:{q~ab}:meta", "its tag is not"),
        (b"eu:emq:{q}meta", "what follows the tag"),
        (b"eu:emq:{q}:metas", "what follows the tag"),
        (b"eu:emq:{q}:meta:1", "what follows the tag"),
        (b"eu:emq:{q}:job", "what follows the tag"),
        (b"eu:emq:{q}:job:", "is not a job id"),
        (b"eu:emq:{q}:job:\n", "is not a job id"),
    ] {
        let error = KeyName::parse(&prefix, key).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains(&key.escape_ascii().to_string()), "{error}");
    }
}

#[test]
fn the_pattern_for_all_queues_escapes_the_prefix_and_is_bound_to_no_slot() {
    let prefix = Prefix::parse("a*[b]:").unwrap();
    assert_eq!(KeyName::pattern(&prefix, KeyKind::Meta), br"a\*\[b\]:emq:{*}:meta");
    assert_eq!(KeyName::pattern(&Prefix::none(), KeyKind::Job), b"emq:{*}:job:*");
}
