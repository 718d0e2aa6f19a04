//! Constructors in every language: what is made, byte for byte, and their own tests, run where the language is at hand.

mod golden;
mod toolchain;

use echomq_contract::{Contract, Language};
use std::path::Path;

/// A contract with what is hard to write: words of every language, quotes, code in texts, bytes that are no letters.
const HARD: &str = r##"
contract = 1

[family.class]
about = 'Ends "here" */ """ #{1 + 1} \ `${x}`'
tag = { field = "self", alphabet = '!-z|\x80-\xff', length = [2, 40], cardinality = 1_000_000 }

[family.class.fields]
type = { alphabet = '"\\#$', length = [0, 9] }
end = { alphabet = "0-9", length = [1, 3] }

[family.class.keys]
new = { type = "string", pattern = "'\"\\#{<self>}«é»\u0007$" }
all = { type = "set", pattern = '`{<self>}`$x:<end>' }
slot = { type = "hash", pattern = '{<self>}:slot', about = "An \"about\"\nof two \\ lines */ »" }
type = { type = "list", pattern = '{<self>}:type:<type>' }
def = { type = "zset", pattern = '{<self>}:def', legacy = ["def:<self>"] }
line_number = { type = "stream", pattern = '{<self>}:n:<end>', legacy = ['n:<end>#<self>'] }
views = { type = "string", pattern = 'views:<self>', alone = true }

[family.two_words]
tag = { field = "id", alphabet = '\x80-\xff', length = [1, 4], cardinality = 1_000_000 }
keys.only = { type = "string", pattern = "two:{id}" }

[family.hot]
about = "Nothing with a tag"
tag = { field = "id", alphabet = "a-z", length = [1, 12], cardinality = 1_000_000 }
keys.count = { type = "string", pattern = "hot:<id>", alone = true }

[family.constant]
tag = { field = "id", alphabet = "a-z", length = [5], cardinality = 1_000_000 }
keys.count = { type = "string", pattern = "{all}:constant:<id>" }
keys.other = { type = "string", pattern = "{all}:other:<id>:<n>" }
"##;

fn contract(name: &str) -> Contract {
    let text = match name {
        "hard" => HARD.to_owned(),
        name => {
            let path =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts").join(name).with_extension("toml");
            std::fs::read_to_string(path).expect("a contract")
        }
    };
    Contract::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn a_contract_with_errors_makes_nothing() {
    let unsound = contract("faults").generate(Language::Rust).unwrap_err();
    assert!(unsound.report().has_errors());
    assert!(
        unsound
            .to_string()
            .starts_with("constructors are made of a contract without errors; mend these first\nline 12: ")
    );
}

#[test]
fn a_contract_with_warnings_makes_constructors() {
    let hard = contract("hard");
    assert!(!hard.check().has_errors() && !hard.check().is_clean(), "{}", hard.check());
    for language in Language::ALL {
        assert!(hard.generate(language).is_ok(), "{language}");
        assert_eq!(Language::from_word(language.word()), Some(language));
    }
}
