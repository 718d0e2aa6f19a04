//! The name of a queue and the prefix before its keys, parsed once into types that cannot hold what would move a key.

use crate::escaped::Quoted;
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::borrow::Borrow;
use core::fmt;
use core::str::FromStr;

/// The name of a logical queue: what stands between the braces of its keys.
///
/// 1 to 120 bytes of UTF-8 without `{`, `}`, `:`, `~`, white space or control characters. Nothing is trimmed, folded or
/// normalised: two names are one queue only when their bytes are equal. Cloning shares the text.
///
/// ```
/// use echomq_keyspace::QueueName;
///
/// assert_eq!(QueueName::parse("orders")?.as_str(), "orders");
/// let refused = QueueName::parse("a}b").unwrap_err();
/// assert!(refused.to_string().starts_with(r#"queue name "a}b" refused: it has "}" at byte 1"#), "{refused}");
/// # Ok::<(), echomq_keyspace::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueName(Arc<str>);

impl QueueName {
    /// The longest name, in bytes.
    pub const MAX_BYTES: usize = 120;

    /// Takes the name, or says what is wrong with it.
    ///
    /// # Errors
    ///
    /// When the bytes are not a queue name by the rule above.
    pub fn parse(name: impl AsRef<[u8]>) -> Result<QueueName, NameError> {
        let text = check(name.as_ref(), Role::Queue)?;
        if text.is_empty() {
            return Err(NameError::new(Role::Queue, text.as_bytes(), Fault::Empty));
        }
        Ok(QueueName(text.into()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Text that stands before `emq:` in every key of an installation; usually none.
///
/// Up to 120 bytes of UTF-8 without `{`, `}`, white space or control characters. It is part of the key as it is: no
/// separator is added. Braces are refused because a tag in the prefix would take over the tag of every key and put all
/// queues on one slot.
///
/// ```
/// use echomq_keyspace::Prefix;
///
/// assert_eq!(Prefix::parse("staging:")?.as_str(), "staging:");
/// assert_eq!(Prefix::none().as_str(), "");
/// assert!(Prefix::parse("{app}:").is_err());
/// # Ok::<(), echomq_keyspace::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(Arc<str>);

impl Prefix {
    /// The longest prefix, in bytes.
    pub const MAX_BYTES: usize = 120;

    /// No prefix: keys begin with `emq:`.
    pub fn none() -> Prefix {
        Prefix("".into())
    }

    /// Takes the prefix, or says what is wrong with it; nothing at all is [`Prefix::none`].
    ///
    /// # Errors
    ///
    /// When the bytes are not a prefix by the rule above.
    pub fn parse(prefix: impl AsRef<[u8]>) -> Result<Prefix, NameError> {
        check(prefix.as_ref(), Role::Prefix).map(|text| Prefix(text.into()))
    }

    /// The prefix as text; empty when there is none.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Prefix {
    fn default() -> Prefix {
        Prefix::none()
    }
}

/// What a queue name, a prefix or the tag of a part was refused for. The text quotes the input escaped and states the rule.
#[derive(Clone, PartialEq, Eq)]
pub struct NameError(Box<Refusal>);

#[derive(Clone, PartialEq, Eq)]
struct Refusal {
    role: Role,
    input: Box<[u8]>,
    fault: Fault,
}

impl NameError {
    pub(crate) fn new(role: Role, input: &[u8], fault: Fault) -> NameError {
        NameError(Box::new(Refusal { role, input: input.into(), fault }))
    }

    /// The bytes that were refused, as they were given.
    pub fn input(&self) -> &[u8] {
        &self.0.input
    }
}

/// What a text was to become.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Queue,
    Prefix,
    PartTag,
}

impl Role {
    fn max_bytes(self) -> usize {
        match self {
            Role::Queue => QueueName::MAX_BYTES,
            Role::Prefix => Prefix::MAX_BYTES,
            Role::PartTag => crate::Part::TAG_MAX_BYTES,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Role::Queue => "queue name",
            Role::Prefix => "prefix",
            Role::PartTag => "tag of a part",
        }
    }

    fn rule(self) -> &'static str {
        match self {
            Role::Queue => {
                "use 1 to 120 bytes of UTF-8 without braces, colons, \"~\", white space or control characters"
            }
            Role::Prefix => {
                "use at most 120 bytes of UTF-8 without braces, white space or control characters"
            }
            Role::PartTag => "use the queue's name, or the name, \"~\" and three characters of 0-9, A-Z, a-z",
        }
    }

    fn forbids(self, c: char) -> Option<&'static str> {
        match c {
            '{' | '}' => Some("a brace would change which bytes are hashed"),
            ':' if self == Role::Queue => Some("a colon parts the fields of a key"),
            '~' if self == Role::Queue => Some("\"~\" parts a queue's name from the suffix of a part"),
            _ if c.is_control() => Some("a control character breaks logs and reports"),
            _ if c.is_whitespace() => Some("white space can not be seen in a list"),
            _ => None,
        }
    }
}

/// What is wrong with a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Empty,
    TooLong,
    NotUtf8 { at: usize },
    Forbidden { at: usize, found: char, why: &'static str },
    BadSuffix,
}

fn check(input: &[u8], role: Role) -> Result<&str, NameError> {
    let refuse = |fault| Err(NameError::new(role, input, fault));
    if input.len() > role.max_bytes() {
        return refuse(Fault::TooLong);
    }
    let text = match core::str::from_utf8(input) {
        Ok(text) => text,
        Err(error) => return refuse(Fault::NotUtf8 { at: error.valid_up_to() }),
    };
    match text
        .char_indices()
        .find_map(|(at, found)| role.forbids(found).map(|why| Fault::Forbidden { at, found, why }))
    {
        Some(fault) => refuse(fault),
        None => Ok(text),
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { role, ref input, fault } = *self.0;
        write!(f, "{} {} refused: ", role.noun(), Quoted(input))?;
        match fault {
            Fault::Empty => f.write_str("it is empty, and an empty tag is no tag")?,
            Fault::TooLong => {
                write!(f, "it has {} bytes, and the limit is {}", input.len(), role.max_bytes())?
            }
            Fault::NotUtf8 { at } => write!(f, "byte {at} is not UTF-8")?,
            Fault::Forbidden { at, found, why } => {
                write!(
                    f,
                    "it has {} at byte {at}; {why}",
                    Quoted(found.encode_utf8(&mut [0; 4]).as_bytes())
                )?;
            }
            Fault::BadSuffix => f.write_str("what follows \"~\" is not the suffix of a part")?,
        }
        write!(f, "; {}", role.rule())
    }
}

impl fmt::Debug for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NameError({self})")
    }
}

impl core::error::Error for NameError {}

impl FromStr for QueueName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<QueueName, NameError> {
        QueueName::parse(name)
    }
}

impl FromStr for Prefix {
    type Err = NameError;

    fn from_str(prefix: &str) -> Result<Prefix, NameError> {
        Prefix::parse(prefix)
    }
}

impl fmt::Display for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QueueName({:?})", self.as_str())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prefix({:?})", self.as_str())
    }
}

impl AsRef<str> for QueueName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for QueueName {
    fn borrow(&self) -> &str {
        &self.0
    }
}
