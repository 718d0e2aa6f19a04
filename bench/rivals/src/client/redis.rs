//! The cluster client of `redis`.

use ::redis::aio::ConnectionLike;
use ::redis::cluster::ClusterClientBuilder;
use ::redis::cluster_async::ClusterConnection;
use ::redis::io::tcp::TcpSettings;
use ::redis::{RedisError, Value, cmd, pipe};

use super::Client;

#[derive(Clone)]
pub(crate) struct Redis(ClusterConnection);

impl Redis {
    /// With `TCP_NODELAY`, which it leaves off by default, or without.
    pub(crate) async fn connect_with(addresses: &[String], nodelay: bool) -> Result<Self, String> {
        let urls = addresses.iter().map(|address| format!("redis://{address}"));
        let tcp = TcpSettings::default().set_nodelay(nodelay);
        let client = ClusterClientBuilder::new(urls).tcp_settings(tcp).build().map_err(text)?;
        client.get_async_connection().await.map(Redis).map_err(text)
    }
}

impl Client for Redis {
    async fn connect(addresses: &[String]) -> Result<Self, String> {
        Redis::connect_with(addresses, false).await
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        cmd("GET").arg(key).query_async(&mut self.0.clone()).await.map_err(text)
    }

    async fn set(&self, key: &str, value: &str) -> Result<(), String> {
        cmd("SET").arg(key).arg(value).query_async(&mut self.0.clone()).await.map_err(text)
    }

    async fn incr(&self, key: &str) -> Result<i64, String> {
        cmd("INCR").arg(key).query_async(&mut self.0.clone()).await.map_err(text)
    }

    async fn incr_all(&self, keys: &[String]) -> Result<Vec<i64>, String> {
        let mut pipeline = pipe();
        pipeline.atomic();
        for key in keys {
            pipeline.cmd("INCR").arg(key);
        }
        pipeline.query_async(&mut self.0.clone()).await.map_err(text)
    }

    async fn incr_and_read(&self, counter: &str, both: &[String; 2]) -> Result<Vec<String>, String> {
        let mut pipeline = pipe();
        pipeline.cmd("INCR").arg(counter).cmd("MGET").arg(&both[..]);
        let answers = self.0.clone().req_packed_commands(&pipeline, 0, 2).await.map_err(text)?;
        let told = answers.into_iter().map(|answer| match answer {
            Value::ServerError(error) => format!("error: {error}"),
            value => format!("{value:?}"),
        });
        Ok(told.collect())
    }
}

fn text(error: RedisError) -> String {
    error.to_string()
}
