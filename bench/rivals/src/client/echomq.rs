//! The connector of this repository.

#[cfg(feature = "redis")]
use echomq_cluster::Settings;
use echomq_cluster::{Command, Error, Repeat, Transaction, Value};

use super::Client;

#[derive(Clone)]
pub(crate) struct EchoMq(echomq_cluster::Client);

impl EchoMq {
    /// With `TCP_NODELAY`, which it leaves off by default, or without.
    #[cfg(feature = "redis")]
    pub(crate) async fn connect_with(addresses: &[String], nodelay: bool) -> Result<Self, String> {
        let settings = Settings::from_url(&url(addresses)).map_err(text)?.nodelay(nodelay);
        echomq_cluster::Client::connect_with(settings).await.map(EchoMq).map_err(text)
    }
}

fn url(addresses: &[String]) -> String {
    format!("redis://{}", addresses.join(","))
}

impl Client for EchoMq {
    async fn connect(addresses: &[String]) -> Result<Self, String> {
        echomq_cluster::Client::connect(&url(addresses)).await.map(EchoMq).map_err(text)
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        match self.0.call(Command::new("GET").key(key), Repeat::Idempotent).await.map_err(text)? {
            Value::Nil => Ok(None),
            Value::BulkString(bytes) => Ok(Some(bytes)),
            other => Err(format!("GET answered {other:?}")),
        }
    }

    async fn set(&self, key: &str, value: &str) -> Result<(), String> {
        let set = Command::new("SET").key(key).arg(value);
        self.0.call(set, Repeat::Idempotent).await.map(drop).map_err(text)
    }

    async fn incr(&self, key: &str) -> Result<i64, String> {
        integer(self.0.call(Command::new("INCR").key(key), Repeat::Never).await.map_err(text)?)
    }

    async fn incr_all(&self, keys: &[String]) -> Result<Vec<i64>, String> {
        let increments = keys.iter().map(|key| Command::new("INCR").key(key));
        let transaction = Transaction::of(increments).map_err(text)?;
        let replies = self.0.transaction(transaction, Repeat::Never).await.map_err(text)?;
        replies.into_iter().map(integer).collect()
    }

    async fn incr_and_read(&self, counter: &str, both: &[String; 2]) -> Result<Vec<String>, String> {
        let read = Command::new("MGET").keys(both.iter().map(String::as_bytes));
        let answers = self.0.pipeline(vec![Command::new("INCR").key(counter), read], Repeat::Never).await;
        let told = answers.into_iter().map(|answer| match answer {
            Ok(value) => format!("{value:?}"),
            Err(error) => format!("error: {error}"),
        });
        Ok(told.collect())
    }
}

fn integer(value: Value) -> Result<i64, String> {
    match value {
        Value::Int(n) => Ok(n),
        other => Err(format!("INCR answered {other:?}")),
    }
}

fn text(error: Error) -> String {
    error.to_string()
}
