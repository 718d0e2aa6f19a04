//! Commands that are to happen together: all on one slot, all or none.

use echomq_keyspace::{Colocated, Slot};

use crate::{Command, Error};

/// A MULTI … EXEC that can be sent: every command's keys are on its one slot. What has no key (`TIME`, `PING`) goes along.
///
/// ```
/// use echomq_cluster::{Command, Transaction};
/// use echomq_keyspace::Colocated;
///
/// let (order, history) = ("order:{o1}", "order:{o1}:history");
/// let mut ship = Transaction::on(&Colocated::of([order, history])?);
/// ship.push(Command::new("HSET").key(order).arg("status").arg("shipped"))?;
/// ship.push(Command::new("RPUSH").key(history).arg("shipped"))?;
/// assert!(ship.push(Command::new("INCR").key("shipped:total")).unwrap_err().is_crossslot());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is sent before Client::transaction"]
pub struct Transaction {
    slot: Slot,
    /// The key that it was begun with, for the error that shows who disagrees.
    anchor: Option<Vec<u8>>,
    commands: Vec<Command>,
}

impl Transaction {
    /// An empty transaction on the slot of these keys. It may touch others of the slot too.
    pub fn on(keys: &Colocated<'_>) -> Transaction {
        let anchor = keys.keys().first().map(|key| key.to_vec());
        Transaction { slot: keys.slot(), anchor, commands: Vec::new() }
    }

    /// These commands, on the one slot of all their keys.
    ///
    /// # Errors
    ///
    /// When they name two slots, or no key at all: then no slot says which node to ask. Those of
    /// [`Transaction::push`] as well.
    pub fn of(commands: impl IntoIterator<Item = Command>) -> Result<Transaction, Error> {
        let commands: Vec<Command> = commands.into_iter().collect();
        let slot = commands.iter().find_map(Command::slot_of_keys).ok_or_else(|| Error::no_key("MULTI"))?;
        let mut whole = Transaction { slot, anchor: None, commands: Vec::with_capacity(commands.len()) };
        commands.into_iter().try_for_each(|command| whole.push(command))?;
        Ok(whole)
    }

    /// Adds a command. A script is sent by its text: an unknown SHA would fail alone, while the commands around it are
    /// carried out.
    ///
    /// # Errors
    ///
    /// When its keys are on another slot, when a transaction can not hold it, or when it would change the connection that
    /// others share. The transaction stays as it was.
    pub fn push(&mut self, command: Command) -> Result<(), Error> {
        let command = command.in_transaction()?;
        if command.slot_of_keys().is_some_and(|slot| slot != self.slot) {
            let before = self.commands.iter().chain([&command]).flat_map(Command::key_bytes);
            let mut keys: Vec<&[u8]> = self.anchor.as_deref().into_iter().chain(before).collect();
            let mut seen = std::collections::BTreeSet::new();
            keys.retain(|key| seen.insert(*key));
            return Err(Error::crossslot("MULTI", &keys));
        }
        self.commands.push(command);
        Ok(())
    }

    /// The slot.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// How many commands it has.
    pub fn len(&self) -> usize {
        self.commands.len()
    }

    /// Whether it has no command yet.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    pub(crate) fn commands(&self) -> &[Command] {
        &self.commands
    }
}
