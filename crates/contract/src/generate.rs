//! Constructors made from a contract, with tests of their own.

mod alike;
mod elixir;
mod go;
mod plan;
mod python;
mod rust;
mod script;

use crate::contract::Contract;
use crate::finding::Report;
use plan::Plan;
use std::fmt;

/// A language that constructors can be made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// `keyspace.rs`: a module, its tests included.
    Rust,
    /// `keyspace.go` and `keyspace_test.go`, package `keyspace`.
    Go,
    /// `keyspace.ts` and `keyspace.test.ts`, which a program that only removes types can run.
    TypeScript,
    /// `keyspace.mjs` and `keyspace.test.mjs`: the same without types.
    JavaScript,
    /// `keyspace.py` and `test_keyspace.py`.
    Python,
    /// `keyspace.ex` and `keyspace_test.exs`.
    Elixir,
}

/// A file of source text that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceFile {
    /// Its name, without a folder.
    pub name: &'static str,
    /// What is in it.
    pub text: String,
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 6] = [
        Language::Rust,
        Language::Go,
        Language::TypeScript,
        Language::JavaScript,
        Language::Python,
        Language::Elixir,
    ];

    /// Its name in lower case.
    pub const fn word(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::Go => "go",
            Language::TypeScript => "typescript",
            Language::JavaScript => "javascript",
            Language::Python => "python",
            Language::Elixir => "elixir",
        }
    }

    /// The language with this name.
    pub fn from_word(word: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.word() == word)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Contract {
    /// Makes constructors: a type per family that checks the tag value, a method per key, the names from before, and the
    /// slot, known without a server. The tests that come with them compare keys and slots with what was computed here. The
    /// same contract gives the same text, byte for byte; it depends on nothing but the language.
    ///
    /// ```
    /// use echomq_contract::{Contract, Language};
    ///
    /// let contract = Contract::parse(
    ///     r#"
    ///     contract = 1
    ///     [family.order]
    ///     tag = { field = "order", alphabet = "A-Z0-9", length = [1, 16], cardinality = 1_000_000 }
    ///     keys.head = { type = "hash", pattern = "order:{order}:head" }
    ///     "#,
    /// )?;
    /// let files = contract.generate(Language::Python)?;
    /// assert_eq!(files[0].name, "keyspace.py");
    /// assert!(files[0].text.contains("class OrderKeys:"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the check finds errors: keys that fail on a cluster are not built.
    pub fn generate(&self, language: Language) -> Result<Vec<SourceFile>, Unsound> {
        let report = self.check();
        if report.has_errors() {
            return Err(Unsound(Box::new(report)));
        }
        let plan = Plan::of(self);
        Ok(match language {
            Language::Rust => rust::files(&plan),
            Language::Go => go::files(&plan),
            Language::TypeScript => script::files(&plan, script::Types::Written),
            Language::JavaScript => script::files(&plan, script::Types::LeftOut),
            Language::Python => python::files(&plan),
            Language::Elixir => elixir::files(&plan),
        })
    }
}

/// Why nothing was made of a contract: its check finds errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsound(Box<Report>);

impl Unsound {
    /// What the check says.
    pub fn report(&self) -> &Report {
        &self.0
    }
}

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "constructors are made of a contract without errors; mend these first\n{}", self.0)
    }
}

impl std::error::Error for Unsound {}
