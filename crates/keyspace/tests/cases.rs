//! Cases from the field, C001 to C010: each assertion that needs neither a connector nor a server. A test is named by its case.

use echomq_keyspace::{
    Finding, IdSource, JobId, KeyKind, KeyName, Kind, NameError, Part, PartKeys, Prefix, QueueName, Slot,
    Why, crc16, judge, trace,
};

const QUEUE_NAMES: &str = include_str!("../../../testdata/cases/keys/queue-names.tsv");
const JOB_IDS: &str = include_str!("../../../testdata/cases/keys/job-ids.tsv");

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn queue(name: &str) -> QueueName {
    QueueName::parse(name).unwrap()
}

fn keys_of(name: &str) -> PartKeys {
    PartKeys::new(&Prefix::none(), &Part::first(&queue(name)))
}

fn slot(key: &str) -> u16 {
    Slot::of(key.as_bytes()).get()
}

#[test]
fn c001_the_checker_names_both_untagged_keys_with_their_slots_and_proposes_tagged_names() {
    let verdict = judge(&["bull:orders:wait", "bull:orders:active"]);
    assert_eq!(verdict.slot(), None);
    let text = verdict.to_string();
    assert!(
        text.contains("slot  2952  bull:orders:wait ") && text.contains("slot  8819  bull:orders:active "),
        "{text}"
    );
    assert!(
        text.contains("becomes  bull:{orders}:wait\n") && text.contains("becomes  bull:{orders}:active"),
        "{text}"
    );
    assert_eq!(verdict.renaming.unwrap().slot.get(), 105);
}

#[test]
fn c001_all_keys_of_a_queue_are_on_one_slot() {
    let keys = keys_of("orders");
    let id = JobId::parse("1").unwrap();
    let (job, mark) = (keys.job(&id), keys.mark(&id));
    let fixed = [
        keys.pending(),
        keys.active(),
        keys.leases(),
        keys.tries(),
        keys.schedule(),
        keys.dead(),
        keys.unique(),
        keys.uniqueof(),
        keys.meta(),
        keys.wake(),
        &job,
        &mark,
    ];
    assert_eq!(judge(&fixed).slot(), Slot::new(105));
    assert!(judge(&fixed).is_clean());
    assert_eq!(keys.slot().get(), 105);
}

#[test]
fn c002_a_key_never_closed_hashes_whole() {
    for (key, expected) in [("emq:{orders:pending", 10320), ("{abc", 444), ("{", crc16(b"{") % 16384)] {
        assert_eq!(slot(key), expected, "{key}");
        let trace = trace(key.as_bytes());
        assert_eq!((trace.why, trace.hashed), (Why::NeverClosed, key.as_bytes()));
        assert!(trace.to_string().contains("no tag: brace never closed"), "{trace}");
    }
}

#[test]
fn c003_the_search_for_the_closing_brace_starts_after_the_opening_one() {
    for (key, hashed, expected) in
        [("emq:}{orders}:pending", "orders", 105), ("}{abc", "}{abc", 15680), ("A}B{C", "A}B{C", 7939)]
    {
        let trace = trace(key.as_bytes());
        assert_eq!(
            (trace.hashed, trace.slot.get(), slot(key)),
            (hashed.as_bytes(), expected, expected),
            "{key}"
        );
    }
}

#[test]
fn c004_the_place_of_the_tag_does_not_matter() {
    for key in ["{orders}:emq", "emq:{orders}:pending", "emq:pending:{orders}"] {
        assert_eq!(slot(key), 105, "{key}");
    }
    assert_eq!(slot("foo{bar}"), slot("bar"));
}

#[test]
fn c005_bytes_are_hashed_and_the_trace_shows_them_in_hex_beside_the_text() {
    for (name, expected) in [("注文", 10291), ("📦", 5073), ("заказы", crc16("заказы".as_bytes()) % 16384)]
    {
        let key = format!("emq:{{{name}}}:pending");
        assert_eq!(slot(&key), expected, "{key}");
        let hex: Vec<_> = name.bytes().map(|byte| format!("{byte:02x}")).collect();
        let text = trace(key.as_bytes()).to_string();
        assert!(text.contains(&format!("bytes   {} (the UTF-8 of {name})", hex.join(" "))), "{text}");
    }
}

#[test]
fn c006_a_tag_in_the_prefix_takes_over_so_it_is_refused_and_the_check_shows_it() {
    assert_eq!(slot("{app}:emq:{orders}:pending"), 6805);
    assert_eq!(slot("{app}:emq:{billing}:pending"), 6805);
    let refused = Prefix::parse("{app}:").unwrap_err().to_string();
    assert!(refused.contains("prefix \"{app}:\" refused") && refused.contains("brace"), "{refused}");
    let verdict = judge(&["{app}:emq:{orders}:pending", "{app}:emq:{billing}:pending"]);
    let constant =
        verdict.findings.iter().find(|finding| finding.code() == "constant-tag").unwrap().to_string();
    assert!(
        constant.contains("every entity shares slot 6805") && constant.contains("the tag \"app\""),
        "{constant}"
    );
}

#[test]
fn c007_a_name_in_braces_is_refused_so_no_key_has_two() {
    assert!(QueueName::parse("{orders}").is_err());
    assert!(KeyName::parse(&Prefix::none(), b"emq:{{orders}}:pending").is_err());
    assert!(Part::from_tag("{orders").is_err());
}

#[test]
fn c008_one_rule_decides_on_every_name_and_an_error_quotes_it_escaped() {
    let mut seen = 0;
    for row in rows(QUEUE_NAMES) {
        let (bytes, escaped, verdict) = (unhex(row[0]), row[1], row[2]);
        let parsed = QueueName::parse(&bytes);
        let accepted = match verdict {
            _ if escaped.contains(' ') => false,
            v if v.starts_with("accept") => true,
            v if v.starts_with("refuse") => false,
            v => panic!("unknown verdict {v}"),
        };
        assert_eq!(parsed.is_ok(), accepted, "{escaped}: {verdict}");
        match parsed {
            Ok(name) => assert_eq!(name.as_str().as_bytes(), bytes, "kept as given"),
            Err(error) => assert_quotes(&error, &bytes, escaped),
        }
        seen += 1;
    }
    assert_eq!(seen, 24);
}

fn assert_quotes(error: &NameError, bytes: &[u8], escaped: &str) {
    assert_eq!(error.input(), bytes);
    let text = error.to_string();
    let quoted = escaped.get(..160).map_or(format!("\"{escaped}\""), |cut| format!("\"{cut}\"..."));
    assert!(text.contains(&quoted), "{text}");
    assert!(text.contains("use 1 to 120 bytes"), "{text}");
    assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{text}");
}

#[test]
fn c009_a_colon_in_a_name_is_refused_so_a_key_can_be_read_back() {
    for name in ["sales:cancel", "sales:job"] {
        assert!(QueueName::parse(name).unwrap_err().to_string().contains("it has \":\" at byte 5"));
    }
    let key = keys_of("sales").job(&JobId::parse("job:1").unwrap());
    let name = KeyName::parse(&Prefix::none(), &key).unwrap();
    assert_eq!(
        (name.queue.as_str(), name.kind, name.id.unwrap().as_bytes()),
        ("sales", KeyKind::Job, b"job:1".as_slice())
    );
}

#[test]
fn c010_any_id_stays_in_its_queues_slot_and_comes_back_byte_for_byte() {
    let keys = keys_of("orders");
    let mut seen = 0;
    for row in rows(JOB_IDS) {
        let (bytes, expected, check) = (unhex(row[0]), row[2].parse().unwrap(), row[3]);
        seen += 1;
        let Ok(id) = JobId::parse(&bytes) else {
            assert!(bytes.is_empty() || bytes.len() > JobId::MAX_BYTES, "{check}");
            continue;
        };
        assert!(!check.contains("refuse above") && check != "refuse", "{check}");
        let key = keys.job(&id);
        assert_eq!(Slot::of(&key).get(), expected, "{}", key.escape_ascii());
        assert_eq!(KeyName::parse(&Prefix::none(), &key).unwrap().id.unwrap().as_bytes(), bytes);
        assert_eq!(id.to_string(), row[1]);
    }
    assert_eq!(seen, 12);
}

#[test]
fn c010_an_id_never_spells_another_key_and_an_empty_one_is_refused() {
    let keys = keys_of("orders");
    assert_ne!(keys.job(&JobId::parse("meta").unwrap()), keys.meta());
    assert!(JobId::parse("").unwrap_err().to_string().contains("it is empty"));
}

#[test]
fn c010_minted_ids_are_no_digits_alone_so_callers_may_count() {
    let mut ids = IdSource::new(0);
    let minted = JobId::from_serial(Kind::parse("ORD").unwrap(), ids.next(1_700_000_000_000));
    assert_eq!((minted.as_bytes().len(), minted.kind().is_some()), (14, true));
    assert_eq!(JobId::parse("4").unwrap().kind(), None);
}

/// C012 stands with the key space too; its heat analysis comes with a server.
#[test]
fn c012_forty_queues_under_one_tag_are_a_warning_of_their_own() {
    let keys: Vec<_> = (0..40).map(|i| format!("{{prod}}:q{i}:pending")).collect();
    let verdict = judge(&keys);
    assert!(verdict.slot().is_some() && !verdict.is_clean());
    let [Finding::ConstantTag { positions, tag, .. }] = verdict.findings.as_slice() else {
        panic!("{verdict}")
    };
    assert_eq!((positions.len(), *tag), (40, b"prod".as_slice()));
}
