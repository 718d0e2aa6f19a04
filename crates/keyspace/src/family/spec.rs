//! What a family is made of, known when it is compiled.

use crate::alphabet::Alphabet;
use crate::template::Template;
use core::fmt;

/// The description of a key family, as [`family!`](crate::family!) makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// The name of its type.
    pub name: &'static str,
    /// The field that tells its entities apart.
    pub tag: TagField,
    /// Its keys, in the order they were declared.
    pub keys: &'static [KeySpec],
}

/// The field between the braces, and what its values may be. No brace is in the alphabet, and no value is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagField {
    /// Its name, such as `order`.
    pub name: &'static str,
    /// The bytes that a value may have.
    pub alphabet: Alphabet,
    /// The shortest value, in bytes; at least 1.
    pub min_bytes: usize,
    /// The longest value, in bytes.
    pub max_bytes: usize,
}

/// One key of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySpec {
    /// Its name within the family, such as `items`.
    pub name: &'static str,
    /// What it holds.
    pub key_type: KeyType,
    /// How it is spelt.
    pub template: Template<'static>,
    /// The field after the tag, where each entity has many of these keys. It stands last, so its values may be any bytes.
    pub field: Option<&'static str>,
    /// How it was spelt before.
    pub legacy: &'static [Template<'static>],
}

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum KeyType {
    /// A string; counters and bitmaps too.
    String,
    /// A list.
    List,
    /// A set.
    Set,
    /// A sorted set.
    SortedSet,
    /// A hash.
    Hash,
    /// A stream.
    Stream,
    /// A sharded pub/sub channel: it stores nothing, and hashes like a key.
    Channel,
}

impl KeyType {
    /// Every type.
    pub const ALL: [KeyType; 7] = [
        KeyType::String,
        KeyType::List,
        KeyType::Set,
        KeyType::SortedSet,
        KeyType::Hash,
        KeyType::Stream,
        KeyType::Channel,
    ];

    /// The word that a server answers to `TYPE`, such as `zset`; `channel` for what is none of its types.
    pub const fn word(self) -> &'static str {
        match self {
            KeyType::String => "string",
            KeyType::List => "list",
            KeyType::Set => "set",
            KeyType::SortedSet => "zset",
            KeyType::Hash => "hash",
            KeyType::Stream => "stream",
            KeyType::Channel => "channel",
        }
    }

    /// The type with this word.
    pub fn from_word(word: &str) -> Option<KeyType> {
        KeyType::ALL.into_iter().find(|key_type| key_type.word() == word)
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
