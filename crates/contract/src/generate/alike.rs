//! What languages have in common: names in another case, literals, comments, ranges of bytes.

use echomq_keyspace::Alphabet;
use std::fmt::Write as _;

/// What stands on top of every file.
pub(super) const NOTICE: &str = "Made from keyspace.toml by `echomq contract gen`; not edited by hand.";

/// `add_line` as `AddLine`.
pub(super) fn pascal(name: &str) -> String {
    name.split('_').map(capital).collect()
}

/// `add_line` as `addLine`.
pub(super) fn camel(name: &str) -> String {
    let pascal = pascal(name);
    let mut chars = pascal.chars();
    chars.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(chars).collect()
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

/// A name that is no word of the language, with an underscore where it would be.
pub(super) fn free(name: String, taken: &[&str]) -> String {
    if taken.contains(&name.as_str()) { name + "_" } else { name }
}

/// A literal in double quotes with `\xNN` for each byte that is not plain, as Rust's byte strings, Python's, Go's and
/// Elixir's strings take it.
pub(super) fn quoted_bytes(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => literal.extend(['\\', char::from(byte)]),
            // Elixir would take it for code.
            b'#' => literal.push_str("\\x23"),
            b' '..=b'~' => literal.push(char::from(byte)),
            _ => write!(literal, "\\x{byte:02x}").unwrap_or_default(),
        }
    }
    literal.push('"');
    literal
}

/// A literal in double quotes with `\u{…}` for each character that is not plain.
pub(super) fn quoted_chars(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            ' '..='~' => literal.push(c),
            _ => write!(literal, "\\u{{{:x}}}", u32::from(c)).unwrap_or_default(),
        }
    }
    literal.push('"');
    literal
}

/// A text for a comment of one line: no line ends, no control characters, nothing that ends a comment.
pub(super) fn comment(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "* /")
}

/// The ranges of bytes that an alphabet is made of, first and last.
pub(super) fn ranges(alphabet: &Alphabet) -> Vec<(u8, u8)> {
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    for byte in alphabet.bytes() {
        match ranges.last_mut() {
            Some((_, last)) if u16::from(*last) + 1 == u16::from(byte) => *last = byte,
            _ => ranges.push((byte, byte)),
        }
    }
    ranges
}

/// Items with `, ` between them.
pub(super) fn list<T>(items: impl IntoIterator<Item = T>, show: impl Fn(T) -> String) -> String {
    items.into_iter().map(show).collect::<Vec<_>>().join(", ")
}

/// Lines put together, each indented.
#[derive(Default)]
pub(super) struct Page {
    text: String,
}

impl Page {
    pub(super) fn line(&mut self, indent: usize, line: impl AsRef<str>) {
        let line = line.as_ref();
        if !line.is_empty() {
            self.text.extend(std::iter::repeat_n(' ', 4 * indent));
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    /// Lines as they are, and no blank one more.
    pub(super) fn block(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn text(self) -> String {
        self.text
    }
}
