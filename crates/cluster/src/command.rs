//! A command whose keys are proven to share a slot before it can be sent.

use std::borrow::Cow;

use echomq_keyspace::{Colocated, Command as Known, Escaped, Keys, Slot, keys_of};
use redis::{Arg, Cmd, ToRedisArgs};

use crate::{Error, Script};

/// Whether a request whose answer never came may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Twice is the same as once: the connector goes on by itself.
    Idempotent,
    /// Twice may differ from once: the caller is told that the fate is unknown.
    Never,
}

/// One command. Keys are named as keys, so that the slot is computed here and no round trip is needed, and
/// so that two slots are refused before a byte is sent (also against a single server, where it would work
/// today and break on a cluster).
///
/// ```
/// use echomq_cluster::Command;
/// let read = Command::new("MGET").key("{u1}:name").key("{u1}:mail");
/// assert!(read.slot().is_ok());
/// let refused = Command::new("MGET").key("u1:name").key("u2:name");
/// assert!(refused.slot().unwrap_err().is_crossslot());
/// ```
///
/// What is named as a key is compared with the table of commands ([`keys_of`]): a key that was taken for an argument
/// would go to the wrong node one day.
#[derive(Clone)]
pub struct Command {
    cmd: Cmd,
    name: Cow<'static, str>,
    keys: Vec<u32>,
    args: u32,
    slot: Option<Slot>,
    crossed: bool,
    script: Option<&'static Script>,
    /// Built here, so that the table has nothing to add.
    sure: bool,
}

impl Command {
    /// A command by its name, for instance `"ZADD"`.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Command {
        let name = name.into();
        let mut cmd = Cmd::with_capacity(4, 64);
        cmd.arg(&*name);
        Command {
            cmd,
            name,
            keys: Vec::new(),
            args: 1,
            slot: None,
            crossed: false,
            script: None,
            sure: false,
        }
    }

    /// A command by its words, the name first. The table of commands says which of them are keys.
    ///
    /// ```
    /// use echomq_cluster::Command;
    /// let both = Command::parse(&["LMOVE", "{q}:in", "{q}:out", "LEFT", "RIGHT"])?;
    /// assert!(both.slot().is_ok());
    /// assert!(Command::parse(&["EVAL", "return 1", "-1"]).is_err());
    /// # Ok::<(), echomq_cluster::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the table does not know the command, or the words do not say where its keys stand.
    pub fn parse<W: AsRef<[u8]>>(words: &[W]) -> Result<Command, Error> {
        let keys = keys_of(words).map_err(|cause| Error::unplaced(first_word(words), cause))?;
        let mut command = Command::new(first_word(words));
        let mut places = keys.places().iter().map(|place| place.at).collect::<Vec<_>>();
        places.sort_unstable();
        for (at, word) in words.iter().enumerate().skip(1) {
            match places.binary_search(&at) {
                Ok(_) => command.push_key(word.as_ref()),
                Err(_) => command = command.arg(word.as_ref()),
            }
        }
        Ok(command)
    }

    /// A script by its SHA, with all its keys. The connector sends the text when a node does not know it.
    pub fn script(script: &'static Script, keys: &Colocated<'_>) -> Command {
        let mut command = Command::new("EVALSHA").arg(script.sha()).arg(keys.len());
        command.slot = Some(keys.slot());
        command.sure = true;
        command.script = Some(script);
        for key in keys.keys() {
            command.place_key(key);
        }
        command
    }

    /// Adds a word that is no key.
    #[must_use]
    pub fn arg(mut self, arg: impl ToRedisArgs) -> Command {
        self.args += arg.num_of_args() as u32;
        self.cmd.arg(arg);
        self
    }

    /// Adds a key.
    #[must_use]
    pub fn key(mut self, key: impl AsRef<[u8]>) -> Command {
        self.push_key(key.as_ref());
        self
    }

    /// Adds keys.
    #[must_use]
    pub fn keys<'k>(mut self, keys: impl IntoIterator<Item = &'k [u8]>) -> Command {
        for key in keys {
            self.push_key(key);
        }
        self
    }

    fn push_key(&mut self, key: &[u8]) {
        let slot = Slot::of(key);
        self.crossed |= *self.slot.get_or_insert(slot) != slot;
        self.place_key(key);
    }

    fn place_key(&mut self, key: &[u8]) {
        self.keys.push(self.args);
        self.args += 1;
        self.cmd.arg(key);
    }

    /// The one slot of its keys.
    ///
    /// # Errors
    ///
    /// When there are two, or no key at all; when what was named as a key is none by the table of commands, or the other
    /// way round; when it is a command for a connection of its own: `WATCH` ([`Client::watch`](crate::Client::watch)),
    /// what waits ([`Client::call_blocking`](crate::Client::call_blocking)), subscriptions.
    pub fn slot(&self) -> Result<Slot, Error> {
        let slot = match self.slot {
            Some(slot) if !self.crossed => slot,
            Some(_) => return Err(Error::crossslot(&self.name, &self.key_bytes())),
            None => return Err(Error::no_key(&self.name)),
        };
        if let Some(known) = self.compared()? {
            self.check_shared(known)?;
        }
        Ok(slot)
    }

    /// Like [`Command::slot`], for a connection that nobody shares while the command waits, and that goes to others
    /// afterwards: what watches or subscribes is refused all the same.
    pub(crate) fn slot_apart(&self) -> Result<Slot, Error> {
        match self.slot() {
            Err(error) if error.is_apart() && self.is_blocking() => self.slot.ok_or(error),
            other => other,
        }
    }

    fn is_blocking(&self) -> bool {
        self.with_args(|args| keys_of(args).is_ok_and(|keys| keys.command().is_blocking()))
    }

    /// Holds what was named as a key against the table of commands, and returns the table's row; none where it has none, or
    /// needs not be asked.
    fn compared(&self) -> Result<Option<&'static Known>, Error> {
        if self.sure {
            return Ok(None);
        }
        self.with_args(|args| {
            let keys = match keys_of(args) {
                Ok(keys) => keys,
                Err(cause) if cause.is_unknown() => return Ok(None),
                Err(cause) => return Err(Error::unplaced(&*self.name, cause)),
            };
            let named = self.keys.iter().map(|&at| at as usize);
            match keys.places().iter().map(|place| place.at).eq(named) {
                true => Ok(Some(keys.command())),
                false => self.disputed(&keys, args),
            }
        })
    }

    /// The table names keys in another order, some of them twice, or others.
    fn disputed(&self, keys: &Keys, args: &[&[u8]]) -> Result<Option<&'static Known>, Error> {
        let mut places: Vec<usize> = keys.places().iter().map(|place| place.at).collect();
        places.sort_unstable();
        places.dedup();
        // Both are in order now, and there may be very many.
        let named: Vec<usize> = self.keys.iter().map(|&at| at as usize).collect();
        let odd_of = |some: &[usize], others: &[usize]| {
            some.iter().copied().find(|at| others.binary_search(at).is_err())
        };
        let forgotten = odd_of(&places, &named);
        match forgotten.or_else(|| odd_of(&named, &places)) {
            None => Ok(Some(keys.command())),
            Some(odd) => {
                let arg = args.get(odd).copied().unwrap_or(b"");
                Err(Error::misplaced(&self.name, odd, arg, forgotten.is_some()))
            }
        }
    }

    /// What waits, watches or subscribes would do so for everybody on a shared connection.
    fn check_shared(&self, known: &Known) -> Result<(), Error> {
        let remedy = match known.name() {
            "watch" => "Use Client::watch",
            "ssubscribe" | "sunsubscribe" => "Use Client::subscribe",
            "xread" | "xreadgroup" if !self.args().any(|arg| arg.eq_ignore_ascii_case(b"BLOCK")) => {
                return Ok(());
            }
            _ if known.is_blocking() => "Use Client::call_blocking",
            _ => return Ok(()),
        };
        Err(Error::apart(&self.name, remedy))
    }

    /// The same command as part of a transaction: a script by its text, and nothing that a transaction can not hold.
    pub(crate) fn in_transaction(self) -> Result<Command, Error> {
        if self.script.is_some() {
            let cmd = self.by_text().unwrap_or_default();
            return Ok(Command { cmd, name: Cow::Borrowed("EVAL"), script: None, ..self });
        }
        if self.crossed {
            return Err(Error::crossslot(&self.name, &self.key_bytes()));
        }
        // What waits elsewhere does not wait inside a transaction.
        let refusal = match self.compared()? {
            Some(command) if command.is_no_multi() => "a transaction can not hold it",
            Some(command) => match command.name() {
                "multi" | "exec" | "discard" => "the connector opens and ends the transaction",
                "watch" | "unwatch" => "Client::watch does it",
                "evalsha" | "evalsha_ro" => {
                    "an unknown SHA would fail alone, and the rest be carried out. Use Command::script"
                }
                name if changes_connection(name) => "it would change the connection that others share",
                _ => "",
            },
            None => "",
        };
        if !refusal.is_empty() {
            return Err(Error::refused(&self.name, &format!("inside a transaction, {refusal}")));
        }
        Ok(self)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The slot of its first key.
    pub(crate) fn slot_of_keys(&self) -> Option<Slot> {
        self.slot
    }

    /// Whether the table says that it reads and changes nothing.
    pub(crate) fn is_readonly(&self) -> bool {
        self.with_args(|args| keys_of(args).is_ok_and(|keys| keys.command().is_readonly()))
    }

    /// Its words; most commands have few, and cost no allocation here.
    fn with_args<R>(&self, look: impl FnOnce(&[&[u8]]) -> R) -> R {
        let mut few: [&[u8]; 8] = [&[]; 8];
        let count = self.args as usize;
        if count > few.len() {
            return look(&self.args().collect::<Vec<_>>());
        }
        few.iter_mut().zip(self.args()).for_each(|(place, arg)| *place = arg);
        look(&few[..count])
    }

    fn args(&self) -> impl Iterator<Item = &[u8]> {
        self.cmd.args_iter().map(|arg| match arg {
            Arg::Simple(bytes) => bytes,
            _ => &[],
        })
    }

    pub(crate) fn key_bytes(&self) -> Vec<&[u8]> {
        let args: Vec<&[u8]> = self.args().collect();
        self.keys.iter().filter_map(|&at| args.get(at as usize).copied()).collect()
    }

    pub(crate) fn cmd(&self) -> &Cmd {
        &self.cmd
    }

    pub(crate) fn script_sha(&self) -> Option<&'static str> {
        self.script.map(Script::sha)
    }

    /// The same call by text, for a node that does not know the script.
    pub(crate) fn by_text(&self) -> Option<Cmd> {
        let mut cmd = Cmd::new();
        cmd.arg("EVAL").arg(self.script?.text());
        for arg in self.args().skip(2) {
            cmd.arg(arg);
        }
        Some(cmd)
    }
}

/// Why a command by its words can not go over a connection that all share, if so.
pub(crate) fn unfit_to_share(words: &[&[u8]]) -> Option<&'static str> {
    let keys = keys_of(words).ok()?;
    let command = keys.command();
    match command.name() {
        "multi" | "exec" | "discard" | "watch" | "unwatch" => Some(
            "a transaction is a state of the connection, which others share. Use Client::transaction or Client::watch",
        ),
        name if changes_connection(name) => Some("it would change the connection that others share"),
        "xread" | "xreadgroup" if !words.iter().any(|word| word.eq_ignore_ascii_case(b"BLOCK")) => None,
        _ if command.is_blocking() => Some("others would wait behind it. Use Client::call_blocking"),
        _ => None,
    }
}

/// Whether something is different on a connection after this command, by its name in the table.
fn changes_connection(name: &str) -> bool {
    matches!(
        name,
        "select"
            | "auth"
            | "hello"
            | "reset"
            | "quit"
            | "asking"
            | "readonly"
            | "readwrite"
            | "subscribe"
            | "psubscribe"
            | "ssubscribe"
            | "unsubscribe"
            | "punsubscribe"
            | "sunsubscribe"
            | "monitor"
            | "sync"
            | "psync"
            | "replconf"
            | "script|debug"
            | "client|reply"
            | "client|tracking"
            | "client|caching"
            | "client|no-evict"
            | "client|no-touch"
            | "client|setname"
            | "client|capa"
    )
}

fn first_word<W: AsRef<[u8]>>(words: &[W]) -> String {
    words.first().map(|word| Escaped(word.as_ref()).to_string()).unwrap_or_default()
}

/// How many keys an error shows of a command.
const SHOWN: usize = 4;

/// The name and the keys; never the arguments, which may be anybody's secrets.
impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.name)?;
        let keys = self.key_bytes();
        keys.iter().take(SHOWN).try_for_each(|key| write!(f, " \"{}\"", Escaped(key)))?;
        match keys.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more keys"),
        }
    }
}
