//! C051: a payload is bytes (law 9).

use crate::Envelope;
use crate::policy::Backoff;
use crate::store::{Body, Class, Due};
use crate::tests::call::{Call, bury, claim, id, retry, row};
use crate::tests::stage::Stage;

/// Big integers, floats, an empty list and an empty object: what a decoder in a script would change.
const NUMBERS: &[u8] = include_bytes!("../../../../../testdata/cases/web/numbers.json");

#[tokio::test]
async fn c051_numbers_and_empty_lists_are_byte_for_byte_the_same_wherever_the_job_goes() {
    every_byte_survives(NUMBERS).await;
}

#[tokio::test]
async fn c051_so_is_every_byte() {
    let all: Vec<u8> = (0..=255).cycle().take(9_000).collect();
    every_byte_survives(&all).await;
    every_byte_survives(b"").await;
}

async fn every_byte_survives(payload: &[u8]) {
    let stage = Stage::new("c051").await;
    let envelope = Envelope {
        name: "n\u{e9}".to_owned(),
        attempts: 3,
        backoff: Backoff::default(),
        created_ms: 1_800_000_000_000,
        payload: payload.to_vec(),
    };
    let stored = envelope.encode();
    let steps = [
        (Call::Enqueue(vec![row("a", Due::Now, stored.clone())]), "added"),
        (claim(1), "claimed 1000000: a"),
        (retry(1_000_000, &[("a", 500, "x")]), "settled"),
        (Call::Promote(10), "promoted 1"),
        (claim(1), "claimed 1500000: a(1 1 0 0 x)"),
        (bury(1_500_000, Class::Failed, &[("a", "y")]), "settled"),
    ];
    for (step, answer) in steps {
        if let Call::Promote(_) = step {
            stage.advance(500);
        }
        assert_eq!(step.on(&stage.store).await, answer, "{step:?}");
        let bodies = stage.store.bodies(&[id("a")]).await.unwrap();
        let [Body::Here(row)] = &bodies[..] else { panic!("after {step:?}: {bodies:?}") };
        assert!(*row == stored, "{step:?} has changed the row");
        assert_eq!(Envelope::decode(row.clone()).unwrap().payload, payload, "{step:?}");
    }
    assert_eq!(stage.state().await.dead.len(), 1);
    stage.clear().await;
}
