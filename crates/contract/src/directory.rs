//! Which key of a contract a key of a server is.

use crate::contract::{Contract, Family, Key, Pattern};
use crate::shape::{Shape, Values, without_braces};
use std::fmt;

/// The names of a contract, made ready to be looked up. Made by [`Contract::directory`].
#[derive(Clone, Debug)]
pub struct Directory<'c> {
    today: Vec<Name<'c>>,
    before: Vec<Name<'c>>,
}

/// A pattern with what it can spell.
#[derive(Clone, Debug)]
struct Name<'c> {
    title: Title<'c>,
    pattern: &'c Pattern,
    shape: Shape,
    /// For keys that differ from it in braces alone.
    braceless: Shape,
    /// For keys whose tag has a value that the contract does not allow.
    loose: Shape,
    /// For keys that begin like it, up to the tag.
    head: Option<Shape>,
}

/// A key of a family, as a kind: `order.items`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Title<'c> {
    /// The family.
    pub family: &'c Family,
    /// The key.
    pub key: &'c Key,
}

impl fmt::Display for Title<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.family.name, self.key.name)
    }
}

/// What a [`Directory`] says of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Entry<'c> {
    /// It is this key of today.
    Today(Title<'c>),
    /// It is the name that a key had before.
    Before {
        /// The key.
        title: Title<'c>,
        /// The pattern that spelt it.
        pattern: &'c Pattern,
        /// How it is spelt today.
        today: Vec<u8>,
    },
    /// No family claims it.
    Nobody(Likeness<'c>),
}

/// What a key that no family claims looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Likeness<'c> {
    /// A key of the contract, but for white space or control characters at its ends.
    Blanks {
        /// Which one.
        title: Title<'c>,
        /// How the contract spells it.
        meant: Vec<u8>,
    },
    /// A key of the contract, but for its braces, so that it is on another slot.
    Braces {
        /// Which one.
        title: Title<'c>,
        /// How the contract spells it.
        meant: Vec<u8>,
    },
    /// A key of the contract, but for the value in its tag: it is empty, or not what the family allows.
    Value {
        /// Which one.
        title: Title<'c>,
        /// The value.
        value: Vec<u8>,
    },
    /// A key with the tag of a family's entity, which has no key of this name.
    Entity {
        /// The family.
        family: &'c Family,
        /// The value of its tag.
        value: Vec<u8>,
    },
    /// Nothing of the contract.
    Nothing,
}

impl Contract {
    /// The names of this contract, to look keys up in.
    ///
    /// ```
    /// use echomq_contract::{Contract, Entry, Likeness};
    ///
    /// let contract = Contract::parse(
    ///     r#"
    ///     contract = 1
    ///     [family.order]
    ///     tag = { field = "order", alphabet = "A-Z0-9", length = [1, 16], cardinality = 1_000_000 }
    ///     keys.items = { type = "list", pattern = "order:{order}:items", legacy = ["items:<order>"] }
    ///     "#,
    /// )?;
    /// let directory = contract.directory();
    /// let Entry::Before { title, today, .. } = directory.find(b"items:A7") else { panic!() };
    /// assert_eq!((title.to_string().as_str(), today.as_slice()), ("order.items", &b"order:{A7}:items"[..]));
    /// let Entry::Nobody(Likeness::Braces { meant, .. }) = directory.find(b"order:A7:items") else { panic!() };
    /// assert_eq!(meant, b"order:{A7}:items");
    /// # Ok::<(), echomq_contract::ContractError>(())
    /// ```
    pub fn directory(&self) -> Directory<'_> {
        let mut directory = Directory { today: Vec::new(), before: Vec::new() };
        for family in &self.families {
            for key in &family.keys {
                let title = Title { family, key };
                directory.today.extend(Name::new(title, &key.pattern));
                directory.before.extend(key.legacy.iter().filter_map(|pattern| Name::new(title, pattern)));
            }
        }
        directory
    }
}

impl<'c> Directory<'c> {
    /// Which key of the contract this is. Where two could be (the check of the contract finds such pairs), the first.
    pub fn find(&self, key: &[u8]) -> Entry<'c> {
        if let Some((name, _)) = first(&self.today, |name| name.shape.read(key)) {
            return Entry::Today(name.title);
        }
        if let Some((name, values)) = first(&self.before, |name| name.shape.read(key)) {
            let today = build(&name.title.key.pattern, &values);
            return Entry::Before { title: name.title, pattern: name.pattern, today };
        }
        Entry::Nobody(self.likeness(key))
    }

    fn likeness(&self, key: &[u8]) -> Likeness<'c> {
        let trimmed = trimmed(key);
        if trimmed.len() < key.len()
            && let Some((name, _)) = first(&self.today, |name| name.shape.read(trimmed))
        {
            return Likeness::Blanks { title: name.title, meant: trimmed.to_vec() };
        }
        let bare = without_braces(key);
        if let Some((name, values)) = first(&self.today, |name| name.braceless.read(&bare)) {
            return Likeness::Braces { title: name.title, meant: build(name.pattern, &values) };
        }
        if let Some((name, values)) = first(&self.today, |name| name.loose.read(key)) {
            let value = values.of(&name.title.family.tag.name).to_vec();
            return Likeness::Value { title: name.title, value };
        }
        if let Some((name, values)) = first(&self.today, |name| name.head.as_ref()?.read(key)) {
            let family = name.title.family;
            return Likeness::Entity { family, value: values.of(&family.tag.name).to_vec() };
        }
        Likeness::Nothing
    }
}

impl<'c> Name<'c> {
    fn new(title: Title<'c>, pattern: &'c Pattern) -> Option<Name<'c>> {
        let shape = Shape::of(title.family, pattern)?;
        let (braceless, loose) = (shape.braceless(), shape.with_any(&title.family.tag.name));
        let head = shape.up_to_tag();
        Some(Name { title, pattern, shape, braceless, loose, head })
    }
}

/// The first name that spells a key, with the values.
fn first<'n, 'c, 'k>(
    names: &'n [Name<'c>],
    read: impl Fn(&Name<'c>) -> Option<Values<'k>>,
) -> Option<(&'n Name<'c>, Values<'k>)> {
    names.iter().find_map(|name| Some((name, read(name)?)))
}

fn build(pattern: &Pattern, values: &Values<'_>) -> Vec<u8> {
    pattern.template().map_or_else(Vec::new, |template| template.build(|field| values.of(field)))
}

/// The key without white space and control characters at its ends.
fn trimmed(key: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || byte.is_ascii_control();
    let start = key.iter().position(|byte| !is_blank(byte)).unwrap_or(key.len());
    let end = key.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &key[start..end]
}
