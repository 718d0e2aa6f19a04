//! `echomq key tag`: a tag for a slot, or the tags of a queue that is spread.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;

use anyhow::anyhow;
use echomq_keyspace::{Escaped, Part, PartCount, QueueName, Slot, tag_for};
use serde::Serialize;

use crate::exit::Exit;
use crate::screen::{Report, Screen};

/// Find a tag for a slot, or the tags of a queue that is spread.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What the tag begins with.
    #[arg(required_unless_present = "spread")]
    prefix: Option<OsString>,
    /// The slot, 0 to 16383.
    #[arg(required_unless_present = "spread")]
    slot: Option<OsString>,
    /// Print the tags of queue NAME in N parts, whose slots divide all slots evenly.
    #[arg(long, num_args = 2, value_names = ["NAME", "N"], conflicts_with_all = ["prefix", "slot"])]
    spread: Option<Vec<OsString>>,
}

#[derive(Serialize)]
struct Tag {
    tag: String,
    suffix: String,
    slot: u16,
    /// Text for people is the tag's very bytes, so that a script can use it.
    #[serde(skip)]
    bytes: Vec<u8>,
    #[serde(skip)]
    with_slot: bool,
}

impl Tag {
    fn new(bytes: Vec<u8>, suffix: &str, slot: Slot, with_slot: bool) -> Tag {
        let tag = Escaped(&bytes).to_string();
        Tag { tag, suffix: suffix.to_owned(), slot: slot.get(), bytes, with_slot }
    }
}

impl Report for Tag {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.with_slot {
            write!(out, "{:>5}  ", self.slot)?;
        }
        out.write_all(&self.bytes)?;
        out.write_all(b"\n")
    }
}

pub(crate) fn run(args: Args, screen: &mut Screen) -> anyhow::Result<Exit> {
    match (args.spread.as_deref(), args.prefix, args.slot) {
        (Some([name, n]), ..) => spread(name, n, screen)?,
        (_, Some(prefix), Some(slot)) => screen.show(&one(prefix.as_bytes(), &slot)?)?,
        // The definitions above let nothing else through.
        _ => return Err(anyhow!("give a prefix and a slot, or --spread")),
    }
    Ok(Exit::Fine)
}

fn one(prefix: &[u8], slot: &OsStr) -> anyhow::Result<Tag> {
    let number = slot.to_str().and_then(|text| text.parse().ok()).and_then(Slot::new);
    let number =
        number.ok_or_else(|| anyhow!("\"{}\" is no slot: use 0 to 16383", Escaped(slot.as_bytes())))?;
    let suffix = tag_for(prefix, number)?;
    Ok(Tag::new([prefix, suffix.as_str().as_bytes()].concat(), suffix.as_str(), number, false))
}

fn spread(name: &OsStr, n: &OsStr, screen: &mut Screen) -> anyhow::Result<()> {
    let name = QueueName::parse(name.as_bytes())?;
    let count = n.to_str().and_then(|text| text.parse().ok()).and_then(PartCount::new);
    let count = count
        .ok_or_else(|| anyhow!("\"{}\" is no number of parts: use 1 to 16384", Escaped(n.as_bytes())))?;
    for part in Part::spread(&name, count) {
        let suffix = part.suffix();
        let suffix = suffix.as_ref().map_or("", |suffix| suffix.as_str());
        screen.show(&Tag::new(part.tag().into(), suffix, part.slot(), true))?;
    }
    Ok(())
}
