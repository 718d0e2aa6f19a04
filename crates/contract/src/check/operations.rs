//! Whether the keys of each operation share a slot, whatever the values are.

use super::tags::{is_firm, shown, shown_constant};
use super::{at_operation, finding};
use crate::contract::{Contract, Family, Key, Mention, Operation};
use crate::finding::{Code, Finding, Proof};
use echomq_keyspace::{Escaped, NoTag, Slot, TagText, Template};

/// A key that an operation names, and the entity of it.
#[derive(Clone, Copy)]
struct Named<'a> {
    mention: &'a Mention,
    family: &'a Family,
    key: &'a Key,
    /// The name of the entity within the operation: equal names are the same value.
    entity: &'a str,
}

/// What is hashed of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hashed<'a> {
    Entity(TagText<'a>, &'a str),
    Constant(&'a str),
}

pub(super) fn check(contract: &Contract, findings: &mut Vec<Finding>) -> Vec<Proof> {
    contract.operations.iter().filter_map(|operation| prove(contract, operation, findings)).collect()
}

fn prove(contract: &Contract, operation: &Operation, findings: &mut Vec<Finding>) -> Option<Proof> {
    if operation.keys.is_empty() {
        let text = format!(
            "a {} without keys can not be routed: nothing says which node it belongs on",
            operation.kind
        );
        let remedy = "name every key that it touches";
        findings.push(finding(Code::NoKeys, at_operation(operation, operation.line), text, remedy));
        return None;
    }
    let mut named = Vec::new();
    for mention in &operation.keys {
        match find(contract, mention) {
            Ok(found) => named.push(found),
            Err((code, text, remedy)) => {
                findings.push(finding(code, at_operation(operation, mention.line), text, remedy));
            }
        }
    }
    if let Some((code, mention, text, remedy)) = apart(&named) {
        findings.push(finding(code, at_operation(operation, mention.line), text, remedy));
        return None;
    }
    if named.len() < operation.keys.len() { None } else { proof(operation, &named) }
}

type Said = (Code, String, String);

fn find<'a>(contract: &'a Contract, mention: &'a Mention) -> Result<Named<'a>, Said> {
    let text = mention.text.as_str();
    if text.trim().is_empty() {
        return Err((
            Code::BlankKey,
            "a key is blank: the empty key is on slot 0, away from the others".to_owned(),
            "leave it out; where a key is optional, declare an operation with it and one without".to_owned(),
        ));
    }
    let unknown = |remedy: String| {
        (Code::UnknownKey, format!("{:?} is no key of the contract", Escaped(text.as_bytes())), remedy)
    };
    let (title, key_name) = text.rsplit_once('.').ok_or_else(|| unknown("write family.key".to_owned()))?;
    let (family_name, entity) = match title.split_once('{') {
        Some((name, rest)) => {
            let entity = rest.strip_suffix('}').filter(|entity| Template::is_field_name(entity));
            (name, Some(entity.ok_or_else(|| unknown("name an entity as in family{other}.key".to_owned()))?))
        }
        None => (title, None),
    };
    let family = contract.families.iter().find(|family| family.name == family_name);
    let family = family.ok_or_else(|| {
        let names: Vec<_> = contract.families.iter().map(|family| family.name.as_str()).collect();
        unknown(format!("name one of the families {}", names.join(", ")))
    })?;
    let key = family.keys.iter().find(|key| key.name == key_name);
    let key = key.ok_or_else(|| {
        let names: Vec<_> = family.keys.iter().map(|key| key.name.as_str()).collect();
        unknown(format!("name one of the keys {} of {}", names.join(", "), family.name))
    })?;
    Ok(Named { mention, family, key, entity: entity.unwrap_or(&family.tag.name) })
}

impl<'a> Named<'a> {
    /// What is hashed; none where that depends on the whole key, which is a finding of its own.
    fn hashed(&self) -> Option<Hashed<'a>> {
        match self.key.pattern.template()?.tag() {
            Ok(tag) => Some(Hashed::Entity(tag, self.entity)),
            Err(NoTag::Constant(text)) => Some(Hashed::Constant(text)),
            Err(_) => None,
        }
    }

    /// Whether the entity has this key once.
    fn is_one(&self) -> bool {
        let template = self.key.pattern.template();
        template.is_none_or(|template| template.fields().all(|name| name == self.family.tag.name))
    }

    /// Whether what is hashed is known from the pattern, for all values.
    fn is_firm(&self) -> bool {
        let Some(template) = self.key.pattern.template() else { return false };
        self.key.alone || self.hashed().is_some() && is_firm(self.family, &template)
    }
}

impl Hashed<'_> {
    fn shown(self) -> String {
        match self {
            Hashed::Entity(tag, entity) => shown(tag, entity),
            Hashed::Constant(text) => shown_constant(text),
        }
    }
}

/// The first key that some values put on another slot than the first.
fn apart<'a>(named: &[Named<'a>]) -> Option<(Code, &'a Mention, String, String)> {
    let (first, rest) = named.split_first()?;
    for other in rest {
        // The same key twice; one with another field may be two.
        let is_same = first.mention.text == other.mention.text && first.is_one();
        if let Some(alone) = [first, other].into_iter().find(|named| named.key.alone && !is_same) {
            let text = format!(
                "{} is alone on a slot of its own, and can not be used with other keys",
                alone.mention.text
            );
            let remedy = "take it out, and do without one atomic step; or give it the tag";
            return Some((Code::AloneWithOthers, other.mention, text, remedy.to_owned()));
        }
        let (Some(ours), Some(theirs)) = (first.hashed(), other.hashed()) else { continue };
        if ours != theirs {
            let text = format!(
                "two tags: {} has {}, and {} has {}",
                first.mention.text,
                ours.shown(),
                other.mention.text,
                theirs.shown()
            );
            return Some((Code::TwoTags, other.mention, text, remedy_of_two(first, other)));
        }
    }
    None
}

fn remedy_of_two(first: &Named<'_>, other: &Named<'_>) -> String {
    if first.family.name == other.family.name && first.entity != other.entity {
        return "nothing makes two entities share a slot: make two steps of it, each repeatable, with a mark that tells them apart"
            .to_owned();
    }
    format!(
        "keep under {{{}}} what changes together, and write the rest apart, where its delay does no harm",
        first.family.tag.name
    )
}

/// The proof, when every key has a tag that no value changes.
fn proof(operation: &Operation, named: &[Named<'_>]) -> Option<Proof> {
    let first = named.first()?;
    if !named.iter().all(Named::is_firm) {
        return None;
    }
    let hashed = if first.key.alone { None } else { first.hashed() };
    let slot = match hashed {
        Some(Hashed::Constant(text)) => Some(Slot::of(text.as_bytes()).get()),
        _ => None,
    };
    Some(Proof {
        operation: operation.name.clone(),
        at: at_operation(operation, operation.line),
        keys: named.iter().map(|named| named.key.pattern.text.clone()).collect(),
        tag: hashed.map(Hashed::shown),
        slot,
    })
}
