//! `echomq key trace`: how a key comes to its slot.

use std::io::{self, Write};

use anstyle::Style;
use echomq_keyspace::{Escaped, Note, Trace, trace};
use serde::Serialize;

use super::input::Keys;
use crate::bytes::hex;
use crate::exit::Exit;
use crate::prose;
use crate::screen::{GOOD, HEAD, MARK, Report, Screen};

/// The facts of a trace stand behind labels of this width.
const LABEL_COLUMNS: usize = 8;

/// Explain how a key comes to its slot.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    keys: Keys,
}

/// One key's way, as `trace` and `check` show it in JSON.
#[derive(Serialize)]
pub(crate) struct KeyTrace {
    key: String,
    key_hex: String,
    slot: u16,
    crc16: u16,
    hashed: String,
    hashed_from: usize,
    hashed_to: usize,
    open: Option<usize>,
    close: Option<usize>,
    why: &'static str,
    later_tag: Option<String>,
    notes: Vec<&'static str>,
    #[serde(skip)]
    text: String,
}

impl From<&Trace<'_>> for KeyTrace {
    fn from(trace: &Trace<'_>) -> KeyTrace {
        KeyTrace {
            key: Escaped(trace.key).to_string(),
            key_hex: hex(trace.key),
            slot: trace.slot.get(),
            crc16: trace.crc,
            hashed: Escaped(trace.hashed).to_string(),
            hashed_from: trace.span.start,
            hashed_to: trace.span.end,
            open: trace.open,
            close: trace.close,
            why: trace.why.code(),
            later_tag: trace.later_tag.map(|tag| Escaped(tag).to_string()),
            notes: trace.notes.iter().map(|note: &Note| note.code()).collect(),
            text: trace.to_string(),
        }
    }
}

impl Report for KeyTrace {
    /// The facts in front, each with its label; the explanation after them.
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let (facts, explanation) = self.text.split_once("\n\n").unwrap_or((&self.text, ""));
        for line in facts.lines() {
            match line.split_at_checked(LABEL_COLUMNS) {
                Some((label, carets)) if label.trim().is_empty() => {
                    writeln!(out, "{label}{GOOD}{carets}{GOOD:#}")?
                }
                Some((label, value)) => {
                    let style = if label.starts_with("slot") { GOOD } else { Style::new() };
                    let (word, more) = value.split_at(value.find(" (").unwrap_or(value.len()));
                    writeln!(out, "{HEAD}{label}{HEAD:#}{style}{word}{style:#}{more}")?;
                }
                None => writeln!(out, "{line}")?,
            }
        }
        writeln!(out)?;
        for line in prose::set(explanation, prose::width()).lines() {
            match line.strip_prefix("Note:") {
                Some(note) => writeln!(out, "{MARK}Note:{MARK:#}{note}")?,
                None => writeln!(out, "{line}")?,
            }
        }
        Ok(())
    }
}

pub(crate) fn run(args: Args, screen: &mut Screen) -> anyhow::Result<Exit> {
    for (i, key) in args.keys.read().enumerate() {
        let key = key?;
        if i > 0 && !screen.json {
            writeln!(screen)?;
        }
        screen.show(&KeyTrace::from(&trace(&key)))?;
    }
    Ok(Exit::Fine)
}
