//! `fred`, with its default policy of reconnecting: without one, a redirect that closes a connection is final.

use ::fred::prelude::{
    Builder, ClientLike, Config, Error, KeysInterface, ReconnectPolicy, TransactionInterface, Value,
};

use super::Client;

#[derive(Clone)]
pub(crate) struct Fred(::fred::prelude::Client);

impl Client for Fred {
    async fn connect(addresses: &[String]) -> Result<Self, String> {
        let (first, others) = addresses.split_first().ok_or("no address")?;
        let others: Vec<String> = others.iter().map(|address| format!("node={address}")).collect();
        let url = format!("redis-cluster://{first}?{}", others.join("&"));
        let config = Config::from_url_clustered(&url).map_err(text)?;
        let client =
            Builder::from_config(config).set_policy(ReconnectPolicy::default()).build().map_err(text)?;
        client.init().await.map_err(text)?;
        Ok(Fred(client))
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        self.0.get(key).await.map_err(text)
    }

    async fn set(&self, key: &str, value: &str) -> Result<(), String> {
        self.0.set(key, value, None, None, false).await.map_err(text)
    }

    async fn incr(&self, key: &str) -> Result<i64, String> {
        self.0.incr(key).await.map_err(text)
    }

    async fn incr_all(&self, keys: &[String]) -> Result<Vec<i64>, String> {
        let transaction = self.0.multi();
        for key in keys {
            let _: Value = transaction.incr(key).await.map_err(text)?;
        }
        transaction.exec(true).await.map_err(text)
    }

    async fn incr_and_read(&self, counter: &str, both: &[String; 2]) -> Result<Vec<String>, String> {
        let pipeline = self.0.pipeline();
        let _: Value = pipeline.incr(counter).await.map_err(text)?;
        let _: Value = pipeline.mget(both.to_vec()).await.map_err(text)?;
        let told = pipeline.try_all::<Value>().await.into_iter().map(|answer| match answer {
            Ok(value) => format!("{value:?}"),
            Err(error) => format!("error: {error}"),
        });
        Ok(told.collect())
    }
}

fn text(error: Error) -> String {
    error.to_string()
}
