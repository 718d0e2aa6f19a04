//! Whether a key can be told by its name: no two patterns spell the same.

use super::{at_key, finding};
use crate::contract::{Contract, Family, Key, Pattern};
use crate::finding::{Code, Finding};
use crate::spelling::{Spelling, Witness};
use echomq_keyspace::Template;
use std::collections::BTreeSet;

/// A pattern with what it can spell.
struct Name<'a> {
    family: &'a Family,
    key: &'a Key,
    pattern: &'a Pattern,
    spelling: Spelling,
}

impl Name<'_> {
    fn finding(&self, code: Code, text: String, remedy: &str) -> Finding {
        finding(code, at_key(self.family, self.key, self.pattern.line), text, remedy)
    }

    fn title(&self) -> String {
        format!("{}.{}", self.family.name, self.key.name)
    }
}

pub(super) fn check(contract: &Contract, findings: &mut Vec<Finding>) {
    let of_today = names(contract, |key| std::slice::from_ref(&key.pattern));
    let of_before = names(contract, |key| &key.legacy);
    for (i, name) in of_today.iter().enumerate() {
        findings.extend(twice(name));
        findings.extend(same(name, &of_today[..i]));
    }
    for (i, name) in of_before.iter().enumerate() {
        findings.extend(fields(name));
        findings.extend(meets_new(name, &of_today));
        findings.extend(meets_legacy(name, &of_before[..i]));
    }
}

fn names<'a>(contract: &'a Contract, patterns: impl Fn(&'a Key) -> &'a [Pattern]) -> Vec<Name<'a>> {
    let mut names = Vec::new();
    for family in &contract.families {
        for key in &family.keys {
            names.extend(patterns(key).iter().filter_map(|pattern| {
                Some(Name { family, key, pattern, spelling: Spelling::of(family, pattern)? })
            }));
        }
    }
    names
}

/// A key that another name spells too, and who spells it: the first of the others, and the titles of the rest that meet.
fn clash<'a, 'c>(
    name: &Name<'_>,
    others: impl IntoIterator<Item = &'a Name<'c>>,
) -> Option<(Witness, &'a Name<'c>, String)>
where
    'c: 'a,
{
    let mut meeting =
        others.into_iter().filter_map(|other| Some((name.spelling.meet(&other.spelling)?, other)));
    let (witness, first) = meeting.next()?;
    let rest: Vec<_> = meeting.map(|(_, other)| other.title()).collect();
    let rest = if rest.is_empty() { String::new() } else { format!("; so it is with {}", rest.join(", ")) };
    Some((witness, first, rest))
}

fn same(name: &Name<'_>, others: &[Name<'_>]) -> Option<Finding> {
    let (witness, other, rest) = clash(name, others)?;
    let text = format!("{witness} is a key of {} too ({}){rest}", other.title(), other.pattern);
    Some(name.finding(
        Code::AmbiguousNames,
        text,
        "give each key a word of its own, or its fields a narrower alphabet",
    ))
}

fn twice(name: &Name<'_>) -> Option<Finding> {
    let witness = name.spelling.spelt_twice()?;
    let text = format!("{witness} is its key for different values of its fields");
    Some(name.finding(
        Code::AmbiguousFields,
        text,
        "leave what stands between two fields out of the alphabet of one",
    ))
}

fn meets_new(name: &Name<'_>, others: &[Name<'_>]) -> Option<Finding> {
    let (witness, other, rest) = clash(name, others)?;
    let text = format!(
        "{witness}, spelt by the name from before {}, is a key of {} today: to move it away would delete it{rest}",
        name.pattern,
        other.title()
    );
    Some(name.finding(
        Code::LegacyMeetsNew,
        text,
        "give the new key a word that no old one had, or narrow its fields",
    ))
}

/// Names from before of one key may meet: whatever is found there belongs to it.
fn meets_legacy(name: &Name<'_>, others: &[Name<'_>]) -> Option<Finding> {
    let (witness, other, rest) =
        clash(name, others.iter().filter(|other| !std::ptr::eq(other.key, name.key)))?;
    let text = format!("{witness} may come from {} or from {}{rest}", other.title(), name.title());
    Some(name.finding(Code::LegacyMeetsLegacy, text, "narrow the fields until each old name is of one key"))
}

/// A name from before is made of the values that make the key, and of no others.
fn fields(name: &Name<'_>) -> Option<Finding> {
    let set = |template: Option<Template<'_>>| -> BTreeSet<String> {
        template.into_iter().flat_map(|template| template.fields()).map(str::to_owned).collect()
    };
    let (old, new) = (set(name.pattern.template()), set(name.key.pattern.template()));
    let list =
        |names: Vec<&String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    let text = match (old.difference(&new).collect::<Vec<_>>(), new.difference(&old).collect::<Vec<_>>()) {
        (unknown, _) if !unknown.is_empty() => {
            format!("the name from before {} has {}, which the key has not", name.pattern, list(unknown))
        }
        (_, missing) if !missing.is_empty() => {
            format!("the name from before {} is the same for every {}", name.pattern, list(missing))
        }
        _ => return None,
    };
    Some(name.finding(Code::LegacyFields, text, "write each field of the key once"))
}
