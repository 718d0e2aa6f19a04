//! Constructors in Rust.

use super::SourceFile;
use super::alike::{NOTICE, Page, comment, free, list, pascal, quoted_bytes, ranges};
use super::plan::{Example, ExampleKey, FamilyPlan, KeyPlan, Plan, Refusal};
use crate::contract::Field;
use echomq_keyspace::Segment;

const RUNTIME: &str = include_str!("runtime/rust.rs");

/// Words that are no names, and names that each type has already.
const TAKEN: [&str; 54] = [
    "abstract", "all", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
    "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "new", "override", "priv", "pub", "ref", "return", "self",
    "slot", "static", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized",
    "use", "virtual", "where", "while", "yield",
];

pub(super) fn files(plan: &Plan<'_>) -> Vec<SourceFile> {
    let mut page = Page::default();
    page.line(0, "//! Keys and their slots.");
    page.line(0, "//!");
    page.line(0, format!("//! {NOTICE}"));
    page.block(RUNTIME);
    for family in &plan.families {
        class(&mut page, family);
    }
    tests(&mut page, plan);
    vec![SourceFile { name: "keyspace.rs", text: page.text() }]
}

fn class_name(family: &FamilyPlan<'_>) -> String {
    pascal(&family.family.name) + "Keys"
}

fn method(name: &str) -> String {
    free(name.to_owned(), &TAKEN)
}

fn class(page: &mut Page, family: &FamilyPlan<'_>) {
    let (name, tag) = (class_name(family), method(&family.family.tag.name));
    page.line(0, "");
    page.line(
        0,
        format!("/// {}", comment(family.family.about.as_deref().unwrap_or("The keys of one entity."))),
    );
    page.line(0, "#[derive(Clone, Debug, PartialEq, Eq)]");
    page.line(0, format!("pub struct {name} {{"));
    page.line(1, "value: Vec<u8>,");
    page.line(0, "}");
    page.line(0, "");
    page.line(0, format!("impl {name} {{"));
    page.line(1, "/// What each key holds, as the server's `TYPE` calls it.");
    page.line(1, "pub const TYPES: &'static [(&'static str, &'static str)] = &[");
    for KeyPlan { key, .. } in &family.keys {
        page.line(2, format!("(\"{}\", \"{}\"),", key.name, key.key_type));
    }
    page.line(1, "];");
    page.line(0, "");
    page.line(1, "/// Takes the value of the tag, or says what is wrong with it.");
    page.line(1, format!("pub fn new({tag}: impl AsRef<[u8]>) -> Result<Self, Refused> {{"));
    page.line(2, format!("const TAG: Field = {};", field(&family.family.tag)));
    page.line(2, format!("Ok(Self {{ value: checked(&TAG, {tag}.as_ref())?.to_vec() }})"));
    page.line(1, "}");
    if let Some(pieces) = &family.tag {
        page.line(0, "");
        page.line(1, "/// The slot of every key with the tag.");
        page.line(1, "pub fn slot(&self) -> u16 {");
        page.line(2, format!("slot_of(&{})", joined(pieces, &family.family.tag.name)));
        page.line(1, "}");
        page.line(0, "");
        page.line(1, "/// The keys that stand once and have the tag.");
        page.line(1, "pub fn all(&self) -> Vec<Vec<u8>> {");
        page.line(
            2,
            format!("vec![{}]", list(family.listed(), |plan| format!("self.{}()", method(&plan.key.name)))),
        );
        page.line(1, "}");
    }
    for plan in &family.keys {
        key(page, family, plan);
    }
    page.line(0, "}");
}

fn field(field: &Field) -> String {
    format!(
        "Field {{ name: \"{}\", min_bytes: {}, max_bytes: {}, ranges: &[{}], alphabet: {} }}",
        field.name,
        field.min_bytes,
        field.max_bytes,
        list(ranges(&field.alphabet), |(first, last)| format!("({first}, {last})")),
        quoted_bytes(&field.alphabet.to_string())
    )
}

fn joined(pieces: &[Segment<'_>], tag_field: &str) -> String {
    let piece = |piece: &Segment<'_>| match *piece {
        Segment::Text(text) => format!("b{}", quoted_bytes(text)),
        Segment::Field(name) if name == tag_field => "&self.value".to_owned(),
        Segment::Field(name) => method(name),
    };
    let mut pieces = pieces.iter().map(piece);
    let first = pieces.next().map_or("&[][..]".to_owned(), |first| {
        if first.starts_with("b\"") {
            format!("&{first}[..]")
        } else {
            format!("&{}[..]", first.trim_start_matches('&'))
        }
    });
    format!("[{}].concat()", list(std::iter::once(first).chain(pieces), |piece| piece))
}

fn key(page: &mut Page, family: &FamilyPlan<'_>, plan: &KeyPlan<'_>) {
    let tag_field = &family.family.tag.name;
    let name = method(&plan.key.name);
    let about = comment(plan.key.about.as_deref().unwrap_or_default());
    page.line(0, "");
    page.line(
        1,
        format!("/// {}, `{}`. {about}", plan.key.key_type, comment(&plan.key.pattern.text)).trim_end(),
    );
    function(page, plan, &name, "Vec<u8>", &joined(&plan.pieces, tag_field));
    if !plan.legacy.is_empty() {
        let names = list(&plan.legacy, |pieces| joined(pieces, tag_field));
        page.line(0, "");
        page.line(1, format!("/// The names that `{name}` had before."));
        function(page, plan, &format!("{}_legacy", plan.key.name), "Vec<Vec<u8>>", &format!("vec![{names}]"));
    }
}

/// A method with the fields of a key as its parameters, which are checked first.
fn function(page: &mut Page, plan: &KeyPlan<'_>, name: &str, gives: &str, result: &str) {
    let params = list(&plan.fields, |field| format!("{}: impl AsRef<[u8]>", method(&field.name)));
    if plan.fields.is_empty() {
        page.line(1, format!("pub fn {name}(&self) -> {gives} {{"));
        page.line(2, result);
    } else {
        page.line(1, format!("pub fn {name}(&self, {params}) -> Result<{gives}, Refused> {{"));
        for (at, own) in plan.fields.iter().enumerate() {
            let param = method(&own.name);
            page.line(2, format!("const FIELD_{at}: Field = {};", field(own)));
            page.line(2, format!("let {param} = checked(&FIELD_{at}, {param}.as_ref())?;"));
        }
        page.line(2, format!("Ok({result})"));
    }
    page.line(1, "}");
}

fn tests(page: &mut Page, plan: &Plan<'_>) {
    page.line(0, "");
    page.line(0, "#[cfg(test)]");
    page.line(0, "mod tests {");
    page.line(1, "use super::*;");
    page.line(0, "");
    page.line(1, "#[test]");
    page.line(1, "fn slots_are_those_of_a_server() {");
    for (key, slot) in &plan.slots {
        page.line(2, format!("assert_eq!(slot_of(b{}), {slot});", quoted_bytes(key)));
    }
    page.line(1, "}");
    for family in &plan.families {
        let class = class_name(family);
        page.line(0, "");
        page.line(1, "#[test]");
        page.line(1, format!("fn {}_keys_are_as_the_contract_spells_them() {{", family.family.name));
        for example in &family.examples {
            page.line(2, format!("let keys = {class}::new({}).unwrap();", quoted_bytes(&example.value)));
            self::example(page, family, example);
        }
        page.line(1, "}");
        page.line(0, "");
        page.line(1, "#[test]");
        page.line(1, format!("fn {}_values_that_could_break_a_key_are_refused() {{", family.family.name));
        for refusal in &family.refusals {
            let value = match refusal {
                Refusal::Text(text) => format!("b{}", quoted_bytes(text)),
                Refusal::Repeated(letter, times) => format!("{}.repeat({times})", quoted_bytes(letter)),
            };
            page.line(2, format!("assert!({class}::new({value}).is_err());"));
        }
        page.line(1, "}");
    }
    page.line(0, "}");
}

fn example(page: &mut Page, family: &FamilyPlan<'_>, example: &Example) {
    if let Some(slot) = example.slot {
        page.line(2, format!("assert_eq!(keys.slot(), {slot});"));
        page.line(2, format!("assert_eq!(keys.all().len(), {});", family.listed().count()));
        page.line(2, "assert!(keys.all().iter().all(|key| slot_of(key) == keys.slot()));");
    }
    for (plan, ExampleKey { values, key, legacy }) in family.keys.iter().zip(&example.keys) {
        let args = list(values, |value| quoted_bytes(value));
        let unwrap = if values.is_empty() { "" } else { ".unwrap()" };
        let call = |name: &str| format!("keys.{name}({args}){unwrap}");
        page.line(2, format!("let key = {};", call(&method(&plan.key.name))));
        page.line(2, format!("assert_eq!(key, b{});", quoted_bytes(key)));
        if !plan.key.alone {
            page.line(2, "assert_eq!(slot_of(&key), keys.slot());");
        }
        if !legacy.is_empty() {
            let names = list(legacy, |name| format!("b{}.to_vec()", quoted_bytes(name)));
            page.line(2, format!("assert_eq!({}, [{names}]);", call(&format!("{}_legacy", plan.key.name))));
        }
    }
}
