//! What every test here begins with: keys of one slot that no other test uses, and words for calls and answers.

use std::time::Duration;

use echomq_cluster::{Client, Command, Error, Repeat, Value};
use testkit::Cluster;

/// A hash tag of the test's own, with the node that owns its slot and another one.
pub(crate) struct Tag {
    name: String,
    pub(crate) slot: u16,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Tag {
    pub(crate) fn new(cluster: &Cluster, label: &str) -> Tag {
        let name = testkit::unique_queue(label);
        let slot = cluster.slot_of(format!("{{{name}}}"));
        let from = cluster.owner_of(slot);
        let to = cluster.primaries().into_iter().find(|node| *node != from).unwrap();
        Tag { name, slot, from, to }
    }

    /// A tag whose slot node `from` owns.
    pub(crate) fn at(cluster: &Cluster, label: &str, from: usize) -> Tag {
        loop {
            let tag = Tag::new(cluster, label);
            if tag.from == from {
                return tag;
            }
        }
    }

    pub(crate) fn key(&self, rest: &str) -> String {
        format!("{{{}}}:{rest}", self.name)
    }

    /// Opens a classic move of the slot and moves these keys.
    pub(crate) fn half_move(&self, cluster: &Cluster, keys: &[&String]) {
        cluster.begin_move(self.slot, self.from, self.to);
        cluster.move_keys(self.from, self.to, keys);
    }

    /// Ends the move that [`Tag::half_move`] began.
    pub(crate) fn move_rest(&self, cluster: &Cluster) {
        cluster.finish_move(self.slot, self.from, self.to);
    }

    /// What each of the two nodes holds of the slot: keys and values, as `DUMP` gives them.
    pub(crate) fn dump(&self, cluster: &Cluster) -> [Vec<(Vec<u8>, Value)>; 2] {
        [self.from, self.to].map(|node| {
            let mut keys = cluster.keys_in(node, self.slot);
            keys.sort();
            let client = redis::Client::open(format!("redis://{}", cluster.addresses()[node])).unwrap();
            let mut connection = client.get_connection().unwrap();
            // The importing side shows its keys only to one who was sent there.
            let mut dump = |key: &Vec<u8>| {
                let asked = redis::pipe().cmd("ASKING").ignore().cmd("DUMP").arg(key).clone();
                asked.query::<(Value,)>(&mut connection).unwrap().0
            };
            let values: Vec<Value> = keys.iter().map(&mut dump).collect();
            keys.into_iter().zip(values).collect()
        })
    }
}

/// A client with this deadline.
pub(crate) async fn client(url: &str, deadline: Duration) -> Client {
    Client::connect(url).await.unwrap().with_deadline(deadline)
}

/// A command with one key, which must succeed.
pub(crate) async fn ask(client: &Client, name: &'static str, key: &str, args: &[&str]) -> Value {
    try_ask(client, Repeat::Never, name, key, args).await.unwrap()
}

/// A command with one key.
pub(crate) async fn try_ask(
    client: &Client,
    repeat: Repeat,
    name: &'static str,
    key: &str,
    args: &[&str],
) -> Result<Value, Error> {
    client.call(Command::new(name).key(key).arg(args), repeat).await
}

/// A string as `GET` answers it.
pub(crate) fn text(text: &str) -> Value {
    Value::BulkString(text.as_bytes().to_vec())
}

/// Looks every few milliseconds until it holds, while the other futures of the test go on.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let limit = std::time::Instant::now() + testkit::LIMIT;
    while !holds() {
        assert!(std::time::Instant::now() < limit, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Prints a measured figure, whether or not the harness captures output.
pub(crate) fn note(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}
