//! A block of a page that shows a terminal: what is typed after `$ `, and what comes.

/// One command with what the page shows of its output.
#[derive(Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) command: String,
    pub(crate) shown: Vec<String>,
}

/// Reads a block. A command may go on in lines that begin with `> `.
///
/// # Errors
///
/// When it does not begin with a command.
pub(crate) fn read(block: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), more_of(line), steps.last_mut()) {
            (Some(command), _, _) => steps.push(Step { command: command.to_owned(), shown: Vec::new() }),
            (_, Some(more), Some(step)) if step.shown.is_empty() => {
                step.command.push('\n');
                step.command.push_str(more);
            }
            (_, _, Some(step)) => step.shown.push(line.trim_end().to_owned()),
            (_, _, None) => {
                return Err(format!("it begins with {line:?}, and not with a command after \"$ \""));
            }
        }
    }
    Ok(steps)
}

/// A command's further line; an empty one has no blank behind the mark.
fn more_of(line: &str) -> Option<&str> {
    if line == ">" { Some("") } else { line.strip_prefix("> ") }
}

/// Writes a block.
pub(crate) fn write(steps: &[Step]) -> String {
    let mut block = String::new();
    for step in steps {
        let command = step.command.replace('\n', "\n> ").replace("> \n", ">\n");
        block.push_str(&format!("$ {command}\n"));
        step.shown.iter().for_each(|line| block.extend([line, "\n"]));
    }
    block
}

impl Step {
    /// Whether this is what the page shows: a line `…` stands for any lines, `[…]` for any text within a line.
    pub(crate) fn shows(&self, output: &[String]) -> bool {
        lines_match(&self.shown, output)
    }

    /// Takes over what came. Lines that are shown as they came stay as they are, open in part or not.
    pub(crate) fn take(&mut self, output: &[String]) {
        let (shown, came) = (&self.shown, output.len());
        // How many lines at most are shown as they came, from each line shown and each that came on.
        let mut kept = vec![vec![0; came + 1]; shown.len() + 1];
        for (i, line) in shown.iter().enumerate().rev() {
            for (j, output) in output.iter().enumerate().rev() {
                let both = if line_matches(line, output) { kept[i + 1][j + 1] + 1 } else { 0 };
                kept[i][j] = both.max(kept[i + 1][j]).max(kept[i][j + 1]);
            }
        }
        let (mut i, mut taken) = (0, Vec::new());
        for (j, output) in output.iter().enumerate() {
            while i < shown.len() && kept[i + 1][j] == kept[i][j] {
                i += 1;
            }
            let stays = i < shown.len() && kept[i][j + 1] < kept[i][j];
            taken.push(if stays { shown[i].clone() } else { output.clone() });
            i += usize::from(stays);
        }
        self.shown = taken;
    }
}

/// Any text within a line.
const ANY: &str = "[…]";

fn lines_match(shown: &[String], output: &[String]) -> bool {
    match (shown, output) {
        ([], []) => true,
        ([any], _) if any.trim() == "…" => true,
        ([any, rest @ ..], _) if any.trim() == "…" => {
            (0..=output.len()).any(|skipped| lines_match(rest, &output[skipped..]))
        }
        ([line, shown @ ..], [came, output @ ..]) => line_matches(line, came) && lines_match(shown, output),
        _ => false,
    }
}

fn line_matches(shown: &str, came: &str) -> bool {
    let Some((before, rest)) = shown.split_once(ANY) else { return shown == came };
    let Some(came) = came.strip_prefix(before) else { return false };
    let mut starts = came.char_indices().map(|(at, _)| at).chain([came.len()]);
    starts.any(|at| line_matches(rest, &came[at..]))
}

#[test]
fn a_block_is_read_and_written() {
    let block = "$ cat <<E\n> a\n>\n> E\na\n$ true\n$ echo b\nb\n";
    let steps = read(block).unwrap();
    assert_eq!(steps[0], Step { command: "cat <<E\na\n\nE".into(), shown: vec!["a".into()] });
    assert_eq!(steps.len(), 3);
    assert_eq!(write(&steps), block);
    assert!(read("output first\n").is_err());
}

#[test]
fn open_lines_and_open_text_match_what_varies_and_nothing_else() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let matches = |shown: &str, output: &str| lines_match(&lines(shown), &lines(output));
    assert!(matches("a\n…\nd", "a\nb\nc\nd") && matches("a\n…\nd", "a\nd") && matches("…", ""));
    assert!(!matches("a\n…\nd", "a\nb\nc") && !matches("a", "a\nb") && !matches("a\nb", "a"));
    assert!(matches("port […] up", "port 7001 up") && matches("[…]a[…]", "bac"));
    assert!(!matches("port […] up", "port 7001 down") && !matches("port […]", "x port 1"));
}

#[test]
fn what_came_is_taken_over_and_what_is_open_stays_open() {
    let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut step = Step { command: String::new(), shown: lines("old port[…] same […] end") };
    step.take(&lines("new port7001 same new 12 end"));
    assert_eq!(step.shown, lines("new port[…] same new […] end"));
    step.take(&lines("end"));
    assert_eq!(step.shown, ["end"]);
    step.take(&[]);
    assert!(step.shown.is_empty());
}
