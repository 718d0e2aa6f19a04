//! What every test here begins with.

use echomq_cluster::Client;
use echomq_contract::Contract;
use echomq_ops::{Limits, Verification, Verifier};
use redis::Value;

/// A contract of the test data.
pub(crate) fn contract(name: &str) -> Contract {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let text =
        std::fs::read_to_string(format!("{root}/{name}")).unwrap_or_else(|error| panic!("{name}: {error}"));
    Contract::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The contract of the shop that the examples are about.
pub(crate) fn shop() -> Contract {
    contract("crates/contract/contracts/shop.toml")
}

pub(crate) async fn scanned(url: &str, contract: &Contract, limits: Limits) -> Verification {
    let client = Client::connect(url).await.unwrap();
    let mut verifier = Verifier::new(&client, contract, limits);
    verifier.scan(|_| ()).await;
    verifier.finish()
}

/// The command that stores something of this type under a key.
pub(crate) fn store<'a>(key: &'a str, key_type: &str) -> Vec<&'a str> {
    match key_type {
        "string" => vec!["SET", key, "x"],
        "list" => vec!["RPUSH", key, "x"],
        "set" => vec!["SADD", key, "x"],
        "zset" => vec!["ZADD", key, "1", "x"],
        "hash" => vec!["HSET", key, "f", "x"],
        "stream" => vec!["XADD", key, "1-1", "f", "x"],
        _ => panic!("{key_type}"),
    }
}

/// What the server has: each key with its dump.
pub(crate) fn dump(ask: impl Fn(&[&[u8]]) -> Value) -> Vec<(Vec<u8>, Value)> {
    let mut keys: Vec<Vec<u8>> = redis::from_redis_value(ask(&[b"KEYS", b"*"])).unwrap();
    keys.sort();
    keys.into_iter().map(|key| (key.clone(), ask(&[b"DUMP", &key]))).collect()
}
