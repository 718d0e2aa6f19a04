//! Why the keys of a command can not be told.

use super::Command;
use crate::escaped::Quoted;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// Why the keys of a command can not be told. The text quotes the arguments escaped and says what to do.
#[derive(Clone, PartialEq, Eq)]
pub struct Unplaced(Box<Refusal>);

#[derive(Clone, PartialEq, Eq)]
struct Refusal {
    /// The command's name, and its subcommand where that is what is wrong.
    words: Vec<Vec<u8>>,
    fault: Fault,
}

#[derive(Clone, PartialEq, Eq)]
enum Fault {
    Nothing,
    Unknown,
    Arity { command: &'static Command, args: usize },
    NoNumber { at: usize, text: Vec<u8> },
    Negative { at: usize, text: Vec<u8> },
    TooMany { at: usize, text: Vec<u8>, left: usize },
    None { at: usize },
    NothingAfter { at: usize },
    NoHalves { after: usize, left: usize },
    Missing { word: &'static str },
    TwoLists { at: usize, text: Vec<u8> },
}

impl Unplaced {
    /// Whether the table has no such command or subcommand: it may be newer than the table, or a module's.
    pub fn is_unknown(&self) -> bool {
        self.0.fault == Fault::Unknown
    }

    pub(super) fn nothing() -> Unplaced {
        Unplaced(Box::new(Refusal { words: Vec::new(), fault: Fault::Nothing }))
    }

    pub(super) fn unknown(name: &[u8]) -> Unplaced {
        Unplaced(Box::new(Refusal { words: [name.to_vec()].into(), fault: Fault::Unknown }))
    }

    pub(super) fn unknown_subcommand(name: &[u8], subcommand: &[u8]) -> Unplaced {
        let words = [name.to_vec(), subcommand.to_vec()].into();
        Unplaced(Box::new(Refusal { words, fault: Fault::Unknown }))
    }

    pub(super) fn arity(command: &'static Command, args: usize) -> Unplaced {
        Unplaced(Box::new(Refusal { words: Vec::new(), fault: Fault::Arity { command, args } }))
    }

    pub(super) fn no_number<A: AsRef<[u8]>>(args: &[A], at: usize) -> Unplaced {
        Unplaced::about(args, Fault::NoNumber { at, text: text_at(args, at) })
    }

    pub(super) fn negative<A: AsRef<[u8]>>(args: &[A], at: usize) -> Unplaced {
        Unplaced::about(args, Fault::Negative { at, text: text_at(args, at) })
    }

    pub(super) fn too_many<A: AsRef<[u8]>>(args: &[A], at: usize, left: usize) -> Unplaced {
        Unplaced::about(args, Fault::TooMany { at, text: text_at(args, at), left })
    }

    pub(super) fn nothing_after<A: AsRef<[u8]>>(args: &[A], at: usize) -> Unplaced {
        Unplaced::about(args, Fault::NothingAfter { at })
    }

    pub(super) fn no_halves<A: AsRef<[u8]>>(args: &[A], first: usize, left: usize) -> Unplaced {
        Unplaced::about(args, Fault::NoHalves { after: first - 1, left })
    }

    pub(super) fn none<A: AsRef<[u8]>>(args: &[A], at: usize) -> Unplaced {
        Unplaced::about(args, Fault::None { at })
    }

    pub(super) fn missing<A: AsRef<[u8]>>(args: &[A], word: &'static str) -> Unplaced {
        Unplaced::about(args, Fault::Missing { word })
    }

    pub(super) fn two_lists<A: AsRef<[u8]>>(args: &[A], at: usize) -> Unplaced {
        Unplaced::about(args, Fault::TwoLists { at, text: text_at(args, at) })
    }

    fn about<A: AsRef<[u8]>>(args: &[A], fault: Fault) -> Unplaced {
        let words = args.iter().take(1).map(|name| name.as_ref().to_vec()).collect();
        Unplaced(Box::new(Refusal { words, fault }))
    }
}

fn text_at<A: AsRef<[u8]>>(args: &[A], at: usize) -> Vec<u8> {
    args.get(at).map(|arg| arg.as_ref().to_vec()).unwrap_or_default()
}

impl fmt::Display for Unplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { words, fault } = &*self.0;
        if let [name, rest @ ..] = words.as_slice() {
            if *fault == Fault::Unknown {
                f.write_str("unknown command ")?;
            }
            write!(f, "{}", Quoted(name))?;
            for word in rest {
                write!(f, " {}", Quoted(word))?;
            }
            f.write_str(": ")?;
        }
        match fault {
            Fault::Nothing => f.write_str("a command without a name; the first argument is the name"),
            Fault::Unknown => {
                f.write_str("its keys can not be told; check the spelling, or name the keys yourself")
            }
            Fault::Arity { command, args } => {
                let (given, least) = (args - 1, command.arity().unsigned_abs() - 1);
                let bound = if command.arity() < 0 { "at least " } else { "" };
                let noun = if least == 1 { "argument" } else { "arguments" };
                write!(f, "{command} takes {bound}{least} {noun} after its name, and was given {given}")
            }
            Fault::NoNumber { at, text } => {
                write!(f, "argument {at} is {}, where the number of keys is to stand", Quoted(text))
            }
            Fault::Negative { at, text } => write!(
                f,
                "argument {at} is {}, and a number of keys is not negative; write 0 when there are none",
                Quoted(text)
            ),
            Fault::TooMany { at, text, left } => write!(
                f,
                "argument {at} says {} keys, but only {left} can follow it; give the number of keys that are there",
                crate::Escaped(text)
            ),
            Fault::None { at } => write!(f, "argument {at} says 0 keys; name one or more"),
            Fault::NothingAfter { at } => write!(f, "nothing follows argument {at}; name the keys after it"),
            Fault::Missing { word } => write!(f, "it has no {word}; write {word} before the keys"),
            Fault::TwoLists { at, text } => write!(
                f,
                "argument {at} is the key {}, and KEYS names keys too; leave argument {at} empty",
                Quoted(text)
            ),
            Fault::NoHalves { after, left } => write!(
                f,
                "{left} arguments follow argument {after}; give as many keys as there are ids, first all keys, then all ids"
            ),
        }
    }
}

impl fmt::Debug for Unplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unplaced({self})")
    }
}

impl core::error::Error for Unplaced {}
