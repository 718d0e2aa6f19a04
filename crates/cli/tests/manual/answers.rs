//! The page on answers says of each what the connector does, and forgets none.

use crate::page::Page;

/// A step of the connector, as the page puts it.
fn words(step: &str) -> &'static str {
    match step {
        "Follow" => "go to the owner it names",
        "AskThere" => "ask there, once",
        "SendText" => "send the script's text",
        "RefreshAndWait" => "ask who owns the slot, wait, try again",
        "Wait" => "wait, try again",
        "Tell" => "tell you",
        other => panic!("the page has no words for {other}"),
    }
}

/// A row of a table: its cells.
fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split(" | ").map(str::trim).collect()
}

/// The rows of the table under a heading.
fn table<'p>(page: &'p Page, heading: &str) -> Vec<Vec<&'p str>> {
    let section = page.text.split("\n## ").find(|section| section.starts_with(heading));
    let rows = section.unwrap_or_else(|| panic!("no section {heading}")).lines();
    rows.filter(|line| line.starts_with('|')).skip(2).map(cells).collect()
}

/// `ERR … -OOM`: the parts stand in the answer one after the other, the first at its beginning.
fn is_meant(span: &str, answer: &str) -> bool {
    let mut parts = span.split(" … ");
    let begins = parts.next().is_some_and(|first| answer.starts_with(first));
    let mut rest = answer;
    begins
        && parts.all(|part| {
            rest.find(part).is_some_and(|at| {
                rest = &rest[at + part.len()..];
                true
            })
        })
}

fn spans(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn the_page_says_of_each_answer_what_the_connector_does() {
    let page = Page::read("docs/src/answers.md");
    let table = table(&page, "Errors of the server");
    let mut used = vec![0; table.len()];
    let answers = Page::read("testdata/answers.tsv").text;
    for line in answers.lines().filter(|line| !line.starts_with('#')) {
        let [answer, _, place, idempotent, other] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line:?}")
        };
        let place = if place == "script" { "inside a script" } else { "the request" };
        let meant = |row: &Vec<&str>| row[1] == place && spans(row[0]).any(|span| is_meant(span, answer));
        let row = table.iter().position(meant).unwrap_or_else(|| panic!("no row for {answer:?}, {place}"));
        used[row] += 1;
        assert_eq!(table[row][2..], [words(idempotent), words(other)], "{answer:?}, {place}");
    }
    for (row, used) in table.iter().zip(used) {
        assert!(used > 0, "no answer is meant by the row {row:?}");
    }
}

#[test]
fn the_page_says_of_each_answer_what_is_left_to_do() {
    let page = Page::read("docs/src/answers.md");
    let advice = table(&page, "What you are told");
    for row in table(&page, "Errors of the server") {
        for span in spans(row[0]).filter(|span| *span != "ERR") {
            // The part that tells it from others.
            let mark = span.rsplit(" … ").find(|part| *part != ":").unwrap_or(span);
            let mark = mark.trim_start_matches("ERR ").trim_start_matches('-');
            let mark = mark.trim_start_matches("The user executing the script ");
            let told = advice.iter().any(|row| spans(row[0]).any(|span| span.contains(mark)));
            assert!(told, "nothing is said to {mark}");
        }
    }
}

#[test]
fn the_page_names_every_question_that_an_error_answers() {
    let page = Page::read("docs/src/answers.md");
    let source = Page::read("crates/cluster/src/error.rs").text;
    let questions =
        source.lines().filter_map(|line| line.trim().strip_prefix("pub fn is_")?.split('(').next());
    let questions: Vec<String> = questions.map(|name| format!("`is_{name}()`")).collect();
    assert!(questions.len() > 5);
    let rows = table(&page, "Asking an error");
    for question in &questions {
        assert!(rows.iter().any(|row| row[0] == question), "{question} has no row");
    }
    assert_eq!(rows.len(), questions.len(), "a row about a question that no error answers");
}
