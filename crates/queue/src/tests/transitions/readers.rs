//! none -> none: what looks and changes nothing.

use crate::store::Body;
use crate::tests::call::{id, ids};
use crate::tests::stage::Stage;

const ALL: &str = "pending a=1 b=2; active c=1800000000000000; leases 1800000000000000:30000:w=1800000030000; \
                   schedule d=1800000000000 e=1800000000001; dead f=1799999999999; \
                   tries e=2_1_1_0_why; meta limit=9 paused=5_me; job a=A b=B c=C d=D e=E f=F left=L";

#[tokio::test]
async fn counts_say_how_many_are_where_and_what_is_due_next() {
    let stage = Stage::new("counts").await;
    stage.put(&ALL.parse().unwrap()).await;
    let stored = stage.dumps().await;
    let counted = stage.store.counts().await.unwrap();
    assert_eq!((counted.pending, counted.active, counted.schedule, counted.dead), (2, 1, 2, 1));
    assert_eq!((counted.next_due_ms, counted.claims), (Some(1_800_000_000_000), 1));
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(counted.meta, [field("limit", "9"), field("paused", "5 me")]);
    assert_eq!(stage.dumps().await, stored);

    stage.clear().await;
    let counted = stage.store.counts().await.unwrap();
    assert_eq!((counted.pending, counted.next_due_ms, counted.meta), (0, None, Vec::new()));
}

#[tokio::test]
async fn find_says_where_a_job_is() {
    let stage = Stage::new("find").await;
    stage.put(&ALL.parse().unwrap()).await;
    let stored = stage.dumps().await;
    for (name, state, score, tries) in [
        ("a", "pending", Some(1.0), None),
        ("c", "active", Some(1_800_000_000_000_000.0), None),
        ("d", "schedule", Some(1_800_000_000_000.0), None),
        ("e", "schedule", Some(1_800_000_000_001.0), Some(3)),
        ("f", "dead", Some(1_799_999_999_999.0), None),
        ("left", "nowhere", None, None),
    ] {
        let found = stage.store.find(&id(name)).await.unwrap().unwrap();
        let attempt = found.tries.map(|tries| tries.attempt());
        assert_eq!((found.state.as_str(), found.score, attempt), (state, score, tries), "{name}");
    }
    assert!(stage.store.find(&id("nobody")).await.unwrap().is_none());
    assert_eq!(stage.dumps().await, stored);
    stage.clear().await;
}

#[tokio::test]
async fn bodies_come_in_the_order_of_the_ids_and_a_missing_row_is_gone() {
    let stage = Stage::new("bodies").await;
    stage.put(&"job a=A b= c=\\x00\\xff".parse().unwrap()).await;
    let here = |body: &[u8]| Body::Here(body.to_vec());
    let bodies = async |names: &str| stage.store.bodies(&ids(names)).await.unwrap();
    assert_eq!(bodies("c a b").await, [here(b"\0\xff"), here(b"A"), here(b"")]);
    assert_eq!(bodies("b nobody a").await, [here(b""), Body::Gone, here(b"A")]);
    assert_eq!(stage.store.taken(&[&id("nobody"), &id("b")]).await.unwrap(), [false, true]);
    stage.clear().await;
}
