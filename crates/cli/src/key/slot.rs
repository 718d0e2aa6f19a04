//! `echomq key slot`: the slot of each key.

use std::io::{self, Write};

use echomq_keyspace::{Escaped, Slot};
use serde::Serialize;

use super::input::Keys;
use crate::bytes::hex;
use crate::exit::Exit;
use crate::screen::{Report, Screen};

/// Print the slot of each key, one a line.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    keys: Keys,
}

#[derive(Serialize)]
struct KeySlot {
    key: String,
    key_hex: String,
    slot: u16,
}

impl Report for KeySlot {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.slot)
    }
}

pub(crate) fn run(args: Args, screen: &mut Screen) -> anyhow::Result<Exit> {
    for key in args.keys.read() {
        let key = key?;
        let slot = Slot::of(&key).get();
        screen.show(&KeySlot { key: Escaped(&key).to_string(), key_hex: hex(&key), slot })?;
    }
    Ok(Exit::Fine)
}
