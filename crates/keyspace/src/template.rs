//! The pattern of a key: fixed text, fields, and the tag.

use alloc::vec::Vec;
use core::fmt;

/// The pattern of a family's keys, such as `order:{order}:line:<line>`.
///
/// Text stands for itself, **braces too**: they are the braces of the key, and what they hold is the tag. A name in angle
/// brackets is a field. Where braces hold nothing but the name of the family's tag field, the brackets may be left out:
/// `{order}` is short for `{<order>}`. So `{user:<id>}` has text and a field in its tag, and `{app}` is a constant unless the
/// tag field is called `app`. A key with `<` or `>` of its own can not be written.
///
/// ```
/// use echomq_keyspace::{Segment, Template};
///
/// let line = Template::parse("order:{order}:line:<line>", "order")?;
/// let segments: Vec<_> = line.segments().collect();
/// assert_eq!(segments[..3], [Segment::Text("order:{"), Segment::Field("order"), Segment::Text("}:line:")]);
/// assert_eq!(line.build(|field| if field == "order" { b"A7" } else { b"1" }), b"order:{A7}:line:1");
/// # Ok::<(), echomq_keyspace::TemplateError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Template<'a> {
    text: &'a str,
    tag_field: &'a str,
}

/// A piece of a [`Template`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment<'a> {
    /// Stands for itself.
    Text(&'a str),
    /// Stands for the value of the field with this name.
    Field(&'a str),
}

/// What is hashed of a template's keys: the text around the tag field, between the braces. Keys with equal text and an equal
/// value are on one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct TagText<'a> {
    /// What stands between `{` and the field; usually nothing.
    pub before: &'a str,
    /// What stands between the field and `}`; usually nothing.
    pub after: &'a str,
}

/// Why a template has no tag that follows the value of the tag field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoTag<'a> {
    /// No `{` at all: the whole key is hashed.
    NoBrace,
    /// A `{` without a `}` after it: the whole key is hashed.
    NeverClosed,
    /// `{}`: the whole key is hashed.
    Empty,
    /// Fixed text alone: every entity is on the slot of this text.
    Constant(&'a str),
    /// A field in the braces that is not the tag field, or the tag field twice.
    OtherField(&'a str),
}

impl<'a> Template<'a> {
    /// Reads the notation above.
    ///
    /// # Errors
    ///
    /// When there is nothing, an angle bracket has no partner, or what is in the brackets is no field name
    /// ([`Template::is_field_name`]).
    pub const fn parse(text: &'a str, tag_field: &'a str) -> Result<Template<'a>, TemplateError> {
        let template = Template { text, tag_field };
        if text.is_empty() {
            return Err(TemplateError { at: 0, fault: Fault::Empty });
        }
        let mut at = 0;
        loop {
            at = match template.segment_at(at) {
                Ok(Some((_, next))) => next,
                Ok(None) => return Ok(template),
                Err(error) => return Err(error),
            };
        }
    }

    /// Whether a name can be that of a field: words of `a` to `z` and `0` to `9` that begin with a letter, joined by `_`. So
    /// no two names become one when a language writes them otherwise, such as `lineNumber`.
    pub const fn is_field_name(name: &str) -> bool {
        let mut rest = name.as_bytes();
        loop {
            let [b'a'..=b'z', tail @ ..] = rest else { return false };
            rest = tail;
            while let [b'a'..=b'z' | b'0'..=b'9', tail @ ..] = rest {
                rest = tail;
            }
            match rest {
                [] => return true,
                [b'_', tail @ ..] => rest = tail,
                _ => return false,
            }
        }
    }

    /// The pattern as it was written.
    pub const fn as_str(&self) -> &'a str {
        self.text
    }

    /// The name of the tag field, whether or not the template has it.
    pub const fn tag_field(&self) -> &'a str {
        self.tag_field
    }

    /// The pieces, in order. No two texts are neighbours.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'a>> + Clone + use<'a> {
        let template = *self;
        let mut at = 0;
        core::iter::from_fn(move || match template.segment_at(at) {
            Ok(Some((segment, next))) => {
                at = next;
                Some(segment)
            }
            Ok(None) | Err(_) => None,
        })
    }

    /// The names of the fields, in order, the tag field among them.
    pub fn fields(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        self.segments().filter_map(|segment| match segment {
            Segment::Field(name) => Some(name),
            Segment::Text(_) => None,
        })
    }

    /// What is between the first `{` and the next `}`, when that is the tag field once, with or without text around it.
    ///
    /// This looks at the pattern. It holds for all keys when no field before the tag and no tag value can have a brace.
    ///
    /// # Errors
    ///
    /// What is there instead.
    pub const fn tag(&self) -> Result<TagText<'a>, NoTag<'a>> {
        let Some(open) = find(self.text, 0, b'{') else { return Err(NoTag::NoBrace) };
        let Some(close) = find(self.text, open + 1, b'}') else { return Err(NoTag::NeverClosed) };
        if close == open + 1 {
            return Err(NoTag::Empty);
        }
        let mut field = None;
        let mut at = open + 1;
        while at < close {
            let Ok(Some((segment, next))) = self.segment_at(at) else { break };
            match segment {
                Segment::Field(name) if field.is_some() || !equal(name, self.tag_field) => {
                    return Err(NoTag::OtherField(name));
                }
                Segment::Field(_) => field = Some((at, next)),
                Segment::Text(_) => {}
            }
            at = next;
        }
        match field {
            Some((start, end)) => Ok(TagText {
                before: between(self.text, open + 1, start),
                after: between(self.text, end, close),
            }),
            None => Err(NoTag::Constant(between(self.text, open + 1, close))),
        }
    }

    /// Whether braces stand after the first pair; they are never looked at.
    pub const fn has_later_brace(&self) -> bool {
        let Some(open) = find(self.text, 0, b'{') else { return false };
        match find(self.text, open + 1, b'}') {
            Some(close) => find(self.text, close + 1, b'{').is_some(),
            None => false,
        }
    }

    /// The key with these values.
    pub fn build<'v>(&self, value_of: impl Fn(&str) -> &'v [u8]) -> Vec<u8> {
        let mut key = Vec::with_capacity(2 * self.text.len());
        for segment in self.segments() {
            key.extend_from_slice(match segment {
                Segment::Text(text) => text.as_bytes(),
                Segment::Field(name) => value_of(name),
            });
        }
        key
    }

    /// The piece that begins at `at`, and where the next one does.
    pub(crate) const fn segment_at(&self, at: usize) -> Result<Option<(Segment<'a>, usize)>, TemplateError> {
        let text = self.text.as_bytes();
        if at >= text.len() {
            return Ok(None);
        }
        if text[at] == b'<' {
            let Some(close) = find(self.text, at, b'>') else {
                return Err(TemplateError { at, fault: Fault::NeverClosed });
            };
            let name = between(self.text, at + 1, close);
            if !Template::is_field_name(name) {
                return Err(TemplateError { at, fault: Fault::NotAName });
            }
            return Ok(Some((Segment::Field(name), close + 1)));
        }
        if at > 0 && self.short_tag_opens(at - 1) {
            return Ok(Some((Segment::Field(self.tag_field), at + self.tag_field.len())));
        }
        let mut end = at;
        while end < text.len() && text[end] != b'<' && !(end > at && self.short_tag_opens(end - 1)) {
            if text[end] == b'>' {
                return Err(TemplateError { at: end, fault: Fault::NeverOpened });
            }
            end += 1;
        }
        Ok(Some((Segment::Text(between(self.text, at, end)), end)))
    }

    /// Whether a `{` stands at `at` with the name of the tag field and `}` behind it.
    const fn short_tag_opens(&self, at: usize) -> bool {
        let close = at + 1 + self.tag_field.len();
        let text = self.text.as_bytes();
        text[at] == b'{'
            && !self.tag_field.is_empty()
            && close < text.len()
            && text[close] == b'}'
            && equal_bytes(text.split_at(close).0.split_at(at + 1).1, self.tag_field.as_bytes())
    }
}

/// Where `needle` stands first from `from` on.
const fn find(text: &str, from: usize, needle: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        if bytes[at] == needle {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The text between two places, each beside an ASCII character.
const fn between(text: &str, start: usize, end: usize) -> &str {
    text.split_at(end).0.split_at(start).1
}

/// `==` that works in constants.
pub(crate) const fn equal(a: &str, b: &str) -> bool {
    equal_bytes(a.as_bytes(), b.as_bytes())
}

const fn equal_bytes(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && starts_with(a, b)
}

/// `starts_with` that works in constants.
pub(crate) const fn starts_with(bytes: &[u8], head: &[u8]) -> bool {
    let mut at = 0;
    while at < head.len() {
        if at >= bytes.len() || bytes[at] != head[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Why a text is no template. The text says where and what to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateError {
    at: usize,
    fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Empty,
    NeverClosed,
    NeverOpened,
    NotAName,
}

impl TemplateError {
    /// Where in the pattern, in bytes from 0.
    pub const fn at(&self) -> usize {
        self.at
    }

    pub(crate) const fn text(&self) -> &'static str {
        match self.fault {
            Fault::Empty => "the pattern is empty; write the key with its tag, such as order:{order}:items",
            Fault::NeverClosed => "a \"<\" is never closed; write a field as <name>",
            Fault::NeverOpened => "a \">\" has no \"<\" before it; write a field as <name>",
            Fault::NotAName => {
                "what is between \"<\" and \">\" is no field name; use a-z, then also 0-9 and _"
            }
        }
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            Fault::Empty => f.write_str(self.text()),
            _ => write!(f, "byte {}: {}", self.at, self.text()),
        }
    }
}

impl core::error::Error for TemplateError {}

impl fmt::Display for Template<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::hash_tag;
    use Segment::{Field, Text};
    use alloc::string::{String, ToString as _};
    use proptest::prelude::*;

    fn template<'a>(text: &'a str, tag_field: &'a str) -> Template<'a> {
        Template::parse(text, tag_field).unwrap()
    }

    #[test]
    fn braces_are_text_and_the_tag_field_may_stand_in_them_alone() {
        for (text, segments) in [
            ("o:{id}:x", &[Text("o:{"), Field("id"), Text("}:x")][..]),
            ("o:{<id>}:x", &[Text("o:{"), Field("id"), Text("}:x")]),
            ("{id}", &[Text("{"), Field("id"), Text("}")]),
            ("{user:<id>}", &[Text("{user:"), Field("id"), Text("}")]),
            ("{ida}:<n>", &[Text("{ida}:"), Field("n")]),
            ("{i}{id}", &[Text("{i}{"), Field("id"), Text("}")]),
            ("{{id}}", &[Text("{{"), Field("id"), Text("}}")]),
            ("<a><b>", &[Field("a"), Field("b")]),
            ("é{id}é", &[Text("é{"), Field("id"), Text("}é")]),
            ("{}", &[Text("{}")]),
            ("{id", &[Text("{id")]),
        ] {
            assert_eq!(template(text, "id").segments().collect::<Vec<_>>(), segments, "{text}");
        }
        assert_eq!(template("{}", "").segments().collect::<Vec<_>>(), [Text("{}")]);
    }

    #[test]
    fn the_tag_is_what_the_slot_rule_hashes() {
        let tag = |before, after| Ok(TagText { before, after });
        for (text, expected) in [
            ("o:{id}:x", tag("", "")),
            ("{user:<id>}:x", tag("user:", "")),
            ("{<id>:eu}", tag("", ":eu")),
            ("{{id}}", tag("{", "")),
            ("<t>:{id}", tag("", "")),
            ("o:id", Err(NoTag::NoBrace)),
            ("o:<id>", Err(NoTag::NoBrace)),
            ("o:{id", Err(NoTag::NeverClosed)),
            ("o:}{<id>", Err(NoTag::NeverClosed)),
            ("o:{}:{id}", Err(NoTag::Empty)),
            ("{app}:{id}", Err(NoTag::Constant("app"))),
            ("{<n>}:{id}", Err(NoTag::OtherField("n"))),
            ("{<id>:<id>}", Err(NoTag::OtherField("id"))),
        ] {
            assert_eq!(template(text, "id").tag(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_template_says_where_and_what_to_write() {
        for (text, error) in [
            ("", "the pattern is empty"),
            ("a<b", "byte 1: a \"<\" is never closed"),
            ("ab>", "byte 2: a \">\" has no \"<\""),
            ("a<>", "byte 1: what is between"),
            ("<1>", "byte 0: what is between"),
            ("<a<b>", "byte 0: what is between"),
            ("<Id>", "byte 0: what is between"),
        ] {
            let refused = Template::parse(text, "id").unwrap_err().to_string();
            assert!(refused.starts_with(error), "{text:?}: {refused}");
        }
    }

    #[test]
    fn a_field_name_is_words_that_begin_with_a_letter() {
        for name in ["a", "a1", "line", "line_number", "a_b_c2"] {
            assert!(Template::is_field_name(name), "{name}");
        }
        for name in ["", "1", "_a", "a_", "a__b", "a_1", "A", "a-b", "é", "a b"] {
            assert!(!Template::is_field_name(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_the_tag_is_that_of_the_key(text in r"[{}<>a-c:é]{0,12}", value in "[x-z]{1,3}") {
            let Ok(template) = Template::parse(&text, "a") else { return Ok(()) };
            let shown: String = template.segments().map(|segment| match segment {
                Text(text) => text.to_string(),
                Field(name) => ["<", name, ">"].concat(),
            }).collect();
            prop_assert_eq!(shown.replace("{<a>}", "{a}"), text.replace("{<a>}", "{a}"));

            let key = template.build(|_| value.as_bytes());
            if let Ok(TagText { before, after }) = template.tag() {
                let tag = [before, value.as_str(), after].concat();
                prop_assert_eq!(hash_tag(&key), tag.as_bytes());
            }
        }

        #[test]
        fn no_text_panics(text in any::<String>(), tag_field in any::<String>()) {
            let _ = Template::parse(&text, &tag_field).map(|template| (template.tag(), template.has_later_brace()));
        }
    }
}
