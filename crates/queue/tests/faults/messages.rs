//! A queue whose wake-ups do not arrive.

use std::time::Duration;

use echomq::JobSpec;
use testkit::LIMIT;
use tokio::time::Instant;

use crate::scene::{Runs, again, until};

/// Its user may hear no channel at all, so that every message is lost to it.
#[tokio::test(flavor = "multi_thread")]
async fn c043_without_any_message_a_job_is_found_within_the_polling_interval() {
    const POLL: Duration = Duration::from_millis(500);
    let cluster = testkit::cluster_with(1, 0);
    let deaf = ["ACL", "SETUSER", "deaf", "on", ">pw", "~*", "resetchannels", "+@all"];
    cluster.raw(0, &deaf).unwrap();
    let name = testkit::unique_queue("deaf");
    let url = format!("redis://deaf:pw@{}", cluster.addresses()[0]);
    let (runs, queue) = (Runs::default(), again(&cluster.url(), &name).await);
    let worker = again(&url, &name).await.worker(runs.noting()).poll(POLL).start().await.unwrap();
    for n in 1..=4 {
        queue.enqueue(JobSpec::new("x")).await.unwrap();
        let added = Instant::now();
        until("the job is run", async || runs.count() == n).await;
        // A poll is up to twice as long, by chance; a busy machine may be late.
        assert!(added.elapsed() < POLL * 2 + Duration::from_secs(1), "{:?}", added.elapsed());
    }
    worker.stop(LIMIT).await;
}
