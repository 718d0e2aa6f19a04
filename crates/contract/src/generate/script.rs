//! Constructors in TypeScript, and the same in JavaScript.
//!
//! One text is written, with each type between `«` and `»`; JavaScript is what is left without them. The TypeScript is such that
//! removing the types is all that has to be done to run it.

use super::SourceFile;
use super::alike::{NOTICE, Page, camel, comment, free, list, pascal, quoted_chars, ranges};
use super::plan::{Example, ExampleKey, FamilyPlan, KeyPlan, Plan, Refusal};
use crate::contract::Field;
use echomq_keyspace::Segment;

/// Which of the two languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Types {
    /// TypeScript.
    Written,
    /// JavaScript.
    LeftOut,
}

const RUNTIME: &str = include_str!("runtime/typescript.ts");

/// Words that are no names, and names that each class has already.
const TAKEN: [&str; 52] = [
    "all",
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "constructor",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "slot",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "value",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

impl Types {
    /// The text with its types, or without.
    fn finish(self, page: Page) -> String {
        let text = page.text();
        let mut pieces = text.split('«');
        let mut finished = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (types, rest) = piece.split_once('»').unwrap_or(("", piece));
            finished.push_str(if self == Types::Written { types } else { "" });
            finished.push_str(rest);
        }
        // A comment on a type alone goes with it.
        let on_a_type = "/** What the values of a field may be. */\n\n";
        finished.replace(on_a_type, "")
    }

    fn names(self) -> [&'static str; 2] {
        match self {
            Types::Written => ["keyspace.ts", "keyspace.test.ts"],
            Types::LeftOut => ["keyspace.mjs", "keyspace.test.mjs"],
        }
    }
}

pub(super) fn files(plan: &Plan<'_>, types: Types) -> Vec<SourceFile> {
    let [module, test_module] = types.names();
    let mut page = Page::default();
    page.line(0, format!("// Keys and their slots. {NOTICE}"));
    page.block(RUNTIME);
    for family in &plan.families {
        class(&mut page, family);
    }
    vec![
        SourceFile { name: module, text: types.finish(page) },
        SourceFile { name: test_module, text: types.finish(tests(plan, module)) },
    ]
}

fn class_name(family: &FamilyPlan<'_>) -> String {
    pascal(&family.family.name) + "Keys"
}

fn method(name: &str) -> String {
    free(camel(name), &TAKEN)
}

/// A text for a comment, without the marks that part types.
fn plain(text: &str) -> String {
    comment(text).replace(['«', '»'], "'")
}

/// A literal, without the marks that part types.
fn quoted(text: &str) -> String {
    quoted_chars(text)
}

fn class(page: &mut Page, family: &FamilyPlan<'_>) {
    let tag = method(&family.family.tag.name);
    page.line(0, "");
    page.line(
        0,
        format!("/** {} */", plain(family.family.about.as_deref().unwrap_or("The keys of one entity."))),
    );
    page.line(0, format!("export class {} {{", class_name(family)));
    page.line(1, "/** What each key holds, as the server's TYPE calls it. */");
    page.line(1, "static types«: Record<string, string>» = {");
    for KeyPlan { key, .. } in &family.keys {
        page.line(2, format!("{}: \"{}\",", camel(&key.name), key.key_type));
    }
    page.line(1, "};");
    page.line(0, "");
    page.line(1, "/** The value of the tag. */");
    page.line(1, "«readonly »value«: string»;");
    page.line(0, "");
    page.line(1, "/** Takes the value of the tag, or throws Refused. */");
    page.line(1, format!("constructor({tag}«: string») {{"));
    page.line(2, format!("this.value = checked({}, {tag});", field(&family.family.tag)));
    page.line(1, "}");
    if let Some(pieces) = &family.tag {
        page.line(0, "");
        page.line(1, "/** The slot of every key with the tag. */");
        page.line(1, "get slot()«: number» {");
        page.line(2, format!("return slotOf({});", joined(pieces, &family.family.tag.name)));
        page.line(1, "}");
        page.line(0, "");
        page.line(1, "/** The keys that stand once and have the tag. */");
        page.line(1, "all()«: string[]» {");
        page.line(
            2,
            format!(
                "return [{}];",
                list(family.listed(), |plan| format!("this.{}()", method(&plan.key.name)))
            ),
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
        "{{ name: \"{}\", minBytes: {}, maxBytes: {}, ranges: [{}], alphabet: {} }}",
        field.name,
        field.min_bytes,
        field.max_bytes,
        list(ranges(&field.alphabet), |(first, last)| format!("[{first}, {last}]")),
        quoted(&field.alphabet.to_string())
    )
}

fn joined(pieces: &[Segment<'_>], tag_field: &str) -> String {
    let piece = |piece: &Segment<'_>| match *piece {
        Segment::Text(text) => quoted(text),
        Segment::Field(name) if name == tag_field => "this.value".to_owned(),
        Segment::Field(name) => method(name),
    };
    pieces.iter().map(piece).collect::<Vec<_>>().join(" + ")
}

fn key(page: &mut Page, family: &FamilyPlan<'_>, plan: &KeyPlan<'_>) {
    let tag_field = &family.family.tag.name;
    let name = method(&plan.key.name);
    let about = plain(plan.key.about.as_deref().unwrap_or_default());
    let pattern = plain(&plan.key.pattern.text);
    page.line(0, "");
    page.line(1, format!("/** {}, {pattern}. {about}", plan.key.key_type).trim_end().to_owned() + " */");
    function(page, plan, &name, "string", &joined(&plan.pieces, tag_field));
    if !plan.legacy.is_empty() {
        let names = list(&plan.legacy, |pieces| joined(pieces, tag_field));
        page.line(0, "");
        page.line(1, format!("/** The names that {name} had before. */"));
        function(page, plan, &format!("{}Legacy", camel(&plan.key.name)), "string[]", &format!("[{names}]"));
    }
}

/// A method with the fields of a key as its parameters, which are checked first.
fn function(page: &mut Page, plan: &KeyPlan<'_>, name: &str, gives: &str, result: &str) {
    let params = list(&plan.fields, |field| format!("{}«: string»", method(&field.name)));
    page.line(1, format!("{name}({params})«: {gives}» {{"));
    for own in &plan.fields {
        page.line(2, format!("checked({}, {});", field(own), method(&own.name)));
    }
    page.line(2, format!("return {result};"));
    page.line(1, "}");
}

fn tests(plan: &Plan<'_>, module: &str) -> Page {
    let mut page = Page::default();
    page.line(0, format!("// Tests of {module}. {NOTICE}"));
    page.line(0, "");
    page.line(0, "import assert from \"node:assert/strict\";");
    page.line(0, "import { test } from \"node:test\";");
    let classes = list(&plan.families, class_name);
    page.line(0, format!("import {{ Refused, slotOf, {classes} }} from \"./{module}\";"));
    page.line(0, "");
    page.line(0, "test(\"slots are those of a server\", () => {");
    for (key, slot) in &plan.slots {
        page.line(1, format!("assert.equal(slotOf({}), {slot});", quoted(key)));
    }
    page.line(0, "});");
    for family in &plan.families {
        let class = class_name(family);
        page.line(0, "");
        page.line(0, format!("test(\"{class} are as the contract spells them\", () => {{"));
        for example in &family.examples {
            page.line(1, "{");
            page.line(2, format!("const keys = new {class}({});", quoted(&example.value)));
            self::example(&mut page, family, example);
            page.line(1, "}");
        }
        page.line(0, "});");
        page.line(0, "");
        page.line(0, format!("test(\"{class} refuse values that could break a key\", () => {{"));
        for refusal in &family.refusals {
            let value = match refusal {
                Refusal::Text(text) => quoted(text),
                Refusal::Repeated(letter, times) => format!("{}.repeat({times})", quoted(letter)),
            };
            page.line(1, format!("assert.throws(() => new {class}({value}), Refused);"));
        }
        page.line(0, "});");
    }
    page
}

fn example(page: &mut Page, family: &FamilyPlan<'_>, example: &Example) {
    if let Some(slot) = example.slot {
        page.line(2, format!("assert.equal(keys.slot, {slot});"));
        page.line(2, format!("assert.equal(keys.all().length, {});", family.listed().count()));
        page.line(2, "assert.ok(keys.all().every((key) => slotOf(key) === keys.slot));");
    }
    for (plan, ExampleKey { values, key, legacy }) in family.keys.iter().zip(&example.keys) {
        let args = list(values, |value| quoted(value));
        page.line(2, format!("assert.equal(keys.{}({args}), {});", method(&plan.key.name), quoted(key)));
        if !plan.key.alone {
            page.line(2, format!("assert.equal(slotOf({}), keys.slot);", quoted(key)));
        }
        if !legacy.is_empty() {
            let names = list(legacy, |name| quoted(name));
            page.line(
                2,
                format!("assert.deepEqual(keys.{}Legacy({args}), [{names}]);", camel(&plan.key.name)),
            );
        }
    }
}
