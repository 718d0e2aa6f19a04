//! Makes the command table from what servers answer to `COMMAND`.
//!
//! ```text
//! cargo run -p echomq-keyspace --example make_command_table -- redis://127.0.0.1:7001 redis://127.0.0.1:7002 \
//!     > crates/keyspace/src/command_table/table.rs
//! ```
//!
//! The table is the union. Where servers differ, the first one says where keys stand, the looser arity is taken, and a
//! flag counts that one of them gives. A key specification that this program can not put into the table, and that is
//! not placed by hand, ends it: a command must not be routed by a guess.

#![expect(clippy::print_stdout, reason = "the table is what it prints")]

mod answer;

use answer::{Begin, Find, Row, Spec};
use redis::Value;
use std::collections::BTreeMap;

/// The commands whose key specifications do not say where all keys stand, and what does.
const BY_HAND: [(&str, &str); 5] = [
    ("georadius", "Options(Grammar::GeoRadius { options: 6 })"),
    ("georadiusbymember", "Options(Grammar::GeoRadius { options: 5 })"),
    ("migrate", "Options(Grammar::Migrate)"),
    ("sort", "Options(Grammar::Sort)"),
    // What is unknown of it are the keys that its patterns make; it stores nothing.
    ("sort_ro", "Specs(&[key(1, Read)])"),
];

/// The flags of the table, as servers call them.
const FLAGS: [(&str, &str); 7] = [
    ("write", "WRITE"),
    ("readonly", "READONLY"),
    ("blocking", "BLOCKING"),
    ("no_multi", "NO_MULTI"),
    ("noscript", "NO_SCRIPT"),
    ("pubsub", "PUBSUB"),
    ("admin", "ADMIN"),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut versions = Vec::new();
    let mut commands: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for url in std::env::args().skip(1) {
        let mut connection = redis::Client::open(url)?.get_connection()?;
        let info: String = redis::cmd("INFO").arg("server").query(&mut connection)?;
        versions.push(version(&info));
        let answer: Value = redis::cmd("COMMAND").query(&mut connection)?;
        for row in answer::rows(&answer) {
            commands.entry(row.name.clone()).or_default().push(row);
        }
    }
    if versions.is_empty() {
        return Err("name a server or several, such as redis://127.0.0.1:6379".into());
    }
    println!("//! The commands of {}.", versions.join(" and "));
    println!("//!");
    println!(
        "//! Made by the example `make_command_table` from their answers to `COMMAND`; not edited by hand."
    );
    println!();
    println!("use super::Placing::{{Keyless, Options, Specs}};");
    println!("use super::Use::{{Hashed, Overwrite, Read, ReadWrite, Remove}};");
    println!("use super::find::{{half_after, key, numbered, numbered_or_none, rest, two}};");
    println!("use super::grammar::Grammar;");
    println!("use super::*;");
    println!();
    println!("pub(super) static COMMANDS: &[Command] = &[");
    for (name, rows) in &commands {
        println!("    row(\"{name}\", {}, {}, {}),", arity(rows), flags(rows), keys(name, rows)?);
    }
    println!("];");
    Ok(())
}

fn version(info: &str) -> String {
    let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    match field("valkey_version") {
        Some(version) => format!("Valkey {version}"),
        None => format!("Redis {}", field("redis_version").unwrap_or("of no version")),
    }
}

/// The arity that takes whatever one of the servers takes.
fn arity(rows: &[Row]) -> i8 {
    let exact = rows.iter().all(|row| row.arity == rows[0].arity);
    let least = rows.iter().map(|row| row.arity.abs()).min().unwrap_or(1);
    if exact { rows[0].arity } else { -least }
}

fn flags(rows: &[Row]) -> String {
    let mut words: Vec<_> = FLAGS
        .iter()
        .filter(|(flag, _)| rows.iter().any(|row| row.has(flag)))
        .map(|(_, word)| *word)
        .collect();
    if rows.iter().any(|row| row.has_subcommands) {
        words.push("SUBCOMMANDS");
    }
    let Some((first, rest)) = words.split_first() else { return "NONE".to_owned() };
    rest.iter().fold((*first).to_owned(), |set, word| format!("{set}.and({word})"))
}

fn keys(name: &str, rows: &[Row]) -> Result<String, String> {
    if let Some((_, placing)) = BY_HAND.iter().find(|(own, _)| *own == name) {
        return Ok((*placing).to_owned());
    }
    let specs = &rows[0].specs;
    let places = |specs: &[Spec]| -> Vec<_> {
        specs.iter().map(|spec| (spec.begin.clone(), spec.find.clone())).collect()
    };
    if let Some(other) = rows.iter().find(|row| places(&row.specs) != places(specs)) {
        return Err(format!("{name}: the servers differ: {specs:?} and {:?}", other.specs));
    }
    if specs.is_empty() {
        return Ok("Keyless".to_owned());
    }
    let specs: Result<Vec<_>, _> =
        specs.iter().map(|spec| key_spec(name, spec, rows[0].has("no_mandatory_keys"))).collect();
    Ok(format!("Specs(&[{}])", specs?.join(", ")))
}

fn key_spec(name: &str, spec: &Spec, may_be_none: bool) -> Result<String, String> {
    let used =
        [("RO", "Read"), ("RW", "ReadWrite"), ("OW", "Overwrite"), ("RM", "Remove"), ("not_key", "Hashed")];
    let used = used.iter().find(|(flag, _)| spec.has(flag)).map(|(_, used)| (*used).to_owned());
    let used = used.ok_or_else(|| format!("{name}: {spec:?} does not say how the key is used"))?;
    match (&spec.begin, &spec.find) {
        _ if spec.has("incomplete") => {
            Err(format!("{name} is not placed by hand, and {spec:?} is incomplete"))
        }
        (Begin::Index(at), Find::Range { last: 0, .. }) => Ok(format!("key({at}, {used})")),
        (Begin::Index(at), Find::Range { last: 1, step: 1, .. }) => Ok(format!("two({at}, {used})")),
        (Begin::Index(at), Find::Range { last, step, limit: 0 | 1 }) if *last < 0 => {
            Ok(format!("rest({at}, {step}, {}, {used})", -last - 1))
        }
        (Begin::Index(at), Find::Number { at: 0, first: 1, step: 1 }) if may_be_none => {
            Ok(format!("numbered_or_none({at}, {used})"))
        }
        (Begin::Index(at), Find::Number { at: 0, first: 1, step }) => {
            Ok(format!("numbered({at}, {step}, {used})"))
        }
        (Begin::Keyword(word, from), Find::Range { last: -1, step: 1, limit: 2 }) if *from > 0 => {
            Ok(format!("half_after(\"{word}\", {from}, {used})"))
        }
        _ => Err(format!("{name} is not placed by hand, and the table no form for {spec:?}")),
    }
}
