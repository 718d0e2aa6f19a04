//! `valkey-glide`.

use ::glide::{
    AsyncCommands, GlideClusterClient, GlideClusterClientConfiguration, GlideError, NodeAddress, PipelineExt,
    PipelineOptions, cmd, pipe,
};

use super::Client;

#[derive(Clone)]
pub(crate) struct Glide(GlideClusterClient);

impl Client for Glide {
    async fn connect(addresses: &[String]) -> Result<Self, String> {
        let node = |address: &String| {
            let (host, port) = address.rsplit_once(':')?;
            Some(NodeAddress::new(host, port.parse().ok()?))
        };
        let nodes =
            addresses.iter().map(node).collect::<Option<Vec<_>>>().ok_or("an address without a port")?;
        let config = GlideClusterClientConfiguration::new(nodes);
        GlideClusterClient::connect(config).await.map(Glide).map_err(text)
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        self.0.get(key).await.map_err(text)
    }

    async fn set(&self, key: &str, value: &str) -> Result<(), String> {
        self.0.set::<_, _, ()>(key, value).await.map_err(text)
    }

    async fn incr(&self, key: &str) -> Result<i64, String> {
        cmd("INCR").arg(key).query_async(&self.0).await.map_err(text)
    }

    async fn incr_all(&self, keys: &[String]) -> Result<Vec<i64>, String> {
        let mut pipeline = pipe();
        pipeline.atomic();
        for key in keys {
            pipeline.cmd("INCR").arg(key.as_str());
        }
        pipeline.query_async(&self.0).await.map_err(text)
    }

    async fn incr_and_read(&self, counter: &str, both: &[String; 2]) -> Result<Vec<String>, String> {
        let mut pipeline = pipe();
        pipeline.cmd("INCR").arg(counter).cmd("MGET").arg(both[0].as_str()).arg(both[1].as_str());
        let answers = self.0.exec(&pipeline, false, None, &PipelineOptions::new()).await.map_err(text)?;
        Ok(answers.into_iter().map(|value| format!("{value:?}")).collect())
    }
}

fn text(error: GlideError) -> String {
    error.to_string()
}
