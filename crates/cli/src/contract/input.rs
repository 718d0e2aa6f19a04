//! The contract that a verb is about.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use echomq_contract::Contract;

/// The file of a contract.
#[derive(clap::Args)]
pub(crate) struct File {
    /// The contract; - for standard input.
    #[arg(default_value = "keyspace.toml")]
    file: PathBuf,
}

impl File {
    /// Reads the contract, or says in which line it is none.
    pub(crate) fn read(&self) -> anyhow::Result<Contract> {
        let shown = if self.is_stdin() { "standard input".to_owned() } else { format!("{:?}", self.file) };
        let bytes = if self.is_stdin() {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        } else {
            std::fs::read(&self.file)
        };
        let bytes = bytes.with_context(|| format!("{shown} can not be read; name the file of a contract"))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            anyhow!("{shown} is no contract: byte {at} is not UTF-8; write the file as UTF-8")
        })?;
        Contract::parse(&text).map_err(|error| anyhow!("{shown} is no contract: {error}"))
    }

    pub(crate) fn is_stdin(&self) -> bool {
        self.file == Path::new("-")
    }
}
