//! What is asked of the servers. The only file of a verification that talks to them, and it only reads.

use echomq_cluster::{Address, Client, Command, Error, Repeat, Value, raw};
use echomq_keyspace::Slot;
use futures_util::future::join_all;

use super::report::Shortfall;
use super::tally::Tally;

/// Asks servers about keys.
pub(super) struct Probe<'a> {
    client: &'a Client,
}

/// What a server says of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fact {
    /// Its type; `none` where there is no such key, nothing where the server did not say.
    pub(super) key_type: Option<String>,
    /// What it takes, in bytes, by the server's estimate.
    pub(super) bytes: Option<u64>,
}

/// A page of a scan.
pub(super) struct Page {
    pub(super) next: Vec<u8>,
    pub(super) keys: Vec<Vec<u8>>,
}

impl<'a> Probe<'a> {
    pub(super) fn new(client: &'a Client) -> Probe<'a> {
        Probe { client }
    }

    pub(super) fn primaries(&self) -> Vec<Address> {
        self.client.primaries()
    }

    pub(super) fn owner(&self, slot: Slot) -> Option<Address> {
        self.client.owner(slot)
    }

    pub(super) fn node_of(&self, slot: Slot) -> Option<String> {
        self.client.owner(slot).map(|node| node.to_string())
    }

    /// How many keys a node has.
    pub(super) async fn count(&self, node: &Address) -> Result<u64, Error> {
        match self.client.call_node(node, &raw("DBSIZE")).await? {
            Value::Int(keys) => Ok(u64::try_from(keys).unwrap_or(0)),
            other => Err(Error::reply("DBSIZE", &other)),
        }
    }

    /// One step of a scan of a node.
    pub(super) async fn page(
        &self,
        node: &Address,
        cursor: &[u8],
        matching: &[u8],
        count: usize,
    ) -> Result<Page, Error> {
        let mut scan = raw("SCAN");
        scan.arg(cursor).arg("COUNT").arg(count);
        if !matching.is_empty() {
            scan.arg("MATCH").arg(matching);
        }
        let answer = self.client.call_node(node, &scan).await?;
        let malformed = || Error::reply("SCAN", &answer);
        let Value::Array(parts) = &answer else { return Err(malformed()) };
        let [Value::BulkString(next), Value::Array(keys)] = parts.as_slice() else { return Err(malformed()) };
        let key = |value: &Value| match value {
            Value::BulkString(key) => Ok(key.clone()),
            _ => Err(malformed()),
        };
        Ok(Page { next: next.clone(), keys: keys.iter().map(key).collect::<Result<_, _>>()? })
    }

    /// The type and size of each key.
    pub(super) async fn facts(&self, keys: &[Vec<u8>], tally: &mut Tally<'_>) -> Vec<Fact> {
        let both =
            |key: &Vec<u8>| [Command::new("TYPE").key(key), Command::new("MEMORY").arg("USAGE").key(key)];
        let commands = keys.iter().flat_map(both).collect();
        let answers = self.client.pipeline(commands, Repeat::Idempotent).await;
        let facts = keys.iter().zip(answers.chunks(2)).map(|(key, answers)| {
            let [key_type, bytes] = answers else { return Fact::default() };
            let key_type = match key_type {
                Ok(Value::SimpleString(word)) => Some(word.clone()),
                Ok(other) => {
                    tally.shortfall(Shortfall::types(key, &Error::reply("TYPE", other)));
                    None
                }
                Err(error) => {
                    tally.shortfall(Shortfall::types(key, error));
                    None
                }
            };
            let bytes = match bytes {
                Ok(Value::Int(bytes)) => u64::try_from(*bytes).ok(),
                // A key that has gone meanwhile takes nothing.
                Ok(_) => None,
                Err(error) => {
                    tally.shortfall(Shortfall::memory(error));
                    None
                }
            };
            Fact { key_type, bytes }
        });
        facts.collect()
    }

    /// The slot of each key, as the node that has it computes it; without those of which the server did not say.
    pub(super) async fn slots<'k>(
        &self,
        keys: &[&'k Vec<u8>],
        tally: &mut Tally<'_>,
    ) -> Vec<(&'k Vec<u8>, Slot)> {
        let fallback = self.client.primaries().into_iter().next();
        let asked = keys.iter().map(|key| {
            let node = self.client.owner(Slot::of(key)).or_else(|| fallback.clone());
            async move {
                let node = node?;
                let mut command = raw("CLUSTER");
                command.arg("KEYSLOT").arg(key.as_slice());
                Some(self.client.call_node(&node, &command).await)
            }
        });
        let answers = join_all(asked).await;
        let mut slots = Vec::new();
        for (key, answer) in keys.iter().zip(answers) {
            match answer {
                Some(Ok(Value::Int(number))) => match u16::try_from(number).ok().and_then(Slot::new) {
                    Some(slot) => slots.push((*key, slot)),
                    None => tally
                        .shortfall(Shortfall::slots(&Error::reply("CLUSTER KEYSLOT", &Value::Int(number)))),
                },
                Some(Ok(other)) => {
                    tally.shortfall(Shortfall::slots(&Error::reply("CLUSTER KEYSLOT", &other)))
                }
                // A server that has no slots has none to compare with: nothing is missing.
                Some(Err(error)) if has_no_slots(&error) => tally.shortfall(Shortfall::no_slots(&error)),
                Some(Err(error)) => tally.shortfall(Shortfall::slots(&error)),
                None => {}
            }
        }
        slots
    }
}

/// Whether a server refused a `CLUSTER` command since it is none of a cluster. Its own words decide, since the code is the
/// same as for everything else that it refuses.
fn has_no_slots(error: &Error) -> bool {
    error.server_code() == Some("ERR") && error.to_string().contains("cluster support disabled")
}
