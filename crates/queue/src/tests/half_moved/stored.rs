//! What one node holds of a slot, its own or one that it imports.

use std::collections::BTreeMap;

use redis::Value;
use testkit::Cluster;

/// Keys and what `DUMP` says of them.
pub(super) type Stored = BTreeMap<Vec<u8>, Vec<u8>>;

pub(super) fn stored(cluster: &Cluster, node: usize, slot: u16) -> Stored {
    let keys = cluster.keys_in(node, slot);
    if keys.is_empty() {
        return Stored::new();
    }
    let client = redis::Client::open(format!("redis://{}", cluster.addresses()[node])).unwrap();
    // An importing node shows what it has only to one who was sent there.
    let mut asked = redis::pipe();
    for key in &keys {
        asked.cmd("ASKING").ignore().cmd("DUMP").arg(key);
    }
    let values: Vec<Value> = asked.query(&mut client.get_connection().unwrap()).unwrap();
    let value = |value| match value {
        Value::BulkString(bytes) => bytes,
        other => panic!("DUMP answered {other:?}"),
    };
    keys.into_iter().zip(values.into_iter().map(value)).collect()
}
