//! What everybody reads, on a key of its own away from its entity's slot.
//!
//! An entity's keys share a slot, and with it one core of one node. A value of it that is read far more than all the rest
//! (the price that every page shows) is put on a key without a tag: the whole name is hashed, and its last three characters are
//! chosen for a slot far away. (The CRCs of two names of one form and length differ by a constant, so that without them every entity's value would be equally far
//! from it, and for some forms next door.)
//! Reads no longer queue behind the entity's work. The price of that is paid here once: no transaction holds both any more. So the value carries the
//! version of the entity that it was made from, and an older one never replaces a newer one, in whatever order they come.
//!
//! ```no_run
//! # async fn example(client: echomq_cluster::Client, product: echomq_keyspace::Entity) -> Result<(), echomq_patterns::Error> {
//! use echomq_patterns::hot_value::{HotValue, Published};
//!
//! let price = HotValue::new(&client, &product, "price")?;
//! // The change of the entity said: this is version 8 now.
//! if let Published::Older { stands } = price.publish(8, b"9.50").await? {
//!     println!("version {stands} is there already");
//! }
//! let hot = price.read().await?;
//! # Ok(()) }
//! ```
//!
//! # Guaranteed
//!
//! The key is on another slot than the entity, a third of all slots away or more, so that also the node is another one where
//! three nodes or more have even shares. Value and version belong together, and the version never goes back.
//!
//! # Not guaranteed
//!
//! That the value is the newest: between the change of the entity and its publication, and for good when the publisher
//! dies in between, an older one stands. Publish again whenever in doubt, it is harmless; and read the entity where it matters.

use echomq_cluster::{Client, Command, Repeat, Script};
use echomq_keyspace::{Alphabet, Colocated, Entity, Slot, crc16, tag_for};

use crate::Error;
use crate::call::{Source, read, script};

static PUBLISH: Source = script!("hot_value_publish");

/// What a value may be called.
const NAME: Alphabet = match Alphabet::parse("A-Za-z0-9_-") {
    Ok(alphabet) => alphabet,
    Err(_) => panic!("checked when this is compiled"),
};

/// A published value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hot {
    /// The version of the entity that it was made from.
    pub version: u64,
    /// The value.
    pub value: Vec<u8>,
}

/// What became of a publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Published {
    /// It stands.
    Done,
    /// One of this version or of a newer one was there; nothing was written.
    Older {
        /// Its version.
        stands: u64,
    },
}

/// A hot value of one entity.
#[derive(Clone)]
pub struct HotValue {
    client: Client,
    key: Vec<u8>,
}

impl HotValue {
    /// The value of this name of an entity. Nothing is sent.
    ///
    /// # Errors
    ///
    /// When the name is empty or has other characters than letters, digits, `-` and `_`.
    pub fn new(client: &Client, entity: &Entity, name: &str) -> Result<HotValue, Error> {
        if name.is_empty() || !name.bytes().all(|byte| NAME.contains(byte)) {
            return Err(Error::asked(format!(
                "a hot value can not be called {name:?}; use 1 or more of {NAME}"
            )));
        }
        // An entity's value has no brace, so nothing here is a tag.
        let mut key = [b"hot:", name.as_bytes(), b":", entity.value(), b":"].concat();
        let suffix =
            tag_for(&key, far_from(entity.slot(), name)).map_err(|error| Error::asked(error.to_string()))?;
        key.extend(suffix.as_str().bytes());
        Ok(HotValue { client: client.clone(), key })
    }

    /// Its key. It has no tag.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Its slot, which is not the entity's.
    pub fn slot(&self) -> Slot {
        Slot::of(&self.key)
    }

    /// Publishes the value that was made from this version of the entity, unless one as new is there.
    ///
    /// # Errors
    ///
    /// Those of the connector.
    pub async fn publish(&self, version: u64, value: &[u8]) -> Result<Published, Error> {
        let publish: &'static Script = &PUBLISH;
        let key = Colocated::of([self.key.as_slice()]).map_err(echomq_cluster::Error::from)?;
        let command = Command::script(publish, &key).arg(version).arg(value);
        match read("a hot value", self.client.call(command, Repeat::Idempotent).await?)? {
            Some(stands) => Ok(Published::Older { stands }),
            None => Ok(Published::Done),
        }
    }

    /// The value that stands, by one read of its own slot; none when none was published.
    ///
    /// # Errors
    ///
    /// Those of the connector.
    pub async fn read(&self) -> Result<Option<Hot>, Error> {
        let get = Command::new("HMGET").key(&self.key).arg(&["version", "value"]);
        let reply: (Option<u64>, Option<Vec<u8>>) =
            read("a hot value", self.client.call(get, Repeat::Idempotent).await?)?;
        Ok(reply.0.zip(reply.1).map(|(version, value)| Hot { version, value }))
    }
}

/// A slot at least a third of all slots from this one, another one for each name.
fn far_from(slot: Slot, name: &str) -> Slot {
    const THIRD: u16 = Slot::COUNT / 3 + 1;
    let away = THIRD + crc16(name.as_bytes()) % (Slot::COUNT - 2 * THIRD + 1);
    Slot::new((slot.get() + away) % Slot::COUNT).unwrap_or(slot)
}
