use serde_json::Value;
use testkit::unique_queue;

use crate::run::{cluster, echomq, on};

const DOCUMENT: &str = include_str!("../../json.md");

/// The examples of a section: what is typed, and the object that comes.
fn examples(verb: &str) -> Vec<(&'static str, Value)> {
    let section = DOCUMENT.split("\n## ").find_map(|section| section.strip_prefix(verb)?.strip_prefix('\n'));
    let mut lines = section.unwrap_or_else(|| panic!("no section {verb:?}")).lines();
    let mut examples = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(typed) = line.strip_prefix("$ echomq ") {
            examples.push((typed, serde_json::from_str(lines.next().unwrap()).unwrap()));
        }
    }
    assert!(!examples.is_empty(), "{verb:?} has no example");
    examples
}

/// The same fields in the same order, with values of the same types; null stands for any.
fn assert_same_shape(path: &str, documented: &Value, real: &Value) {
    match (documented, real) {
        (Value::Null, _) | (_, Value::Null) => {}
        (Value::Object(documented), Value::Object(real)) => {
            assert!(
                documented.keys().eq(real.keys()),
                "{path}: {:?} but {:?}",
                documented.keys(),
                real.keys()
            );
            documented
                .iter()
                .for_each(|(key, value)| assert_same_shape(&format!("{path}.{key}"), value, &real[key]));
        }
        (Value::Array(documented), Value::Array(real)) => {
            if let Some(documented) = documented.first() {
                real.iter().for_each(|real| assert_same_shape(&format!("{path}[]"), documented, real));
            }
        }
        _ => assert_eq!(std::mem::discriminant(documented), std::mem::discriminant(real), "{path}: {real}"),
    }
}

/// What the section of a verb promises is what came.
pub(crate) fn assert_documented(verb: &str, example: usize, real: &Value) {
    assert_same_shape(verb, &examples(verb)[example].1, real);
}

#[test]
fn the_examples_that_need_no_server_are_exact() {
    for verb in ["key slot", "key trace", "key check", "key tag"] {
        for (typed, object) in examples(verb) {
            let words = typed.split(' ').map(|word| word.trim_matches('\''));
            let real: Value = serde_json::from_slice(&echomq(words).run().out).unwrap();
            assert_eq!(real, object, "{typed}");
        }
    }
}

#[test]
fn the_shapes_of_jobs_and_queues_are_the_documented_ones() {
    let (cluster, queue) = (cluster(), unique_queue("shape"));
    let object = |words: &[&str]| on(&cluster, [words, &["--json"]].concat()).object();
    let q = queue.as_str();
    assert_documented("job add", 0, &object(&["job", "add", q, "hello", "--id", "7"]));
    assert_documented("job show", 0, &object(&["job", "show", q, "7"]));
    let lines =
        on(&cluster, ["job", "add", q, "--file", "-", "--attempts", "1", "--id-from", "id", "--json"]);
    assert_documented("job add", 1, &lines.input("{\"id\":8}\n").object());
    assert_documented("queue pause", 0, &object(&["queue", "pause", q]));
    assert_documented("queue show", 0, &object(&["queue", "show", q]));
    assert_documented("queue resume", 0, &object(&["queue", "resume", q]));
    let script = "test $ECHOMQ_JOB_ID = 7";
    let worked = on(&cluster, ["work", q, "--drain", "--json", "--exec", "sh", "-c", script]).run();
    assert_documented("work", 0, &serde_json::from_slice(&worked.out).unwrap());
    assert_documented("job show", 1, &object(&["job", "show", q, "8"]));
    let listed = on(&cluster, ["queue", "ls", "--json"]).fine();
    for line in listed.lines() {
        assert_documented("queue ls", 0, &serde_json::from_str(line).unwrap());
    }
}

#[test]
fn help_tells_the_shape() {
    assert!(echomq(["job", "show", "--help"]).fine().contains("\"payload_hex\":null"));
}
