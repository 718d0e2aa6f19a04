//! What the check of a contract says: findings, and proofs.

use echomq_keyspace::Escaped;
use serde::{Serialize, Serializer};
use std::fmt;

/// Something in a contract that fails on a cluster, or works and does harm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Whether it is refused or only warned of.
    pub severity: Severity,
    /// A word that stays the same in every release.
    pub code: Code,
    /// Where it stands.
    pub at: Place,
    /// What is wrong.
    pub text: String,
    /// What to do about it.
    pub remedy: String,
}

/// A place in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The setting, such as `family.order.keys.items`.
    pub path: String,
}

/// How much a [`Finding`] weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It fails on a cluster for some value.
    Error,
    /// It works on a cluster, and puts too much on too few slots, or means nothing.
    Warning,
}

macro_rules! codes {
    ($($(#[$about:meta])* $code:ident $severity:ident $word:literal;)+) => {
        /// What a [`Finding`] is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$about])* $code,)+
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$code),+];

            /// The word that stands for it in JSON and text, such as `two-tags`.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Code::$code => $word,)+
                }
            }

            /// How much every finding with this code weighs.
            pub const fn severity(self) -> Severity {
                match self {
                    $(Code::$code => Severity::$severity,)+
                }
            }
        }
    };
}

codes! {
    /// A pattern without braces: the whole key is hashed, so each key of an entity is on a slot of its own.
    NoTag Error "no-tag";
    /// A pattern with `{}`: the whole key is hashed.
    EmptyTag Error "empty-tag";
    /// A pattern with `{` and no `}` after it: the whole key is hashed.
    NeverClosed Error "never-closed";
    /// A pattern with braces around fixed text, or a tag with one possible value: all entities share one slot.
    ConstantTag Warning "constant-tag";
    /// A pattern with braces around a field that is not the family's tag field.
    WrongField Error "wrong-field";
    /// A pattern with braces after the tag: they are never looked at.
    SecondTag Error "second-tag";
    /// Keys of one family with different text in their tags: they are on different slots.
    MixedTags Error "mixed-tags";
    /// A field before the tag whose value may have a brace, which would begin the tag.
    BraceBeforeTag Error "brace-before-tag";
    /// A tag field whose value may have a brace.
    BraceInTag Error "brace-in-tag";
    /// A tag field whose value may be empty.
    MayBeEmpty Error "may-be-empty";
    /// Few values of the tag: whole shards stay idle, others have a multiple of their share.
    LowCardinality Warning "low-cardinality";
    /// More values expected than there can be.
    ImpossibleCardinality Error "impossible-cardinality";
    /// A key that is empty or blank, in a pattern or an operation.
    BlankKey Error "blank-key";
    /// White space or a control character in the fixed text of a pattern.
    WhiteSpace Warning "white-space";
    /// Two patterns that can spell the same key.
    AmbiguousNames Error "ambiguous-names";
    /// A pattern that spells the same key for different values of its fields.
    AmbiguousFields Error "ambiguous-fields";
    /// A name from before that can be a key of today.
    LegacyMeetsNew Error "legacy-meets-new";
    /// A name from before that can be that of another key.
    LegacyMeetsLegacy Error "legacy-meets-legacy";
    /// A name from before that has another set of fields than its key.
    LegacyFields Error "legacy-fields";
    /// A field that is declared and stands in no pattern.
    UnusedField Warning "unused-field";
    /// A key that is to be alone and has braces.
    AloneWithTag Error "alone-with-tag";
    /// An operation without keys: nothing says which node it belongs on.
    NoKeys Error "no-keys";
    /// An operation on a key that no family has.
    UnknownKey Error "unknown-key";
    /// An operation on keys with different tags.
    TwoTags Error "two-tags";
    /// An operation on a key that is alone, together with others.
    AloneWithOthers Error "alone-with-others";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// `line 12: error[two-tags] operation.ship: …`, and the remedy on a line of its own.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { severity, code, at, text, remedy } = self;
        write!(f, "line {}: {severity}[{code}] {}: {text}\n    {remedy}", at.line, at.path)
    }
}

/// An operation whose keys share a slot whatever the values are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Proof {
    /// The operation.
    pub operation: String,
    /// Where it stands.
    pub at: Place,
    /// Its keys, as patterns.
    pub keys: Vec<String>,
    /// The tag that all of them have, such as `{<order>}`; none where the operation has a single key that is alone.
    pub tag: Option<String>,
    /// The slot of every call, where the tag is a constant.
    pub slot: Option<u16>,
}

/// What the check of a contract says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// What is wrong, in the order of the file.
    pub findings: Vec<Finding>,
    /// The operations that are proven co-located, in the order of the file.
    pub proofs: Vec<Proof>,
}

/// `line 60: sell is co-located: …` and what its keys share.
impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Proof { operation, at, keys, tag, slot } = self;
        let keys: Vec<_> = keys.iter().map(|key| Escaped(key.as_bytes()).to_string()).collect();
        write!(f, "line {}: {operation} is co-located: {}", at.line, keys.join(", "))?;
        match (tag, slot) {
            (Some(_), Some(slot)) => write!(f, " share slot {slot}, in every call"),
            (Some(tag), None) => write!(f, " share the tag {tag}"),
            (None, _) => f.write_str(" is the only key"),
        }
    }
}

impl Report {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Whether something would fail on a cluster.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// The whole in one line: `2 errors, 0 warnings, 5 operations proven`.
    pub fn summary(&self) -> String {
        let errors = self.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        let warnings = self.findings.len() - errors;
        let proven = counted(self.proofs.len(), "operation");
        format!("{}, {}, {proven} proven", counted(errors, "error"), counted(warnings, "warning"))
    }
}

fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.findings.iter().try_for_each(|finding| writeln!(f, "{finding}"))?;
        self.proofs.iter().try_for_each(|proof| writeln!(f, "{proof}"))?;
        writeln!(f, "{}", self.summary())
    }
}
