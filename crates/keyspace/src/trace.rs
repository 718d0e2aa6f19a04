//! Why a key is on its slot, told to somebody who has never read the rule.

use crate::crc::crc16;
use crate::escaped::Escaped;
use crate::slot::Slot;
use crate::tag::{find, hash_tag};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

/// Takes the rule step by step over a key.
///
/// ```
/// use echomq_keyspace::{Note, Why, trace};
///
/// let trace = trace(b"foo{{bar}}zap");
/// assert_eq!((trace.hashed, trace.slot.get()), (b"{bar".as_slice(), 4015));
/// assert_eq!((trace.why, trace.notes.as_slice()), (Why::Tag, [Note::NestedBrace].as_slice()));
/// println!("{trace}");
/// ```
pub fn trace(key: &[u8]) -> Trace<'_> {
    let open = find(key, b'{');
    let close = open.and_then(|open| find(&key[open + 1..], b'}').map(|len| open + 1 + len));
    let (why, span) = match (open, close) {
        (None, _) => (Why::NoBrace, 0..key.len()),
        (Some(_), None) => (Why::NeverClosed, 0..key.len()),
        (Some(open), Some(close)) if close == open + 1 => (Why::EmptyTag, 0..key.len()),
        (Some(open), Some(close)) => (Why::Tag, open + 1..close),
    };
    let hashed = &key[span.clone()];
    let later_tag = close.and_then(|close| tag_of(&key[close + 1..]));
    let crc = crc16(hashed);
    let mut notes = Vec::new();
    if key[..open.unwrap_or(key.len())].contains(&b'}') {
        notes.push(Note::LoneCloseFirst);
    }
    if why == Why::Tag && hashed.contains(&b'{') {
        notes.push(Note::NestedBrace);
    }
    if later_tag.is_some() {
        notes.push(Note::LaterTagIgnored);
    }
    Trace { key, open, close, span, hashed, later_tag, crc, slot: Slot::from_crc(crc), why, notes }
}

/// The tag of a key, when it has one.
pub(crate) fn tag_of(key: &[u8]) -> Option<&[u8]> {
    Some(hash_tag(key)).filter(|tag| tag.len() < key.len())
}

/// How a key comes to its slot. Its text is an explanation of several lines, with the hashed bytes marked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trace<'a> {
    /// The key.
    pub key: &'a [u8],
    /// Where the first `{` stands.
    pub open: Option<usize>,
    /// Where the first `}` after it stands.
    pub close: Option<usize>,
    /// Which bytes of the key are hashed.
    pub span: Range<usize>,
    /// Those bytes.
    pub hashed: &'a [u8],
    /// The next tag, which is not looked at.
    pub later_tag: Option<&'a [u8]>,
    /// The CRC16 of the hashed bytes.
    pub crc: u16,
    /// The CRC modulo 16384.
    pub slot: Slot,
    /// What decided which bytes are hashed.
    pub why: Why,
    /// What else in the key may be taken for more than it is.
    pub notes: Vec<Note>,
}

/// What decides which bytes of a key are hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// The tag is hashed.
    Tag,
    /// No `{`: the whole key is hashed.
    NoBrace,
    /// A `{`, but no `}` after it: the whole key is hashed.
    NeverClosed,
    /// Nothing between the first `{` and the next `}`: the whole key is hashed.
    EmptyTag,
}

/// What people take for a tag, or for part of the rule, and is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Note {
    /// A `}` stands before the first `{`, or there is no `{`: it is an ordinary byte.
    LoneCloseFirst,
    /// Braces do not nest: a second `{` before the first `}` belongs to the tag.
    NestedBrace,
    /// Only the first braces count: a later tag is ignored.
    LaterTagIgnored,
}

impl Why {
    /// A word that stays the same in every release, for programs: `tag`, `no-brace`, `never-closed` or `empty-tag`.
    pub const fn code(self) -> &'static str {
        match self {
            Why::Tag => "tag",
            Why::NoBrace => "no-brace",
            Why::NeverClosed => "never-closed",
            Why::EmptyTag => "empty-tag",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Why::Tag => "tag",
            Why::NoBrace => "no tag: no opening brace",
            Why::NeverClosed => "no tag: brace never closed",
            Why::EmptyTag => "no tag: nothing between the braces",
        })
    }
}

impl Note {
    /// A word that stays the same in every release, for programs: `lone-close-first`, `nested-brace` or `later-tag-ignored`.
    pub const fn code(self) -> &'static str {
        match self {
            Note::LoneCloseFirst => "lone-close-first",
            Note::NestedBrace => "nested-brace",
            Note::LaterTagIgnored => "later-tag-ignored",
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Note::LoneCloseFirst => "a \"}\" that no \"{\" stands before is an ordinary byte",
            Note::NestedBrace => "braces do not nest: the second \"{\" belongs to the tag",
            Note::LaterTagIgnored => "only the first braces count: the later tag is ignored",
        })
    }
}

impl fmt::Display for Trace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "key     {}", Escaped(self.key))?;
        self.mark_hashed(f)?;
        self.show_hashed(f)?;
        writeln!(f, "crc16   0x{:04X}", self.crc)?;
        writeln!(f, "slot    {} (the crc16 modulo {})", self.slot, Slot::COUNT)?;
        writeln!(f, "why     {}", self.why)?;
        write!(f, "\n{}", self.explanation())?;
        if self.why == Why::Tag {
            write!(f, "\nEvery key with the tag \"{}\" is on slot {}.", Escaped(self.hashed), self.slot)?;
        }
        self.notes.iter().try_for_each(|note| write!(f, "\nNote: {note}."))
    }
}

impl Trace<'_> {
    /// A line of carets under the hashed bytes of the key as it is shown.
    fn mark_hashed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.hashed.is_empty() {
            return Ok(());
        }
        let (before, marked) = (Escaped(&self.key[..self.span.start]).width(), Escaped(self.hashed).width());
        writeln!(f, "        {:before$}{:^<marked$}", "", "")
    }

    fn show_hashed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.hashed.len(), self.key.len()) {
            (_, 0) => writeln!(f, "hashed  nothing: the key is empty")?,
            (hashed, all) if hashed == all => writeln!(f, "hashed  the whole key, {all} bytes")?,
            (hashed, all) => writeln!(f, "hashed  \"{}\", {hashed} of {all} bytes", Escaped(self.hashed))?,
        }
        if self.hashed.iter().all(|byte| matches!(byte, b' '..=b'~')) {
            return Ok(());
        }
        f.write_str("bytes  ")?;
        self.hashed.iter().try_for_each(|byte| write!(f, " {byte:02x}"))?;
        match core::str::from_utf8(self.hashed).ok().filter(|text| is_printable(text)) {
            Some(text) => writeln!(f, " (the UTF-8 of {text})"),
            None => writeln!(f),
        }
    }

    fn explanation(&self) -> &'static str {
        match self.why {
            Why::Tag => {
                "A cluster hashes only what stands between the first \"{\" of a key and the next \"}\" after it,\n\
                 wherever in the key that is."
            }
            Why::NoBrace => {
                "Without braces the whole key is hashed, so a key that differs in one byte has another slot.\n\
                 Keys stay together when the text they share stands in braces: only that is hashed then."
            }
            Why::NeverClosed => {
                "A \"{\" that no \"}\" follows is an ordinary byte: the whole key is hashed, so a key that differs\n\
                 in one byte has another slot."
            }
            Why::EmptyTag => {
                "The first \"{\" and the next \"}\" have nothing between them. Then the whole key is hashed, and\n\
                 later braces are not looked at: a key that differs in one byte has another slot."
            }
        }
    }
}

/// Whether a terminal shows the text as it is: no control, no direction mark, no lone accent.
fn is_printable(text: &str) -> bool {
    text.escape_debug().eq(text.chars())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;
    use proptest::prelude::*;

    #[test]
    fn each_combination_has_one_why_and_its_notes() {
        use Note::{LaterTagIgnored, LoneCloseFirst, NestedBrace};
        for (key, why, notes) in [
            ("{a}", Why::Tag, [].as_slice()),
            ("", Why::NoBrace, &[]),
            ("a}b", Why::NoBrace, &[LoneCloseFirst]),
            ("}{abc", Why::NeverClosed, &[LoneCloseFirst]),
            ("{a{b", Why::NeverClosed, &[]),
            ("{}", Why::EmptyTag, &[]),
            ("foo{}{bar}", Why::EmptyTag, &[LaterTagIgnored]),
            ("{a}{}", Why::Tag, &[]),
            ("{a}:{b}", Why::Tag, &[LaterTagIgnored]),
            ("foo{{bar}}zap", Why::Tag, &[NestedBrace]),
            ("}{a{b}:{c}", Why::Tag, &[LoneCloseFirst, NestedBrace, LaterTagIgnored]),
        ] {
            let trace = trace(key.as_bytes());
            assert_eq!((trace.why, trace.notes.as_slice()), (why, notes), "{key}");
        }
    }

    #[test]
    fn the_text_marks_the_hashed_bytes_and_explains() {
        assert_eq!(
            trace(b"user:{123}:profile").to_string(),
            "key     user:{123}:profile\n\
             \u{20}             ^^^\n\
             hashed  \"123\", 3 of 18 bytes\n\
             crc16   0x9752\n\
             slot    5970 (the crc16 modulo 16384)\n\
             why     tag\n\
             \n\
             A cluster hashes only what stands between the first \"{\" of a key and the next \"}\" after it,\n\
             wherever in the key that is.\n\
             Every key with the tag \"123\" is on slot 5970."
        );
    }

    #[test]
    fn the_carets_stand_under_the_escaped_bytes() {
        let text = trace(b"\xff{\n}").to_string();
        assert!(
            text.starts_with(
                "key     \\xff{\\n}\n             ^^\nhashed  \"\\n\", 1 of 4 bytes\nbytes   0a\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_text_that_would_upset_a_terminal_is_shown_in_hex_alone() {
        assert!(trace("{\u{202e}}".as_bytes()).to_string().contains("bytes   e2 80 ae\n"));
        assert!(trace("{é}".as_bytes()).to_string().contains("bytes   c3 a9 (the UTF-8 of é)\n"));
        assert!(trace(b"").to_string().contains("hashed  nothing: the key is empty\ncrc16   0x0000\n"));
    }

    proptest! {
        #[test]
        fn a_trace_agrees_with_the_slot(key in prop::collection::vec(prop_oneof![Just(b'{'), Just(b'}'), any::<u8>()], 0..40)) {
            let trace = trace(&key);
            prop_assert_eq!(trace.slot, Slot::of(&key));
            prop_assert_eq!(trace.hashed, hash_tag(&key));
            prop_assert_eq!(trace.hashed, &key[trace.span.clone()]);
            prop_assert_eq!(trace.why == Why::Tag, trace.hashed.len() < key.len());
            let text = trace.to_string();
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
