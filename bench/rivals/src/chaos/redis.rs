//! The chaos workload on the cluster client of `redis`.

use std::sync::LazyLock;
use std::time::Duration;

use echomq_load::chaos::{Class, Driver, Outcome, SCRIPT, Write};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::{ErrorKind, RedisError, Script, cmd, pipe};

/// As long as the connector waits by default. Without one a request on a frozen node would wait for its thaw.
const DEADLINE: Duration = Duration::from_secs(5);

/// So often a transfer is tried.
const ATTEMPTS: usize = 100;

static DEED: LazyLock<Script> = LazyLock::new(|| Script::new(SCRIPT));

/// Compares before it sets. WATCH belongs to a connection, and this client has no connection for one task alone.
static COMMIT: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "for i = 1, 2 do
if (redis.call('GET', KEYS[i]) or '0') ~= ARGV[i] then return 0 end
end
for i = 1, 2 do redis.call('SET', KEYS[i], ARGV[i + 2]) end
redis.call('RPUSH', KEYS[3], ARGV[5])
return 1",
    )
});

#[derive(Clone)]
pub(super) struct Redis(ClusterConnection);

impl Redis {
    pub(super) async fn connect(addresses: &[String]) -> Result<Redis, String> {
        let urls = addresses.iter().map(|address| format!("redis://{address}"));
        let client = ClusterClientBuilder::new(urls).response_timeout(DEADLINE).build();
        let client = client.map_err(|error| error.to_string())?;
        client.get_async_connection().await.map(Redis).map_err(|error| error.to_string())
    }

    async fn commit(&self, before: &[String; 2], writes: &[Write]) -> Result<bool, RedisError> {
        let mut commit = COMMIT.prepare_invoke();
        for write in writes {
            commit.key(&write.key);
        }
        for word in before.iter().chain(writes.iter().map(|write| &write.value)) {
            commit.arg(word);
        }
        commit.invoke_async(&mut self.0.clone()).await
    }
}

impl Driver for Redis {
    // Its kinds of errors, and the words of servers that it hands on.
    const CLASSES: &'static [&'static str] = &[
        "timeout",
        "Io",
        "Client",
        "Extension",
        "ClusterConnectionNotFound",
        "Parse",
        "ASK",
        "MOVED",
        "TRYAGAIN",
        "CLUSTERDOWN",
        "MASTERDOWN",
        "LOADING",
        "READONLY",
        "EXECABORT",
        "NOSCRIPT",
        "ERR",
        "contended",
    ];

    async fn write(&self, write: Write) -> Outcome {
        let mut command = cmd(write.command);
        command.arg(&write.key).arg(&write.value);
        told(command.exec_async(&mut self.0.clone()).await)
    }

    async fn transaction(&self, writes: Vec<Write>) -> Outcome {
        let mut pipeline = pipe();
        pipeline.atomic();
        for write in &writes {
            pipeline.cmd(write.command).arg(&write.key).arg(&write.value);
        }
        told(pipeline.exec_async(&mut self.0.clone()).await)
    }

    async fn watch(
        &self,
        keys: [String; 2],
        decide: impl Fn([i64; 2]) -> Vec<Write> + Send + Sync,
    ) -> Outcome {
        for _ in 0..ATTEMPTS {
            let before = match self.pair(keys.clone()).await {
                Ok(pair) => pair.map(|balance| balance.unwrap_or_else(|| "0".to_owned())),
                Err(class) => return Outcome::Refused(class),
            };
            let writes = decide(before.each_ref().map(|balance| balance.parse().unwrap_or_default()));
            match self.commit(&before, &writes).await {
                Ok(false) => {}
                answer => return told(answer.map(drop)),
            }
        }
        Outcome::Refused("contended".into())
    }

    async fn script(&self, keys: [String; 4], token: String) -> Outcome {
        let mut deed = DEED.prepare_invoke();
        for key in &keys {
            deed.key(key);
        }
        deed.arg(&token);
        match deed.invoke_async::<String>(&mut self.0.clone()).await {
            Ok(back) if back != token => Outcome::Unknown("the answer to another request".into()),
            answer => told(answer.map(drop)),
        }
    }

    async fn pair(&self, keys: [String; 2]) -> Result<[Option<String>; 2], Class> {
        let answer = cmd("MGET").arg(&keys).query_async(&mut self.0.clone()).await;
        answer.map_err(|error| class(&error))
    }
}

/// The library promises of no error that the request has not happened, since it repeats by itself: so nothing is
/// concluded from one.
fn told(answer: Result<(), RedisError>) -> Outcome {
    match answer {
        Ok(()) => Outcome::Acknowledged,
        Err(error) => Outcome::Unknown(class(&error)),
    }
}

fn class(error: &RedisError) -> Class {
    match (error.kind(), error.code()) {
        (ErrorKind::Io, _) if error.is_timeout() => "timeout".into(),
        (_, Some(code)) => code.to_owned().into(),
        (kind, None) => format!("{kind:?}").into(),
    }
}
