//! What is a fault and what is none, where they stand close together.

use super::found;
use echomq_contract::{Code, Contract, Report};

/// The report on families and operations, with the head that every contract has.
fn check(text: &str) -> Report {
    let text = format!("contract = 1\n{text}");
    Contract::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}")).check()
}

/// A family with these keys, whose tag field is its own name.
fn family(name: &str, keys: &str) -> String {
    format!(
        "[family.{name}]\ntag = {{ field = \"{name}\", alphabet = \"0-9a-z\", length = [1, 9], cardinality = 9999 }}\n{keys}\n"
    )
}

fn operation(keys: &str) -> String {
    format!("[operation.o]\nkind = \"script\"\nkeys = [{keys}]\n")
}

#[track_caller]
fn assert_codes(text: &str, codes: &[Code]) {
    let report = check(text);
    assert_eq!(found(&report).into_iter().map(|(_, code)| code).collect::<Vec<_>>(), codes, "{report}");
}

const A: &str = "keys.a = { type = \"set\", pattern = \"a:{user}:a\" }\nkeys.b = { type = \"set\", pattern = \"a:{user}:b\" }";

#[test]
fn tag_fields_of_one_name_have_one_value_within_an_operation_also_in_two_families() {
    let cart = "[family.cart]\ntag = { field = \"user\", alphabet = \"0-9\", length = [1, 4], cardinality = 9999 }\n\
                keys.c = { type = \"set\", pattern = \"cart:{user}\" }\n";
    let two = |keys| family("user", A) + cart + &operation(keys);
    assert_codes(&two("\"user.a\", \"cart.c\""), &[]);
    assert_codes(&two("\"user{other}.a\", \"cart{other}.c\""), &[]);
    assert_codes(&two("\"user{other}.a\", \"cart.c\""), &[Code::TwoTags]);
    assert_eq!(check(&two("\"user.a\", \"cart.c\"")).proofs[0].tag.as_deref(), Some("{<user>}"));
}

#[test]
fn text_in_the_tag_keeps_two_families_apart_whatever_their_values_are() {
    let keys = "keys.c = { type = \"set\", pattern = \"cart:{cart:<user>}\" }\n";
    let cart = format!(
        "[family.cart]\ntag = {{ field = \"user\", alphabet = \"0-9\", length = [4], cardinality = 9999 }}\n{keys}"
    );
    let report = check(&(family("user", A) + &cart + &operation("\"user.a\", \"cart.c\"")));
    assert_eq!(report.findings[0].text, "two tags: user.a has {<user>}, and cart.c has {cart:<user>}");
}

#[test]
fn a_key_that_is_alone_is_proven_alone_and_refused_with_others() {
    let keys = "keys.a = { type = \"set\", pattern = \"a:{user}:a\" }\n\
                keys.hot = { type = \"string\", pattern = \"hot:<user>\", alone = true }";
    let with = |keys_of: &str| family("user", keys) + &operation(keys_of);
    assert_codes(&with("\"user.hot\""), &[]);
    assert_codes(&with("\"user.hot\", \"user.hot\""), &[]);
    assert_codes(&with("\"user{x}.hot\", \"user{y}.hot\""), &[Code::AloneWithOthers]);
    assert_codes(&with("\"user.a\", \"user.hot\""), &[Code::AloneWithOthers]);
    let many = with("\"user.hot\", \"user.hot\"").replace("hot:<user>", "hot:<user>:<n>");
    assert_codes(&many, &[Code::AloneWithOthers]);
    assert_eq!(check(&with("\"user.hot\"")).proofs[0].tag, None);
}

#[test]
fn a_field_before_the_tag_is_sound_when_it_can_have_no_brace() {
    let keys = |alphabet: &str| {
        family("user", "keys.a = { type = \"set\", pattern = \"<tenant>:{user}\" }").to_owned()
            + &format!("[family.user.fields]\ntenant = {{ alphabet = '{alphabet}', length = [1, 9] }}\n")
            + &operation("\"user.a\"")
    };
    assert_codes(&keys("a-z"), &[]);
    assert_codes(&keys("a-{"), &[Code::BraceBeforeTag]);
    assert_codes(&keys("}"), &[Code::BraceBeforeTag]);
}

#[test]
fn an_operation_on_a_key_with_an_unsound_tag_is_not_proven() {
    for (pattern, code) in
        [("a:{}:<user>", Code::EmptyTag), ("a:<user>", Code::NoTag), ("{<x>}<user>", Code::WrongField)]
    {
        let keys = format!("keys.a = {{ type = \"set\", pattern = \"{pattern}\" }}");
        let report = check(&(family("user", &keys) + &operation("\"user.a\"")));
        assert_eq!((report.findings[0].code, report.proofs.len()), (code, 0), "{report}");
    }
    let braces = family("user", A).replace("0-9a-z", "0-~");
    let report = check(&(braces + &operation("\"user.a\", \"user.b\"")));
    assert_eq!((report.findings[0].code, report.proofs.len()), (Code::BraceInTag, 0), "{report}");
}

#[test]
fn two_fields_are_told_apart_by_what_neither_can_have() {
    let keys = |alphabet: &str| {
        family("user", "keys.a = { type = \"set\", pattern = \"{user}:<x>:<y>\" }")
            + &format!("[family.user.fields]\nx = {{ alphabet = '{alphabet}', length = [1, 9] }}\n")
    };
    assert_codes(&keys("a-z"), &[]);
    assert_codes(&keys("a-z:"), &[Code::AmbiguousFields]);
    let fixed = family("user", "keys.a = { type = \"set\", pattern = \"{user}<x><y>\" }");
    let lengths = "[family.user.fields]\nx = { alphabet = 'a', length = [2] }\ny = { alphabet = 'a', length = [1, 3] }\n";
    assert_codes(&(fixed + lengths), &[]);
}

#[test]
fn names_from_before_of_one_key_may_meet_and_those_of_two_may_not() {
    let keys = |first: &str, second: &str| {
        family(
            "user",
            &format!(
                "keys.a = {{ type = \"set\", pattern = \"{{user}}:a\", legacy = [{first}] }}\n\
                 keys.b = {{ type = \"set\", pattern = \"{{user}}:b\", legacy = [{second}] }}"
            ),
        )
    };
    assert_codes(&keys("\"a:<user>\", \"a:<user>\"", "\"b:<user>\""), &[]);
    assert_codes(&keys("\"x:<user>\"", "\"x:<user>\""), &[Code::LegacyMeetsLegacy]);
    assert_codes(&keys("\"{user}:b\"", "\"b:<user>\""), &[Code::LegacyMeetsNew]);
    assert_codes(&keys("\"old:a\"", "\"b:<user>\""), &[Code::LegacyFields]);
}

#[test]
fn few_values_are_few_for_the_shards_that_there_will_be() {
    let few = |shards: u32, cardinality: u64| {
        format!("[cluster]\nshards = {shards}\n")
            + &family("user", A).replace("9999", &cardinality.to_string())
    };
    assert_codes(&few(16, 88), &[Code::LowCardinality]);
    assert_codes(&few(16, 89), &[]);
    assert_codes(&few(3, 7), &[]);
    assert_codes(&few(1, 2), &[]);
    assert_codes(&few(1, 1), &[Code::ConstantTag]);
}

#[test]
fn the_number_of_possible_values_is_counted_over_all_lengths() {
    let of = |alphabet: &str, length: &str, cardinality: u64| {
        format!(
            "[cluster]\nshards = 1\n[family.f]\ntag = {{ field = \"f\", alphabet = \"{alphabet}\", length = {length}, \
             cardinality = {cardinality} }}\nkeys.a = {{ type = \"set\", pattern = \"{{f}}\" }}\n"
        )
    };
    assert_codes(&of("01", "[1, 3]", 14), &[]);
    assert_codes(&of("01", "[1, 3]", 15), &[Code::ImpossibleCardinality]);
    assert_codes(&of("0-9a-f", "[512]", u64::MAX >> 1), &[]);
}

#[test]
fn a_mention_that_is_no_key_says_which_names_there_are() {
    let report = |mention: &str| check(&(family("user", A) + &operation(mention)));
    for (mention, remedy) in [
        ("\"usr.a\"", "name one of the families user"),
        ("\"user.c\"", "name one of the keys a, b of user"),
        ("\"user\"", "write family.key"),
        ("\"user{.a\"", "name an entity as in family{other}.key"),
        ("\"user{A}.a\"", "name an entity as in family{other}.key"),
        ("\"a:{user}:a\"", "write family.key"),
    ] {
        let report = report(mention);
        assert_eq!(
            (report.findings[0].code, report.findings[0].remedy.as_str()),
            (Code::UnknownKey, remedy),
            "{mention}"
        );
        assert!(report.proofs.is_empty());
    }
}

#[test]
fn nothing_of_a_contract_reaches_a_terminal_unescaped() {
    let keys = r#"keys.a = { type = "set", pattern = "\u001b[2J{x\u0007<user>}:a", legacy = ["\u001b[2J<user>", "\u001b<z>"] }
keys.b = { type = "set", pattern = "\u001b[2J{x\u0007<user>}:a" }
keys.c = { type = "set", pattern = "{\u001b[2J}:<user>" }"#;
    let text = check(&(family("user", keys) + &operation(r#""user.a", "user.c", "\u001b""#))).to_string();
    assert!(text.contains(r"\x1b[2J{x\x07<user>}:a") && text.len() > 500, "{text}");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
}
