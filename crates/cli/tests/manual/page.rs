//! A page as CommonMark has it, as far as its checks need: code, links, headings.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// A page of the project.
pub(crate) struct Page {
    /// From the root of the project.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A fenced block of code.
pub(crate) struct Fence {
    /// The first word behind the opening fence.
    pub(crate) language: String,
    /// Where its lines stand in the page's text, without the fences.
    pub(crate) body: Range<usize>,
}

/// A link to somewhere.
pub(crate) struct Link {
    /// From 1.
    pub(crate) line: usize,
    pub(crate) target: String,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate stands in the tree").to_owned()
}

/// Every page of the manual, in order of name.
pub(crate) fn manual() -> Vec<Page> {
    let mut pages = Vec::new();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the manual").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(Page::read(path.strip_prefix(root()).expect("below the root")));
            }
        }
    }
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    pages
}

impl Page {
    /// Reads the page at this path from the root.
    pub(crate) fn read(path: impl AsRef<Path>) -> Page {
        let path = path.as_ref().to_owned();
        let text = std::fs::read_to_string(root().join(&path));
        Page { text: text.unwrap_or_else(|error| panic!("{}: {error}", path.display())), path }
    }

    pub(crate) fn write(&self) {
        std::fs::write(root().join(&self.path), &self.text).expect("the page can be written");
    }

    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    pub(crate) fn fences(&self) -> Vec<Fence> {
        let mut fences = Vec::new();
        // The mark of the open fence, its language, and where its body begins.
        let mut open: Option<(&str, &str, usize)> = None;
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            let (start, word) = (at, line.trim());
            at += line.len();
            open = match open {
                Some((mark, language, body))
                    if word.starts_with(mark) && word.trim_matches('`').is_empty() =>
                {
                    fences.push(Fence { language: language.to_owned(), body: body..start });
                    None
                }
                None if word.starts_with("```") => {
                    let language = word.trim_start_matches('`');
                    let mark = &word[..word.len() - language.len()];
                    Some((mark, language.split([' ', ',']).next().unwrap_or_default(), at))
                }
                as_it_was => as_it_was,
            };
        }
        assert!(open.is_none(), "{}: a fence is never closed", self.name());
        fences
    }

    /// The text with its lines where they were, but without blocks of code.
    fn prose(&self) -> String {
        let mut prose = self.text.clone().into_bytes();
        for fence in self.fences() {
            prose[fence.body].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
        String::from_utf8(prose).expect("blanks for whole lines")
    }

    /// What stands between single backticks. A code span does not go over the end of its paragraph.
    pub(crate) fn code_spans(&self) -> Vec<String> {
        let prose = self.prose();
        let paragraphs = prose.split("\n\n").filter(|paragraph| !paragraph.contains("```"));
        let spans = paragraphs.flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
        spans.map(|span| span.replace('\n', " ")).collect()
    }

    /// The links, also those to images.
    pub(crate) fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        for (number, line) in self.prose().lines().enumerate() {
            let without_code: Vec<&str> = line.split('`').step_by(2).collect();
            let line = without_code.join("code");
            for rest in line.split("](").skip(1) {
                let target = rest.split([')', ' ']).next().unwrap_or_default();
                links.push(Link { line: number + 1, target: target.to_owned() });
            }
        }
        links
    }

    /// The headings of the page.
    pub(crate) fn headings(&self) -> Vec<String> {
        let prose = self.prose();
        let headings = prose.lines().filter(|line| line.starts_with('#'));
        headings.map(|line| line.trim_start_matches('#').trim().to_owned()).collect()
    }

    /// Whether a link to `#name` leads to one of its headings.
    pub(crate) fn has_anchor(&self, name: &str) -> bool {
        self.headings().iter().any(|heading| anchor(heading) == name)
    }
}

/// The anchor that mdBook and forges make of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}
