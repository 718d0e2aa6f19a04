//! The cluster of a trial: three primaries of its own, and what they count.

use testkit::Cluster;

/// So many primaries.
pub(crate) const PRIMARIES: usize = 3;

/// Three primaries on loopback.
pub(crate) fn primaries() -> Cluster {
    testkit::cluster_with(PRIMARIES, 0)
}

/// The slot of `tag`, its owner, and another node to which it may go.
pub(crate) fn way(cluster: &Cluster, tag: &str) -> Way {
    let slot = cluster.slot_of(tag);
    let from = cluster.owner_of(slot);
    Way { slot, from, to: (from + 1) % PRIMARIES }
}

/// A move of one slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) slot: u16,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// Writes a key where it belongs.
///
/// # Panics
///
/// When the owner refuses.
pub(crate) fn put(cluster: &Cluster, node: usize, key: &str, value: impl ToString) {
    let said = cluster.raw(node, &["SET", key, &value.to_string()]);
    said.unwrap_or_else(|error| panic!("SET {key} on node {node}: {error}"));
}

/// The number in a key, read from the owner of its slot.
///
/// # Panics
///
/// When there is none.
pub(crate) fn number(cluster: &Cluster, key: &str) -> i64 {
    let owner = cluster.owner_of(cluster.slot_of(key));
    match cluster.raw(owner, &["GET", key]) {
        Ok(value) => redis_number(&value).unwrap_or_else(|| panic!("{key} holds {value:?}")),
        Err(error) => panic!("GET {key} on node {owner}: {error}"),
    }
}

fn redis_number(value: &echomq_cluster::Value) -> Option<i64> {
    let echomq_cluster::Value::BulkString(bytes) = value else { return None };
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// How often all nodes answered so far with this error.
pub(crate) fn errors(cluster: &Cluster, code: &str) -> u64 {
    let count = |node| {
        let stat = cluster.info(node, "errorstats", &format!("errorstat_{code}"));
        stat.and_then(|stat| stat.strip_prefix("count=")?.parse::<u64>().ok()).unwrap_or(0)
    };
    (0..PRIMARIES).map(count).sum()
}

/// How often all nodes carried out this command so far.
pub(crate) fn calls(cluster: &Cluster, command: &str) -> u64 {
    let count = |node| cluster.commandstats(node).get(command).map_or(0, |stat| stat.calls);
    (0..PRIMARIES).map(count).sum()
}
