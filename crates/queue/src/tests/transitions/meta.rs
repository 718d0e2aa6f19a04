//! Transitions of the queue itself: open, pause, resume, bound.

use super::{Case, SILENT, UNCHANGED, check};
use crate::store::{LAYOUT, Opened};
use crate::tests::call::Call;
use crate::tests::stage::Stage;

#[tokio::test]
async fn pause_resume_and_the_limit_change_once() {
    check(
        "meta",
        [
            Case {
                what: "a pause says since when and by whom",
                before: "",
                call: Call::Pause("ops \u{e9}\n".to_owned()),
                answer: "paused",
                wakes: SILENT,
                after: "meta paused=1000_ops_\\xc3\\xa9\\x0a",
            },
            Case {
                what: "a second pause leaves the first",
                before: "meta paused=900_me",
                call: Call::Pause("you".to_owned()),
                answer: "already",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "a resume wakes",
                before: "pending a=1; meta paused=900_me seq=1; job a=A",
                call: Call::Resume,
                answer: "resumed",
                wakes: &[""],
                after: "pending a=1; meta seq=1; job a=A",
            },
            Case {
                what: "a second resume does nothing",
                before: "pending a=1; meta seq=1; job a=A",
                call: Call::Resume,
                answer: "already",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "a limit takes the place of the last",
                before: "meta limit=5",
                call: Call::Bound(Some(0)),
                answer: "bound",
                wakes: SILENT,
                after: "meta limit=0",
            },
            Case {
                what: "a limit goes",
                before: "meta limit=5 seq=1",
                call: Call::Bound(None),
                answer: "bound",
                wakes: SILENT,
                after: "meta seq=1",
            },
        ],
    )
    .await;
}

/// `open` tells the server's time and not the test's, so that it has no row in a table.
#[tokio::test]
async fn a_queue_opens_for_one_layout_and_one_kind() {
    let stage = Stage::new("open").await;
    let open = async |kind: &str| stage.store.open(kind).await.unwrap();
    let earliest = stage.server_ms().await;
    match open("").await {
        Opened::Open { producer: 1, kind: None, now_ms } => {
            assert!((earliest..=stage.server_ms().await).contains(&now_ms), "{now_ms}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(stage.state().await, "meta layout=1 producers=1".parse().unwrap());
    let opened = open("ORD").await;
    assert!(
        matches!(&opened, Opened::Open { producer: 2, kind: Some(kind), .. } if kind == "ORD"),
        "{opened:?}"
    );
    let opened = open("").await;
    assert!(
        matches!(&opened, Opened::Open { producer: 3, kind: Some(kind), .. } if kind == "ORD"),
        "{opened:?}"
    );
    assert_eq!(stage.state().await, "meta kind=ORD layout=1 producers=3".parse().unwrap());

    let stored = stage.dumps().await;
    assert_eq!(open("JOB").await, Opened::Kind("ORD".to_owned()));
    assert_eq!(stage.dumps().await, stored);

    stage.put(&format!("meta layout={}", LAYOUT + 1).parse().unwrap()).await;
    let stored = stage.dumps().await;
    assert_eq!(open("ORD").await, Opened::Layout((LAYOUT + 1).to_string()));
    assert_eq!(stage.dumps().await, stored);
    stage.clear().await;
}
