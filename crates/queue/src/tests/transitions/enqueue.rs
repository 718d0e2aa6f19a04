//! none -> pending | schedule: the small way (one script) and the large (gate, MSETNX, list).

use super::{Case, SILENT, UNCHANGED, check};
use crate::store::{Due, Row};
use crate::tests::call::{Call, row};

/// As many jobs as go the large way.
const MANY: usize = 9;

fn add(jobs: &[(&str, Due, &str)]) -> Call {
    Call::Enqueue(jobs.iter().map(|(id, due, body)| row(id, *due, *body)).collect())
}

/// The jobs of a large call; those after the first nine are due when they say.
fn add_many(names: &str, later: &[(&str, Due)]) -> Call {
    let ready = names.split_whitespace().map(|name| row(name, Due::Now, name.to_uppercase()));
    let later = later.iter().map(|(name, due)| row(name, *due, name.to_uppercase()));
    let rows: Vec<Row> = ready.chain(later).collect();
    assert!(rows.len() >= MANY);
    Call::Enqueue(rows)
}

#[tokio::test]
async fn a_small_enqueue_ranks_what_is_ready_and_schedules_the_rest() {
    check("enqueue", [
            Case {
                what: "jobs that are due at once get a rank each, in the order of the call, and the first wakes",
                before: "",
                call: add(&[("b", Due::Now, "B"), ("a", Due::Now, "A")]),
                answer: "added",
                wakes: &["b"],
                after: "pending b=1 a=2; meta seq=2; job a=A b=B",
            },
            Case {
                what: "where others wait nobody is woken",
                before: "pending x=4; meta seq=4; job x=X",
                call: add(&[("a", Due::Now, "A")]),
                answer: "added",
                wakes: SILENT,
                after: "pending x=4 a=5; meta seq=5; job a=A x=X",
            },
            Case {
                what: "a delay counts from the queue's clock, a time is taken as it is, and the earliest due wakes",
                before: "schedule x=3000; job x=X",
                call: add(&[("a", Due::InMs(2_500), "A"), ("b", Due::AtMs(2_999), "B")]),
                answer: "added",
                wakes: &[""],
                after: "schedule a=3500 b=2999 x=3000; job a=A b=B x=X",
            },
            Case {
                what: "who is due with the others wakes nobody",
                before: "schedule x=3000; job x=X",
                call: add(&[("a", Due::InMs(2_000), "A")]),
                answer: "added",
                wakes: SILENT,
                after: "schedule a=3000 x=3000; job a=A x=X",
            },
            Case {
                what: "who is due before the others wakes",
                before: "schedule x=3000; job x=X",
                call: add(&[("a", Due::InMs(1_999), "A")]),
                answer: "added",
                wakes: &[""],
                after: "schedule a=2999 x=3000; job a=A x=X",
            },
            Case {
                what: "at once and later in one call: one message for both",
                before: "",
                call: add(&[("a", Due::InMs(1), "A"), ("b", Due::Now, "B")]),
                answer: "added",
                wakes: &[""],
                after: "pending b=1; schedule a=1001; meta seq=1; job a=A b=B",
            },
            Case {
                what: "a body may be empty, or anything",
                before: "",
                call: add(&[("a", Due::Now, ""), ("b", Due::Now, "\0\u{7f}{\"k\":[]}\r\n")]),
                answer: "added",
                wakes: &["a"],
                after: "pending a=1 b=2; meta seq=2; job a= b=\\x00\\x7f{\"k\":[]}\\x0d\\x0a",
            },
            Case {
                what: "the latest time that is exact is stored exactly",
                before: "",
                call: add(&[("a", Due::AtMs((1 << 53) - 1), "A")]),
                answer: "added",
                wakes: &[""],
                after: "schedule a=9007199254740991; job a=A",
            },
    ]).await;
}

#[tokio::test]
async fn a_small_enqueue_is_added_whole_or_not_at_all() {
    check(
        "enqueue",
        [
            Case {
                what: "a job that is there is refused, wherever it is",
                before: "dead a=900; meta seq=1; job a=first",
                call: add(&[("a", Due::Now, "second")]),
                answer: "taken",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "one that is there refuses all",
                before: "active b=7; leases 7:30000:w=9000; job b=first",
                call: add(&[("a", Due::Now, "A"), ("b", Due::InMs(5), "B"), ("c", Due::Now, "C")]),
                answer: "taken",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "the last place below the limit is taken",
                before: "pending x=1; meta limit=2 seq=1; job x=X",
                call: add(&[("a", Due::Now, "A")]),
                answer: "added",
                wakes: SILENT,
                after: "pending x=1 a=2; meta limit=2 seq=2; job a=A x=X",
            },
            Case {
                what: "over the limit all are refused",
                before: "pending x=1; meta limit=2 seq=1; job x=X",
                call: add(&[("a", Due::Now, "A"), ("b", Due::InMs(5), "B")]),
                answer: "full",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "over the limit a job that is there is no other matter",
                before: "pending a=1; meta limit=1 seq=1; job a=A",
                call: add(&[("a", Due::Now, "A")]),
                answer: "full",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "a paused queue takes jobs",
                before: "meta paused=5_me",
                call: add(&[("a", Due::Now, "A")]),
                answer: "added",
                wakes: &["a"],
                after: "pending a=1; meta paused=5_me seq=1; job a=A",
            },
        ],
    )
    .await;
}

#[tokio::test]
async fn a_large_enqueue_ranks_what_is_ready_and_schedules_the_rest() {
    check(
        "enqueue-large",
        [
            Case {
                what: "ids that ascend share one rank",
                before: "pending x=4; meta seq=4; job x=X",
                call: add_many("a b c d e f g h i", &[]),
                answer: "added",
                wakes: SILENT,
                after: "pending x=4 a=5 b=5 c=5 d=5 e=5 f=5 g=5 h=5 i=5; meta seq=5; \
                        job a=A b=B c=C d=D e=E f=F g=G h=H i=I x=X",
            },
            Case {
                what: "others get a rank each, in the order of the call",
                before: "",
                call: add_many("b a c d e f g h i", &[]),
                answer: "added",
                wakes: &["b"],
                after: "pending b=1 a=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9; meta seq=9; \
                        job a=A b=B c=C d=D e=E f=F g=G h=H i=I",
            },
            Case {
                what: "at once, after a while and at a time in one call",
                before: "schedule x=1500; job x=X",
                call: add_many("a b c d e f g", &[("h", Due::InMs(500)), ("i", Due::AtMs(1_499))]),
                answer: "added",
                wakes: &["a", ""],
                after: "pending a=1 b=1 c=1 d=1 e=1 f=1 g=1; schedule h=1500 i=1499 x=1500; meta seq=1; \
                        job a=A b=B c=C d=D e=E f=F g=G h=H i=I x=X",
            },
            Case {
                what: "all later, and none of them the first: no rank is used and nobody is woken",
                before: "schedule x=1; job x=X",
                call: add_many(
                    "",
                    &["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(|id| (id, Due::AtMs(2_000))),
                ),
                answer: "added",
                wakes: SILENT,
                after: "schedule x=1 a=2000 b=2000 c=2000 d=2000 e=2000 f=2000 g=2000 h=2000 i=2000; \
                        job a=A b=B c=C d=D e=E f=F g=G h=H i=I x=X",
            },
            Case {
                what: "all later, with the first: nobody is woken",
                before: "schedule x=2000; job x=X",
                call: add_many(
                    "",
                    &["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(|id| (id, Due::AtMs(2_000))),
                ),
                answer: "added",
                wakes: SILENT,
                after: "schedule x=2000 a=2000 b=2000 c=2000 d=2000 e=2000 f=2000 g=2000 h=2000 i=2000; \
                        job a=A b=B c=C d=D e=E f=F g=G h=H i=I x=X",
            },
        ],
    )
    .await;
}

#[tokio::test]
async fn a_large_enqueue_is_added_whole_or_not_at_all() {
    check(
        "enqueue-large",
        [
            Case {
                what: "one that is there refuses all",
                before: "schedule i=5; job i=first",
                call: add_many("a b c d e f g h i", &[]),
                answer: "taken",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "all that are there are refused as one",
                before: "pending a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1; meta seq=1; \
                         job a=A b=B c=C d=D e=E f=F g=G h=H i=I",
                call: add_many("a b c d e f g h i", &[]),
                answer: "taken",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "the last places below the limit are taken",
                before: "meta limit=9",
                call: add_many("a b c d e f g h i", &[]),
                answer: "added",
                wakes: &["a"],
                after: "pending a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1; meta limit=9 seq=1; \
                        job a=A b=B c=C d=D e=E f=F g=G h=H i=I",
            },
            Case {
                what: "over the limit all are refused",
                before: "pending x=1; meta limit=9 seq=1; job x=X",
                call: add_many("a b c d e f g h i", &[]),
                answer: "full",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "over the limit a job that is there is no other matter",
                before: "pending a=1; meta limit=1 seq=1; job a=A",
                call: add_many("a b c d e f g h i", &[]),
                answer: "full",
                wakes: SILENT,
                after: UNCHANGED,
            },
        ],
    )
    .await;
}

#[tokio::test]
async fn one_large_body_goes_the_large_way_as_well() {
    let stage = crate::tests::stage::Stage::new("enqueue-body").await;
    let body = vec![0xff; 8 * 1024 + 1];
    let call = Call::Enqueue(vec![row("a", Due::Now, body.clone())]);
    assert_eq!(call.on(&stage.store).await, "added");
    let state = stage.state().await;
    assert_eq!(state.job[&b"a"[..]], body);
    assert_eq!((state.pending.len(), state.foreign.len()), (1, 0));
}

/// As many as a call may hold: every list of arguments that the scripts unpack is at its longest.
#[tokio::test]
async fn a_thousand_jobs_go_in_one_call() {
    let stage = crate::tests::stage::Stage::new("enqueue-thousand").await;
    for due in [Due::Now, Due::InMs(5)] {
        stage.clear().await;
        let rows = (0..1_000).rev().map(|n| row(&format!("job-{n:03}"), due, "x")).collect();
        assert_eq!(Call::Enqueue(rows).on(&stage.store).await, "added");
        let state = stage.state().await;
        assert_eq!((state.pending.len() + state.schedule.len(), state.job.len()), (1_000, 1_000));
    }
    stage.clear().await;
}
