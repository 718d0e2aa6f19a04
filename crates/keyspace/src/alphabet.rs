//! Which bytes the value of a field may have.

use core::fmt;

/// A set of bytes, written like the inside of a regular expression's brackets: `A-Za-z0-9_-`.
///
/// Each printable ASCII character stands for itself, and two with `-` between them for all from the first to the second.
/// A `-` at the start or the end is itself. `\xNN` is the byte with that number, also in a range; `\\` and `\-` are the
/// backslash and the dash.
///
/// ```
/// use echomq_keyspace::Alphabet;
///
/// const SKU: Alphabet = match Alphabet::parse("A-Z0-9-") {
///     Ok(alphabet) => alphabet,
///     Err(_) => panic!("checked when this is compiled"),
/// };
/// assert!(SKU.contains(b'-') && !SKU.contains(b'a'));
/// assert_eq!(SKU.len(), 37);
/// assert_eq!(SKU.to_string(), "\\-0-9A-Z");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Alphabet([u64; 4]);

impl Alphabet {
    /// All 256 bytes.
    pub const ANY: Alphabet = Alphabet([u64::MAX; 4]);

    /// Reads the notation above.
    ///
    /// # Errors
    ///
    /// When nothing is in it, a range runs backwards, an escape is none, or a character is not printable ASCII.
    pub const fn parse(notation: &str) -> Result<Alphabet, AlphabetError> {
        let text = notation.as_bytes();
        let mut set = Alphabet([0; 4]);
        let mut at = 0;
        while at < text.len() {
            let (first, after) = match byte_at(text, at) {
                Ok(read) => read,
                Err(error) => return Err(error),
            };
            let is_range = after + 1 < text.len() && text[after] == b'-';
            if !is_range {
                set.insert(first, first);
                at = after;
                continue;
            }
            let (last, end) = match byte_at(text, after + 1) {
                Ok(read) => read,
                Err(error) => return Err(error),
            };
            if last < first {
                return Err(AlphabetError { at, fault: Fault::Backwards });
            }
            set.insert(first, last);
            at = end;
        }
        if text.is_empty() { Err(AlphabetError { at: 0, fault: Fault::Empty }) } else { Ok(set) }
    }

    /// Whether the byte is in it.
    pub const fn contains(&self, byte: u8) -> bool {
        self.0[byte as usize / 64] >> (byte % 64) & 1 == 1
    }

    /// How many bytes are in it, 1 to 256.
    #[expect(clippy::len_without_is_empty, reason = "no alphabet that was parsed is empty")]
    pub const fn len(&self) -> u32 {
        let [a, b, c, d] = self.0;
        a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones()
    }

    /// Whether `{` or `}` is in it: then a value could move its key to another slot.
    pub const fn has_brace(&self) -> bool {
        self.contains(b'{') || self.contains(b'}')
    }

    /// The bytes, in order.
    pub fn bytes(&self) -> impl Iterator<Item = u8> {
        let set = *self;
        (0..=u8::MAX).filter(move |&byte| set.contains(byte))
    }

    /// The bytes that are in both; that may be none.
    pub const fn meet(&self, other: &Alphabet) -> Alphabet {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Alphabet([a & e, b & f, c & g, d & h])
    }

    /// The first byte of `value` that is not in it, and where it stands.
    pub(crate) const fn first_outside(&self, value: &[u8]) -> Option<(usize, u8)> {
        let mut at = 0;
        while at < value.len() {
            if !self.contains(value[at]) {
                return Some((at, value[at]));
            }
            at += 1;
        }
        None
    }

    const fn insert(&mut self, first: u8, last: u8) {
        let mut byte = first as usize;
        while byte <= last as usize {
            self.0[byte / 64] |= 1 << (byte % 64);
            byte += 1;
        }
    }
}

/// The byte that is written at `at`, and where the notation goes on.
const fn byte_at(text: &[u8], at: usize) -> Result<(u8, usize), AlphabetError> {
    match text.split_at(at).1 {
        [b'\\', b'x', high, low, ..] => match (digit(*high), digit(*low)) {
            (Some(high), Some(low)) => Ok((high * 16 + low, at + 4)),
            _ => Err(AlphabetError { at, fault: Fault::Escape }),
        },
        [b'\\', escaped @ (b'\\' | b'-'), ..] => Ok((*escaped, at + 2)),
        [b'\\', ..] => Err(AlphabetError { at, fault: Fault::Escape }),
        [plain @ b' '..=b'~', ..] => Ok((*plain, at + 1)),
        _ => Err(AlphabetError { at, fault: Fault::NotPrintable }),
    }
}

const fn digit(hex: u8) -> Option<u8> {
    match hex {
        b'0'..=b'9' => Some(hex - b'0'),
        b'a'..=b'f' => Some(hex - b'a' + 10),
        b'A'..=b'F' => Some(hex - b'A' + 10),
        _ => None,
    }
}

/// Why a notation is no alphabet. The text says where and what to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlphabetError {
    at: usize,
    fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Empty,
    Backwards,
    Escape,
    NotPrintable,
}

impl AlphabetError {
    /// Where in the notation, in bytes from 0.
    pub const fn at(&self) -> usize {
        self.at
    }

    pub(crate) const fn text(&self) -> &'static str {
        match self.fault {
            Fault::Empty => {
                "the alphabet is empty; name the characters that a value may have, such as A-Za-z0-9_-"
            }
            Fault::Backwards => "a range of the alphabet runs backwards; write its lower end first",
            Fault::Escape => "a backslash in the alphabet begins no escape; write \\xNN, \\\\ or \\-",
            Fault::NotPrintable => {
                "the alphabet has a character that is not printable ASCII; write its bytes as \\xNN"
            }
        }
    }
}

impl fmt::Display for AlphabetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            Fault::Empty => f.write_str(self.text()),
            _ => write!(f, "byte {}: {}", self.at, self.text()),
        }
    }
}

impl core::error::Error for AlphabetError {}

/// The shortest notation that [`Alphabet::parse`] reads back as the same set.
impl fmt::Display for Alphabet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut next = 0;
        while let Some(first) = (next..=0xff_u16).find(|&byte| self.contains(byte as u8)) {
            let last = (first..=0xff).take_while(|&byte| self.contains(byte as u8)).last().unwrap_or(first);
            write_byte(first as u8, f)?;
            if last > first + 1 {
                f.write_str("-")?;
            }
            if last > first {
                write_byte(last as u8, f)?;
            }
            next = last + 1;
        }
        Ok(())
    }
}

fn write_byte(byte: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match byte {
        b'\\' | b'-' => write!(f, "\\{}", char::from(byte)),
        b' '..=b'~' => write!(f, "{}", char::from(byte)),
        _ => write!(f, "\\x{byte:02x}"),
    }
}

impl fmt::Debug for Alphabet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Alphabet({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString as _};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn members(notation: &str) -> Vec<u8> {
        Alphabet::parse(notation).unwrap().bytes().collect()
    }

    #[test]
    fn a_dash_is_a_range_between_two_and_itself_at_an_end() {
        assert_eq!(members("a-c"), b"abc");
        assert_eq!(members("-a"), b"-a");
        assert_eq!(members("a-"), b"-a");
        assert_eq!(members("a-c-"), b"-abc");
        assert_eq!(members(r"a\-c"), b"-ac");
        assert_eq!(members(r"\\-^"), br"\]^");
        assert_eq!(members(r"\x00-\x02\xfF"), [0, 1, 2, 255]);
    }

    #[test]
    fn what_is_no_alphabet_says_where_and_what_to_write() {
        for (notation, text) in [
            ("", "the alphabet is empty"),
            ("az-a", "byte 1: a range of the alphabet runs backwards"),
            (r"ab\d", "byte 2: a backslash in the alphabet begins no escape"),
            (r"\xg0", "byte 0: a backslash"),
            ("a-\\", "byte 2: a backslash"),
            ("aé", "byte 1: the alphabet has a character that is not printable ASCII"),
            ("a\n", "byte 1: the alphabet has a character"),
        ] {
            let error = Alphabet::parse(notation).unwrap_err().to_string();
            assert!(error.starts_with(text), "{notation:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back_as_the_same_set(bytes in prop::collection::vec(any::<u8>(), 1..40)) {
            let mut set = Alphabet([0; 4]);
            bytes.iter().for_each(|&byte| set.insert(byte, byte));
            prop_assert_eq!(Alphabet::parse(&set.to_string()), Ok(set));
            prop_assert!(bytes.iter().all(|&byte| set.contains(byte)));
        }

        #[test]
        fn no_notation_panics(notation in any::<String>()) {
            let _ = Alphabet::parse(&notation);
        }
    }

    #[test]
    fn all_bytes_are_a_range_of_two_ends() {
        assert_eq!(Alphabet::ANY.to_string(), r"\x00-\xff");
        assert_eq!(Alphabet::ANY.len(), 256);
    }
}
