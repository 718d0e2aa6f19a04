//! The store against the scripts: one function of the same name, which sends the script and knows its words.

use super::script::Script;

const STORE: &str = include_str!("../../store.rs");
/// Scripts that are steps of another's transaction, and the function that sends them.
const STEPS: [(&str, &str); 3] = [("gate", "enqueue"), ("list", "enqueue"), ("defer", "enqueue")];

/// What the store lacks for a script.
pub(super) fn faults(script: &Script) -> Vec<String> {
    let step_of = STEPS.iter().find(|(step, _)| *step == script.name).map(|(_, function)| *function);
    let function = step_of.unwrap_or(&script.name);
    if !STORE.contains(&format!("    pub(crate) async fn {function}(")) {
        return vec![format!("store.rs has no function {function}")];
    }
    let mut names = Vec::new();
    let text = with_helpers(function, &mut names);
    let mut faults = Vec::new();
    if !text.contains(&format!("scripts::{}", script.name.to_uppercase())) {
        faults.push(format!("store.rs: {function} does not send {}.lua", script.name));
    }
    // What the gate says stays inside its transaction: the steps after it read the mark.
    let words = script.returns.iter().filter(|_| script.name != "gate");
    for word in words.filter(|word| !text.contains(&format!("\"{word}\""))) {
        faults.push(format!("store.rs: {function} does not know the answer {word:?} of {}.lua", script.name));
    }
    faults
}

/// A function's text, and that of the functions of this file that it calls.
fn with_helpers(function: &str, names: &mut Vec<String>) -> String {
    names.push(function.to_owned());
    let mut text = body(function);
    let called: Vec<String> = calls(&text).into_iter().filter(|name| !names.contains(name)).collect();
    for name in called {
        if !names.contains(&name) {
            text += &with_helpers(&name, names);
        }
    }
    text
}

/// From the line that begins the function to the brace in the same column that ends it.
fn body(function: &str) -> String {
    let starts = |line: &&str| line.contains(&format!(" fn {function}(")) && line.starts_with("    ");
    let lines = STORE.lines().skip_while(|line| !starts(line));
    lines.take_while(|line| *line != "    }").map(|line| format!("{line}\n")).collect()
}

fn calls(text: &str) -> Vec<String> {
    let name = |rest: &str| rest.split('(').next().unwrap_or_default().to_owned();
    text.split("self.").skip(1).map(name).filter(|name| STORE.contains(&format!(" fn {name}("))).collect()
}

#[test]
fn a_word_that_the_store_does_not_know_is_found() {
    let text = super::source("pause");
    let told = |text: &str| faults(&Script::read("pause", text).unwrap()).join("\n");
    assert_eq!(told(&text), "");
    assert!(told(&text.replace("Returns paused", "Returns stopped")).contains("the answer \"stopped\""));
}
