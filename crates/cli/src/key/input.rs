//! Keys as they are given: as arguments or on standard input, plain, escaped or in hex.

use std::ffi::OsString;
use std::io::{self, BufRead as _};
use std::os::unix::ffi::OsStringExt as _;

use anyhow::Context as _;

use crate::bytes::{from_hex, unescaped};

/// Which keys, and how they are written.
#[derive(clap::Args)]
pub(crate) struct Keys {
    /// The keys, byte for byte.
    #[arg(value_name = "KEY", required_unless_present = "stdin")]
    keys: Vec<OsString>,
    #[command(flatten)]
    spelling: Spelling,
    /// Read keys from standard input too, one a line; an empty line is the empty key.
    #[arg(long)]
    stdin: bool,
}

/// How keys are written.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct Spelling {
    /// Keys are in hex, two digits a byte.
    #[arg(long, conflicts_with = "escaped")]
    hex: bool,
    /// Keys are escaped: \xNN, \n, \r, \t, \\ and \" stand for their bytes.
    #[arg(long)]
    escaped: bool,
}

impl Keys {
    /// The keys one by one, those of standard input as they come.
    pub(crate) fn read(self) -> impl Iterator<Item = anyhow::Result<Vec<u8>>> {
        let Keys { keys, spelling, stdin } = self;
        let arguments = keys.into_iter().map(move |key| spelling.decode(key.into_vec()));
        arguments.chain(stdin.then(|| spelling.lines()).into_iter().flatten())
    }

    /// All of them.
    pub(crate) fn read_all(self) -> anyhow::Result<Vec<Vec<u8>>> {
        self.read().collect()
    }
}

impl Spelling {
    /// The keys of standard input, one a line, as they come.
    pub(crate) fn lines(self) -> impl Iterator<Item = anyhow::Result<Vec<u8>>> {
        io::stdin().lock().split(b'\n').enumerate().map(move |(i, line)| {
            let mut line = line.context("standard input can not be read")?;
            if self.hex && line.last() == Some(&b'\r') {
                line.pop();
            }
            self.decode(line).with_context(|| format!("line {} of standard input", i + 1))
        })
    }

    fn decode(self, text: Vec<u8>) -> anyhow::Result<Vec<u8>> {
        match (self.hex, self.escaped) {
            (true, _) => from_hex(&text),
            (_, true) => unescaped(&text),
            _ => Ok(text),
        }
    }
}
