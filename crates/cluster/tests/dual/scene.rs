//! What every test here begins with.

use std::sync::Arc;

use echomq_cluster::dual::{Answer, Dual, Held, Renamed, Stage, Written};
use echomq_cluster::{Client, Command, Error, Repeat, Value};
use testkit::Cluster;

/// Renamed keys of the test's own on the shared cluster, and a process that leads.
pub(crate) struct Scene {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) client: Client,
    pub(crate) lead: Dual,
    label: String,
}

impl Scene {
    pub(crate) async fn new(label: &str) -> Scene {
        let cluster = tokio::task::spawn_blocking(testkit::cluster).await.unwrap();
        let client = Client::connect(&cluster.url()).await.unwrap();
        let lead = Dual::new(&client, Stage::Lead);
        Scene { cluster, client, lead, label: testkit::unique_queue(label) }
    }

    /// A process in a stage, with connections of its own.
    pub(crate) async fn process(&self, stage: Stage) -> Dual {
        Dual::new(&Client::connect(&self.cluster.url()).await.unwrap(), stage)
    }

    /// Key `n`, without a tag before and with one today.
    pub(crate) fn key(&self, n: usize) -> Renamed {
        let label = &self.label;
        Renamed::new(format!("cart:{{{label}-{n}}}:items"), [format!("cart:{label}-{n}:items")])
    }

    pub(crate) async fn call(&self, name: &'static str, key: &[u8], args: &[&str]) -> Value {
        self.client.call(Command::new(name).key(key).arg(args), Repeat::Never).await.unwrap()
    }

    pub(crate) async fn set_old(&self, key: &Renamed, value: &str) {
        self.call("SET", &key.old_names()[0], &[value]).await;
    }

    pub(crate) async fn set_new(&self, key: &Renamed, value: &str) {
        self.call("SET", key.new_name(), &[value]).await;
    }

    /// What stands under the new name and under the old one.
    pub(crate) async fn stored(&self, key: &Renamed) -> [Option<String>; 2] {
        let mut stored = [None, None];
        for (name, value) in [key.new_name(), &key.old_names()[0]].into_iter().zip(&mut stored) {
            *value = string(&self.call("GET", name, &[]).await);
        }
        stored
    }
}

pub(crate) fn string(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8(bytes.clone()).unwrap()),
        Value::Nil => None,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn try_get(dual: &Dual, key: &Renamed) -> Result<Answer, Error> {
    dual.read(key, |name| Command::new("GET").key(name)).await
}

/// The value, and which name had it.
pub(crate) async fn get(dual: &Dual, key: &Renamed) -> (Option<String>, Held) {
    let answer = try_get(dual, key).await.unwrap();
    (string(&answer.reply), answer.held)
}

pub(crate) async fn set(dual: &Dual, key: &Renamed, value: &str) -> Written {
    dual.write(key, |name| Command::new("SET").key(name).arg(value), Repeat::Idempotent).await.unwrap()
}

pub(crate) fn some(value: &str) -> Option<String> {
    Some(value.to_owned())
}
