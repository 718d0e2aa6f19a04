//! Which node owns which slot, read from `CLUSTER SLOTS`. Pure: no socket here.

use echomq_keyspace::Slot;
use redis::Value;

use crate::{Address, Error};

/// A run of slots and the nodes that serve it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    pub(crate) first: Slot,
    pub(crate) last: Slot,
    pub(crate) primary: Address,
    pub(crate) replicas: Vec<Address>,
}

/// Reads the answer to `CLUSTER SLOTS` that came from `from`. A malformed row is an error, not a hole in
/// the map: a map with a silent hole sends commands to nowhere.
pub(crate) fn parse_slots(answer: &Value, from: &Address) -> Result<Vec<Shard>, Error> {
    let rows = array(answer).ok_or_else(|| malformed(answer))?;
    rows.iter().map(|row| parse_row(row, from).ok_or_else(|| malformed(row))).collect()
}

fn malformed(row: &Value) -> Error {
    Error::reply("CLUSTER SLOTS", row)
}

fn parse_row(row: &Value, from: &Address) -> Option<Shard> {
    let [first, last, primary, replicas @ ..] = array(row)? else { return None };
    let (first, last) = (slot(first)?, slot(last)?);
    if first > last {
        return None;
    }
    let primary = parse_node(primary, from)?;
    let replicas = replicas.iter().map(|node| parse_node(node, from)).collect::<Option<_>>()?;
    Some(Shard { first, last, primary, replicas })
}

/// A node is `[host, port, id, metadata…]`. A missing, empty or `?` host means the host that we asked.
/// The metadata only repeats the same node under other names, so it is not read.
fn parse_node(node: &Value, from: &Address) -> Option<Address> {
    let [host, port, ..] = array(node)? else { return None };
    let port = match port {
        Value::Int(port) => u16::try_from(*port).ok()?,
        _ => return None,
    };
    let host = match host {
        Value::Nil => "",
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok()?,
        Value::SimpleString(text) => text,
        _ => return None,
    };
    match (host, from) {
        ("" | "?", Address::Tcp { host, .. }) => Address::tcp(host, port),
        _ => Address::tcp(host, port),
    }
}

fn array(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

fn slot(value: &Value) -> Option<Slot> {
    match value {
        Value::Int(n) => Slot::new(u16::try_from(*n).ok()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn node(host: Value, port: i64) -> Value {
        Value::Array(vec![host, Value::Int(port), bulk("id"), Value::Array(vec![bulk("hostname"), bulk("")])])
    }

    fn from() -> Address {
        Address::tcp("10.0.0.9", 7000).unwrap()
    }

    fn one(first: i64, last: i64, node: Value) -> Value {
        Value::Array(vec![Value::Array(vec![Value::Int(first), Value::Int(last), node])])
    }

    #[test]
    fn a_row_gives_its_range_and_nodes() {
        let row = Value::Array(vec![Value::Int(0), Value::Int(9), node(bulk("a"), 1), node(bulk("b"), 2)]);
        let shards = parse_slots(&Value::Array(vec![row]), &from()).unwrap();
        assert_eq!(shards[0].primary.to_string(), "a:1");
        assert_eq!(shards[0].replicas[0].to_string(), "b:2");
        assert_eq!((shards[0].first.get(), shards[0].last.get()), (0, 9));
    }

    #[test]
    fn an_unknown_host_is_the_host_we_asked() {
        for host in [Value::Nil, bulk(""), bulk("?")] {
            let shards = parse_slots(&one(0, 0, node(host, 7)), &from()).unwrap();
            assert_eq!(shards[0].primary.to_string(), "10.0.0.9:7");
        }
    }

    #[test]
    fn a_malformed_row_is_an_error() {
        let good = || node(bulk("a"), 1);
        let rows = [
            one(0, 16384, good()),
            one(5, 4, good()),
            one(-1, 4, good()),
            one(0, 1, node(bulk("a"), 0)),
            one(0, 1, node(bulk("a"), 70000)),
            one(0, 1, Value::Array(vec![])),
            Value::Array(vec![Value::Array(vec![Value::Int(0), Value::Int(1)])]),
            Value::Array(vec![bulk("x")]),
            Value::Nil,
        ];
        for row in rows {
            assert!(parse_slots(&row, &from()).is_err(), "{row:?}");
        }
    }
}
