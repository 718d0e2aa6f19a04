//! What a queue has stored, as a value and as a line of text.
//!
//! `pending a=1 b=2; active c=7; leases 7:30000:w=31000; tries c=1_1_0_0_oops; meta seq=3; job a=A b=B c=C`: sections in
//! any order, each with its pairs. In a pair `_` stands for a blank and `\xNN` for a byte that has a meaning here.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

pub(super) type Bytes = Vec<u8>;
pub(super) type Scores = BTreeMap<Bytes, f64>;
pub(super) type Fields = BTreeMap<Bytes, Bytes>;

/// The keys of one part of a queue, but for the channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    pub(super) pending: Scores,
    pub(super) active: Scores,
    pub(super) leases: Scores,
    pub(super) schedule: Scores,
    pub(super) dead: Scores,
    pub(super) tries: Fields,
    pub(super) meta: Fields,
    /// The rows by id.
    pub(super) job: Fields,
    /// Keys of the slot that are none of these, with nothing in them of interest.
    pub(super) foreign: Fields,
}

impl State {
    pub(super) const SETS: [&str; 5] = ["pending", "active", "leases", "schedule", "dead"];
    pub(super) const MAPS: [&str; 4] = ["tries", "meta", "job", "foreign"];

    pub(super) fn sets(&self) -> [(&'static str, &Scores); 5] {
        let sets = [&self.pending, &self.active, &self.leases, &self.schedule, &self.dead];
        std::array::from_fn(|at| (State::SETS[at], sets[at]))
    }

    pub(super) fn maps(&self) -> [(&'static str, &Fields); 4] {
        let maps = [&self.tries, &self.meta, &self.job, &self.foreign];
        std::array::from_fn(|at| (State::MAPS[at], maps[at]))
    }

    pub(super) fn set_mut(&mut self, name: &str) -> Option<&mut Scores> {
        match name {
            "pending" => Some(&mut self.pending),
            "active" => Some(&mut self.active),
            "leases" => Some(&mut self.leases),
            "schedule" => Some(&mut self.schedule),
            "dead" => Some(&mut self.dead),
            _ => None,
        }
    }

    pub(super) fn map_mut(&mut self, name: &str) -> Option<&mut Fields> {
        match name {
            "tries" => Some(&mut self.tries),
            "meta" => Some(&mut self.meta),
            "job" => Some(&mut self.job),
            "foreign" => Some(&mut self.foreign),
            _ => None,
        }
    }

    /// What is not the same in the other, a line each.
    pub(super) fn changes(&self, other: &State) -> String {
        let (ours, theirs) = (self.lines(), other.lines());
        let gone = ours.iter().filter(|line| !theirs.contains(line)).map(|line| format!("  - {line}\n"));
        let new = theirs.iter().filter(|line| !ours.contains(line)).map(|line| format!("  + {line}\n"));
        gone.chain(new).collect()
    }

    fn lines(&self) -> Vec<String> {
        let sets = self.sets().into_iter().flat_map(|(name, set)| {
            set.iter().map(move |(member, score)| format!("{name} {}={score}", word(member)))
        });
        let maps = self.maps().into_iter().flat_map(|(name, map)| {
            map.iter().map(move |(field, value)| format!("{name} {}={}", word(field), word(value)))
        });
        sets.chain(maps).collect()
    }

    /// A field of `meta` as a number; 0 where there is none.
    pub(super) fn number(&self, field: &str) -> u64 {
        let text = self.meta.get(field.as_bytes()).map(|text| String::from_utf8_lossy(text));
        text.map_or(0, |text| text.parse().unwrap_or_else(|_| panic!("meta {field} is {text}, no number")))
    }

    /// Adds to a counter in `meta`, as HINCRBY does.
    pub(super) fn count(&mut self, field: &str, by: u64) {
        let sum = self.number(field) + by;
        self.meta.insert(field.into(), sum.to_string().into());
    }
}

/// The members of a set as the server orders them: by score, then by bytes.
pub(super) fn ranked(set: &Scores) -> Vec<(&Bytes, f64)> {
    let mut members: Vec<(&Bytes, f64)> = set.iter().map(|(member, score)| (member, *score)).collect();
    members.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(b.0)));
    members
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sections = Vec::new();
        for (name, set) in self.sets().into_iter().filter(|(_, set)| !set.is_empty()) {
            let pairs = ranked(set).into_iter().map(|(member, score)| format!(" {}={score}", word(member)));
            sections.push(format!("{name}{}", pairs.collect::<String>()));
        }
        for (name, map) in self.maps().into_iter().filter(|(_, map)| !map.is_empty()) {
            let pairs = map.iter().map(|(field, value)| format!(" {}={}", word(field), word(value)));
            sections.push(format!("{name}{}", pairs.collect::<String>()));
        }
        f.write_str(&sections.join("; "))
    }
}

/// Reads the text; anything that is no state is a panic, since only a test's author writes it.
impl FromStr for State {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<State, Self::Err> {
        let mut state = State::default();
        for section in text.split(';').map(str::trim).filter(|section| !section.is_empty()) {
            let (name, pairs) = section.split_once(' ').unwrap_or((section, ""));
            for pair in pairs.split_whitespace() {
                let (key, value) = pair.split_once('=').unwrap_or_else(|| panic!("{pair:?} is no pair"));
                if let Some(set) = state.set_mut(name) {
                    set.insert(bytes(key), value.parse().unwrap_or_else(|_| panic!("{value:?} is no score")));
                } else if let Some(map) = state.map_mut(name) {
                    map.insert(bytes(key), bytes(value));
                } else {
                    panic!("{name:?} is no section");
                }
            }
        }
        Ok(state)
    }
}

/// Bytes as one word of the text; of many only the first and how many there are, for people.
pub(super) fn word(bytes: &[u8]) -> String {
    const SHOWN: usize = 64;
    let mut text = String::new();
    for &byte in &bytes[..bytes.len().min(SHOWN)] {
        match byte {
            b' ' => text.push('_'),
            b'_' | b'=' | b';' | b'\\' => text.push_str(&format!("\\x{byte:02x}")),
            b'!'..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    if bytes.len() > SHOWN {
        text.push_str(&format!("...({}_bytes)", bytes.len()));
    }
    text
}

fn bytes(word: &str) -> Bytes {
    let mut bytes = Vec::new();
    let mut rest = word.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if let (b'\\', Some((hex, tail))) = (first, tail.split_at_checked(3)) {
            let hex = std::str::from_utf8(&hex[1..]).unwrap_or_default();
            bytes.push(u8::from_str_radix(hex, 16).unwrap_or_else(|_| panic!("{word:?} has no \\xNN")));
            rest = tail;
        } else {
            bytes.push(if first == b'_' { b' ' } else { first });
        }
    }
    bytes
}

#[test]
fn a_states_text_reads_back_as_the_state() {
    let text = "pending a=-5 b=2; active c\\x3d=1800000000000001; leases 7:w\\x5fx=31000; schedule s=-inf; \
                tries c=1_1_0_0_no\\x0aluck; meta seq=3; job a=\\x00\\xff b=";
    let state: State = text.parse().unwrap();
    assert_eq!(state.to_string(), text);
    assert_eq!(state.leases.keys().next().unwrap(), b"7:w_x");
    assert_eq!(state.tries[&b"c"[..]], b"1 1 0 0 no\nluck");
    assert_eq!(state.job[&b"a"[..]], b"\0\xff");
}
