//! Bytes as text that is safe in a log line, an error and a terminal.

use core::fmt::{self, Write as _};

/// Shows bytes as plain ASCII: printable characters as they are, the rest as `\n`, `\r`, `\t`, `\\`, `\"` or `\xNN`.
///
/// Two different byte strings never look the same, and no control sequence reaches a terminal.
///
/// ```
/// use echomq_keyspace::Escaped;
///
/// assert_eq!(Escaped(b"emq:{orders}:meta").to_string(), "emq:{orders}:meta");
/// assert_eq!(Escaped("注\n\0".as_bytes()).to_string(), r"\xe6\xb3\xa8\n\x00");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Escaped<'a>(pub &'a [u8]);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&byte| escape(byte, f))
    }
}

impl fmt::Debug for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl Escaped<'_> {
    /// How many columns the text takes.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|&byte| width(byte)).sum()
    }
}

/// How wide a column of these texts is; a very long one hangs over instead of pushing the next column away.
pub(crate) fn column_width(texts: &[Escaped<'_>]) -> usize {
    const WIDTH_MAX: usize = 48;
    texts.iter().map(Escaped::width).max().unwrap_or(0).min(WIDTH_MAX)
}

fn width(byte: u8) -> usize {
    match byte {
        b'\n' | b'\r' | b'\t' | b'\\' | b'"' => 2,
        b' '..=b'~' => 1,
        _ => 4,
    }
}

fn escape(byte: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match byte {
        b'\n' => f.write_str("\\n"),
        b'\r' => f.write_str("\\r"),
        b'\t' => f.write_str("\\t"),
        b'\\' => f.write_str("\\\\"),
        b'"' => f.write_str("\\\""),
        b' '..=b'~' => f.write_char(char::from(byte)),
        _ => write!(f, "\\x{byte:02x}"),
    }
}

/// An input inside an error: escaped, in quotes, and cut when it is too long to read.
pub(crate) struct Quoted<'a>(pub(crate) &'a [u8]);

/// The longest input an error quotes whole, in bytes.
const QUOTED_MAX_BYTES: usize = 160;

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.split_at_checked(QUOTED_MAX_BYTES) {
            Some((shown, rest)) if !rest.is_empty() => {
                write!(f, "\"{}\"... ({} bytes)", Escaped(shown), self.0.len())
            }
            _ => write!(f, "\"{}\"", Escaped(self.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString as _;
    use alloc::vec::Vec;

    #[test]
    fn the_width_of_each_byte_is_the_length_of_its_text() {
        for byte in 0..=u8::MAX {
            assert_eq!(Escaped(&[byte]).to_string().len(), width(byte), "byte {byte:#04x}");
        }
    }

    #[test]
    fn no_two_bytes_look_the_same_and_all_text_is_printable() {
        let mut texts: Vec<_> = (0..=u8::MAX).map(|byte| Escaped(&[byte]).to_string()).collect();
        assert!(texts.iter().all(|text| text.bytes().all(|b| (b' '..=b'~').contains(&b))));
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), 256);
    }

    #[test]
    fn a_long_input_is_quoted_short_with_its_length() {
        assert_eq!(format!("{}", Quoted(b"a\"b")), r#""a\"b""#);
        let text = format!("{}", Quoted(&[b'q'; 300]));
        assert!(text.ends_with("q\"... (300 bytes)") && text.len() < 200, "{text}");
    }
}
