//! A capture with one of each kind of command, and the keys and slots that are right for each line.

use echomq_keyspace::{Slot, keys_of};

const LOG: &str = include_str!("../../../../testdata/cases/monitor/command-zoo.log");
const EXPECTED: &str = include_str!("../../../../testdata/cases/monitor/command-zoo.expected.tsv");

/// The arguments of a line of MONITOR: each in quotes, with `\"` inside.
pub(crate) fn arguments(line: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut rest = line.split_once("] ").map_or("", |(_, rest)| rest);
    while let Some(quoted) = rest.strip_prefix('"') {
        let mut argument = String::new();
        let mut chars = quoted.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    rest = quoted[at + 1..].trim_start();
                    break;
                }
                '\\' => argument.extend(chars.next().map(|(_, escaped)| escaped)),
                _ => argument.push(c),
            }
        }
        arguments.push(argument);
    }
    arguments
}

/// The commands of the zoo, each with the number of its line.
pub(crate) fn commands() -> impl Iterator<Item = (usize, Vec<String>)> {
    LOG.lines().enumerate().skip(1).map(|(i, line)| (i + 1, arguments(line)))
}

#[test]
fn c017_every_command_of_the_zoo_has_the_keys_and_slots_expected() {
    let mut expected = EXPECTED.lines().filter(|line| !line.starts_with('#'));
    let mut seen = 0;
    for (line, args) in commands() {
        let columns: Vec<_> = expected.next().expect("a verdict per command").split('\t').collect();
        assert_eq!(columns[0], line.to_string());
        let keys = keys_of(&args).unwrap_or_else(|error| panic!("{line}: {error}"));
        let found: Vec<_> = keys
            .places()
            .iter()
            .map(|place| format!("{}={}", args[place.at], Slot::of(args[place.at].as_bytes())))
            .collect();
        assert_eq!(found.join(","), columns[2], "line {line}: {args:?}");
        seen += 1;
    }
    assert_eq!((seen, expected.next()), (40, None));
}
