//! The chaos workload on EchoMQ's own connector.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use echomq_cluster::{
    Client, Command, Confirm, Decision, Ended, Error, Fate, Repeat, Script, Transaction, Value, View,
};
use echomq_keyspace::Colocated;

use super::driver::{Class, Driver, Outcome, SCRIPT, Write};

/// So often a transfer is tried when others are faster.
const ATTEMPTS: u32 = 100;

/// How long a replica may take to say that it has a write.
const CONFIRM_WITHIN: Duration = Duration::from_millis(500);

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

    async fn write_replicated(&self, write: Write) -> Outcome {
        let confirm = Confirm::replicas(1, CONFIRM_WITHIN);
        match self.call_confirmed(command(write), Repeat::Never, confirm).await {
            Ok((_, confirmation)) if confirmation.is_enough() => Outcome::Replicated,
            answer => told(answer.map(|(value, _)| value)),
        }
    }

    async fn transaction(&self, writes: Vec<Write>) -> Outcome {
        match together(writes) {
            Ok(transaction) => told(self.transaction(transaction, Repeat::Never).await.map(Value::Array)),
            Err(error) => told(Err(error)),
        }
    }

    async fn watch(
        &self,
        keys: [String; 2],
        decide: impl Fn([i64; 2]) -> Vec<Write> + Send + Sync + 'static,
    ) -> Outcome {
        let watched = match Colocated::of(&keys) {
            Ok(watched) => watched,
            Err(apart) => return Outcome::Refused(apart.to_string().into()),
        };
        // What is lent to the closure would keep the future from being Send.
        let (own, decide) = (keys.clone(), Arc::new(decide));
        let ended = Client::watch(self, &watched, ATTEMPTS, move |view: View| {
            let (keys, decide) = (own.clone(), decide.clone());
            async move {
                let read = Command::new("MGET").key(&keys[0]).key(&keys[1]);
                let pair = pair(view.read(read).await?)?;
                let balances = pair.map(|balance| balance.and_then(|text| text.parse().ok()).unwrap_or(0));
                Ok(Decision::<Infallible>::Commit(together(decide(balances))?))
            }
        });
        told(ended.await.map(|ended| match ended {
            Ended::Committed(replies) => Value::Array(replies),
            Ended::Left(never) => match never {},
        }))
    }

    async fn script(&self, keys: [String; 4], token: String) -> Outcome {
        let keys = match Colocated::of(&keys) {
            Ok(keys) => keys,
            Err(apart) => return Outcome::Refused(apart.to_string().into()),
        };
        let command = Command::script(&DEED, &keys).arg(&token);
        match self.call(command, Repeat::Never).await {
            Ok(back) if text(&back) != Some(&token) => {
                Outcome::Unknown("the answer to another request".into())
            }
            answer => told(answer),
        }
    }

    async fn pair(&self, keys: [String; 2]) -> Result<[Option<String>; 2], Class> {
        let command = Command::new("MGET").key(&keys[0]).key(&keys[1]);
        let answer = self.call(command, Repeat::Idempotent).await;
        answer.and_then(pair).map_err(|error| class(&error))
    }
}

fn together(writes: Vec<Write>) -> Result<Transaction, Error> {
    Transaction::of(writes.into_iter().map(command))
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
        Err(error) => match error.fate() {
            Fate::NotDone => Outcome::Refused(class(&error)),
            Fate::Partly | Fate::Unknown => Outcome::Unknown(class(&error)),
        },
    }
}

/// The narrowest class that documents the error.
fn class(error: &Error) -> Class {
    match error.server_code() {
        Some(code) => Class::Owned(code.to_owned()),
        None if error.is_unknown() => "unknown".into(),
        None if error.is_slot_moving() => "slot moving".into(),
        None if error.is_contended() => "contended".into(),
        None if error.is_unreachable() => "unreachable".into(),
        None if error.is_deadline() => "deadline".into(),
        None => Class::Owned(error.to_string()),
    }
}

/// The answer to `MGET` of two keys.
fn pair(answer: Value) -> Result<[Option<String>; 2], Error> {
    match &answer {
        Value::Array(values) => match &values[..] {
            [one, two] => Ok([one, two].map(|value| text(value).map(str::to_owned))),
            _ => Err(Error::reply("MGET", &answer)),
        },
        _ => Err(Error::reply("MGET", &answer)),
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}
