//! Settings of a TOML text, each with its path and its line, so that an error can name them.

use super::{NAMES, Read};
use crate::error::ContractError;
use echomq_keyspace::{Escaped, Template};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text, and where its lines begin.
pub(super) struct Source<'i> {
    text: &'i str,
    line_starts: Vec<usize>,
}

impl<'i> Source<'i> {
    pub(super) fn new(text: &'i str) -> Source<'i> {
        let after_break = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Source { text, line_starts: std::iter::once(0).chain(after_break).collect() }
    }

    /// The line of a place in the text, from 1.
    fn line(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at).max(1)
    }

    /// The settings of the whole text.
    pub(super) fn settings(&self) -> Read<Settings<'_>> {
        let table = DeTable::parse(self.text).map_err(|error| ContractError {
            line: self.line(error.span().map_or(0, |span| span.start)),
            path: String::new(),
            text: error.message().to_owned(),
            remedy: "mend the TOML there".to_owned(),
        })?;
        let entries = entries(self, "", table.into_inner());
        Ok(Settings { path: String::new(), line: 1, entries })
    }
}

/// A table: its settings in the order of the text.
pub(super) struct Settings<'a> {
    path: String,
    line: usize,
    entries: Vec<Setting<'a>>,
}

/// One setting: a name and a value.
#[derive(Clone)]
pub(super) struct Setting<'a> {
    source: &'a Source<'a>,
    name: String,
    path: String,
    line: usize,
    value: DeValue<'a>,
}

fn entries<'a>(source: &'a Source<'a>, path: &str, table: DeTable<'a>) -> Vec<Setting<'a>> {
    let mut entries: Vec<_> = table
        .into_iter()
        .map(|(name, value)| {
            let at = name.span().start;
            let name = name.into_inner().into_owned();
            let shown = Escaped(name.as_bytes());
            let path = if path.is_empty() { shown.to_string() } else { format!("{path}.{shown}") };
            (at, Setting { source, name, path, line: source.line(at), value: value.into_inner() })
        })
        .collect();
    entries.sort_by_key(|(at, _)| *at);
    entries.into_iter().map(|(_, setting)| setting).collect()
}

impl<'a> Settings<'a> {
    /// All of them, in the order of the text.
    pub(super) fn all(&self) -> impl Iterator<Item = Setting<'a>> + '_ {
        self.entries.iter().cloned()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Setting<'a>> {
        self.entries.iter().find(|setting| setting.name == name)
    }

    pub(super) fn need(&self, name: &str, remedy: &str) -> Read<&Setting<'a>> {
        self.get(name).ok_or_else(|| ContractError {
            line: self.line,
            path: self.path.clone(),
            text: format!("`{name}` is missing"),
            remedy: remedy.to_owned(),
        })
    }

    /// Refuses a setting that is none of these: most likely it is misspelt.
    pub(super) fn only(&self, names: &[&str]) -> Read<()> {
        match self.entries.iter().find(|setting| !names.contains(&setting.name.as_str())) {
            Some(unknown) => {
                let text = format!("`{}` is no setting here", Escaped(unknown.name.as_bytes()));
                Err(unknown.refuse(&text, &format!("use {}", names.join(", "))))
            }
            None => Ok(()),
        }
    }
}

impl<'a> Setting<'a> {
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// The name, when constructors can be called so.
    pub(super) fn name(&self) -> Read<String> {
        if Template::is_field_name(&self.name) {
            return Ok(self.name.clone());
        }
        let text = format!("\"{}\" can not be a name here", Escaped(self.name.as_bytes()));
        Err(self.refuse(&text, NAMES))
    }

    pub(super) fn text(&self) -> Read<String> {
        let text = self.value.as_str().map(str::to_owned);
        text.ok_or_else(|| self.mistyped("a text", "write it in quotes"))
    }

    pub(super) fn boolean(&self) -> Read<bool> {
        self.value.as_bool().ok_or_else(|| self.mistyped("true or false", "write one of them"))
    }

    /// A whole number that is not negative.
    pub(super) fn number(&self) -> Read<u64> {
        let number = self.value.as_integer().and_then(|integer| {
            let digits: String = integer.as_str().chars().filter(|c| *c != '_').collect();
            u64::from_str_radix(&digits, integer.radix()).ok()
        });
        number.ok_or_else(|| self.mistyped("a whole number that is not negative", "write such a number"))
    }

    pub(super) fn list(&self) -> Read<Vec<Setting<'a>>> {
        let DeValue::Array(array) = &self.value else {
            return Err(self.mistyped("a list", "write it in brackets"));
        };
        Ok(array.iter().map(|value| self.item(value)).collect())
    }

    fn item(&self, value: &Spanned<DeValue<'a>>) -> Setting<'a> {
        let line = self.source.line(value.span().start);
        Setting { line, value: value.get_ref().clone(), ..self.clone() }
    }

    pub(super) fn settings(&self) -> Read<Settings<'a>> {
        let DeValue::Table(table) = &self.value else {
            return Err(self.mistyped("a table", "write its settings in braces or under a heading"));
        };
        let entries = entries(self.source, &self.path, table.clone());
        Ok(Settings { path: self.path.clone(), line: self.line, entries })
    }

    fn mistyped(&self, wanted: &str, remedy: &str) -> ContractError {
        self.refuse(&format!("it is to be {wanted}, and is of type {}", self.value.type_str()), remedy)
    }

    pub(super) fn refuse(&self, text: &str, remedy: &str) -> ContractError {
        self.refuse_at(self.line, text, remedy)
    }

    pub(super) fn refuse_at(&self, line: usize, text: &str, remedy: &str) -> ContractError {
        ContractError { line, path: self.path.clone(), text: text.to_owned(), remedy: remedy.to_owned() }
    }
}
