//! `echomq contract gen`: constructors made from a contract.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::builder::PossibleValue;
use echomq_contract::{Language, SourceFile};
use serde::Serialize;

use super::input::File;
use crate::exit::{self, Exit};
use crate::screen::{Report, Screen};

/// Make constructors from a contract: a type per family, a method per key, the slot, and tests that compare them.
///
/// Without --out the constructors are printed, and the tests are not, unless they stand in the same file. Exit code 1
/// when the contract has errors: keys that fail on a cluster are not built.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The language.
    language: Named,
    #[command(flatten)]
    file: File,
    /// Write the constructors and their tests into this folder.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// A language by its name.
#[derive(Clone, Copy)]
struct Named(Language);

impl clap::ValueEnum for Named {
    fn value_variants<'a>() -> &'a [Named] {
        const ALL: [Named; Language::ALL.len()] = {
            let mut all = [Named(Language::Rust); Language::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = Named(Language::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.word()))
    }
}

#[derive(Serialize)]
struct Generated {
    language: &'static str,
    files: Vec<GeneratedFile>,
}

#[derive(Serialize)]
struct GeneratedFile {
    name: &'static str,
    path: Option<PathBuf>,
    text: Option<String>,
}

impl Report for Generated {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for (at, file) in self.files.iter().enumerate() {
            match (&file.path, &file.text) {
                (Some(path), _) => writeln!(out, "{}", path.display())?,
                (None, Some(text)) if at == 0 => out.write_all(text.as_bytes())?,
                (None, _) => {}
            }
        }
        Ok(())
    }
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> anyhow::Result<Exit> {
    let language = args.language.0;
    let files = match args.file.read()?.generate(language) {
        Ok(files) => files,
        Err(unsound) => {
            exit::note(unsound.to_string().trim_end());
            return Ok(Exit::Finding);
        }
    };
    let files =
        files.into_iter().map(|file| placed(file, args.out.as_deref())).collect::<anyhow::Result<_>>()?;
    screen.show(&Generated { language: language.word(), files })?;
    Ok(Exit::Fine)
}

/// Writes the file, when there is a folder for it.
fn placed(file: SourceFile, folder: Option<&Path>) -> anyhow::Result<GeneratedFile> {
    let SourceFile { name, text, .. } = file;
    let Some(folder) = folder else { return Ok(GeneratedFile { name, path: None, text: Some(text) }) };
    let path = folder.join(name);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, text))
        .with_context(|| format!("{path:?} can not be written; name a folder of your own"))?;
    Ok(GeneratedFile { name, path: Some(path), text: None })
}
