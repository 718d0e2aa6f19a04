//! The answer to CLUSTER SLOTS.

use redis::Value;

use super::{Shard, array, host, port, run};
use crate::{Address, Error};

/// Reads the answer that came from `from`. A malformed row is an error, not a hole in the map: a map with a silent
/// hole sends commands to nowhere.
pub(crate) fn parse_slots(answer: &Value, from: &Address) -> Result<Vec<Shard>, Error> {
    let malformed = |row| Error::reply("CLUSTER SLOTS", row);
    let rows = array(answer).ok_or_else(|| malformed(answer))?;
    rows.iter().map(|row| parse_row(row, from).ok_or_else(|| malformed(row))).collect()
}

fn parse_row(row: &Value, from: &Address) -> Option<Shard> {
    let [first, last, primary, replicas @ ..] = array(row)? else { return None };
    let (first, last) = run(first, last)?;
    let primary = parse_node(primary, from)?;
    let replicas = replicas.iter().map(|node| parse_node(node, from)).collect::<Option<_>>()?;
    Some(Shard { first, last, primary, replicas })
}

/// A node is `[host, port, id, metadata…]`, the host being the one the server wants to be called by. The metadata only
/// repeats the same node under other names, one of which may be empty, so it is not read.
fn parse_node(node: &Value, from: &Address) -> Option<Address> {
    let [named, number, ..] = array(node)? else { return None };
    Address::at_host(host(named)?, port(number)?, from)
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

    /// An answer as JSON, in the shapes that a server sends.
    fn from_json(text: &str) -> Value {
        fn value(json: serde_json::Value) -> Value {
            match json {
                serde_json::Value::Number(n) => Value::Int(n.as_i64().unwrap()),
                serde_json::Value::String(text) => Value::BulkString(text.into_bytes()),
                serde_json::Value::Array(items) => Value::Array(items.into_iter().map(value).collect()),
                serde_json::Value::Null => Value::Nil,
                other => panic!("{other}"),
            }
        }
        value(serde_json::from_str(text).unwrap())
    }

    fn rows(text: &str) -> Vec<(u16, u16, String)> {
        let shards = parse_slots(&from_json(text), &from()).unwrap();
        let row = |shard: &Shard| (shard.first.get(), shard.last.get(), shard.primary.to_string());
        shards.iter().map(row).collect()
    }

    #[test]
    fn c028_an_empty_host_name_in_the_metadata_is_ignored() {
        let rows =
            rows(include_str!("../../../../testdata/cases/topology/cluster-slots-empty-hostname.json"));
        let named = |first, last, node: &str| (first, last, node.to_owned());
        assert_eq!(
            rows,
            [
                named(0, 5460, "10.0.0.1:6379"),
                named(5461, 10922, "10.0.0.2:6379"),
                named(10923, 16383, "10.0.0.3:6379")
            ]
        );
    }

    #[test]
    fn c037_an_answer_with_a_hole_gives_the_rest() {
        let text = include_str!("../../../../testdata/cases/topology/cluster-slots-partial.json");
        assert_eq!(
            rows(text).iter().map(|row| (row.0, row.1)).collect::<Vec<_>>(),
            [(0, 5460), (10923, 16383)]
        );
        let shards = parse_slots(&from_json(text), &from()).unwrap();
        assert_eq!(super::super::covered(&shards), 5461 + 5461);
    }
}
