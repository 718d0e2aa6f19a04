//! Keys under a queue's names that something else has stored.

use echomq::JobSpec;

use crate::scene::{Runs, goes_through, queue};

/// A command that stores a value of each type that a key could hold instead of ours.
const OTHERS: [(&str, &[&str]); 5] = [
    ("list", &["RPUSH", "", "x"]),
    ("set", &["SADD", "", "x"]),
    ("string", &["SET", "", "x"]),
    ("hash", &["HSET", "", "f", "x"]),
    ("zset", &["ZADD", "", "1", "x"]),
];

#[tokio::test(flavor = "multi_thread")]
async fn c100_a_worker_on_keys_of_another_type_refuses_to_start_and_deletes_nothing() {
    let (cluster, queue) = queue("c100").await;
    let node = cluster.owner_of(queue.slot().get());
    let tagged = format!("emq:{{{}}}:", queue.name());
    for (kind, expected) in [
        ("pending", "zset"),
        ("active", "zset"),
        ("leases", "zset"),
        ("tries", "hash"),
        ("schedule", "zset"),
        ("dead", "zset"),
        ("unique", "hash"),
        ("uniqueof", "hash"),
        ("meta", "hash"),
    ] {
        let key = format!("{tagged}{kind}");
        for (found, store) in OTHERS.iter().filter(|(found, _)| *found != expected) {
            let store: Vec<&str> =
                store.iter().map(|word| if word.is_empty() { &key } else { *word }).collect();
            cluster.raw(node, &store).unwrap();
            let before = cluster.raw(node, &["DUMP", &key]).unwrap();

            let Err(error) = queue.worker(Runs::default().noting()).start().await else {
                panic!("a worker started on a {found} at {key}")
            };
            assert!(error.is_wrong_type(), "{error}");
            let said = format!("\"{key}\" holds a {found}, a {expected} is expected; nothing was written");
            assert!(error.to_string().contains(&said), "{error}");
            assert!(queue.enqueue(JobSpec::new("x")).await.unwrap_err().is_wrong_type());

            assert_eq!(cluster.raw(node, &["DUMP", &key]).unwrap(), before, "{key}");
            let mut ours = cluster.keys_in(node, queue.slot().get());
            ours.retain(|stored| stored.starts_with(tagged.as_bytes()));
            assert_eq!(ours, [key.as_bytes()], "nothing else was written");
            cluster.raw(node, &["DEL", &key]).unwrap();
        }
    }

    goes_through(&queue).await;
}
