//! What every race begins with.

use std::time::Instant;

use echomq_cluster::{Client, Command, Repeat, Value};
use testkit::{Cluster, LIMIT};

/// A client of this cluster.
pub(crate) async fn client(cluster: &Cluster) -> Client {
    Client::connect(&cluster.url()).await.unwrap()
}

/// A name of the test's own.
pub(crate) fn name(label: &str) -> String {
    testkit::unique_queue(label)
}

/// One command with one key, which must succeed.
pub(crate) async fn ask(client: &Client, command: &'static str, key: &str, args: &[&str]) -> Value {
    client.call(Command::new(command).key(key).arg(args), Repeat::Never).await.unwrap()
}

/// A number; what is not there counts as 0.
pub(crate) async fn number(client: &Client, command: &'static str, key: &str, args: &[&str]) -> i64 {
    redis::from_redis_value::<Option<i64>>(ask(client, command, key, args).await).unwrap().unwrap_or(0)
}

/// Repeats a race until it goes wrong, which it must.
pub(crate) async fn until_broken(what: &str, mut race: impl AsyncFnMut(usize) -> bool) {
    let started = Instant::now();
    for round in 0.. {
        if race(round).await {
            return;
        }
        assert!(started.elapsed() < LIMIT, "in {round} rounds it never came to this: {what}");
    }
}

/// Runs tasks side by side, each with its number, and returns what they came to.
pub(crate) async fn side_by_side<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    tasks: usize,
    task: impl Fn(usize) -> F,
) -> Vec<T> {
    let running: Vec<_> = (0..tasks).map(|i| tokio::spawn(task(i))).collect();
    let mut results = Vec::with_capacity(tasks);
    for handle in running {
        results.push(handle.await.unwrap());
    }
    results
}
