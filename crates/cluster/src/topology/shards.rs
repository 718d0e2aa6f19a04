//! The answer to CLUSTER SHARDS.

use redis::Value;

use super::{Shard, array, host, port, run, text};
use crate::{Address, Error};

/// Reads the answer that came from `from`, with the ports for encrypted connections if `encrypted`. A malformed row is
/// an error. A shard without slots is left out.
pub(crate) fn parse_shards(answer: &Value, from: &Address, encrypted: bool) -> Result<Vec<Shard>, Error> {
    let malformed = |row| Error::reply("CLUSTER SHARDS", row);
    let rows = array(answer).ok_or_else(|| malformed(answer))?;
    let mut shards = Vec::new();
    for row in rows {
        shards.extend(parse_row(row, from, encrypted).ok_or_else(|| malformed(row))?);
    }
    Ok(shards)
}

/// A shard is `slots: [first, last, first, last, …]` and `nodes: […]`.
fn parse_row(row: &Value, from: &Address, encrypted: bool) -> Option<Vec<Shard>> {
    let slots = array(field(row, "slots")?)?;
    if slots.is_empty() {
        return Some(Vec::new());
    }
    let nodes = array(field(row, "nodes")?)?;
    let nodes = nodes.iter().map(|node| parse_node(node, from, encrypted)).collect::<Option<Vec<_>>>()?;
    // A dead primary stays beside the one that took its place.
    let primaries = || nodes.iter().filter(|node| node.is_primary);
    let primary = primaries().find(|node| node.is_online).or_else(|| primaries().next())?;
    let replicas = nodes.iter().filter(|node| !node.is_primary && node.is_online);
    let replicas: Vec<Address> = replicas.map(|node| node.address.clone()).collect();
    let (runs, rest) = slots.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let shard = |[first, last]: &[Value; 2]| {
        let (first, last) = run(first, last)?;
        Some(Shard { first, last, primary: primary.address.clone(), replicas: replicas.clone() })
    };
    runs.iter().map(shard).collect()
}

struct Seen {
    address: Address,
    is_primary: bool,
    is_online: bool,
}

/// Of a node's names `endpoint` is the one the server wants to be called by; `ip` and `hostname` only repeat it.
fn parse_node(node: &Value, from: &Address, encrypted: bool) -> Option<Seen> {
    let number = field(node, if encrypted { "tls-port" } else { "port" })?;
    let address = Address::at_host(host(field(node, "endpoint")?)?, port(number)?, from)?;
    let is_primary = match text(field(node, "role")?)? {
        "master" | "primary" => true,
        "replica" | "slave" => false,
        _ => return None,
    };
    Some(Seen { address, is_primary, is_online: text(field(node, "health")?)? == "online" })
}

/// A field of a map, which is an array of names and values in the older protocol.
fn field<'v>(map: &'v Value, wanted: &str) -> Option<&'v Value> {
    match map {
        Value::Map(fields) => {
            fields.iter().find(|(name, _)| text(name) == Some(wanted)).map(|(_, value)| value)
        }
        Value::Array(items) => {
            let (fields, _) = items.as_chunks::<2>();
            fields.iter().find(|[name, _]| text(name) == Some(wanted)).map(|[_, value]| value)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn map(fields: &[(&str, Value)]) -> Value {
        Value::Map(fields.iter().map(|(name, value)| (bulk(name), value.clone())).collect())
    }

    fn node(endpoint: Value, port: i64, role: &str, health: &str) -> Value {
        map(&[
            ("id", bulk("id")),
            ("port", Value::Int(port)),
            ("tls-port", Value::Int(port + 1)),
            ("ip", bulk("10.9.9.9")),
            ("endpoint", endpoint),
            ("hostname", bulk("")),
            ("role", bulk(role)),
            ("replication-offset", Value::Int(1)),
            ("health", bulk(health)),
        ])
    }

    fn shard(slots: &[i64], nodes: &[Value]) -> Value {
        let slots = slots.iter().map(|slot| Value::Int(*slot)).collect();
        map(&[("slots", Value::Array(slots)), ("nodes", Value::Array(nodes.to_vec())), ("id", bulk("s"))])
    }

    fn from() -> Address {
        Address::tcp("10.0.0.9", 7000).unwrap()
    }

    fn read(rows: &[Value]) -> Result<Vec<Shard>, Error> {
        parse_shards(&Value::Array(rows.to_vec()), &from(), false)
    }

    fn primary() -> Value {
        node(bulk("a"), 1, "master", "online")
    }

    #[test]
    fn a_shard_gives_its_runs_and_nodes() {
        let replica = |host, health| node(bulk(host), 2, "replica", health);
        let nodes = [replica("b", "online"), primary(), replica("c", "loading"), replica("d", "fail")];
        let shards = read(&[shard(&[0, 9, 20, 20], &nodes), shard(&[], &[primary()])]).unwrap();
        let runs: Vec<_> = shards.iter().map(|shard| (shard.first.get(), shard.last.get())).collect();
        assert_eq!(runs, [(0, 9), (20, 20)]);
        for shard in shards {
            assert_eq!(shard.primary.to_string(), "a:1");
            assert_eq!(shard.replicas.iter().map(Address::to_string).collect::<Vec<_>>(), ["b:2"]);
        }
    }

    #[test]
    fn a_dead_primary_is_the_owner_only_while_nobody_took_its_place() {
        let dead = node(bulk("dead"), 1, "master", "fail");
        let shards = read(&[shard(&[0, 1], std::slice::from_ref(&dead))]).unwrap();
        assert_eq!(shards[0].primary.to_string(), "dead:1");
        let shards = read(&[shard(&[0, 1], &[dead, primary()])]).unwrap();
        assert_eq!(shards[0].primary.to_string(), "a:1");
    }

    #[test]
    fn an_unknown_endpoint_is_the_host_we_asked_and_no_other_name_of_the_node() {
        for endpoint in [Value::Nil, bulk(""), bulk("?")] {
            let shards = read(&[shard(&[0, 1], &[node(endpoint, 7, "master", "online")])]).unwrap();
            assert_eq!(shards[0].primary.to_string(), "10.0.0.9:7");
        }
    }

    #[test]
    fn the_port_is_the_one_for_this_kind_of_connection() {
        let rows = Value::Array(vec![shard(&[0, 1], &[primary()])]);
        let port = |encrypted| parse_shards(&rows, &from(), encrypted).unwrap()[0].primary.to_string();
        assert_eq!([port(false), port(true)], ["a:1", "a:2"]);
        let plain = map(&[
            ("port", Value::Int(1)),
            ("endpoint", bulk("a")),
            ("role", bulk("master")),
            ("health", bulk("online")),
        ]);
        let rows = Value::Array(vec![shard(&[0, 1], &[plain])]);
        assert!(parse_shards(&rows, &from(), true).is_err(), "a node without such a port");
    }

    #[test]
    fn the_older_protocol_s_form_is_read_too() {
        fn flat(value: &Value) -> Value {
            match value {
                Value::Map(fields) => {
                    Value::Array(fields.iter().flat_map(|(name, value)| [flat(name), flat(value)]).collect())
                }
                Value::Array(items) => Value::Array(items.iter().map(flat).collect()),
                other => other.clone(),
            }
        }
        let row = shard(&[0, 9], &[primary()]);
        assert_eq!(read(&[flat(&row)]).unwrap(), read(&[row]).unwrap());
    }

    #[test]
    fn a_malformed_shard_is_an_error() {
        let rows = [
            shard(&[0], &[primary()]),
            shard(&[0, 16384], &[primary()]),
            shard(&[5, 4], &[primary()]),
            shard(&[0, 1], &[]),
            shard(&[0, 1], &[node(bulk("b"), 2, "replica", "online")]),
            shard(&[0, 1], &[node(bulk("b"), 2, "king", "online")]),
            shard(&[0, 1], &[node(bulk("b"), 0, "master", "online")]),
            shard(&[0, 1], &[node(Value::Int(1), 2, "master", "online")]),
            map(&[("slots", Value::Array(vec![]))]).clone(),
            map(&[("nodes", Value::Array(vec![]))]),
            Value::Nil,
        ];
        for row in &rows[..8] {
            assert!(read(std::slice::from_ref(row)).is_err(), "{row:?}");
        }
        assert!(read(&rows[8..9]).unwrap().is_empty(), "no slots, no word on nodes needed");
        for row in &rows[9..] {
            assert!(read(std::slice::from_ref(row)).is_err(), "{row:?}");
        }
        assert!(parse_shards(&Value::Nil, &from(), false).is_err());
    }
}
