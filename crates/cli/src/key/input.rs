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
    /// Keys are in hex, two digits a byte.
    #[arg(long, conflicts_with = "escaped")]
    hex: bool,
    /// Keys are escaped: \xNN, \n, \r, \t, \\ and \" stand for their bytes.
    #[arg(long)]
    escaped: bool,
    /// Read keys from standard input too, one a line; an empty line is the empty key.
    #[arg(long)]
    stdin: bool,
}

impl Keys {
    /// The keys one by one, those of standard input as they come.
    pub(crate) fn read(self) -> impl Iterator<Item = anyhow::Result<Vec<u8>>> {
        let Keys { keys, hex, escaped, stdin } = self;
        let decode = move |text: Vec<u8>| match (hex, escaped) {
            (true, _) => from_hex(&text),
            (_, true) => unescaped(&text),
            _ => Ok(text),
        };
        let arguments = keys.into_iter().map(move |key| decode(key.into_vec()));
        let lines = stdin.then(|| io::stdin().lock().split(b'\n')).into_iter().flatten().enumerate();
        let lines = lines.map(move |(i, line)| {
            let mut line = line.context("standard input can not be read")?;
            if hex && line.last() == Some(&b'\r') {
                line.pop();
            }
            decode(line).with_context(|| format!("line {} of standard input", i + 1))
        });
        arguments.chain(lines)
    }

    /// All of them.
    pub(crate) fn read_all(self) -> anyhow::Result<Vec<Vec<u8>>> {
        self.read().collect()
    }
}
