//! What is made of the definitions of the command line: completions and man pages.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap_complete::Shell;

use crate::cli::command;
use crate::exit::Exit;
use crate::screen::Screen;

/// Print the completions for a shell.
///
/// For bash: source <(echomq completions bash)
#[derive(clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Print the man page, or write one for every command.
#[derive(clap::Args)]
pub(crate) struct ManArgs {
    /// Write echomq.1, echomq-key.1 and so on into this folder.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

pub(crate) fn completions(args: &CompletionsArgs, screen: &mut Screen) -> anyhow::Result<Exit> {
    // Its writer must not fail, and ours may: the reader can go.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "echomq", &mut script);
    screen.raw(&script)?;
    Ok(Exit::Fine)
}

pub(crate) fn man(args: &ManArgs, screen: &mut Screen) -> anyhow::Result<Exit> {
    match &args.dir {
        Some(dir) => {
            let failed = || format!("man pages can not be written to {dir:?}");
            std::fs::create_dir_all(dir).with_context(failed)?;
            clap_mangen::generate_to(command(), dir).with_context(failed)?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command()).render(&mut page)?;
            screen.write_all(&page)?;
        }
    }
    Ok(Exit::Fine)
}
