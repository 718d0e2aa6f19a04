//! A contract as it stands in a file: families, their keys, and the operations on them.

use crate::error::ContractError;
use crate::read;
use echomq_keyspace::{Alphabet, Escaped, KeyType, Template};
use std::fmt;
use std::str::FromStr;

/// The key families of an application and the operations on them, as read from a `keyspace.toml`
/// ([the format](crate::format)).
///
/// What was read may still be wrong: [`Contract::check`] tells.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contract {
    /// The most primaries that the cluster is to have; decides how many values of a tag are few.
    pub shards: u32,
    /// The families, in the order of the file.
    pub families: Vec<Family>,
    /// The operations, in the order of the file.
    pub operations: Vec<Operation>,
}

/// All keys of one kind of entity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Family {
    /// Its name, such as `order`.
    pub name: String,
    /// What it is, for a reader.
    pub about: Option<String>,
    /// Where it begins, from 1.
    pub line: usize,
    /// The field between the braces.
    pub tag: Field,
    /// How many different values of the tag there will be.
    pub cardinality: u64,
    /// The other fields that were declared.
    pub fields: Vec<Field>,
    /// Its keys, in the order of the file.
    pub keys: Vec<Key>,
}

/// What the values of a field may be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Where it is declared, from 1.
    pub line: usize,
    /// The bytes that a value may have.
    pub alphabet: Alphabet,
    /// The shortest value, in bytes.
    pub min_bytes: usize,
    /// The longest value, in bytes.
    pub max_bytes: usize,
}

/// One key of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Key {
    /// Its name within the family, such as `items`.
    pub name: String,
    /// What it is, for a reader.
    pub about: Option<String>,
    /// What it holds.
    pub key_type: KeyType,
    /// How it is spelt.
    pub pattern: Pattern,
    /// Whether it is to be on a slot of its own, without a tag.
    pub alone: bool,
    /// How it was spelt before.
    pub legacy: Vec<Pattern>,
}

/// How a key is spelt ([`Template`]).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pattern {
    /// As it was written.
    pub text: String,
    /// Where it stands, from 1.
    pub line: usize,
    tag_field: String,
}

/// Something that touches several keys at once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// What it does, for a reader.
    pub about: Option<String>,
    /// Where it begins, from 1.
    pub line: usize,
    /// How it touches them.
    pub kind: OperationKind,
    /// The keys, as they were written.
    pub keys: Vec<Mention>,
}

/// A key of an [`Operation`]: `family.key`, or `family{name}.key` for the entity called so in the operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mention {
    /// As it was written.
    pub text: String,
    /// Where it stands, from 1.
    pub line: usize,
}

/// What makes the keys of an operation have to share a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OperationKind {
    /// A Lua script or a function.
    Script,
    /// `MULTI` to `EXEC`, with what was watched for it.
    Transaction,
    /// One command with several keys.
    Command,
}

impl Contract {
    /// Reads a `keyspace.toml`.
    ///
    /// # Errors
    ///
    /// When the text is no TOML, or not in [the format](crate::format); the error names the line and what to write.
    pub fn parse(text: &str) -> Result<Contract, ContractError> {
        read::contract(text)
    }

    /// The contract of EchoMQ's own keys: what the key file of a queue builds, and what the scripts touch.
    pub fn echomq() -> Contract {
        const TEXT: &str = include_str!("../contracts/echomq.toml");
        Contract::parse(TEXT)
            .unwrap_or_else(|error| unreachable!("held against the format by tests: {error}"))
    }
}

impl FromStr for Contract {
    type Err = ContractError;

    fn from_str(text: &str) -> Result<Contract, ContractError> {
        Contract::parse(text)
    }
}

impl Field {
    /// The longest value that a contract may allow, in bytes.
    pub const MAX_BYTES: usize = 512;

    /// A field that was not declared: any bytes, 1 to 256.
    pub(crate) fn undeclared(name: &str, line: usize) -> Field {
        Field { name: name.to_owned(), line, alphabet: Alphabet::ANY, min_bytes: 1, max_bytes: 256 }
    }

    /// How long a value may be, in words: `1 to 16 bytes`.
    pub(crate) fn length(&self) -> String {
        match (self.min_bytes, self.max_bytes) {
            (1, 1) => "1 byte".to_owned(),
            (min, max) if min == max => format!("{min} bytes"),
            (min, max) => format!("{min} to {max} bytes"),
        }
    }

    /// How many different values there can be, at most `u64::MAX`.
    pub fn values(&self) -> u64 {
        let letters = u64::from(self.alphabet.len());
        let of_length = |len| letters.saturating_pow(u32::try_from(len).unwrap_or(u32::MAX));
        (self.min_bytes..=self.max_bytes).fold(0_u64, |sum, len| sum.saturating_add(of_length(len)))
    }
}

impl Family {
    /// What the values of a field may be; any bytes where it was not declared.
    pub fn field(&self, name: &str) -> Field {
        let declared = self.fields.iter().chain([&self.tag]).find(|field| field.name == name);
        declared.cloned().unwrap_or_else(|| Field::undeclared(name, self.line))
    }
}

impl Key {
    /// The patterns of today and of before.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        std::iter::once(&self.pattern).chain(&self.legacy)
    }
}

impl Pattern {
    pub(crate) fn new(text: String, line: usize, tag_field: &str) -> Pattern {
        Pattern { text, line, tag_field: tag_field.to_owned() }
    }

    /// The pieces of the pattern; none where it is blank.
    pub fn template(&self) -> Option<Template<'_>> {
        Template::parse(&self.text, &self.tag_field).ok().filter(|_| !self.text.trim().is_empty())
    }
}

/// The pattern, fit for a terminal.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped(self.text.as_bytes()).fmt(f)
    }
}

impl OperationKind {
    /// Every kind.
    pub const ALL: [OperationKind; 3] =
        [OperationKind::Script, OperationKind::Transaction, OperationKind::Command];

    /// The word in the file.
    pub const fn word(self) -> &'static str {
        match self {
            OperationKind::Script => "script",
            OperationKind::Transaction => "transaction",
            OperationKind::Command => "command",
        }
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
