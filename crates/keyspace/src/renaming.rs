//! New names by which keys would meet on one slot.

use crate::escaped::{Escaped, column_width};
use crate::slot::Slot;
use crate::trace::{Trace, Why};
use alloc::vec::Vec;
use core::fmt;

/// Names by which the judged keys would be on one slot; a proposal, verified by hashing it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Renaming<'a> {
    /// The tag of all new names.
    pub tag: Vec<u8>,
    /// The slot of all new names.
    pub slot: Slot,
    /// Where the tag comes from.
    pub basis: Basis,
    /// A name per key, in the order of the keys.
    pub names: Vec<NewName<'a>>,
}

/// Where the tag of a [`Renaming`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// All keys have the tag's text as a field; only braces move.
    Shared,
    /// The keys share no field, or only a name space such as `user`: the tag of the first is put before the others. That is
    /// right only when the others always belong to the first.
    Borrowed,
}

/// A key and the name it would get.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewName<'a> {
    /// The key as it is.
    pub from: &'a [u8],
    /// The key as it would be; equal to `from` when it may stay.
    pub to: Vec<u8>,
}

impl NewName<'_> {
    /// Whether the key keeps its name.
    pub fn stays(&self) -> bool {
        self.from == self.to
    }
}

/// Proposes names for keys that are not on one slot; none when a key is empty or nothing but braces.
pub(crate) fn propose<'a>(traces: &[Trace<'a>]) -> Option<Renaming<'a>> {
    let keys = Keys::new(traces);
    if keys.plain.iter().any(Vec::is_empty) {
        return None;
    }
    let (basis, tag) = match keys.shared_tag() {
        Some(tag) => (Basis::Shared, tag),
        None => (Basis::Borrowed, keys.own_tag()?),
    };
    let names = traces.iter().zip(&keys.plain).map(|(trace, plain)| {
        let to = if tag_of(trace) == Some(&tag) {
            trace.key.to_vec()
        } else {
            match place(plain, &tag, keys.separator) {
                Some(at) => {
                    let (before, after) = (&plain[..at], &plain[at + tag.len()..]);
                    [before, b"{", &tag, b"}", after].concat()
                }
                None => [b"{", tag.as_slice(), b"}", &[keys.separator], plain].concat(),
            }
        };
        NewName { from: trace.key, to }
    });
    Some(Renaming { slot: Slot::of(&tag), basis, names: names.collect(), tag })
}

/// Keys, their names without braces, and what parts the fields of the names.
struct Keys<'t, 'a> {
    traces: &'t [Trace<'a>],
    plain: Vec<Vec<u8>>,
    separator: u8,
}

/// How many fields of a key are looked at: more is no key that people write.
const FIELDS_MAX: usize = 16;

impl<'t, 'a> Keys<'t, 'a> {
    fn new(traces: &'t [Trace<'a>]) -> Keys<'t, 'a> {
        let plain: Vec<_> = traces.iter().map(|trace| without_braces(trace.key)).collect();
        let everywhere = |separator: &u8| plain.iter().all(|key| key.contains(separator));
        let separator = *b":/.|".iter().find(|separator| everywhere(separator)).unwrap_or(&b':');
        Keys { traces, plain, separator }
    }

    /// The best text to tag among those that every key has as a field or as neighbouring fields: one that keys are tagged
    /// with already; then one field that looks like an id; then what is not the last field; then the longest.
    fn shared_tag(&self) -> Option<Vec<u8>> {
        let first = self.plain.first()?;
        let fields: Vec<&[u8]> = first.split(|byte| *byte == self.separator).take(FIELDS_MAX).collect();
        let mut best = None;
        let mut start_byte = 0;
        for (start, field) in fields.iter().enumerate() {
            let mut end_byte = start_byte;
            for (end, field) in fields.iter().enumerate().skip(start) {
                end_byte += field.len() + usize::from(end > start);
                let run = &first[start_byte..end_byte];
                let is_id = start == end && run.iter().any(u8::is_ascii_digit);
                if self.names_an_entity(run, is_id) {
                    let tagged = self.traces.iter().filter(|trace| tag_of(trace) == Some(run)).count();
                    let ends_key = end_byte == first.len() && fields.len() > 1;
                    let rank = (tagged, is_id, !ends_key, end - start, usize::MAX - start);
                    best = best.max(Some((rank, run)));
                }
            }
            start_byte += field.len() + 1;
        }
        best.map(|(_, run)| run.to_vec())
    }

    /// Whether every key has the text, and it may be what they are about.
    ///
    /// A first field that all share is a name space, and a word after a field in which they differ is a kind, as in
    /// `user:1:cart` and `user:2:cart`: as a tag either would put everything on one slot. A name space is allowed where a
    /// key is tagged with it or consists of it.
    fn names_an_entity(&self, text: &[u8], is_id: bool) -> bool {
        if text.is_empty() {
            return false;
        }
        let mut is_name_space = true;
        let mut paths = Vec::new();
        for (trace, plain) in self.traces.iter().zip(&self.plain) {
            let tagged = tag_of(trace) == Some(text);
            match place(plain, text, self.separator) {
                Some(at) => paths.push(self.after_first_field(&plain[..at])),
                None if tagged => {}
                None => return false,
            }
            is_name_space &= plain.starts_with(text) && plain != text && !tagged;
        }
        let is_kind = !is_id && paths.windows(2).any(|pair| pair[0] != pair[1]);
        !is_name_space && !is_kind
    }

    fn after_first_field<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        let end = key.iter().position(|byte| *byte == self.separator)?;
        Some(&key[end + 1..])
    }

    /// The tag of the first key, or its whole name.
    fn own_tag(&self) -> Option<Vec<u8>> {
        let tag = self.traces.first().and_then(tag_of);
        tag.map(<[u8]>::to_vec).or_else(|| self.plain.first().cloned())
    }
}

/// The tag of a key, unless it has a brace in it.
fn tag_of<'a>(trace: &Trace<'a>) -> Option<&'a [u8]> {
    (trace.why == Why::Tag && !trace.hashed.contains(&b'{')).then_some(trace.hashed)
}

/// A key without its braces.
pub(crate) fn without_braces(key: &[u8]) -> Vec<u8> {
    key.iter().copied().filter(|byte| !matches!(byte, b'{' | b'}')).collect()
}

/// Where `text` stands in `key` as one field or several.
fn place(key: &[u8], text: &[u8], separator: u8) -> Option<usize> {
    let mut windows = key.windows(text.len()).enumerate();
    let found = windows.find(|(at, window)| {
        let starts_field = *at == 0 || key[at - 1] == separator;
        let ends_field = key.get(at + text.len()).is_none_or(|byte| *byte == separator);
        *window == text && starts_field && ends_field
    });
    found.map(|(at, _)| at)
}

impl fmt::Display for Renaming<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.basis == Basis::Borrowed {
            f.write_str(
                "The keys share no field that could be their tag, so they look like different entities: the usual way is\n\
                 one command per slot. Only if they always belong together, let all carry the tag of the first.\n",
            )?;
        }
        write!(f, "Names that meet on slot {}, with the tag \"{}\":", self.slot, Escaped(&self.tag))?;
        let width = column_width(&self.names.iter().map(|name| Escaped(name.from)).collect::<Vec<_>>());
        for name in &self.names {
            let from = Escaped(name.from);
            write!(f, "\n  {from}{:pad$}  ", "", pad = width.saturating_sub(from.width()))?;
            if name.stays() { f.write_str("stays")? } else { write!(f, "becomes  {}", Escaped(&name.to))? }
        }
        Ok(())
    }
}
