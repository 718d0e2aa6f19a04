//! Running text that fits the terminal. Tables, keys and everything else that is indented stay as they are.

/// How wide text is set where nothing else is known, and at most: a longer line is hard to read.
const WIDTH_MAX: usize = 100;

/// The columns that running text may use here.
pub(crate) fn width() -> usize {
    let terminal = rustix::termios::tcgetwinsize(std::io::stdout()).map(|size| usize::from(size.ws_col));
    terminal.ok().filter(|&columns| columns >= 20).unwrap_or(WIDTH_MAX).min(WIDTH_MAX)
}

/// Sets the running text of a report anew in lines of at most `width` columns. A line that begins with a blank is
/// no running text; a line that begins with `- ` or `Note:` begins a paragraph; words, and so keys, stay whole.
pub(crate) fn set(text: &str, width: usize) -> String {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut running = false;
    for line in text.lines() {
        let is_prose = !line.is_empty() && !line.starts_with(' ');
        let begins = line.starts_with("- ") || line.starts_with("Note:");
        match paragraphs.last_mut() {
            Some(last) if is_prose && running && !begins => {
                last.push(' ');
                last.push_str(line);
            }
            _ => paragraphs.push(line.to_owned()),
        }
        running = is_prose;
    }
    let lines = paragraphs.iter().map(|paragraph| match paragraph.starts_with(' ') {
        true => paragraph.clone(),
        false => fill(paragraph, width),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn fill(paragraph: &str, width: usize) -> String {
    let hang = if paragraph.starts_with("- ") { "  " } else { "" };
    let (mut filled, mut column) = (String::new(), 0);
    for word in paragraph.split(' ') {
        let columns = word.chars().count();
        if column > 0 && column + 1 + columns > width {
            filled.push('\n');
            filled.push_str(hang);
            column = hang.len();
        } else if column > 0 {
            filled.push(' ');
            column += 1;
        }
        filled.push_str(word);
        column += columns;
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_text_is_filled_and_the_rest_stays() {
        let text = "one two three\nfour five\n\n  a   table   that  is  wider  than  all\n- point one is long\n- two\nNote: x";
        let set_text = "one two\nthree four\nfive\n\n  a   table   that  is  wider  than  all\n- point one\n  is long\n- two\nNote: x";
        assert_eq!(set(text, 11), set_text);
    }

    #[test]
    fn a_word_that_is_too_long_stays_whole() {
        assert_eq!(set("a user:{123}:profile:settings b", 10), "a\nuser:{123}:profile:settings\nb");
    }

    #[test]
    fn wide_enough_text_loses_nothing() {
        assert_eq!(set("a b\nc", 80), "a b c");
        assert_eq!(set("", 80), "");
    }
}
