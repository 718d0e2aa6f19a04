//! A command whose keys are proven to share a slot before it can be sent.

use echomq_keyspace::{Escaped, Slot};
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
#[derive(Clone)]
pub struct Command {
    cmd: Cmd,
    name: &'static str,
    keys: Vec<u32>,
    args: u32,
    slot: Option<Slot>,
    crossed: bool,
    script: Option<&'static Script>,
}

impl Command {
    /// A command by its name, for instance `"ZADD"`.
    pub fn new(name: &'static str) -> Command {
        let mut cmd = Cmd::new();
        cmd.arg(name);
        Command { cmd, name, keys: Vec::new(), args: 1, slot: None, crossed: false, script: None }
    }

    /// A script by its SHA, with all its keys. The connector sends the text when a node does not know it.
    pub fn script<'k>(script: &'static Script, keys: impl ExactSizeIterator<Item = &'k [u8]>) -> Command {
        let mut command = Command::new("EVALSHA").arg(script.sha()).arg(keys.len()).keys(keys);
        command.script = Some(script);
        command
    }

    /// A script by its text. Inside a transaction a script must be sent so: an unknown SHA there would fail
    /// alone while the commands around it are carried out.
    pub fn script_text<'k>(
        script: &'static Script,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
    ) -> Command {
        Command::new("EVAL").arg(script.text()).arg(keys.len()).keys(keys)
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
        self.keys.push(self.args);
        self.args += 1;
        self.cmd.arg(key);
    }

    /// The one slot of its keys; an error when there are two, or no key at all.
    pub fn slot(&self) -> Result<Slot, Error> {
        match self.slot {
            Some(slot) if !self.crossed => Ok(slot),
            Some(_) => Err(Error::crossslot(self.name, &self.key_bytes())),
            None => Err(Error::no_key(self.name)),
        }
    }

    /// The one slot of many commands that are to run together.
    pub(crate) fn common_slot(commands: &[Command]) -> Result<Slot, Error> {
        let slots = commands.iter().filter(|command| !command.keys.is_empty()).map(Command::slot);
        let slots = slots.collect::<Result<Vec<_>, _>>();
        match slots.as_deref() {
            Ok([]) => Err(Error::no_key("MULTI")),
            Ok([first, rest @ ..]) if rest.iter().all(|slot| slot == first) => Ok(*first),
            _ => {
                let keys: Vec<_> = commands.iter().flat_map(Command::key_bytes).collect();
                Err(Error::crossslot("MULTI", &keys))
            }
        }
    }

    fn args(&self) -> impl Iterator<Item = &[u8]> {
        self.cmd.args_iter().map(|arg| match arg {
            Arg::Simple(bytes) => bytes,
            _ => &[],
        })
    }

    fn key_bytes(&self) -> Vec<&[u8]> {
        let args: Vec<&[u8]> = self.args().collect();
        self.keys.iter().filter_map(|&at| args.get(at as usize).copied()).collect()
    }

    pub(crate) fn cmd(&self) -> &Cmd {
        &self.cmd
    }

    pub(crate) fn into_cmd(self) -> Cmd {
        self.cmd
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

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.name)?;
        self.key_bytes().iter().try_for_each(|key| write!(f, " \"{}\"", Escaped(key)))
    }
}
