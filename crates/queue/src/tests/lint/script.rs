//! A script taken apart: header, three parts, and what the code uses.

/// A `KEYS[i]` or `ARGV[i]` line of the header.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slot {
    pub(super) index: usize,
    /// `[i..]`: this one and all after it.
    pub(super) is_open: bool,
    pub(super) text: String,
}

#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) name: String,
    pub(super) lines: usize,
    pub(super) shebang: String,
    pub(super) purpose: String,
    pub(super) keys: Vec<Slot>,
    pub(super) argv: Vec<Slot>,
    /// The first word of each `Returns`.
    pub(super) returns: Vec<String>,
    pub(super) arguments: String,
    pub(super) look: String,
    pub(super) act: String,
}

impl Script {
    /// Reads the fixed form; the error names the first line that is none of it.
    pub(super) fn read(name: &str, text: &str) -> Result<Script, String> {
        let mut lines = text.lines().peekable();
        let shebang = lines.next().unwrap_or_default().to_owned();
        let mut header: Vec<String> = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with("-- ")) {
            header.push(line["-- ".len()..].to_owned());
        }
        let named = header.iter().position(|line| line.starts_with("KEYS[")).unwrap_or(header.len());
        let purpose = header.drain(..named).collect::<Vec<_>>().join(" ");
        let mut header = header.into_iter().peekable();
        let mut take = |starts: &[&str]| {
            let mut taken = Vec::new();
            while let Some(line) = header.next_if(|line| starts.iter().any(|start| line.starts_with(start))) {
                taken.push(line);
            }
            taken
        };
        let (keys, argv) = (take(&["KEYS["]), take(&["ARGV[", "ARGV none"]));
        let (returns, cost, since) = (take(&["Returns "]), take(&["Cost O("]), take(&["Since "]));
        if let Some(line) = header.next() {
            return Err(format!("{name}: the header has {line:?} where it should not be"));
        }
        if cost.len() != 1 || since.len() != 1 || returns.is_empty() {
            return Err(format!("{name}: the header lacks Returns, one Cost or one Since"));
        }
        let code: Vec<&str> = lines.collect();
        let [arguments, look, act] = parts(name, &code)?;
        Ok(Script {
            name: name.to_owned(),
            lines: text.lines().count(),
            shebang,
            purpose,
            keys: slots(name, "KEYS", &keys)?,
            argv: slots(name, "ARGV", &argv)?,
            returns: returns.iter().map(|line| first_word(&line["Returns ".len()..])).collect(),
            arguments,
            look,
            act,
        })
    }

    pub(super) fn code(&self) -> String {
        [self.arguments.as_str(), &self.look, &self.act].concat()
    }
}

/// The code below each of the three labels, comments left out.
fn parts(name: &str, code: &[&str]) -> Result<[String; 3], String> {
    let labels = ["-- arguments", "-- look", "-- act"];
    let places = labels.map(|label| code.iter().position(|line| *line == label));
    let [Some(arguments), Some(look), Some(act)] = places else {
        return Err(format!("{name}: the parts are not {}", labels.join(", ")));
    };
    let is_set_off = |place: usize| place > 0 && code[place - 1].is_empty();
    if arguments != 1 || look < arguments || act < look || ![arguments, look, act].into_iter().all(is_set_off)
    {
        return Err(format!("{name}: the parts are not in order, an empty line before each"));
    }
    let text = |from: usize, to: usize| {
        let lines = code[from + 1..to].iter().filter(|line| !line.trim_start().starts_with("--"));
        lines.map(|line| format!("{line}\n")).collect()
    };
    Ok([text(arguments, look), text(look, act), text(act, code.len())])
}

/// Reads `KEYS[1] …` lines, which must count up from 1; only the last may be open.
fn slots(name: &str, word: &str, lines: &[String]) -> Result<Vec<Slot>, String> {
    if lines == ["ARGV none"] {
        return Ok(Vec::new());
    }
    let mut slots = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let parsed = line.strip_prefix(word).and_then(|rest| rest.strip_prefix('[')?.split_once("] "));
        let (index, text) = parsed.ok_or_else(|| format!("{name}: {line:?} is no line of {word}"))?;
        let is_open = index.ends_with("..");
        let in_order =
            index.trim_end_matches('.') == (at + 1).to_string() && (!is_open || at + 1 == lines.len());
        if !in_order {
            return Err(format!("{name}: {line:?} is out of order"));
        }
        slots.push(Slot { index: at + 1, is_open, text: text.to_owned() });
    }
    Ok(slots)
}

fn first_word(text: &str) -> String {
    text.split([' ', ',']).next().unwrap_or_default().to_owned()
}
