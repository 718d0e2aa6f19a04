//! Key families: all keys of one entity, built by one constructor, on one slot whatever the entity's value is.

mod check;
mod define;
mod spec;

pub use spec::{Family, KeySpec, KeyType, TagField};

use crate::escaped::{Escaped, Quoted};
use crate::slot::Slot;
use crate::template::Template;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// One entity of a [`Family`]: a tag value that was checked, and the slot that it puts every key of the entity on.
///
/// [`family!`](crate::family!) makes a type around it with a method per key. Cloning shares the value.
#[derive(Clone)]
pub struct Entity {
    family: &'static Family,
    value: Arc<[u8]>,
    slot: Slot,
}

impl Entity {
    /// The entity of a family with this tag value.
    ///
    /// # Errors
    ///
    /// When the value is shorter or longer than the family allows, or has a byte outside its alphabet.
    pub fn new(family: &'static Family, value: &[u8]) -> Result<Entity, TagValueError> {
        family.tag.check(value)?;
        let tagged = family.keys.first().map(|spec| spec.template.build(|_| value));
        Ok(Entity { family, value: value.into(), slot: Slot::of(tagged.as_deref().unwrap_or(value)) })
    }

    /// The family.
    pub fn family(&self) -> &'static Family {
        self.family
    }

    /// The tag value, as it was given.
    pub fn value(&self) -> &[u8] {
        &self.value
    }

    /// The slot of all keys of the entity.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The key of a spec of this family. `field` is the value of the spec's field, any bytes; unused where it has none.
    pub fn key(&self, spec: &'static KeySpec, field: &[u8]) -> FamilyKey {
        let build = |template: &Template<'static>| {
            template.build(|name| if name == self.family.tag.name { &self.value } else { field })
        };
        let bytes = build(&spec.template);
        let legacy = spec.legacy.iter().map(build).filter(|name| *name != bytes).collect();
        FamilyKey { spec, slot: self.slot, bytes, legacy }
    }

    /// The keys that each entity has once: those of the specs without a field, in the order they were declared.
    pub fn keys(&self) -> Vec<FamilyKey> {
        self.family.keys.iter().filter(|spec| spec.field.is_none()).map(|spec| self.key(spec, b"")).collect()
    }
}

impl PartialEq for Entity {
    fn eq(&self, other: &Entity) -> bool {
        self.family == other.family && self.value == other.value
    }
}

impl Eq for Entity {}

impl fmt::Debug for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(\"{}\" on slot {})", self.family.name, Escaped(&self.value), self.slot)
    }
}

/// A key of an [`Entity`], with what is known of it.
#[derive(Clone, PartialEq, Eq)]
pub struct FamilyKey {
    spec: &'static KeySpec,
    slot: Slot,
    bytes: Vec<u8>,
    legacy: Vec<Vec<u8>>,
}

impl FamilyKey {
    /// The key as the server knows it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The key as the server knows it.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The name of the key within its family, such as `items`.
    pub fn name(&self) -> &'static str {
        self.spec.name
    }

    /// What the key holds.
    pub fn key_type(&self) -> KeyType {
        self.spec.key_type
    }

    /// The slot: that of the entity.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The names that the key had before, in the order they were declared; each may be on another slot.
    pub fn legacy(&self) -> &[Vec<u8>] {
        &self.legacy
    }
}

impl AsRef<[u8]> for FamilyKey {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Display for FamilyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Escaped(&self.bytes), f)
    }
}

impl fmt::Debug for FamilyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FamilyKey({self}, {} on slot {})", self.spec.key_type, self.slot)
    }
}

/// Why a value can not be the tag of a family's keys. The text quotes the value escaped and states the rule.
#[derive(Clone, PartialEq, Eq)]
pub struct TagValueError(Box<Refusal>);

#[derive(Clone, PartialEq, Eq)]
struct Refusal {
    field: TagField,
    value: Box<[u8]>,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    Empty,
    Length,
    Outside { at: usize, byte: u8 },
}

impl TagValueError {
    /// The value that was refused, as it was given.
    pub fn value(&self) -> &[u8] {
        &self.0.value
    }
}

impl TagField {
    /// Whether a value can stand between the braces.
    ///
    /// # Errors
    ///
    /// When it is too short, too long, or has a byte outside the alphabet.
    pub fn check(&self, value: &[u8]) -> Result<(), TagValueError> {
        let fault = match self.alphabet.first_outside(value) {
            _ if value.is_empty() => Fault::Empty,
            _ if value.len() < self.min_bytes || value.len() > self.max_bytes => Fault::Length,
            Some((at, byte)) => Fault::Outside { at, byte },
            None => return Ok(()),
        };
        Err(TagValueError(Box::new(Refusal { field: *self, value: value.into(), fault })))
    }
}

impl fmt::Display for TagValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { ref field, ref value, fault } = *self.0;
        write!(f, "{} {} refused: ", field.name, Quoted(value))?;
        match fault {
            Fault::Empty => f.write_str("it is empty, and an empty tag is no tag")?,
            Fault::Length => write!(f, "it has {} bytes", value.len())?,
            Fault::Outside { at, byte } => {
                write!(f, "it has {} at byte {at}", Quoted(&[byte]))?;
                if matches!(byte, b'{' | b'}') {
                    f.write_str("; a brace would change which bytes are hashed")?;
                }
            }
        }
        match (field.min_bytes, field.max_bytes) {
            (min, max) if min == max => write!(f, "; use {min} bytes")?,
            (min, max) => write!(f, "; use {min} to {max} bytes")?,
        }
        write!(f, " of {}", field.alphabet)
    }
}

impl fmt::Debug for TagValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TagValueError({self})")
    }
}

impl core::error::Error for TagValueError {}
