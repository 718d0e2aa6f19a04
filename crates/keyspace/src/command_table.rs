//! Where the keys stand in a command.
//!
//! The table is made from what servers answer to `COMMAND` by the example `make_command_table`; the tests compare it with
//! what a server says of each command (`COMMAND GETKEYS`).

mod find;
mod grammar;
#[rustfmt::skip]
mod table;
mod unplaced;

pub use unplaced::Unplaced;

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

/// Finds the keys of a command that is about to be sent: its name, then its arguments.
///
/// ```
/// use echomq_keyspace::keys_of;
///
/// let args = ["XREADGROUP", "GROUP", "g", "c1", "COUNT", "1", "STREAMS", "s1", "s2", ">", ">"];
/// let keys = keys_of(&args)?;
/// assert_eq!(keys.positions().collect::<Vec<_>>(), [7, 8]);
/// assert!(keys.command().is_write() && keys.command().is_blocking());
///
/// assert!(keys_of(&["EVAL", "return 1", "2", "{a}:1"]).unwrap_err().to_string().contains("2 keys"));
/// assert!(keys_of(&["NOSUCH", "a"]).unwrap_err().is_unknown());
/// # Ok::<(), echomq_keyspace::Unplaced>(())
/// ```
///
/// # Errors
///
/// When the table has no such command, or the arguments do not say where its keys stand: too few, a word that is not
/// there, or a number of keys that is none, is negative, or is larger than the list that follows. What a server would
/// refuse for another reason is not looked at.
pub fn keys_of<A: AsRef<[u8]>>(args: &[A]) -> Result<Keys, Unplaced> {
    let command = Command::of(args)?;
    let mut places = Vec::new();
    match command.keys {
        Placing::Keyless => {}
        Placing::Specs(specs) => {
            for spec in specs {
                spec.find(args, &mut places)?;
            }
        }
        Placing::Options(grammar) => grammar.find(args, &mut places)?,
    }
    Ok(Keys { command, places })
}

/// The keys of a command, found by [`keys_of`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    command: &'static Command,
    places: Vec<Place>,
}

impl Keys {
    /// The command.
    pub fn command(&self) -> &'static Command {
        self.command
    }

    /// Every argument that decides the slot: the keys, and what is hashed like one (see [`Use::Hashed`]).
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Where the keys stand, counted from 0 with the command's name at 0. What is only hashed like a key is left out.
    pub fn positions(&self) -> impl Iterator<Item = usize> + Clone {
        self.places.iter().filter(|place| place.used != Use::Hashed).map(|place| place.at)
    }
}

/// An argument that decides the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Place {
    /// Where it stands, counted from 0 with the command's name at 0.
    pub at: usize,
    /// What the command does with it.
    pub used: Use,
}

/// What a command does with a key. Where options decide (`SET` with `GET`, `BITFIELD`), it is the most that it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// It reads the value.
    Read,
    /// It reads and changes the value.
    ReadWrite,
    /// It replaces the value, whatever it was.
    Overwrite,
    /// It removes the key.
    Remove,
    /// It is no key, but is hashed like one: a sharded channel, or the cursor of `CLUSTERSCAN`.
    Hashed,
}

/// A command, or a subcommand of one, that a server of this table's versions has.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    name: &'static str,
    arity: i8,
    flags: Flags,
    keys: Placing,
}

/// Where the keys of a command stand.
#[derive(Debug, PartialEq, Eq)]
enum Placing {
    Keyless,
    Specs(&'static [Spec]),
    /// Its options have to be read.
    Options(grammar::Grammar),
}

/// Arguments in a row that are keys, by the rule that servers publish as a key specification.
#[derive(Debug, PartialEq, Eq)]
struct Spec {
    begin: Begin,
    count: Count,
    used: Use,
}

/// How the first argument of a [`Spec`] is found.
#[derive(Debug, PartialEq, Eq)]
enum Begin {
    /// It stands here.
    At(usize),
    /// It follows this word, looked for from here on.
    After(&'static str, usize),
}

/// How many keys follow.
#[derive(Debug, PartialEq, Eq)]
enum Count {
    One,
    Two,
    /// Each `step`th up to the end, but for the last arguments.
    Rest {
        step: usize,
        but: usize,
    },
    /// The first half of what is left.
    Half,
    /// As many as the number says, each `step`th after it.
    Number {
        step: usize,
        least: usize,
    },
}

impl Command {
    /// The commands and subcommands of the table, sorted by name.
    pub fn all() -> &'static [Command] {
        table::COMMANDS
    }

    /// Finds a command by its name and, where it has subcommands, the argument after it.
    ///
    /// # Errors
    ///
    /// When there is none, or it does not take this many arguments.
    pub fn of<A: AsRef<[u8]>>(args: &[A]) -> Result<&'static Command, Unplaced> {
        let [name, rest @ ..] = args else { return Err(Unplaced::nothing()) };
        let name = name.as_ref();
        let command = Command::named(name, b"").ok_or_else(|| Unplaced::unknown(name))?;
        let command = match rest.first() {
            Some(word) if command.flags.has(SUBCOMMANDS) => Command::named(name, word.as_ref())
                .ok_or_else(|| Unplaced::unknown_subcommand(name, word.as_ref()))?,
            _ => command,
        };
        if command.takes(args.len()) { Ok(command) } else { Err(Unplaced::arity(command, args.len())) }
    }

    /// The name in lower case, with `|` before a subcommand: `xgroup|create`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How many arguments it takes with its name: so many, or at least so many when negative.
    pub fn arity(&self) -> i8 {
        self.arity
    }

    /// Whether it changes data: only the owner of the slot takes it. A script may do so too, and says neither this nor
    /// [`Command::is_readonly`].
    pub fn is_write(&self) -> bool {
        self.flags.has(WRITE)
    }

    /// Whether it reads data and changes none: a replica may answer it.
    pub fn is_readonly(&self) -> bool {
        self.flags.has(READONLY)
    }

    /// Whether it may wait for something: it is to have a connection of its own.
    pub fn is_blocking(&self) -> bool {
        self.flags.has(BLOCKING)
    }

    /// Whether a transaction refuses it.
    pub fn is_no_multi(&self) -> bool {
        self.flags.has(NO_MULTI)
    }

    /// Whether a script can not call it.
    pub fn is_no_script(&self) -> bool {
        self.flags.has(NO_SCRIPT)
    }

    /// Whether it is about channels.
    pub fn is_pubsub(&self) -> bool {
        self.flags.has(PUBSUB)
    }

    /// Whether it administers the server.
    pub fn is_admin(&self) -> bool {
        self.flags.has(ADMIN)
    }

    /// Whether nothing in its arguments is hashed, whatever they are: it goes to any node, or to one that the caller names.
    pub fn is_keyless(&self) -> bool {
        self.keys == Placing::Keyless
    }

    fn takes(&self, args: usize) -> bool {
        let arity = usize::from(self.arity.unsigned_abs());
        if self.arity < 0 { args >= arity } else { args == arity }
    }

    /// The command `name`, or `name|subcommand`, in any case.
    fn named(name: &[u8], subcommand: &[u8]) -> Option<&'static Command> {
        let bar: &[u8] = if subcommand.is_empty() { b"" } else { b"|" };
        // Longer than any name of the table; written once, so that the search compares plain bytes.
        let mut wanted = [0; 48];
        let length = name.len() + bar.len() + subcommand.len();
        let bytes = name.iter().chain(bar).chain(subcommand).map(u8::to_ascii_lowercase);
        wanted.get_mut(..length)?.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        let order = |command: &Command| -> Ordering { command.name.as_bytes().cmp(&wanted[..length]) };
        table::COMMANDS.binary_search_by(order).ok().map(|at| &table::COMMANDS[at])
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.name.chars() {
            fmt::Write::write_char(f, if c == '|' { ' ' } else { c.to_ascii_uppercase() })?;
        }
        Ok(())
    }
}

/// What is known of a command, as a set of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flags(u8);

impl Flags {
    fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }

    const fn and(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// A row of the table.
const fn row(name: &'static str, arity: i8, flags: Flags, keys: Placing) -> Command {
    Command { name, arity, flags, keys }
}

const NONE: Flags = Flags(0);
const WRITE: Flags = Flags(1);
const READONLY: Flags = Flags(1 << 1);
const BLOCKING: Flags = Flags(1 << 2);
const NO_MULTI: Flags = Flags(1 << 3);
const NO_SCRIPT: Flags = Flags(1 << 4);
const PUBSUB: Flags = Flags(1 << 5);
const ADMIN: Flags = Flags(1 << 6);
const SUBCOMMANDS: Flags = Flags(1 << 7);
