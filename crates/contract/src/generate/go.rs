//! Constructors in Go.

use super::SourceFile;
use super::alike::{NOTICE, Page, camel, comment, free, list, pascal, quoted_bytes, ranges};
use super::plan::{Example, ExampleKey, FamilyPlan, KeyPlan, Plan, Refusal};
use crate::contract::Field;
use echomq_keyspace::Segment;

const RUNTIME: &str = include_str!("runtime/go.go");

/// Methods that each type has already.
const METHODS: [&str; 2] = ["All", "Slot"];

/// Words that are no names, and names that functions use.
const TAKEN: [&str; 31] = [
    "break",
    "byte",
    "case",
    "chan",
    "const",
    "continue",
    "default",
    "defer",
    "else",
    "err",
    "error",
    "fallthrough",
    "field",
    "for",
    "func",
    "go",
    "goto",
    "if",
    "import",
    "interface",
    "k",
    "map",
    "nil",
    "package",
    "range",
    "return",
    "string",
    "struct",
    "switch",
    "type",
    "var",
];

/// Go indents with tabs.
fn tabbed(page: Page) -> String {
    let text = page.text();
    let mut lines = Vec::new();
    for line in text.lines() {
        let rest = line.trim_start_matches(' ');
        lines.push("\t".repeat((line.len() - rest.len()) / 4) + rest);
    }
    lines.join("\n") + "\n"
}

pub(super) fn files(plan: &Plan<'_>) -> Vec<SourceFile> {
    let mut page = Page::default();
    page.line(0, "// Package keyspace builds keys and knows their slots.");
    page.line(0, "//");
    page.line(0, format!("// {NOTICE}"));
    page.block(RUNTIME);
    for family in &plan.families {
        class(&mut page, family);
    }
    vec![
        SourceFile { name: "keyspace.go", text: tabbed(page) },
        SourceFile { name: "keyspace_test.go", text: tests(plan) },
    ]
}

fn class_name(family: &FamilyPlan<'_>) -> String {
    pascal(&family.family.name) + "Keys"
}

fn method(name: &str) -> String {
    free(pascal(name), &METHODS)
}

fn param(name: &str) -> String {
    free(camel(name), &TAKEN)
}

fn class(page: &mut Page, family: &FamilyPlan<'_>) {
    let (name, tag) = (class_name(family), param(&family.family.tag.name));
    let about = comment(family.family.about.as_deref().unwrap_or("The keys of one entity."));
    page.line(0, "");
    page.line(0, format!("// {name}: {about}"));
    page.line(0, format!("type {name} struct {{"));
    page.line(1, "value string");
    page.line(0, "}");
    page.line(0, "");
    page.line(0, format!("// {name}Types tells what each key holds, as the server's TYPE calls it."));
    page.line(0, format!("var {name}Types = [][2]string{{"));
    for KeyPlan { key, .. } in &family.keys {
        page.line(1, format!("{{\"{}\", \"{}\"}},", key.name, key.key_type));
    }
    page.line(0, "}");
    page.line(0, "");
    page.line(0, format!("// New{name} takes the value of the tag, or says what is wrong with it."));
    page.line(0, format!("func New{name}({tag} string) ({name}, error) {{"));
    page.line(1, format!("if err := ({}).check({tag}); err != nil {{", field(&family.family.tag)));
    page.line(2, format!("return {name}{{}}, err"));
    page.line(1, "}");
    page.line(1, format!("return {name}{{value: {tag}}}, nil"));
    page.line(0, "}");
    if let Some(pieces) = &family.tag {
        page.line(0, "");
        page.line(0, "// Slot returns the slot of every key with the tag.");
        page.line(0, format!("func (k {name}) Slot() uint16 {{"));
        page.line(1, format!("return SlotOf({})", joined(pieces, &family.family.tag.name)));
        page.line(0, "}");
        page.line(0, "");
        page.line(0, "// All returns the keys that stand once and have the tag.");
        page.line(0, format!("func (k {name}) All() []string {{"));
        let all = list(family.listed(), |plan| format!("k.{}()", method(&plan.key.name)));
        page.line(1, format!("return []string{{{all}}}"));
        page.line(0, "}");
    }
    for plan in &family.keys {
        key(page, family, plan);
    }
}

fn field(field: &Field) -> String {
    format!(
        "field{{\"{}\", {}, {}, [][2]byte{{{}}}, {}}}",
        field.name,
        field.min_bytes,
        field.max_bytes,
        list(ranges(&field.alphabet), |(first, last)| format!("{{{first}, {last}}}")),
        quoted_bytes(&field.alphabet.to_string())
    )
}

fn joined(pieces: &[Segment<'_>], tag_field: &str) -> String {
    let piece = |piece: &Segment<'_>| match *piece {
        Segment::Text(text) => quoted_bytes(text),
        Segment::Field(name) if name == tag_field => "k.value".to_owned(),
        Segment::Field(name) => param(name),
    };
    pieces.iter().map(piece).collect::<Vec<_>>().join(" + ")
}

fn key(page: &mut Page, family: &FamilyPlan<'_>, plan: &KeyPlan<'_>) {
    let (class, tag_field) = (class_name(family), &family.family.tag.name);
    let name = method(&plan.key.name);
    let about = comment(plan.key.about.as_deref().unwrap_or_default());
    page.line(0, "");
    page.line(
        0,
        format!("// {name}: {}, {}. {about}", plan.key.key_type, comment(&plan.key.pattern.text)).trim_end(),
    );
    function(page, plan, &format!("(k {class}) {name}"), "string", &joined(&plan.pieces, tag_field));
    if !plan.legacy.is_empty() {
        let names = list(&plan.legacy, |pieces| joined(pieces, tag_field));
        page.line(0, "");
        page.line(0, format!("// {name}Legacy returns the names that {name} had before."));
        function(
            page,
            plan,
            &format!("(k {class}) {name}Legacy"),
            "[]string",
            &format!("[]string{{{names}}}"),
        );
    }
}

/// A method with the fields of a key as its parameters, which are checked first.
fn function(page: &mut Page, plan: &KeyPlan<'_>, head: &str, gives: &str, result: &str) {
    if plan.fields.is_empty() {
        page.line(0, format!("func {head}() {gives} {{"));
        page.line(1, format!("return {result}"));
    } else {
        let params = list(&plan.fields, |field| format!("{} string", param(&field.name)));
        let nothing = if gives == "string" { "\"\"" } else { "nil" };
        page.line(0, format!("func {head}({params}) ({gives}, error) {{"));
        for own in &plan.fields {
            page.line(1, format!("if err := ({}).check({}); err != nil {{", field(own), param(&own.name)));
            page.line(2, format!("return {nothing}, err"));
            page.line(1, "}");
        }
        page.line(1, format!("return {result}, nil"));
    }
    page.line(0, "}");
}

/// Functions that the tests use.
const TEST_HEAD: &str = "
package keyspace

import (
    \"reflect\"
    \"strings\"
    \"testing\"
)

func same(t *testing.T, found, wanted any) {
    t.Helper()
    if !reflect.DeepEqual(found, wanted) {
        t.Errorf(\"found %v, wanted %v\", found, wanted)
    }
}

func sound[T any](t *testing.T, value T, err error) T {
    t.Helper()
    if err != nil {
        t.Fatal(err)
    }
    return value
}

func TestSlotsAreThoseOfAServer(t *testing.T) {
";

fn tests(plan: &Plan<'_>) -> String {
    let mut page = Page::default();
    page.line(0, format!("// {NOTICE}"));
    page.block(TEST_HEAD);
    for (key, slot) in &plan.slots {
        page.line(1, format!("same(t, SlotOf({}), uint16({slot}))", quoted_bytes(key)));
    }
    page.line(0, "}");
    for family in &plan.families {
        let class = class_name(family);
        page.line(0, "");
        page.line(0, format!("func Test{class}AreAsTheContractSpellsThem(t *testing.T) {{"));
        for (at, example) in family.examples.iter().enumerate() {
            page.line(1, format!("keys{at}, err := New{class}({})", quoted_bytes(&example.value)));
            page.line(1, format!("sound(t, keys{at}, err)"));
            self::example(&mut page, family, example, &format!("keys{at}"));
        }
        page.line(0, "}");
        page.line(0, "");
        page.line(0, format!("func Test{class}RefuseValuesThatCouldBreakAKey(t *testing.T) {{"));
        let refused = list(&family.refusals, |refusal| match refusal {
            Refusal::Text(text) => quoted_bytes(text),
            Refusal::Repeated(letter, times) => format!("strings.Repeat({}, {times})", quoted_bytes(letter)),
        });
        page.line(1, format!("for _, value := range []string{{{refused}, strings.Repeat(\"x\", 1000)}} {{"));
        page.line(2, format!("if _, err := New{class}(value); err == nil {{"));
        page.line(3, "t.Errorf(\"%q is taken\", value)");
        page.line(2, "}");
        page.line(1, "}");
        page.line(0, "}");
    }
    tabbed(page)
}

fn example(page: &mut Page, family: &FamilyPlan<'_>, example: &Example, keys: &str) {
    if let Some(slot) = example.slot {
        page.line(1, format!("same(t, {keys}.Slot(), uint16({slot}))"));
        page.line(1, format!("same(t, len({keys}.All()), {})", family.listed().count()));
        page.line(1, format!("for _, key := range {keys}.All() {{"));
        page.line(2, format!("same(t, SlotOf(key), {keys}.Slot())"));
        page.line(1, "}");
    }
    for (plan, ExampleKey { values, key, legacy }) in family.keys.iter().zip(&example.keys) {
        let args = list(values, |value| quoted_bytes(value));
        let mut check = |method: &str, wanted: &str| {
            let call = format!("{keys}.{method}({args})");
            if values.is_empty() {
                page.line(1, format!("same(t, {call}, {wanted})"));
            } else {
                page.line(1, format!("if found, err := {call}; sound(t, true, err) {{"));
                page.line(2, format!("same(t, found, {wanted})"));
                page.line(1, "}");
            }
        };
        check(&method(&plan.key.name), &quoted_bytes(key));
        if !legacy.is_empty() {
            check(
                &format!("{}Legacy", method(&plan.key.name)),
                &format!("[]string{{{}}}", list(legacy, |name| quoted_bytes(name))),
            );
        }
        if !plan.key.alone {
            page.line(1, format!("same(t, SlotOf({}), {keys}.Slot())", quoted_bytes(key)));
        }
    }
}
