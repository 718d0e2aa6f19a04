//! Whether a key can be told by its name: no two patterns spell the same.

use super::{at_key, finding};
use crate::contract::{Contract, Family, Key, Pattern};
use crate::finding::{Code, Finding};
use crate::spelling::Spelling;
use echomq_keyspace::{Escaped, Template};
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
        findings.extend(of_today[..i].iter().filter_map(|other| same(name, other)));
    }
    for (i, name) in of_before.iter().enumerate() {
        findings.extend(fields(name));
        findings.extend(of_today.iter().filter_map(|other| meets_new(name, other)));
        let others = of_before[..i].iter().filter(|other| !std::ptr::eq(other.key, name.key));
        findings.extend(others.filter_map(|other| meets_legacy(name, other)));
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

fn same(name: &Name<'_>, other: &Name<'_>) -> Option<Finding> {
    let witness = name.spelling.meet(&other.spelling)?;
    let text = format!("`{}` is a key of {} too ({})", Escaped(&witness), other.title(), other.pattern.text);
    Some(name.finding(
        Code::AmbiguousNames,
        text,
        "give each key a word of its own, or its fields a narrower alphabet",
    ))
}

fn twice(name: &Name<'_>) -> Option<Finding> {
    let witness = name.spelling.spelt_twice()?;
    let text = format!("`{}` is its key for different values of its fields", Escaped(&witness));
    Some(name.finding(
        Code::AmbiguousFields,
        text,
        "leave what stands between two fields out of the alphabet of one",
    ))
}

fn meets_new(name: &Name<'_>, other: &Name<'_>) -> Option<Finding> {
    let witness = name.spelling.meet(&other.spelling)?;
    let text = format!(
        "`{}`, spelt by the name from before {}, is a key of {} today: to move it away would delete it",
        Escaped(&witness),
        name.pattern.text,
        other.title()
    );
    Some(name.finding(
        Code::LegacyMeetsNew,
        text,
        "give the new key a word that no old one had, or narrow its fields",
    ))
}

fn meets_legacy(name: &Name<'_>, other: &Name<'_>) -> Option<Finding> {
    let witness = name.spelling.meet(&other.spelling)?;
    let text = format!("`{}` may come from {} or from {}", Escaped(&witness), other.title(), name.title());
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
            format!("the name from before {} has {}, which the key has not", name.pattern.text, list(unknown))
        }
        (_, missing) if !missing.is_empty() => {
            format!("the name from before {} is the same for every {}", name.pattern.text, list(missing))
        }
        _ => return None,
    };
    Some(name.finding(Code::LegacyFields, text, "write each field of the key once"))
}
