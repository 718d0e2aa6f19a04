//! What is refused when a family is compiled, with the text that the compiler shows.

use super::spec::{Family, KeySpec, TagField};
use crate::alphabet::Alphabet;
use crate::template::{NoTag, Segment, Template, equal, starts_with};

impl TagField {
    /// The field of a family that is being compiled.
    #[doc(hidden)]
    pub const fn declared(
        name: &'static str,
        alphabet: &'static str,
        min_bytes: usize,
        max_bytes: usize,
    ) -> TagField {
        let about = Message::new().quoted("tag field", name);
        match Alphabet::parse(alphabet) {
            Ok(alphabet) => TagField { name, alphabet, min_bytes, max_bytes },
            Err(error) => about.then(": ").then(error.text()).stop(),
        }
    }

    const fn fault(&self) -> Option<Message> {
        let about = Message::new().quoted("tag field", self.name);
        if self.alphabet.has_brace() {
            return Some(about.then(
                " may have a brace: a value could move its keys to another slot; leave { and } out of the alphabet",
            ));
        }
        if self.min_bytes == 0 {
            return Some(about.then(" may be empty: an empty tag is no tag; begin the length at 1"));
        }
        if self.max_bytes < self.min_bytes {
            return Some(about.then(" has no length: write the shortest first, as in 1..=32"));
        }
        None
    }
}

impl KeySpec {
    /// A pattern of a family that is being compiled.
    #[doc(hidden)]
    pub const fn declared_template(
        key: &'static str,
        pattern: &'static str,
        tag_field: &'static str,
    ) -> Template<'static> {
        match Template::parse(pattern, tag_field) {
            Ok(template) => template,
            Err(error) => Message::new()
                .quoted("key", key)
                .quoted(", pattern", pattern)
                .then(": ")
                .then(error.text())
                .stop(),
        }
    }

    const fn fault(&self) -> Option<Message> {
        let about = Message::new().quoted("key", self.name).quoted(", pattern", self.template.as_str());
        let tag_field = self.template.tag_field();
        let no_tag = match self.template.tag() {
            Ok(_) => None,
            Err(NoTag::NoBrace) => Some(about.then(": it has no tag")),
            Err(NoTag::NeverClosed) => Some(about.then(": the brace of its tag is never closed")),
            Err(NoTag::Empty) => Some(about.then(": its tag is empty, so the whole key is hashed")),
            Err(NoTag::Constant(text)) => {
                Some(about.quoted(": its tag is always", text).then(", so all entities share one slot"))
            }
            Err(NoTag::OtherField(name)) => Some(about.quoted(": its tag holds field", name)),
        };
        if let Some(about) = no_tag {
            return Some(about.quoted("; put the tag field between braces:", tag_field));
        }
        if self.template.has_later_brace() {
            return Some(about.then(
                ": it has two tags, and only the first braces count; leave one pair, around the tag field",
            ));
        }
        self.field_fault(about)
    }

    /// The declared field stands once, at the end; nothing else but the tag field does.
    const fn field_fault(&self, about: Message) -> Option<Message> {
        let mut found = None;
        let mut at = 0;
        let mut tag_seen = false;
        while let Ok(Some((segment, next))) = self.template.segment_at(at) {
            if let Segment::Field(name) = segment {
                let is_tag = !tag_seen && equal(name, self.template.tag_field());
                let is_last = next == self.template.as_str().len();
                match self.field {
                    _ if is_tag => tag_seen = true,
                    Some(field) if tag_seen && is_last && equal(name, field) => found = Some(name),
                    Some(_) => {
                        return Some(
                            about.quoted(": field", name).then(
                                " is out of place: a key has at most one field, and that stands last, after the tag",
                            ),
                        );
                    }
                    None => {
                        return Some(
                            about
                                .quoted(": field", name)
                                .then(" is not declared; write it in parentheses after the key's name"),
                        );
                    }
                }
            }
            at = next;
        }
        match self.field {
            Some(field) if found.is_none() => {
                Some(about.quoted(": it has no field", field).then("; write it last, in angle brackets"))
            }
            _ => None,
        }
    }

    /// Names from before are made of the same values, and are no name of today.
    const fn legacy_fault(&self) -> Option<Message> {
        let mut i = 0;
        while i < self.legacy.len() {
            let legacy = &self.legacy[i];
            let about = Message::new().quoted("key", self.name).quoted(", legacy name", legacy.as_str());
            let mut at = 0;
            while let Ok(Some((segment, next))) = legacy.segment_at(at) {
                if let Segment::Field(name) = segment {
                    let known = match self.field {
                        Some(field) => equal(name, field) || equal(name, legacy.tag_field()),
                        None => equal(name, legacy.tag_field()),
                    };
                    if !known {
                        return Some(about.quoted(": field", name).then(" is none of the key's"));
                    }
                }
                at = next;
            }
            i += 1;
        }
        None
    }

    /// What stands before the tag, and after it up to the field.
    const fn fixed_parts(&self) -> (&str, &str) {
        let text = self.template.as_str();
        let bytes = text.as_bytes();
        let (mut open, mut close) = (0, 0);
        while open < bytes.len() && bytes[open] != b'{' {
            open += 1;
        }
        while close < bytes.len() && bytes[close] != b'}' {
            close += 1;
        }
        let mut end = close;
        while end < bytes.len() && bytes[end] != b'<' {
            end += 1;
        }
        (text.split_at(open).0, text.split_at(end).0.split_at(close).1)
    }

    /// Whether some values make one key of both specs, which have faultless patterns.
    const fn can_meet(&self, other: &KeySpec) -> bool {
        let ((head, rest), (other_head, other_rest)) = (self.fixed_parts(), other.fixed_parts());
        let (rest, other_rest) = (rest.as_bytes(), other_rest.as_bytes());
        let same_rest = match (self.field, other.field) {
            (None, None) => rest.len() == other_rest.len() && starts_with(rest, other_rest),
            (Some(_), None) => starts_with(other_rest, rest),
            (None, Some(_)) => starts_with(rest, other_rest),
            (Some(_), Some(_)) => starts_with(rest, other_rest) || starts_with(other_rest, rest),
        };
        equal(head, other_head) && same_rest
    }
}

impl Family {
    /// The family, when it is faultless; this is called while it is compiled.
    ///
    /// # Panics
    ///
    /// With a text that names the key and says what to write.
    #[doc(hidden)]
    pub const fn checked(self) -> Family {
        match self.fault() {
            Some(message) => message.stop(),
            None => self,
        }
    }

    const fn fault(&self) -> Option<Message> {
        if let Some(message) = self.tag.fault() {
            return Some(message);
        }
        let mut i = 0;
        while i < self.keys.len() {
            let spec = &self.keys[i];
            if let Some(message) = spec.fault() {
                return Some(message);
            }
            if let Some(message) = spec.legacy_fault() {
                return Some(message);
            }
            if let (Ok(tag), Ok(first)) = (spec.template.tag(), self.keys[0].template.tag())
                && !(equal(tag.before, first.before) && equal(tag.after, first.after))
            {
                let about = Message::new().quoted("keys", self.keys[0].name).quoted(" and", spec.name);
                return Some(about.then(" have different text in their tags, so they are on two slots"));
            }
            i += 1;
        }
        self.meeting()
    }

    const fn meeting(&self) -> Option<Message> {
        let mut i = 0;
        while i < self.keys.len() {
            let mut k = 0;
            while k < i {
                if self.keys[i].can_meet(&self.keys[k]) {
                    let about =
                        Message::new().quoted("keys", self.keys[k].name).quoted(" and", self.keys[i].name);
                    return Some(
                        about.then(" can spell the same key; give each a word of its own after the tag"),
                    );
                }
                k += 1;
            }
            i += 1;
        }
        None
    }
}

/// A text put together while a program is compiled; what does not fit is cut off.
#[derive(Clone, Copy)]
struct Message {
    text: [u8; Message::MAX_BYTES],
    len: usize,
}

impl Message {
    const MAX_BYTES: usize = 400;

    const fn new() -> Message {
        Message { text: [0; Message::MAX_BYTES], len: 0 }
    }

    const fn then(mut self, text: &str) -> Message {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() && self.len < Message::MAX_BYTES {
            // A cut must not split a character.
            self.text[self.len] = if bytes[at].is_ascii() { bytes[at] } else { b'?' };
            self.len += 1;
            at += 1;
        }
        self
    }

    const fn quoted(self, noun: &str, text: &str) -> Message {
        self.then(noun).then(" `").then(text).then("`")
    }

    const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.text.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }

    const fn stop(&self) -> ! {
        panic!("{}", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family;

    const TAG: TagField = TagField::declared("order", "A-Z0-9", 1, 16);
    const HEAD: KeySpec = family!(@spec order head [] Hash "order:{order}:head" []);

    /// The text that the compiler shows for a family of these keys.
    #[track_caller]
    fn refused(tag: TagField, keys: &'static [KeySpec], text: &str) {
        let fault = Family { name: "OrderKeys", tag, keys }.fault();
        assert_eq!(fault.as_ref().map(Message::as_str), Some(text));
    }

    macro_rules! keys {
        ($($key:ident [$($field:ident)?] $pattern:literal [$($legacy:literal)*]),+) => {
            const { &[$(family!(@spec order $key [$($field)?] Hash $pattern [$($legacy)*])),+] as &[KeySpec] }
        };
    }

    #[test]
    fn a_faultless_family_is_taken() {
        let keys: &[KeySpec] = keys![
            head [] "order:{order}:head" ["order:<order>" "orders/<order>/head"],
            line [number] "order:{order}:line:<number>" ["line:<number>:of:<order>"],
            lines [] "order:{order}:lines" [],
            other [] "{order}:head" []
        ];
        assert!(Family { name: "OrderKeys", tag: TAG, keys }.fault().is_none());
    }

    #[test]
    fn a_key_without_the_tag_is_refused_by_name() {
        for (keys, text) in [
            (keys![head [] "order:<order>" []], "key `head`, pattern `order:<order>`: it has no tag"),
            (
                keys![head [] "order:{order" []],
                "key `head`, pattern `order:{order`: the brace of its tag is never closed",
            ),
            (
                keys![head [] "order:{}:head" []],
                "key `head`, pattern `order:{}:head`: its tag is empty, so the whole key is hashed",
            ),
            (
                keys![head [] "{app}:head" []],
                "key `head`, pattern `{app}:head`: its tag is always `app`, so all entities share one slot",
            ),
            (
                keys![head [id] "{<id>}:head" []],
                "key `head`, pattern `{<id>}:head`: its tag holds field `id`",
            ),
        ] {
            let text = [text, "; put the tag field between braces: `order`"].concat();
            refused(TAG, keys, &text);
        }
    }

    #[test]
    fn two_tags_are_refused() {
        refused(
            TAG,
            keys![head [user] "order:{order}:{<user>}" []],
            "key `head`, pattern `order:{order}:{<user>}`: it has two tags, and only the first braces count; leave one pair, \
             around the tag field",
        );
        refused(
            TAG,
            keys![head [] "order:{order}:head" [], items [] "{order:<order>}:items" []],
            "keys `head` and `items` have different text in their tags, so they are on two slots",
        );
    }

    #[test]
    fn a_field_stands_last_and_is_declared() {
        let about = "key `line`, pattern ";
        for (keys, text) in [
            (
                keys![line [] "o:{order}:<n>" []],
                "`o:{order}:<n>`: field `n` is not declared; write it in parentheses after the key's name",
            ),
            (
                keys![line [n] "o:{order}" []],
                "`o:{order}`: it has no field `n`; write it last, in angle brackets",
            ),
            (
                keys![line [n] "o:{order}:<n>:x" []],
                "`o:{order}:<n>:x`: field `n` is out of place: a key has at most one field, and that stands last, after the tag",
            ),
            (
                keys![line [n] "<n>:{order}" []],
                "`<n>:{order}`: field `n` is out of place: a key has at most one field, and that stands last, after the tag",
            ),
            (
                keys![line [n] "{order}:<m>" []],
                "`{order}:<m>`: field `m` is out of place: a key has at most one field, and that stands last, after the tag",
            ),
            (
                keys![line [] "{order}:<order>" []],
                "`{order}:<order>`: field `order` is not declared; write it in parentheses after the key's name",
            ),
        ] {
            refused(TAG, keys, &[about, text].concat());
        }
    }

    #[test]
    fn keys_that_some_value_makes_equal_are_refused() {
        let text =
            "keys `index` and `line` can spell the same key; give each a word of its own after the tag";
        refused(TAG, keys![index [] "{order}:line:index" [], line [n] "{order}:line:<n>" []], text);
        refused(TAG, keys![index [n] "{order}:<n>" [], line [n] "{<order>}:line:<n>" []], text);
        refused(TAG, keys![index [n] "{order}:line:<n>" [], line [] "{<order>}:line:" []], text);
        refused(TAG, keys![index [] "{order}:line" [], line [] "{<order>}:line" []], text);
    }

    #[test]
    fn a_name_from_before_has_no_field_that_the_key_lacks() {
        refused(
            TAG,
            keys![head [] "order:{order}:head" ["order:<shop>:<order>"]],
            "key `head`, legacy name `order:<shop>:<order>`: field `shop` is none of the key's",
        );
    }

    #[test]
    fn a_tag_field_that_could_break_the_tag_is_refused() {
        let keys = &[HEAD];
        refused(
            TagField::declared("order", " -~", 1, 16),
            keys,
            "tag field `order` may have a brace: a value could move its keys to another slot; leave { and } out of the alphabet",
        );
        refused(
            TagField { min_bytes: 0, ..TAG },
            keys,
            "tag field `order` may be empty: an empty tag is no tag; begin the length at 1",
        );
        refused(
            TagField { max_bytes: 0, ..TAG },
            keys,
            "tag field `order` has no length: write the shortest first, as in 1..=32",
        );
    }

    #[test]
    fn a_long_message_is_cut_and_stays_text() {
        let message = Message::new().then(&"é".repeat(300));
        assert_eq!(message.as_str().len(), Message::MAX_BYTES);
    }
}
