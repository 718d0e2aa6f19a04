//! What the pages point at is there.

use std::path::{Component, Path, PathBuf};

use crate::page::{Page, manual, root};

/// `folder/../page` without the way back.
fn straight(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut straight, part| {
        match part {
            Component::ParentDir => drop(straight.pop()),
            Component::CurDir => {}
            part => straight.push(part),
        }
        straight
    })
}

/// The page is where a link from `from` leads to.
fn led_to(from: &Page, target: &str) -> PathBuf {
    match target {
        "" => from.path.clone(),
        target => straight(&from.path.parent().unwrap_or(Path::new("")).join(target)),
    }
}

fn assert_leads_somewhere(from: &Page, line: usize, target: &str) {
    let here = format!("{}, line {line}: the link to {target:?}", from.name());
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let to = led_to(from, path);
    assert!(root().join(&to).exists(), "{here} leads nowhere");
    // Beyond its source a book has nothing.
    let leaves = from.path.starts_with("docs/src") && !to.starts_with("docs/src");
    assert!(!leaves, "{here} leaves the book; name the path in code instead");
    if !anchor.is_empty() {
        assert!(Page::read(&to).has_anchor(anchor), "{here}: there is no such heading");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut links = 0;
    for page in manual().into_iter().chain([Page::read("README.md")]) {
        for link in page.links() {
            links += 1;
            if !link.target.starts_with("https://") {
                assert_leads_somewhere(&page, link.line, &link.target);
            }
        }
    }
    assert!(links > 20, "hardly any link was found");
}

#[test]
fn every_path_that_a_page_names_exists() {
    let known = ["crates", "testkit", "testdata", "bench", "fuzz", "docs", ".ci"];
    for page in manual().into_iter().chain([Page::read("README.md")]) {
        for span in page.code_spans() {
            let is_path = known.iter().any(|first| span.starts_with(&format!("{first}/")));
            if is_path && !span.contains([' ', '<', '*', '{']) {
                assert!(root().join(&span).exists(), "{} names {span}, which does not exist", page.name());
            }
        }
    }
}

#[test]
fn the_summary_has_each_page_once_under_its_own_heading() {
    let summary = Page::read("docs/src/SUMMARY.md");
    let mut listed: Vec<PathBuf> =
        summary.links().iter().map(|link| led_to(&summary, &link.target)).collect();
    for page in manual() {
        if page.path == summary.path {
            continue;
        }
        let heading = page.headings().into_iter().next().unwrap_or_default();
        let row = format!("[{heading}]({})", page.path.strip_prefix("docs/src").unwrap().display());
        assert!(summary.text.contains(&row), "docs/src/SUMMARY.md has no {row}");
        let before = listed.len();
        listed.retain(|path| *path != page.path);
        assert_eq!(before - listed.len(), 1, "{} is listed once", page.name());
    }
    assert!(listed.is_empty(), "{listed:?}");
}
