//! Whether the keys of a part hold what they are to, before the first transition meets them.

use echomq_cluster::{Command, Error, Repeat, Value};
use echomq_keyspace::KeyType;

use super::Store;

/// A key that holds another type than ours, by the server's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistyped {
    pub(crate) key: Vec<u8>,
    pub(crate) found: String,
    pub(crate) expected: KeyType,
}

impl Store {
    /// The first of the fixed keys that is of another type than ours. Each is asked for by itself, in one write, so
    /// that a half-moved slot answers too.
    pub(crate) async fn mistyped(&self) -> Result<Option<Mistyped>, Error> {
        let fixed = self.keys.fixed();
        let asked = fixed.iter().map(|(_, key)| Command::new("TYPE").key(key)).collect();
        let answers = self.client.pipeline(asked, Repeat::Idempotent).await;
        for ((kind, key), answer) in fixed.into_iter().zip(answers) {
            let found = match answer? {
                Value::SimpleString(found) => found,
                other => return Err(Error::reply("TYPE", &other)),
            };
            let expected = kind.key_type();
            if found != "none" && found != expected.word() {
                return Ok(Some(Mistyped { key: key.to_vec(), found, expected }));
            }
        }
        Ok(None)
    }
}
