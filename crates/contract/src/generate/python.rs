//! Constructors in Python.

use super::SourceFile;
use super::alike::{NOTICE, Page, comment, free, list, pascal, quoted_bytes, ranges};
use super::plan::{Example, ExampleKey, FamilyPlan, KeyPlan, Plan, Refusal};
use crate::contract::Field;
use echomq_keyspace::Segment;

const RUNTIME: &str = include_str!("runtime/python.py");

/// Words that are no names, and names that each class has already.
const TAKEN: [&str; 41] = [
    "all", "and", "as", "assert", "async", "await", "break", "bytes", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
    "list", "nonlocal", "not", "or", "pass", "print", "raise", "return", "self", "slot", "str", "try",
    "type", "value", "while", "with", "yield",
];

pub(super) fn files(plan: &Plan<'_>) -> Vec<SourceFile> {
    let mut page = Page::default();
    page.line(0, format!("\"\"\"Keys and their slots. {NOTICE}\"\"\""));
    page.block(RUNTIME);
    for family in &plan.families {
        class(&mut page, family);
    }
    vec![
        SourceFile { name: "keyspace.py", text: page.text() },
        SourceFile { name: "test_keyspace.py", text: tests(plan) },
    ]
}

fn class_name(family: &FamilyPlan<'_>) -> String {
    pascal(&family.family.name) + "Keys"
}

fn method(name: &str) -> String {
    free(name.to_owned(), &TAKEN)
}

/// A text between three quotes.
fn doc(text: &str) -> String {
    format!("\"\"\"{}\"\"\"", comment(text).replace('\\', "\\\\").replace('"', "'"))
}

fn class(page: &mut Page, family: &FamilyPlan<'_>) {
    let tag = method(&family.family.tag.name);
    page.line(0, "");
    page.line(0, "");
    page.line(0, format!("class {}:", class_name(family)));
    page.line(1, doc(family.family.about.as_deref().unwrap_or("The keys of one entity.")));
    page.line(0, "");
    page.line(1, "# What each key holds, as the server's TYPE calls it.");
    page.line(1, "TYPES: Dict[str, str] = {");
    for KeyPlan { key, .. } in &family.keys {
        page.line(2, format!("\"{}\": \"{}\",", key.name, key.key_type));
    }
    page.line(1, "}");
    page.line(0, "");
    page.line(1, format!("def __init__(self, {tag}: Value) -> None:"));
    page.line(2, "\"\"\"Takes the value of the tag, or raises Refused.\"\"\"");
    page.line(2, format!("self._value = _checked({}, {tag})", field(&family.family.tag)));
    if let Some(pieces) = &family.tag {
        page.line(0, "");
        page.line(1, "@property");
        page.line(1, "def slot(self) -> int:");
        page.line(2, "\"\"\"The slot of every key with the tag.\"\"\"");
        page.line(2, format!("return slot_of({})", joined(pieces, &family.family.tag.name)));
        page.line(0, "");
        page.line(1, "def all(self) -> List[bytes]:");
        page.line(2, "\"\"\"The keys that stand once and have the tag.\"\"\"");
        page.line(
            2,
            format!(
                "return [{}]",
                list(family.listed(), |plan| format!("self.{}()", method(&plan.key.name)))
            ),
        );
    }
    for plan in &family.keys {
        key(page, family, plan);
    }
}

fn field(field: &Field) -> String {
    format!(
        "_Field(\"{}\", {}, {}, [{}], {})",
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
        Segment::Field(name) if name == tag_field => "self._value".to_owned(),
        Segment::Field(name) => format!("_{name}"),
    };
    pieces.iter().map(piece).collect::<Vec<_>>().join(" + ")
}

fn key(page: &mut Page, family: &FamilyPlan<'_>, plan: &KeyPlan<'_>) {
    let tag_field = &family.family.tag.name;
    let name = method(&plan.key.name);
    let about = plan.key.about.as_deref().unwrap_or_default();
    let about = format!("{}, {}. {about}", plan.key.key_type, plan.key.pattern.text);
    function(page, plan, &name, "bytes", &about, &joined(&plan.pieces, tag_field));
    if !plan.legacy.is_empty() {
        let names = list(&plan.legacy, |pieces| joined(pieces, tag_field));
        let about = format!("The names that {name} had before.");
        function(
            page,
            plan,
            &format!("{}_legacy", plan.key.name),
            "List[bytes]",
            &about,
            &format!("[{names}]"),
        );
    }
}

/// A method with the fields of a key as its parameters, which are checked first.
fn function(page: &mut Page, plan: &KeyPlan<'_>, name: &str, gives: &str, about: &str, result: &str) {
    let params: String =
        plan.fields.iter().map(|field| format!(", {}: Value", method(&field.name))).collect();
    page.line(0, "");
    page.line(1, format!("def {name}(self{params}) -> {gives}:"));
    page.line(2, doc(about));
    for own in &plan.fields {
        page.line(2, format!("_{} = _checked({}, {})", own.name, field(own), method(&own.name)));
    }
    page.line(2, format!("return {result}"));
}

fn tests(plan: &Plan<'_>) -> String {
    let mut page = Page::default();
    page.line(0, format!("\"\"\"Tests of keyspace.py. {NOTICE}\"\"\""));
    page.line(0, "");
    page.line(0, "import unittest");
    page.line(0, "");
    page.line(0, "import keyspace");
    page.line(0, "");
    page.line(0, "");
    page.line(0, "class KeyspaceTest(unittest.TestCase):");
    page.line(1, "def test_slots_are_those_of_a_server(self):");
    for (key, slot) in &plan.slots {
        page.line(2, format!("self.assertEqual(keyspace.slot_of(b{}), {slot})", quoted_bytes(key)));
    }
    for family in &plan.families {
        let class = format!("keyspace.{}", class_name(family));
        page.line(0, "");
        page.line(1, format!("def test_{}_keys_are_as_the_contract_spells_them(self):", family.family.name));
        for example in &family.examples {
            page.line(2, format!("keys = {class}({})", quoted_bytes(&example.value)));
            self::example(&mut page, family, example);
        }
        if family.examples.is_empty() {
            page.line(2, format!("self.assertTrue({class}.TYPES)"));
        }
        page.line(0, "");
        page.line(
            1,
            format!("def test_{}_values_that_could_break_a_key_are_refused(self):", family.family.name),
        );
        for refusal in &family.refusals {
            let value = match refusal {
                Refusal::Text(text) => format!("b{}", quoted_bytes(text)),
                Refusal::Repeated(letter, times) => format!("{} * {times}", quoted_bytes(letter)),
            };
            page.line(2, format!("self.assertRaises(keyspace.Refused, {class}, {value})"));
        }
    }
    page.line(0, "");
    page.line(0, "");
    page.line(0, "if __name__ == \"__main__\":");
    page.line(1, "unittest.main()");
    page.text()
}

fn example(page: &mut Page, family: &FamilyPlan<'_>, example: &Example) {
    if let Some(slot) = example.slot {
        page.line(2, format!("self.assertEqual(keys.slot, {slot})"));
        page.line(2, format!("self.assertEqual(len(keys.all()), {})", family.listed().count()));
        page.line(2, "self.assertTrue(all(keyspace.slot_of(key) == keys.slot for key in keys.all()))");
    }
    for (plan, ExampleKey { values, key, legacy }) in family.keys.iter().zip(&example.keys) {
        let args = list(values, |value| quoted_bytes(value));
        page.line(2, format!("key = keys.{}({args})", method(&plan.key.name)));
        page.line(2, format!("self.assertEqual(key, b{})", quoted_bytes(key)));
        if !plan.key.alone {
            page.line(2, "self.assertEqual(keyspace.slot_of(key), keys.slot)");
        }
        if !legacy.is_empty() {
            let names = list(legacy, |name| format!("b{}", quoted_bytes(name)));
            page.line(2, format!("self.assertEqual(keys.{}_legacy({args}), [{names}])", plan.key.name));
        }
    }
}
