//! The table against what the server at hand says of its own commands.

use crate::answer::{self, Begin, Find, Row};
use crate::{cases, zoo};
use echomq_keyspace::{Command, Use, keys_of};
use testkit::Standalone;

/// The commands whose keys a server does not tell for the arguments made here, for a reason of its own.
const REFUSED: &str = include_str!("../../../../testdata/command-table/refused-by-server.tsv");

fn rows(server: &Standalone) -> Vec<Row> {
    let mut rows = answer::rows(&server.raw(&["COMMAND"]).expect("COMMAND is answered"));
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}

fn in_table(name: &str) -> &'static Command {
    let command = Command::all().iter().find(|command| command.name() == name);
    command
        .unwrap_or_else(|| panic!("{name} is not in the table: make it anew (examples/make_command_table)"))
}

#[test]
fn every_command_of_the_server_is_in_the_table_with_its_arity_and_flags() {
    let server = testkit::standalone();
    let rows = rows(&server);
    assert!(rows.len() > 350, "{}", rows.len());
    for row in rows {
        let command = in_table(&row.name);
        let is_looser = command.arity() < 0 && command.arity().abs() <= row.arity.abs();
        assert!(
            command.arity() == row.arity || is_looser,
            "{command}: {} and {}",
            command.arity(),
            row.arity
        );
        for (flag, is_known) in [
            ("write", command.is_write()),
            ("readonly", command.is_readonly()),
            ("blocking", command.is_blocking()),
            ("no_multi", command.is_no_multi()),
            ("noscript", command.is_no_script()),
            ("pubsub", command.is_pubsub()),
            ("admin", command.is_admin()),
        ] {
            assert!(!row.has(flag) || is_known, "{command} is {flag}");
        }
        assert_eq!(command.is_keyless(), row.specs.is_empty(), "{command}");
    }
}

/// A key and what is done with it, as `COMMAND GETKEYSANDFLAGS` calls it: `RO`, `RW`, `OW` or `RM`.
type Told = Vec<(String, String)>;

/// The keys that the server tells, or its error.
fn told(server: &Standalone, args: &[String]) -> Result<Told, String> {
    let command = [&["COMMAND".to_owned(), "GETKEYSANDFLAGS".to_owned()], args].concat();
    match server.raw(&command) {
        Ok(keys) => Ok(answer::list(&keys).iter().map(key_and_use).collect()),
        Err(error) if error.contains("no key arguments") => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn key_and_use(value: &redis::Value) -> (String, String) {
    let [key, flags] = answer::list(value) else { panic!("a key and its flags: {value:?}") };
    (answer::text(key), answer::list(flags).first().map(answer::text).unwrap_or_default())
}

fn found(args: &[String]) -> Result<Told, String> {
    let keys = keys_of(args).map_err(|error| error.to_string())?;
    let places = keys.places().iter().filter_map(|place| {
        let used = match place.used {
            Use::Read => "RO",
            Use::ReadWrite => "RW",
            Use::Overwrite => "OW",
            Use::Remove => "RM",
            Use::Hashed => return None,
        };
        Some((args[place.at].clone(), used.to_owned()))
    });
    Ok(places.collect())
}

/// Arguments that the command takes by its arity and by its key specifications: numbers of keys and words where they are
/// looked for, all else different from one another.
fn arguments(row: &Row, extra: usize) -> Vec<String> {
    let mut args: Vec<String> = row.name.split('|').map(str::to_owned).collect();
    let least = usize::from(row.arity.unsigned_abs()) + if row.arity < 0 { extra } else { 0 };
    let fill = |args: &mut Vec<String>, len: usize| args.extend((args.len()..len).map(|at| format!("a{at}")));
    fill(&mut args, least);
    for spec in &row.specs {
        match (&spec.begin, &spec.find) {
            (&Begin::Index(at), &Find::Number { step, .. }) => {
                let at = usize::try_from(at).expect("a place");
                fill(&mut args, at + 1 + 2 * usize::try_from(step).expect("a step"));
                args[at] = "2".to_owned();
            }
            (Begin::Keyword(word, from), _) if *from > 0 => {
                let at = usize::try_from(*from).expect("a place");
                fill(&mut args, at + 5);
                if (args.len() - at).is_multiple_of(2) {
                    args.push("even".to_owned());
                }
                args[at] = word.clone();
            }
            _ => {}
        }
    }
    args
}

#[test]
fn the_keys_of_every_command_are_those_that_the_server_tells() {
    let server = testkit::standalone();
    let (mut refused, mut with_keys) = (Vec::new(), 0);
    let calls = rows(&server).into_iter().flat_map(|row| (0..4).map(move |extra| arguments(&row, extra)));
    // Redis 7 tells nothing of a command without arguments; it has no keys.
    for args in calls.filter(|args| args.len() > 1) {
        match (told(&server, &args), found(&args)) {
            (Ok(told), found) => {
                with_keys += usize::from(!told.is_empty());
                assert_same_keys(&args, &found.unwrap_or_else(|error| panic!("{args:?}: {error}")), &told);
            }
            (Err(_), Err(_)) => {}
            (Err(error), Ok(_)) => refused.push(format!("{}\t{error}", args.join(" "))),
        }
    }
    assert!(with_keys > 700, "{with_keys}");
    let listed: Vec<_> = REFUSED.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(refused, listed);
}

/// The same keys, and the same use but where the command's options or the server's version decide on it.
fn assert_same_keys(args: &[String], found: &Told, told: &Told) {
    const VARIES: [&str; 3] = ["set", "bitfield", "sinterstore"];
    let names = |keys: &Told| keys.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    assert_eq!(names(found), names(told), "{args:?}");
    assert!(
        VARIES.contains(&args[0].to_lowercase().as_str()) || found == told,
        "{args:?}: {found:?} and {told:?}"
    );
}

#[test]
fn c017_the_keys_of_the_zoo_are_those_that_the_server_tells() {
    let server = testkit::standalone();
    for (line, args) in zoo::commands().filter(|(_, args)| args.len() > 1) {
        let told = told(&server, &args).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_same_keys(&args, &found(&args).unwrap_or_else(|error| panic!("{line}: {error}")), &told);
    }
}

/// Random numbers that are the same in each run.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 16).expect("64 bits") % below
    }
}

#[test]
fn random_arguments_have_the_keys_that_the_server_tells() {
    let server = testkit::standalone();
    // Of a radius search Redis tells every target and Valkey takes the unit for an option; see the test below.
    let moves = |row: &Row| !row.specs.is_empty() && !row.name.starts_with("georadius");
    let rows: Vec<_> = rows(&server).into_iter().filter(moves).collect();
    let mut number = numbers();
    let (mut told_keys, mut refused) = (0, 0);
    for _ in 0..4000 {
        let row = &rows[number(rows.len())];
        let mut args: Vec<String> = row.name.split('|').map(str::to_owned).collect();
        let arity = usize::from(row.arity.unsigned_abs());
        let len = if row.arity < 0 { arity + number(7) } else { arity };
        while args.len() < len {
            let word = cases::WORDS[number(cases::WORDS.len())];
            args.push(if number(3) == 0 { format!("a{}", args.len()) } else { word.to_owned() });
        }
        if args.len() == 1 {
            continue;
        }
        match (told(&server, &args), found(&args)) {
            (Ok(told), Ok(found)) => {
                assert_same_keys(&args, &found, &told);
                told_keys += 1;
            }
            // The server looks closer when it is to carry the command out, and refuses it then.
            (Ok(told), Err(error)) => {
                let is_closer = LOOKED_AT_LATER.iter().any(|later| error.contains(later));
                assert!(told.is_empty() || is_closer, "{args:?}: {error} and {told:?}");
            }
            (Err(_), Err(_)) => refused += 1,
            (Err(error), Ok(_)) => assert!(is_listed(&args, &error), "{args:?}: {error}"),
        }
    }
    assert!(told_keys > 2000 && refused > 100, "{told_keys} told, {refused} refused");
}

/// Faults that a server does not see while it tells keys: it rounds an odd number of streams and ids down, and does not
/// always see the word `KEYS`.
const LOOKED_AT_LATER: [&str; 3] =
    ["as many keys as there are ids", "KEYS names keys too", "name the keys after it"];

/// Whether a command of the same name and length is on the list.
fn is_listed(args: &[String], error: &str) -> bool {
    REFUSED.lines().any(|line| {
        let (command, answer) = line.split_once('\t').unwrap_or_default();
        command.split(' ').count() == args.len() && command.starts_with(&args[0]) && answer == error
    })
}

#[test]
fn the_target_of_a_radius_search_or_of_a_sort_is_the_one_that_the_server_writes() {
    let server = testkit::standalone();
    let ask = |line: &str| {
        server.raw(line.split(' ').collect::<Vec<_>>()).unwrap_or_else(|error| panic!("{line}: {error}"))
    };
    ask("GEOADD s 13 38 store");
    ask("RPUSH ids 2 1");
    for line in [
        "GEORADIUS s 13 38 9 km STORE d STOREDIST e",
        "GEORADIUS s 13 38 9 km STOREDIST STORE STORE f",
        "GEORADIUSBYMEMBER s store 9 km COUNT 1 STORE STOREDIST",
        "SORT ids LIMIT 0 2 STORE g STORE h",
        "SORT ids BY store STORE get",
    ] {
        ask(line);
        let args: Vec<_> = line.split(' ').map(str::to_owned).collect();
        let keys = found(&args).unwrap_or_else(|error| panic!("{line}: {error}"));
        let [_, (target, used)] = keys.as_slice() else { panic!("{line}: {keys:?}") };
        assert_eq!((answer::number(&ask(&format!("DEL {target}"))), used.as_str()), (1, "OW"), "{line}");
        assert_eq!(answer::number(&ask("DBSIZE")), 2, "{line} wrote another key");
    }
}
