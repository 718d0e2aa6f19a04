//! A single server, where keys on two slots would work today and break on a cluster.

use echomq::{EchoMq, JobSpec, Queue, State};
use echomq_cluster::{Client, Command, Repeat, Transaction, Value};
use testkit::LIMIT;

use crate::scene::until;

/// What the handler does for each order: counts it for the order and for the day, together. The tag of the order alone
/// brings both to one slot.
async fn count(client: &Client, order: &str) -> Result<(), String> {
    let both = [order, &format!("{order}:day")].map(|key| Command::new("INCR").key(key));
    let both = Transaction::of(both).map_err(|error| error.to_string())?;
    client.transaction(both, Repeat::Never).await.map(drop).map_err(|error| error.to_string())
}

/// Works one job whose handler counts this order, and says how the job ended, with the error of its handler.
async fn worked(url: &str, order: &str) -> (Queue, State, String) {
    let mq = EchoMq::connect(url).await.unwrap();
    let queue = mq.queue(testkit::unique_queue("c108")).unwrap();
    let added = queue.enqueue(JobSpec::new(order).attempts(1)).await.unwrap();
    let client = mq.client().clone();
    let handler = move |job: echomq::Job| {
        let client = client.clone();
        async move { count(&client, std::str::from_utf8(&job.payload).unwrap()).await }
    };
    let worker = queue.worker(handler).start().await.unwrap();
    until("the job has ended", async || {
        let counts = queue.counts().await.unwrap();
        counts.done + counts.dead == 1
    })
    .await;
    worker.stop(LIMIT).await;
    match queue.job(added.id()).await.unwrap() {
        None => (queue, State::Pending, String::new()),
        Some(job) => {
            let error = job.tries.map(|tries| tries.error).unwrap_or_default();
            (queue, job.state, String::from_utf8_lossy(&error).into_owned())
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c108_the_same_worker_meets_the_rules_of_slots_on_a_single_server_as_on_a_cluster() {
    let (single, cluster) = (testkit::standalone(), testkit::cluster());
    let label = testkit::unique_queue("order");
    let (untagged, tagged) = (format!("{label}:A7"), format!("order:{{{label}}}"));
    let mut said = Vec::new();
    for url in [single.url(), cluster.url()] {
        let (_, state, error) = worked(&url, &untagged).await;
        assert_eq!(state, State::Dead, "{url}");
        for part in ["MULTI was not sent", "2 keys on 2 slots", &untagged, &format!("{untagged}:day")] {
            assert!(error.contains(part), "{part} is not in: {error}");
        }
        said.push(error);

        let client = Client::connect(&url).await.unwrap();
        let get =
            async |key: &str| client.call(Command::new("GET").key(key), Repeat::Idempotent).await.unwrap();
        assert_eq!(get(&untagged).await, Value::Nil, "nothing was sent");
        let (queue, ..) = worked(&url, &tagged).await;
        assert_eq!(queue.counts().await.unwrap().done, 1);
        assert_eq!(get(&format!("{tagged}:day")).await, Value::BulkString(b"1".to_vec()));
    }
    assert_eq!(said[0], said[1], "the fault shows on a single server with the very words of the cluster");
}
