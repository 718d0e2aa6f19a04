//! The chaos workload on EchoMQ's own connector.

use std::sync::LazyLock;

use echomq_cluster::{Client, Command, Error, Repeat, Script, Value};

use super::driver::{Class, Driver, Outcome, SCRIPT, Write};

/// Compares before it sets: the optimistic lock by one script.
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

/// So often a transfer is tried.
const ATTEMPTS: usize = 100;

static DEED: LazyLock<Script> = LazyLock::new(|| Script::new(SCRIPT));

impl Driver for Client {
    const CLASSES: &'static [&'static str] = &[
        "unknown",
        "slot moving",
        "deadline",
        "unreachable",
        "contended",
        "CLUSTERDOWN",
        "MASTERDOWN",
        "LOADING",
        "READONLY",
        "BUSY",
        "OOM",
        "MISCONF",
        "NOREPLICAS",
    ];

    async fn write(&self, write: Write) -> Outcome {
        told(self.call(command(write), Repeat::Never).await)
    }

    async fn transaction(&self, writes: Vec<Write>) -> Outcome {
        let commands = writes.into_iter().map(command).collect();
        told(self.transaction(commands, Repeat::Never).await.map(Value::Array))
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
            let all: Vec<&[u8]> = writes.iter().map(|write| write.key.as_bytes()).collect();
            let values = writes.iter().map(|write| write.value.as_str());
            let words: Vec<&str> = before.iter().map(String::as_str).chain(values).collect();
            let answer = self.call(Command::script(&COMMIT, all.into_iter()).arg(words), Repeat::Never).await;
            if !matches!(&answer, Ok(Value::Int(0))) {
                return told(answer);
            }
        }
        Outcome::Refused("contended".into())
    }

    async fn script(&self, keys: [String; 4], token: String) -> Outcome {
        let keys = keys.each_ref().map(String::as_bytes);
        let command = Command::script(&DEED, keys.into_iter()).arg(&token);
        match self.call(command, Repeat::Never).await {
            Ok(Value::BulkString(back)) if back != token.as_bytes() => {
                Outcome::Unknown("the answer to another request".into())
            }
            answer => told(answer),
        }
    }

    async fn pair(&self, keys: [String; 2]) -> Result<[Option<String>; 2], Class> {
        let command = Command::new("MGET").key(&keys[0]).key(&keys[1]);
        let answer = self.call(command, Repeat::Idempotent).await.map_err(|error| class(&error))?;
        match answer {
            Value::Array(values) => <[Value; 2]>::try_from(values).ok().map(|values| values.map(text)),
            _ => None,
        }
        .ok_or(Class::Borrowed("an answer of another shape"))
    }
}

fn command(Write { command, key, value }: Write) -> Command {
    Command::new(command).key(key).arg(value)
}

fn told(answer: Result<Value, Error>) -> Outcome {
    match answer {
        Ok(Value::Array(replies)) if replies.iter().any(|reply| matches!(reply, Value::ServerError(_))) => {
            Outcome::Unknown("an error inside EXEC".into())
        }
        Ok(_) => Outcome::Acknowledged,
        Err(error) if error.is_unknown() => Outcome::Unknown(class(&error)),
        Err(error) => Outcome::Refused(class(&error)),
    }
}

/// The narrowest class that documents the error.
fn class(error: &Error) -> Class {
    match error.server_code() {
        Some(code) => Class::Owned(code.to_owned()),
        None if error.is_unknown() => "unknown".into(),
        None if error.is_slot_moving() => "slot moving".into(),
        None if error.is_unreachable() => "unreachable".into(),
        None if error.is_deadline() => "deadline".into(),
        None => Class::Owned(error.to_string()),
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}
