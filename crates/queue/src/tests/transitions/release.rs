//! active -> pending.

use super::{Case, SILENT, UNCHANGED, check};
use crate::tests::call::release;

#[tokio::test]
async fn a_release_puts_jobs_to_the_front_again() {
    check("release", [
            Case {
                what: "to the front, with no attempt counted, and it wakes",
                before: "pending x=4; active a=7; leases 7:30000:w=9000; meta seq=4; job a=A x=X",
                call: release(7, "a"),
                answer: "settled",
                wakes: &[""],
                after: "pending a=0 x=4; meta seq=4; job a=A x=X",
            },
            Case {
                what: "to the front of its priority, with what it has behind it",
                before: "active a=7 b=7; leases 7:30000:w=9000; tries a=1_1_0_-2_x b=1_1_0_2_y; job a=A b=B",
                call: release(7, "a b"),
                answer: "settled",
                wakes: &[""],
                after: "pending a=-2199023255552 b=2199023255552; tries a=1_1_0_-2_x b=1_1_0_2_y; job a=A b=B",
            },
            Case {
                what: "part of a claim: the lease stays for the rest",
                before: "active a=7 b=7; leases 7:30000:w=9000; job a=A b=B",
                call: release(7, "b"),
                answer: "settled",
                wakes: &[""],
                after: "pending b=0; active a=7; leases 7:30000:w=9000; job a=A b=B",
            },
    ]).await;
}

#[tokio::test]
async fn a_release_with_a_stale_token_is_refused() {
    check(
        "release",
        [
            Case {
                what: "a stale token changes nothing",
                before: "active a=8; leases 8:30000:v=9000; job a=A",
                call: release(7, "a"),
                answer: "lost a",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "a second time: it waits where it waits",
                before: "pending x=-1 a=0; job a=A x=X",
                call: release(7, "a"),
                answer: "lost a",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "one is lost, one is not",
                before: "active a=8 b=7; leases 7:30000:w=9000 8:30000:v=9000; job a=A b=B",
                call: release(7, "a b"),
                answer: "lost a",
                wakes: &[""],
                after: "pending b=0; active a=8; leases 8:30000:v=9000; job a=A b=B",
            },
        ],
    )
    .await;
}
