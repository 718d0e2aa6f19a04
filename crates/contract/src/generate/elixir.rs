//! Constructors in Elixir.

use super::SourceFile;
use super::alike::{NOTICE, Page, comment, free, list, pascal, quoted_bytes, ranges};
use super::plan::{Example, ExampleKey, FamilyPlan, KeyPlan, Plan, Refusal};
use crate::contract::Field;
use echomq_keyspace::Segment;

const RUNTIME: &str = include_str!("runtime/elixir.ex");

/// Words that are no names, and names that each module has already.
const TAKEN: [&str; 27] = [
    "after", "all", "and", "case", "catch", "cond", "def", "do", "else", "end", "false", "fn", "if", "in",
    "keys", "new", "nil", "not", "or", "raise", "rescue", "slot", "true", "types", "unless", "when", "with",
];

/// Elixir indents by two.
fn narrow(page: Page) -> String {
    let text = page.text();
    let mut lines = Vec::new();
    for line in text.lines() {
        let rest = line.trim_start_matches(' ');
        lines.push(" ".repeat((line.len() - rest.len()) / 2) + rest);
    }
    lines.join("\n") + "\n"
}

pub(super) fn files(plan: &Plan<'_>) -> Vec<SourceFile> {
    let mut page = Page::default();
    for family in &plan.families {
        module(&mut page, family);
    }
    let text = format!("# Keys and their slots. {NOTICE}\n{RUNTIME}{}", narrow(page));
    vec![
        SourceFile { name: "keyspace.ex", text },
        SourceFile { name: "keyspace_test.exs", text: tests(plan) },
    ]
}

fn module_name(family: &FamilyPlan<'_>) -> String {
    format!("Keyspace.{}Keys", pascal(&family.family.name))
}

fn function_name(name: &str) -> String {
    free(name.to_owned(), &TAKEN)
}

fn text(about: &str) -> String {
    quoted_bytes(&comment(about).chars().map(|c| if c.is_ascii() { c } else { '?' }).collect::<String>())
}

fn module(page: &mut Page, family: &FamilyPlan<'_>) {
    let tag = function_name(&family.family.tag.name);
    page.line(0, "");
    page.line(0, format!("defmodule {} do", module_name(family)));
    page.line(
        1,
        format!("@moduledoc {}", text(family.family.about.as_deref().unwrap_or("The keys of one entity."))),
    );
    page.line(1, "@enforce_keys [:value]");
    page.line(1, "defstruct [:value]");
    page.line(0, "");
    page.line(1, "@doc \"What each key holds, as the server's TYPE calls it.\"");
    page.line(
        1,
        format!(
            "def types, do: [{}]",
            list(&family.keys, |plan| format!("{}: \"{}\"", plan.key.name, plan.key.key_type))
        ),
    );
    page.line(0, "");
    page.line(1, "@doc \"Takes the value of the tag, or says what is wrong with it.\"");
    page.line(1, format!("def new({tag}) do"));
    page.line(2, format!("with :ok <- Keyspace.check({}, {tag}) do", field(&family.family.tag)));
    page.line(3, format!("{{:ok, %__MODULE__{{value: {tag}}}}}"));
    page.line(2, "end");
    page.line(1, "end");
    page.line(0, "");
    page.line(1, "@doc \"Takes the value of the tag, or raises Keyspace.Refused.\"");
    page.line(1, format!("def new!({tag}) do"));
    page.line(2, format!("%__MODULE__{{value: Keyspace.check!({}, {tag})}}", field(&family.family.tag)));
    page.line(1, "end");
    if let Some(pieces) = &family.tag {
        page.line(0, "");
        let slot = format!("Keyspace.slot_of({})", joined(pieces, &family.family.tag.name));
        page.line(1, "@doc \"The slot of every key with the tag.\"");
        page.line(1, format!("def slot(%__MODULE__{{}} = {}), do: {slot}", receiver(&slot)));
        page.line(0, "");
        let all = list(family.listed(), |plan| format!("{}(keys)", function_name(&plan.key.name)));
        page.line(1, "@doc \"The keys that stand once and have the tag.\"");
        page.line(1, format!("def all(%__MODULE__{{}} = {}), do: [{all}]", receiver(&all)));
    }
    for plan in &family.keys {
        key(page, family, plan);
    }
    page.line(0, "end");
}

fn field(field: &Field) -> String {
    format!(
        "{{\"{}\", {}, {}, [{}], {}}}",
        field.name,
        field.min_bytes,
        field.max_bytes,
        list(ranges(&field.alphabet), |(first, last)| format!("{first}..{last}")),
        quoted_bytes(&field.alphabet.to_string())
    )
}

fn joined(pieces: &[Segment<'_>], tag_field: &str) -> String {
    let piece = |piece: &Segment<'_>| match *piece {
        Segment::Text(text) => quoted_bytes(text),
        Segment::Field(name) if name == tag_field => "keys.value".to_owned(),
        Segment::Field(name) => function_name(name),
    };
    pieces.iter().map(piece).collect::<Vec<_>>().join(" <> ")
}

fn key(page: &mut Page, family: &FamilyPlan<'_>, plan: &KeyPlan<'_>) {
    let tag_field = &family.family.tag.name;
    let about = plan.key.about.as_deref().unwrap_or_default();
    let about = format!("{}, {}. {about}", plan.key.key_type, plan.key.pattern.text);
    function(page, plan, &function_name(&plan.key.name), &about, &joined(&plan.pieces, tag_field));
    if !plan.legacy.is_empty() {
        let names = list(&plan.legacy, |pieces| joined(pieces, tag_field));
        let about = format!("The names that {} had before.", plan.key.name);
        function(page, plan, &format!("{}_legacy", plan.key.name), &about, &format!("[{names}]"));
    }
}

/// The parameter for the struct, which is not to be named where it is not used.
fn receiver(result: &str) -> &'static str {
    if result.contains("keys.value") || result.contains("(keys)") { "keys" } else { "_keys" }
}

/// A function with the fields of a key as its parameters, which are checked first.
fn function(page: &mut Page, plan: &KeyPlan<'_>, name: &str, about: &str, result: &str) {
    let params: String =
        plan.fields.iter().map(|field| format!(", {}", function_name(&field.name))).collect();
    page.line(0, "");
    page.line(1, format!("@doc {}", text(about)));
    page.line(1, format!("def {name}(%__MODULE__{{}} = {}{params}) do", receiver(result)));
    for own in &plan.fields {
        page.line(2, format!("Keyspace.check!({}, {})", field(own), function_name(&own.name)));
    }
    page.line(2, result);
    page.line(1, "end");
}

fn tests(plan: &Plan<'_>) -> String {
    let mut page = Page::default();
    page.line(0, format!("# Tests of keyspace.ex. {NOTICE}"));
    page.line(0, "");
    page.line(0, "Code.require_file(\"keyspace.ex\", __DIR__)");
    page.line(0, "ExUnit.start()");
    page.line(0, "");
    page.line(0, "defmodule KeyspaceTest do");
    page.line(1, "use ExUnit.Case, async: true");
    page.line(0, "");
    page.line(1, "test \"slots are those of a server\" do");
    for (key, slot) in &plan.slots {
        page.line(2, format!("assert Keyspace.slot_of({}) == {slot}", quoted_bytes(key)));
    }
    page.line(1, "end");
    for family in &plan.families {
        let module = module_name(family);
        page.line(0, "");
        page.line(1, format!("test \"{} keys are as the contract spells them\" do", family.family.name));
        for example in &family.examples {
            page.line(2, format!("keys = {module}.new!({})", quoted_bytes(&example.value)));
            self::example(&mut page, family, &module, example);
        }
        page.line(2, format!("assert length({module}.types()) == {}", family.keys.len()));
        page.line(1, "end");
        page.line(0, "");
        page.line(1, format!("test \"{} values that could break a key are refused\" do", family.family.name));
        for refusal in &family.refusals {
            let value = match refusal {
                Refusal::Text(text) => quoted_bytes(text),
                Refusal::Repeated(letter, times) => {
                    format!("String.duplicate({}, {times})", quoted_bytes(letter))
                }
            };
            page.line(2, format!("assert {{:error, %Keyspace.Refused{{}}}} = {module}.new({value})"));
            page.line(2, format!("assert_raise Keyspace.Refused, fn -> {module}.new!({value}) end"));
        }
        page.line(1, "end");
    }
    page.line(0, "end");
    narrow(page)
}

fn example(page: &mut Page, family: &FamilyPlan<'_>, module: &str, example: &Example) {
    if let Some(slot) = example.slot {
        page.line(2, format!("assert {module}.slot(keys) == {slot}"));
        page.line(2, format!("assert length({module}.all(keys)) == {}", family.listed().count()));
        page.line(2, format!("assert Enum.all?({module}.all(keys), &(Keyspace.slot_of(&1) == {slot}))"));
    }
    for (plan, ExampleKey { values, key, legacy }) in family.keys.iter().zip(&example.keys) {
        let args: String = values.iter().map(|value| format!(", {}", quoted_bytes(value))).collect();
        page.line(
            2,
            format!("assert {module}.{}(keys{args}) == {}", function_name(&plan.key.name), quoted_bytes(key)),
        );
        if let (Some(slot), false) = (example.slot, plan.key.alone) {
            page.line(2, format!("assert Keyspace.slot_of({}) == {slot}", quoted_bytes(key)));
        }
        if !legacy.is_empty() {
            let names = list(legacy, |name| quoted_bytes(name));
            page.line(2, format!("assert {module}.{}_legacy(keys{args}) == [{names}]", plan.key.name));
        }
    }
}
