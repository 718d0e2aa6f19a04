//! A job whose row is on neither side of a half moved slot: whether it is gone can not be known before the move ends.

use std::time::Duration;

use testkit::LIMIT;

use super::load::eventually;
use crate::tests::call::id;
use crate::tests::stage::Stage;
use crate::{EchoMq, State};

/// All that a claim and a burial touch is there, and of the job that is to be claimed first only the row is not.
const NO_ROW: &str = "pending gone=1 next=2; active held=7; leases 7:x=9000000000000; tries held=1_1_0_0_oops; dead d=5; \
                      meta layout=1 seq=2 token=7; job held=H next=\\x01\\x00N d=D";

#[tokio::test(flavor = "multi_thread")]
async fn a_job_without_a_row_is_not_given_up_while_its_slot_moves_and_buried_when_the_slot_is_whole() {
    let stage = Stage::new("away").await;
    let slot = stage.store.keys.slot().get();
    let from = stage.node();
    let to = (from + 1) % 3;
    stage.put(&NO_ROW.parse().unwrap()).await;
    stage.cluster.begin_move(slot, from, to);

    let mq = EchoMq::connect(&stage.cluster.url()).await.unwrap();
    let queue = mq.queue(&stage.name).unwrap();
    let worker = queue.worker(|_| async { Ok::<(), String>(()) }).concurrency(1).start().await.unwrap();
    // The answer ASK for the row: it has been claimed, looked for, and found on neither side.
    eventually("it is looked for", async || mq.client().stats().asked > 0).await;
    let requests = || mq.client().stats().requests.iter().map(|(_, sent)| sent).sum::<u64>();
    let before = requests();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(requests() - before < 200, "{} requests in a second for two jobs", requests() - before);
    assert_eq!((worker.report().buried, worker.report().lost), (0, 0));

    stage.cluster.abort_move(slot, from, to);
    eventually("it is buried", async || queue.counts().await.unwrap().gone == 1).await;
    let view = queue.job(&id("gone")).await.unwrap().unwrap();
    assert_eq!(view.state, State::Dead);
    let tries = view.tries.unwrap();
    assert_eq!((tries.claims, tries.lost), (1, 0), "handing it back has counted as an attempt");
    worker.stop(LIMIT).await;
    stage.clear().await;
}
