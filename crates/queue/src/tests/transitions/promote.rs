//! schedule -> pending.

use super::{Case, SILENT, UNCHANGED, check};
use crate::tests::call::Call;

#[tokio::test]
async fn a_promotion_moves_what_is_due_in_order() {
    check("promote", [
            Case {
                what: "all that is due goes behind what waits, the longest due first, and those of one time by id",
                before: "pending x=4; schedule c=900 b=1000 a=1000 d=1001; meta seq=4; job a=A b=B c=C d=D x=X",
                call: Call::Promote(500),
                answer: "promoted 3, next in 1",
                wakes: SILENT,
                after: "pending x=4 c=5 a=6 b=7; schedule d=1001; meta seq=7; job a=A b=B c=C d=D x=X",
            },
            Case {
                what: "the last one: nothing is due next, and it wakes since nothing waited",
                before: "schedule a=1000; job a=A",
                call: Call::Promote(500),
                answer: "promoted 1",
                wakes: &[""],
                after: "pending a=1; meta seq=1; job a=A",
            },
            Case {
                what: "no more than the step; what is left is due in no time",
                before: "schedule a=1 b=2 c=3; job a=A b=B c=C",
                call: Call::Promote(2),
                answer: "promoted 2, next in 0",
                wakes: &[""],
                after: "pending a=1 b=2; schedule c=3; meta seq=2; job a=A b=B c=C",
            },
            Case {
                what: "a job keeps its priority",
                before: "schedule a=1 b=2; tries a=1_1_0_1_x b=1_1_0_-1_y; meta seq=9; job a=A b=B",
                call: Call::Promote(500),
                answer: "promoted 2",
                wakes: &[""],
                after: "pending b=-1099511627765 a=1099511627786; tries a=1_1_0_1_x b=1_1_0_-1_y; meta seq=11; \
                        job a=A b=B",
            },
            Case {
                what: "nothing is due yet",
                before: "schedule a=1001; meta seq=2; job a=A",
                call: Call::Promote(500),
                answer: "promoted 0, next in 1",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "nothing is in the schedule",
                before: "pending a=1; job a=A",
                call: Call::Promote(500),
                answer: "promoted 0",
                wakes: SILENT,
                after: UNCHANGED,
            },
    ]).await;
}

#[tokio::test]
async fn a_promotion_meets_what_was_put_there_by_hand() {
    check(
        "promote",
        [
            Case {
                what: "no time at all, put there by hand, is due (C061)",
                before: "schedule a=-inf b=2000; job a=A b=B",
                call: Call::Promote(500),
                answer: "promoted 1, next in 1000",
                wakes: &[""],
                after: "pending a=1; schedule b=2000; meta seq=1; job a=A b=B",
            },
            Case {
                what: "never, put there by hand, is not due and not waited for",
                before: "schedule a=inf; job a=A",
                call: Call::Promote(500),
                answer: "promoted 0",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "a paused queue promotes: the jobs wait in pending",
                before: "schedule a=1; meta paused=5_me; job a=A",
                call: Call::Promote(500),
                answer: "promoted 1",
                wakes: &[""],
                after: "pending a=1; meta paused=5_me seq=1; job a=A",
            },
        ],
    )
    .await;
}
