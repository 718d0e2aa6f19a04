//! Which node owns which slot, as a server tells it. Pure: no socket here.
//!
//! CLUSTER SLOTS is asked first: it says of each slot who serves it now, servers keep the answer ready, and on an
//! encrypted connection it names the ports for those. CLUSTER SHARDS names the nodes of a shard side by side, after a
//! failover the dead primary beside the new one, so that it takes a rule to tell who serves; it is asked where the
//! other is refused, by a server that knows it no more or by an access list.

mod shards;
mod slots;

use echomq_keyspace::Slot;
use redis::Value;

use crate::Address;

pub(crate) use shards::parse_shards;
pub(crate) use slots::parse_slots;

/// A run of slots and the nodes that serve it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    pub(crate) first: Slot,
    pub(crate) last: Slot,
    pub(crate) primary: Address,
    pub(crate) replicas: Vec<Address>,
}

/// A server that owns every slot.
pub(crate) fn single(address: &Address) -> Vec<Shard> {
    let (Some(first), Some(last)) = (Slot::new(0), Slot::new(Slot::COUNT - 1)) else { return Vec::new() };
    vec![Shard { first, last, primary: address.clone(), replicas: Vec::new() }]
}

/// How many slots have a node.
pub(crate) fn covered(shards: &[Shard]) -> usize {
    shards.iter().map(|shard| usize::from(shard.last.get() - shard.first.get()) + 1).sum()
}

/// Reads the answer to ROLE: the primary that a replica follows.
pub(crate) fn followed(role: &Value) -> Option<String> {
    match array(role)? {
        [role, host, Value::Int(port), ..] if text(role) == Some("slave") => {
            Some(format!("{}:{port}", text(host)?))
        }
        _ => None,
    }
}

fn array(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => Some(text),
        _ => None,
    }
}

/// A host, which a server leaves out when it does not know it.
fn host(value: &Value) -> Option<&str> {
    match value {
        Value::Nil => Some(""),
        value => text(value),
    }
}

fn port(value: &Value) -> Option<u16> {
    match value {
        Value::Int(port) => u16::try_from(*port).ok(),
        _ => None,
    }
}

/// A run of slots, first and last.
fn run(first: &Value, last: &Value) -> Option<(Slot, Slot)> {
    let slot = |value: &Value| match value {
        Value::Int(n) => Slot::new(u16::try_from(*n).ok()?),
        _ => None,
    };
    let (first, last) = (slot(first)?, slot(last)?);
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_says_whom_a_replica_follows() {
        let bulk = |text: &str| Value::BulkString(text.into());
        let replica = [bulk("slave"), bulk("10.0.0.1"), Value::Int(6379), bulk("connected"), Value::Int(3)];
        assert_eq!(followed(&Value::Array(replica.to_vec())).as_deref(), Some("10.0.0.1:6379"));
        let primary = [bulk("master"), Value::Int(0), Value::Array(Vec::new())];
        assert_eq!(followed(&Value::Array(primary.to_vec())), None);
        assert_eq!(followed(&Value::Nil), None);
    }
}
