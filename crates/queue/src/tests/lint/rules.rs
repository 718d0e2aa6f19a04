//! What every script must be: short, honest about its keys and arguments, and looking before it acts.

use super::script::{Script, Slot};

const LINES_MAX: usize = 60;
const SHEBANGS: [&str; 3] = ["#!lua", "#!lua flags=no-writes", "#!lua flags=allow-oom"];
const READS: [&str; 12] = [
    "EXISTS", "GET", "HEXISTS", "HGET", "HGETALL", "HMGET", "TIME", "ZCARD", "ZCOUNT", "ZMSCORE", "ZRANGE",
    "ZSCORE",
];
const WRITES: [&str; 12] = [
    "DEL",
    "HDEL",
    "HINCRBY",
    "HSET",
    "MSET",
    "SET",
    "SPUBLISH",
    "UNLINK",
    "ZADD",
    "ZREM",
    "ZREMRANGEBYRANK",
    "ZREMRANGEBYSCORE",
];
/// Decoding a payload, hiding an error, printing a token in exponents.
const NEVER: [&str; 6] = ["cjson", "cmsgpack", "struct.", "error_reply", "error(", "tostring"];
const KINDS: [(&str, &str); 9] = [
    ("pending", "zset"),
    ("active", "zset"),
    ("leases", "zset"),
    ("schedule", "zset"),
    ("dead", "zset"),
    ("tries", "hash"),
    ("meta", "hash"),
    ("job:<id>", "string"),
    ("mark:<first id>", "string"),
];

/// Every rule that the script breaks, in words.
pub(super) fn faults(script: &Script) -> Vec<String> {
    let mut faults = Vec::new();
    let mut must = |holds: bool, fault: String| {
        if !holds {
            faults.push(format!("{}.lua: {fault}", script.name));
        }
    };
    must(script.lines <= LINES_MAX, format!("{} lines, {LINES_MAX} at most", script.lines));
    must(SHEBANGS.contains(&script.shebang.as_str()), format!("first line {:?}", script.shebang));
    must(is_purpose(&script.purpose), format!("purpose {:?} is not `state -> state: why`", script.purpose));
    for key in &script.keys {
        must(is_key(&key.text), format!("KEYS[{}] has no known shape and type: {:?}", key.index, key.text));
    }
    let code = script.code();
    for (word, slots) in [("KEYS", &script.keys), ("ARGV", &script.argv)] {
        unused(word, slots, &code).into_iter().for_each(|fault| must(false, fault));
    }
    for (part, text, allowed) in [
        ("arguments", &script.arguments, &[][..]),
        ("look", &script.look, &READS[..]),
        ("act", &script.act, if script.shebang.contains("no-writes") { &[] } else { &WRITES[..] }),
    ] {
        for command in commands(text) {
            must(allowed.contains(&command), format!("{command:?} in `{part}`, where it has no place"));
        }
    }
    for word in NEVER {
        must(!code.contains(word), format!("{word} is never used in a script"));
    }
    let said = words(&code);
    for word in &said {
        must(script.returns.contains(word), format!("returns {word:?}, which the header does not say"));
    }
    for word in &script.returns {
        // What the gate left in the mark is handed on.
        let is_handed_on = code.contains("return mark") && word == "full";
        must(
            said.contains(word) || is_handed_on,
            format!("the header says Returns {word}, the code never does"),
        );
    }
    faults
}

fn is_purpose(purpose: &str) -> bool {
    let states = |side: &str| {
        side.split(" | ").all(|state| ["none", "pending", "active", "schedule", "dead"].contains(&state))
    };
    let sides = purpose.split_once(": ").and_then(|(change, why)| Some((change.split_once(" -> ")?, why)));
    sides.is_some_and(|((from, to), why)| states(from) && states(to) && !why.is_empty())
}

/// `emq:{q}:pending zset`, with more words after a comma.
fn is_key(text: &str) -> bool {
    let named = text.split(',').next().unwrap_or_default();
    KINDS.iter().any(|(kind, of)| named == format!("emq:{{q}}:{kind} {of}"))
}

/// Indices that the header has and the code does not use, and the reverse.
fn unused(word: &str, slots: &[Slot], code: &str) -> Vec<String> {
    let uses: Vec<&str> =
        code.split(&format!("{word}[")).skip(1).filter_map(|rest| rest.split(']').next()).collect();
    let literal: Vec<usize> = uses.iter().filter_map(|index| index.parse().ok()).collect();
    let is_walked = literal.len() < uses.len();
    let mut faults = Vec::new();
    for slot in slots {
        let is_used = match slot.is_open {
            false => literal.contains(&slot.index) || is_walked && !code.contains(&format!("#{word}")),
            true => is_walked || code.contains(&format!("unpack({word}, {})", slot.index)),
        };
        if !is_used {
            faults.push(format!("{word}[{}] of the header is not used", slot.index));
        }
    }
    let is_known =
        |index: usize| slots.iter().any(|slot| slot.index == index || slot.is_open && index > slot.index);
    let strange = literal.into_iter().filter(|index| !is_known(*index));
    faults.extend(strange.map(|index| format!("{word}[{index}] is used and not in the header")));
    faults
}

/// The commands that a part calls; what is no plain `redis.call('NAME'` shows as it stands. Only a message may fail
/// alone, by `redis.pcall`: it is a hint, and who may not publish may add jobs all the same.
fn commands(text: &str) -> Vec<&str> {
    text.split("redis.")
        .skip(1)
        .map(|rest| {
            let hint = rest.strip_prefix("pcall('").filter(|rest| rest.starts_with("SPUBLISH'"));
            let name = rest.strip_prefix("call('").or(hint).and_then(|rest| rest.split('\'').next());
            name.unwrap_or_else(|| rest.lines().next().unwrap_or_default())
        })
        .collect()
}

/// The words that the code can answer: strings that are returned or come first in a list that is.
fn words(code: &str) -> Vec<String> {
    let answers = code.lines().filter(|line| line.contains("return ") || line.contains("local reply = "));
    let mut words = Vec::new();
    for line in answers {
        for (at, _) in line.match_indices('\'').step_by(2) {
            let before = line[..at].trim_end_matches('{');
            if ["return ", "and ", "or ", "= "].iter().any(|lead| before.ends_with(lead)) {
                words.extend(line[at + 1..].split('\'').next().map(str::to_owned));
            }
        }
    }
    words.sort();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::lint::source;

    /// A good script, with one thing in it put wrong.
    fn broken(name: &str, right: &str, wrong: &str) -> String {
        let source = source(name);
        assert!(source.contains(right), "{name} has no {right:?}");
        match Script::read(name, &source.replacen(right, wrong, 1)) {
            Ok(script) => faults(&script).join("\n"),
            Err(fault) => fault,
        }
    }

    #[test]
    fn each_rule_is_kept_by_a_finding() {
        for (name, right, wrong, finding) in [
            ("bound", "#!lua", "-- lua", "first line"),
            ("bound", "none -> none: how", "none to none, how", "purpose"),
            ("bound", "none -> none: how", "waiting -> none: how", "purpose"),
            ("bound", "meta hash", "meta zset", "no known shape"),
            ("bound", "-- Returns bound", "-- Answers bound", "should not be"),
            ("bound", "KEYS[1] emq", "KEYS[2] emq", "out of order"),
            ("bound", "-- Since 0.1\n", "", "lacks"),
            ("bound", "-- look\n", "", "the parts are not"),
            ("bound", "\n-- look", "-- look", "an empty line before each"),
            ("bound", "local limit = ARGV[1]", "local limit = ''", "ARGV[1] of the header is not used"),
            ("bound", "local limit = ARGV[1]", "local limit = ARGV[1] .. ARGV[2]", "ARGV[2] is used"),
            ("bound", "-- nothing", "redis.call('HDEL', KEYS[1], 'x')\n-- nothing", "\"HDEL\" in `look`"),
            ("bound", "-- nothing", "redis.call('KEYS', '*')\n-- nothing", "\"KEYS\" in `look`"),
            ("bound", "redis.call('HDEL'", "redis.call(command", "in `act`"),
            ("bound", "return 'bound'", "return 'done'", "returns \"done\""),
            ("bound", "Returns bound\n", "Returns bound\n-- Returns never\n", "Returns never"),
            ("bound", "return 'bound'", "return cjson.encode('bound')", "cjson"),
            ("claim", "redis.call('EXISTS', KEYS[5])", "redis.call('EXISTS', KEYS[4])", ""),
            ("claim", "-- act\n", "-- act\nredis.call('ZCARD', KEYS[1])\n", "\"ZCARD\" in `act`"),
            ("counts", "-- act\n", "-- act\nredis.call('HSET', KEYS[6], 'a', 1)\n", "\"HSET\" in `act`"),
            ("extend", "unpack(ARGV, 3)", "ARGV[3]", "ARGV[3] of the header is not used"),
            ("complete", "-- look\n", &("-- look\n".to_owned() + &"local x\n".repeat(60)), "60 at most"),
        ] {
            let found = broken(name, right, wrong);
            assert!(found.contains(finding), "{name}, {right:?} put wrong as {wrong:?}: {found:?}");
        }
    }
}
