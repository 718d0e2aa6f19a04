//! Names of queues and ids of jobs.

use std::collections::HashSet;

use echomq::{EchoMq, Enqueued, JobId, JobSpec, Prefix, QueueName};
use testkit::{Cluster, LIMIT};

use crate::scene::{Runs, goes_through, until};

/// A table of the field's cases: its rows, and of each the bytes that the first column has in hex.
fn rows(table: &str) -> impl Iterator<Item = (Vec<u8>, Vec<&str>)> {
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let digits = columns[0].as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        (digits.map(byte).collect(), columns)
    })
}

/// Queues with a prefix of the test's own, so that names that people use are free.
async fn prefixed(cluster: &Cluster, label: &str) -> (EchoMq, String) {
    let prefix = format!("{}:", testkit::unique_queue(label));
    let mq = EchoMq::connect(&cluster.url()).await.unwrap();
    (mq.with_prefix(Prefix::parse(&prefix).unwrap()), prefix)
}

/// All keys of the cluster that begin with this, whatever node they are on.
fn keys(cluster: &Cluster, prefix: &str) -> Vec<Vec<u8>> {
    let on = |node: usize| {
        let keys = cluster.raw(node, &["KEYS", &format!("{prefix}*")]).unwrap();
        redis::from_redis_value::<Vec<Vec<u8>>>(keys).unwrap()
    };
    cluster.primaries().into_iter().flat_map(on).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn c007_a_name_in_braces_is_refused_so_that_producer_and_worker_can_not_miss_each_other() {
    let cluster = testkit::cluster();
    let (mq, prefix) = prefixed(&cluster, "c007").await;
    let orders = mq.queue("orders").unwrap();
    orders.enqueue(JobSpec::new("x")).await.unwrap();
    let error = mq.queue("{orders}").unwrap_err().to_string();
    assert!(error.contains("\"{orders}\""), "{error}");
    let keys = keys(&cluster, &prefix);
    let tagged = format!("{prefix}emq:{{orders}}:");
    assert!(!keys.is_empty() && keys.iter().all(|key| key.starts_with(tagged.as_bytes())), "{keys:?}");
    assert_eq!(orders.slot().get(), 105);
}

#[tokio::test(flavor = "multi_thread")]
async fn c008_odd_queue_names_are_taken_as_they_are_or_refused_with_the_name_escaped() {
    let cluster = testkit::cluster();
    let (mq, prefix) = prefixed(&cluster, "c008").await;
    let mut taken = Vec::new();
    for (name, columns) in rows(include_str!("../../../../testdata/cases/keys/queue-names.tsv")) {
        let (shown, verdict) = (columns[1], columns[2]);
        let opened = mq.queue(&name);
        assert_eq!(opened.is_ok(), QueueName::parse(&name).is_ok(), "{shown}: two rules");
        match opened {
            Ok(queue) => {
                assert!(verdict.starts_with("accept"), "{shown} was taken");
                assert_eq!(queue.name().as_str().as_bytes(), name);
                goes_through(&queue).await;
                taken.push(name);
            }
            Err(error) => {
                assert!(verdict.contains("refuse"), "{shown}: {error}");
                let quoted = format!("\"{}\"", if shown.len() > 64 { "qqqqqqqq" } else { shown });
                let said = error.to_string();
                assert!(said.contains(&quoted) || shown.len() > 64 && said.contains("qqqqqqqq"), "{said}");
                assert!(said.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' '), "{said:?}");
            }
        }
    }
    taken.sort();
    let listed: Vec<Vec<u8>> =
        mq.queues().await.unwrap().iter().map(|name| name.as_str().as_bytes().to_vec()).collect();
    assert_eq!(listed, taken, "each is listed as it was given");
    assert!(!keys(&cluster, &prefix).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn c009_a_colon_in_a_name_is_refused_and_one_in_an_id_leads_to_no_other_queues_key() {
    let cluster = testkit::cluster();
    let (mq, prefix) = prefixed(&cluster, "c009").await;
    for name in ["sales:cancel", "sales:job", ":sales", "sales:"] {
        let error = mq.queue(name).unwrap_err().to_string();
        assert!(error.contains(&format!("\"{name}\"")), "{error}");
    }
    let pairs = [("sales", "cancel:job:1"), ("sales", "1"), ("cancel", "job:1"), ("cancel", "1")];
    for (name, id) in pairs {
        let job = JobSpec::new(format!("{name} {id}")).id(JobId::parse(id).unwrap());
        assert!(mq.queue(name).unwrap().enqueue(job).await.unwrap().is_added());
    }
    let jobs = keys(&cluster, &prefix).into_iter().filter(|key| key.windows(5).any(|part| part == b":job:"));
    assert_eq!(jobs.collect::<HashSet<_>>().len(), pairs.len());
    for (name, id) in pairs {
        let job = mq.queue(name).unwrap().job(&JobId::parse(id).unwrap()).await.unwrap().unwrap();
        assert_eq!(job.envelope.unwrap().payload, format!("{name} {id}").into_bytes());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c010_ids_of_any_form_are_kept_byte_for_byte_on_the_queues_slot_and_refused_the_second_time() {
    let cluster = testkit::cluster();
    let (mq, prefix) = prefixed(&cluster, "c010").await;
    let orders = mq.queue("orders").unwrap();
    let automatic: Vec<JobId> = {
        let added = orders.enqueue_many(vec![JobSpec::new("automatic"); 3]).await.unwrap();
        added.iter().map(|added| added.id().clone()).collect()
    };
    let mut given = Vec::new();
    for (bytes, columns) in rows(include_str!("../../../../testdata/cases/keys/job-ids.tsv")) {
        let (shown, slot, what) = (columns[1], columns[2], columns[3]);
        let id = match JobId::parse(&bytes) {
            Ok(id) => id,
            Err(error) => {
                let may_refuse = what.contains("refuse") || what.contains("limit");
                assert!(may_refuse, "{shown}: {error}");
                continue;
            }
        };
        let job = |payload: &str| JobSpec::new(payload).id(id.clone());
        assert_eq!(orders.enqueue(job("first")).await.unwrap(), Enqueued::Added(id.clone()));
        assert_eq!(orders.enqueue(job("second")).await.unwrap(), Enqueued::Duplicate(id.clone()));
        let key = [prefix.as_bytes(), b"emq:{orders}:job:", &bytes].concat();
        assert_eq!(cluster.slot_of(&key).to_string(), slot, "{shown}");
        assert!(keys(&cluster, &prefix).contains(&key), "{shown} is not stored under its key");
        given.push(id);
    }
    assert!(given.len() >= 9, "{given:?}");
    assert_eq!(given.iter().filter(|id| id.kind().is_some()).count(), 0, "none looks like a minted one");
    assert!(JobId::parse("").is_err());
    assert!(orders.counts().await.unwrap().layout.is_some(), "the id `meta` is not the key `meta`");

    let runs = Runs::default();
    let worker = orders.worker(runs.noting()).start().await.unwrap();
    let all = [automatic, given].concat();
    until("all is done", async || orders.counts().await.unwrap().done == all.len() as u64).await;
    worker.stop(LIMIT).await;
    runs.assert_once_each(&all);
    assert!(runs.all().iter().all(|job| job.payload != b"second"), "a second job took the first one's place");
}

#[tokio::test(flavor = "multi_thread")]
async fn c010_minted_ids_never_meet_each_other_nor_an_id_that_is_there() {
    let cluster = testkit::cluster();
    let name = testkit::unique_queue("mint");
    let mut ids = HashSet::new();
    for _ in 0..4 {
        let producer = EchoMq::connect(&cluster.url()).await.unwrap().queue(&name).unwrap();
        let added = producer.enqueue_many(vec![JobSpec::new("x"); 5_000]).await.unwrap();
        assert!(added.iter().all(Enqueued::is_added));
        ids.extend(added.iter().map(|added| added.id().clone()));
        let taken = JobSpec::new("y").id(added[17].id().clone());
        assert!(matches!(producer.enqueue(taken).await.unwrap(), Enqueued::Duplicate(_)));
    }
    assert_eq!(ids.len(), 20_000);
    assert!(ids.iter().all(|id| id.as_bytes().len() == JobId::MINTED_BYTES));
}

/// What a server was asked meanwhile, line by line, as MONITOR tells it.
fn monitored(server: &testkit::Standalone) -> impl FnOnce() -> Vec<String> + use<> {
    use std::io::{BufRead, BufReader, Write};
    let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
    stream.write_all(b"MONITOR\r\n").unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "+OK");
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).collect());
    move || {
        stream.shutdown(std::net::Shutdown::Both).unwrap();
        reader.join().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c025_no_key_of_any_step_is_without_the_prefix_in_scripts_neither() {
    let server = testkit::standalone();
    let seen = monitored(&server);
    let mq = EchoMq::connect(&server.url()).await.unwrap().with_prefix(Prefix::parse("t1:").unwrap());
    let queue = mq.queue("orders").unwrap();
    let fails = |job: echomq::Job| async move { if job.payload == b"0" { Err("no") } else { Ok(()) } };
    let backoff = echomq::Backoff { base_ms: 1, cap_ms: 1, jitter: false };
    let jobs = (0..50).map(|n| JobSpec::new(n.to_string()).attempts(2).backoff(backoff)).collect();
    queue.enqueue_many(jobs).await.unwrap();
    queue.enqueue(JobSpec::new("later").delay(std::time::Duration::from_millis(5))).await.unwrap();
    let worker = queue.worker(fails).start().await.unwrap();
    until("all is worked off", async || {
        let counts = queue.counts().await.unwrap();
        (counts.done, counts.dead) == (50, 1)
    })
    .await;
    queue.pause("a test").await.unwrap();
    queue.resume().await.unwrap();
    worker.stop(LIMIT).await;

    let lines = seen();
    let names: Vec<&String> = lines.iter().filter(|line| line.contains("emq:{")).collect();
    assert!(names.len() > 100 && names.iter().any(|line| line.contains(" lua]")), "{} lines", names.len());
    for line in names {
        let at = |(at, _): (usize, &str)| line[..at].ends_with("\"t1:");
        assert!(line.match_indices("emq:{").all(at), "a name without the prefix: {line}");
    }
}

/// There is no record of a worker beside the queue: who holds what stands in the entry of its lease, under the queue's tag.
#[tokio::test(flavor = "multi_thread")]
async fn c079_all_that_claims_and_workers_write_is_under_the_queues_tag() {
    let server = testkit::standalone();
    let queue = EchoMq::connect(&server.url()).await.unwrap().queue("orders").unwrap();
    queue.enqueue_many(vec![JobSpec::new("x"); 3]).await.unwrap();
    let held = |_| async {
        std::future::pending::<()>().await;
        Ok::<(), String>(())
    };
    let worker = queue.worker(held).owner("ann").start().await.unwrap();
    until("all are claimed", async || worker.running() == 3).await;
    let keys: Vec<String> = redis::from_redis_value(server.raw(&["KEYS", "*"]).unwrap()).unwrap();
    assert!(keys.iter().all(|key| key.starts_with("emq:{orders}:")), "{keys:?}");
    let leases = server.raw(&["ZRANGE", "emq:{orders}:leases", "0", "-1"]).unwrap();
    let leases: Vec<String> = redis::from_redis_value(leases).unwrap();
    assert!(!leases.is_empty() && leases.iter().all(|lease| lease.contains(":ann-")), "{leases:?}");
    assert_eq!(worker.stop(std::time::Duration::ZERO).await.released, 3);
}
