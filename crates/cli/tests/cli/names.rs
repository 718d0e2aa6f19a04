use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use echomq_keyspace::QueueName;

use crate::run::{cluster, on};

const NAMES: &str = include_str!("../../../../testdata/cases/keys/queue-names.tsv");

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn c008_a_queue_name_gets_the_same_verdict_at_the_command_line_and_in_the_library() {
    let cluster = cluster();
    for row in NAMES.lines().filter(|row| !row.starts_with('#')) {
        let [hex, escaped, verdict, ..] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row:?}") };
        let name = bytes(hex);
        let parsed = QueueName::parse(&name);
        assert!(
            parsed.is_ok() != verdict.starts_with("refuse") || verdict.contains(" or "),
            "{escaped}: {verdict}"
        );
        if name.contains(&0) {
            // The system itself lets no argument hold one.
            assert!(parsed.is_err());
            continue;
        }
        let verbs: [&[&str]; 4] = [
            &["queue", "show"],
            &["job", "add"],
            &["queue", "pause"],
            &["work", "--drain", "--exec", "true"],
        ];
        for verb in verbs {
            let mut words: Vec<&OsStr> = verb.iter().map(OsStr::new).collect();
            // What comes after --exec is the command's.
            words.insert(if verb[0] == "work" { 1 } else { verb.len() }, OsStr::from_bytes(&name));
            if verb == ["job", "add"] {
                words.push(OsStr::new("payload"));
            }
            match &parsed {
                Ok(_) if verb == ["job", "add"] => drop(on(&cluster, words).fine()),
                Ok(_) => {}
                Err(error) => {
                    let ran = on(&cluster, words).run();
                    assert_eq!((ran.code, ran.err), (2, format!("echomq: {error}\n")), "{verb:?} {escaped}");
                }
            }
        }
        if let Ok(name) = parsed {
            let shown = on(&cluster, ["queue", "show", name.as_str(), "--json"]).object();
            assert_eq!(shown["queue"], name.as_str());
            let listed = on(&cluster, ["queue", "ls", "--json"]).fine();
            assert!(listed.contains(&serde_json::to_string(name.as_str()).unwrap()), "{listed}");
        }
    }
}

#[test]
fn a_name_is_quoted_escaped() {
    let ran = on(&cluster(), ["queue", "show", "a\u{1b}[31m\n"]).run();
    ran.said(2, r#"queue name "a\x1b[31m\n" refused"#);
}
