//! What a job carries.

use echomq::{EchoMq, JobSpec, PAYLOAD_MAX_BYTES};
use testkit::LIMIT;

use crate::scene::{Runs, until};

const TEN_MB: usize = 10 * 1024 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn c054_ten_megabytes_are_refused_before_sending_or_where_allowed_claimed_once_and_intact() {
    let cluster = testkit::cluster_with(1, 0);
    let queue = EchoMq::connect(&cluster.url()).await.unwrap().queue("orders").unwrap();
    let received = || cluster.info(0, "stats", "total_net_input_bytes").unwrap().parse::<usize>().unwrap();
    let sent = || cluster.info(0, "stats", "total_net_output_bytes").unwrap().parse::<usize>().unwrap();
    queue.counts().await.unwrap();
    let mut rng = fastrand::Rng::with_seed(54);
    let payload: Vec<u8> = (0..TEN_MB).map(|_| rng.u8(..)).collect();

    let before = received();
    let error = queue.enqueue(JobSpec::new(payload.clone())).await.unwrap_err();
    let said = error.to_string();
    assert!(error.is_too_large(), "{said}");
    assert!(said.contains(&TEN_MB.to_string()) && said.contains(&PAYLOAD_MAX_BYTES.to_string()), "{said}");
    assert!(received() - before < 10_000, "{} bytes were sent", received() - before);
    let one_too_large = vec![JobSpec::new("small"), JobSpec::new(payload.clone())];
    assert!(queue.enqueue_many(one_too_large).await.unwrap_err().is_too_large());
    assert_eq!(queue.counts().await.unwrap().held(), 0, "a part of a refused call was added");

    let queue = queue.with_payload_max_bytes(TEN_MB);
    let added = queue.enqueue(JobSpec::new(payload.clone())).await.unwrap();
    assert!(added.is_added());
    let before = sent();
    assert_eq!(queue.counts().await.unwrap().pending, 1);
    assert!(sent() - before < 10_000, "counting fetched {} bytes", sent() - before);
    let runs = Runs::default();
    let before = sent();
    let worker = queue.worker(runs.noting()).start().await.unwrap();
    until("it is done", async || queue.counts().await.unwrap().done == 1).await;
    worker.stop(LIMIT).await;
    assert!(sent() - before < TEN_MB + TEN_MB / 10, "it was fetched more than once");
    runs.assert_once_each(&[added.id().clone()]);
    assert!(runs.all()[0].payload == payload, "the bytes have changed");
}
