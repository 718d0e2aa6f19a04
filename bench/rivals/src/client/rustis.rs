//! `rustis`.

use ::rustis::Error;
use ::rustis::commands::StringCommands;
use ::rustis::resp::{Value, cmd};

use super::Client;

#[derive(Clone)]
pub(crate) struct Rustis(::rustis::client::Client);

impl Client for Rustis {
    async fn connect(addresses: &[String]) -> Result<Self, String> {
        let url = format!("redis+cluster://{}", addresses.join(","));
        ::rustis::client::Client::connect(url.as_str()).await.map(Rustis).map_err(text)
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        let value: Option<String> = self.0.get(key).await.map_err(text)?;
        Ok(value.map(String::into_bytes))
    }

    async fn set(&self, key: &str, value: &str) -> Result<(), String> {
        self.0.set(key, value).await.map_err(text)
    }

    async fn incr(&self, key: &str) -> Result<i64, String> {
        self.0.incr(key).await.map_err(text)
    }

    async fn incr_all(&self, keys: &[String]) -> Result<Vec<i64>, String> {
        let mut transaction = self.0.create_transaction();
        for key in keys {
            transaction.queue_command(cmd("INCR").key(key));
        }
        transaction.execute().await.map_err(text)
    }

    async fn incr_and_read(&self, counter: &str, both: &[String; 2]) -> Result<Vec<String>, String> {
        let mut pipeline = self.0.create_pipeline();
        pipeline.queue_command(cmd("INCR").key(counter));
        pipeline.queue_command(cmd("MGET").key(&both[0]).key(&both[1]));
        let answers: Vec<Value> = pipeline.execute().await.map_err(text)?;
        Ok(answers.into_iter().map(|value| format!("{value:?}")).collect())
    }
}

fn text(error: Error) -> String {
    error.to_string()
}
