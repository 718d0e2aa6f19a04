//! Bytes as text and back: in hex, and escaped as [`Escaped`] writes them.

use anyhow::{anyhow, bail};
use echomq_keyspace::Escaped;

/// Two hex digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads what [`hex`] writes, in capitals too.
pub(crate) fn from_hex(text: &[u8]) -> anyhow::Result<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some((digit(*high)? << 4) | digit(*low)?),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = text.chunks(2).map(byte).collect();
    bytes.ok_or_else(|| anyhow!("\"{}\" is not hex: write two digits 0-9, a-f for each byte", Escaped(text)))
}

/// Reads what [`Escaped`] writes; bytes that it would escape are taken as they are.
pub(crate) fn unescaped(text: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        let (byte, tail) = match (byte, tail) {
            (b'\\', [b'n', tail @ ..]) => (b'\n', tail),
            (b'\\', [b'r', tail @ ..]) => (b'\r', tail),
            (b'\\', [b't', tail @ ..]) => (b'\t', tail),
            (b'\\', [quoted @ (b'\\' | b'"'), tail @ ..]) => (*quoted, tail),
            (b'\\', [b'x', high, low, tail @ ..]) => match from_hex(&[*high, *low]).as_deref() {
                Ok(&[byte]) => (byte, tail),
                _ => bail!(unknown_escape(text, rest)),
            },
            (b'\\', _) => bail!(unknown_escape(text, rest)),
            _ => (byte, tail),
        };
        bytes.push(byte);
        rest = tail;
    }
    Ok(bytes)
}

fn unknown_escape(text: &[u8], rest: &[u8]) -> String {
    let at = text.len() - rest.len();
    let text = String::from_utf8_lossy(text);
    format!(
        "'{}' has an unknown escape at byte {at}: use \\xNN, \\n, \\r, \\t, \\\\ or \\\"",
        text.escape_debug()
    )
}

/// The text, when a terminal shows every line of it as it is: no control, no direction mark, no lone accent.
pub(crate) fn printable(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    // Quotes and backslashes are escaped for programs alone.
    let is_plain = |letter: char| matches!(letter, '"' | '\'' | '\\') || letter.escape_debug().eq([letter]);
    text.split('\n').all(|line| line.chars().all(is_plain)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_bytes_are_read_back() {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        assert_eq!(unescaped(Escaped(&all).to_string().as_bytes()).unwrap(), all);
        assert_eq!(from_hex(hex(&all).as_bytes()).unwrap(), all);
        assert_eq!(from_hex(b"0aFF").unwrap(), b"\x0a\xff");
        assert_eq!(unescaped("é".as_bytes()).unwrap(), "é".as_bytes());
    }

    #[test]
    fn what_can_not_be_read_is_quoted() {
        for text in [r"a\", r"a\q", r"a\x", r"a\x1", r"a\xzz"] {
            let error = unescaped(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("unknown escape at byte 1"), "{error}");
        }
        for text in ["0", "zz", "0g", "00 11"] {
            let error = from_hex(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(&format!("\"{text}\" is not hex")), "{error}");
        }
    }

    #[test]
    fn only_text_that_a_terminal_shows_as_it_is_is_printable() {
        for text in ["", "{\"a\": 'b\\c'}", "佐藤 花子\nsecond line", "é"] {
            assert_eq!(printable(text.as_bytes()), Some(text));
        }
        for bytes in [&b"\xff"[..], b"a\x1b[31m", b"a\0", b"a\r", "\u{202e}".as_bytes(), "\u{301}".as_bytes()]
        {
            assert_eq!(printable(bytes), None, "{bytes:?}");
        }
    }
}
