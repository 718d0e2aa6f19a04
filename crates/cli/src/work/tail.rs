//! The last lines of what a command says, however much it says.

use std::collections::VecDeque;

/// So much of the end is kept.
const KEPT_BYTES: usize = 2_000;
const KEPT_LINES: usize = 10;

/// Keeps the end of a stream of bytes.
#[derive(Default)]
pub(super) struct Tail(VecDeque<u8>);

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(KEPT_BYTES)..];
        let over = (self.0.len() + kept.len()).saturating_sub(KEPT_BYTES);
        self.0.drain(..over);
        self.0.extend(kept);
    }

    /// The last lines that are not blank. Bytes that are no UTF-8 are replaced.
    pub(super) fn text(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(KEPT_LINES)..].join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_the_beginning_forgotten() {
        let mut tail = Tail::default();
        (0..10_000).for_each(|n| tail.push(format!("line {n}\n").as_bytes()));
        let lines: Vec<String> = (9_990..10_000).map(|n| format!("line {n}")).collect();
        assert_eq!(tail.text(), lines.join("\n"));
        assert!(tail.0.len() <= KEPT_BYTES);
    }

    #[test]
    fn one_endless_line_is_cut_too() {
        let mut tail = Tail::default();
        tail.push(&[b'x'; 1 << 20]);
        tail.push(b"end");
        assert_eq!(tail.text().len(), KEPT_BYTES);
        assert!(tail.text().ends_with("xend"));
    }

    #[test]
    fn blank_lines_and_strange_bytes_do_no_harm() {
        let mut tail = Tail::default();
        tail.push(b"a\r\n\n  \n\xffb\n\n");
        assert_eq!(tail.text(), "a\n\u{fffd}b");
        assert_eq!(Tail::default().text(), "");
    }
}
