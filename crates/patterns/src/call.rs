//! Sending a script with the keys of one entity, and reading what came back.

use std::sync::LazyLock;

use echomq_cluster::{Client, Command, Repeat, Script, Value};
use echomq_keyspace::{Colocated, FamilyKey};
use redis::{FromRedisValue, ToRedisArgs};

use crate::Error;

/// A script that is read once.
pub(crate) type Source = LazyLock<Script>;

/// The script of this name, with the keys it takes.
macro_rules! script {
    ($name:literal) => {
        std::sync::LazyLock::new(|| {
            echomq_cluster::Script::new(include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/src/scripts/",
                $name,
                ".lua"
            )))
        })
    };
}
pub(crate) use script;

/// Runs a script. That the keys share a slot is proven here, before anything is sent.
pub(crate) async fn run<T: FromRedisValue>(
    client: &Client,
    script: &'static Source,
    keys: &[FamilyKey],
    args: impl ToRedisArgs,
    repeat: Repeat,
) -> Result<T, Error> {
    let keys = Colocated::of(keys).map_err(echomq_cluster::Error::from)?;
    let value = client.call(Command::script(script, &keys).arg(args), repeat).await?;
    read("the reply of a script", value)
}

/// Reads a reply. An error in it, as a transaction has it for one of its commands, is an error here.
pub(crate) fn read<T: FromRedisValue>(what: &'static str, value: Value) -> Result<T, Error> {
    redis::from_redis_value(value).map_err(|error| Error::stored(what, error))
}
