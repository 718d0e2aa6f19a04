//! active -> schedule.

use super::{Case, SILENT, UNCHANGED, check};
use crate::tests::call::retry;

#[tokio::test]
async fn a_retry_counts_and_keeps_the_error() {
    check("retry", [
            Case {
                what: "the first failure: due after the delay, counted, the error kept, the row left as it is",
                before: "active a=7; leases 7:30000:w=9000; job a=A",
                call: retry(7, &[("a", 500, "no luck")]),
                answer: "settled",
                wakes: &[""],
                after: "schedule a=1500; tries a=1_1_0_0_no_luck; meta retried=1; job a=A",
            },
            Case {
                what: "a further failure counts on, keeps the priority, and its error takes the place of the last",
                before: "active a=7; leases 7:30000:w=9000; tries a=4_2_2_-5_what_was; job a=A",
                call: retry(7, &[("a", 999, "what is")]),
                answer: "settled",
                wakes: &[""],
                after: "schedule a=1999; tries a=5_3_2_-5_what_is; meta retried=1; job a=A",
            },
            Case {
                what: "an error is any text",
                before: "active a=7 b=7 c=7; leases 7:30000:w=9000; job a=A b=B c=C",
                call: retry(7, &[("a", 0, ""), ("b", 0, "5 5 5 5 \r\n\0"), ("c", 0, "%d \u{1f980} _=;\\")]),
                answer: "settled",
                wakes: &[""],
                after: "schedule a=1000 b=1000 c=1000; meta retried=3; job a=A b=B c=C; \
                        tries a=1_1_0_0_ b=1_1_0_0_5_5_5_5_\\x0d\\x0a\\x00 \
                        c=1_1_0_0_%d_\\xf0\\x9f\\xa6\\x80_\\x5f\\x3d\\x3b\\x5c",
            },
            Case {
                what: "part of a claim: the lease stays for the rest",
                before: "active a=7 b=7; leases 7:30000:w=9000; job a=A b=B",
                call: retry(7, &[("b", 500, "x")]),
                answer: "settled",
                wakes: &[""],
                after: "active a=7; leases 7:30000:w=9000; schedule b=1500; tries b=1_1_0_0_x; meta retried=1; job a=A b=B",
            },
    ]).await;
}

#[tokio::test]
async fn a_retry_wakes_when_it_is_due_first() {
    check(
        "retry",
        [
            Case {
                what: "who is due after the others wakes nobody",
                before: "active a=7; leases 7:30000:w=9000; schedule x=1500; job a=A x=X",
                call: retry(7, &[("a", 500, "x")]),
                answer: "settled",
                wakes: SILENT,
                after: "schedule a=1500 x=1500; tries a=1_1_0_0_x; meta retried=1; job a=A x=X",
            },
            Case {
                what: "who is due before the others wakes",
                before: "active a=7; leases 7:30000:w=9000; schedule x=1500; job a=A x=X",
                call: retry(7, &[("a", 499, "x")]),
                answer: "settled",
                wakes: &[""],
                after: "schedule a=1499 x=1500; tries a=1_1_0_0_x; meta retried=1; job a=A x=X",
            },
            Case {
                what: "no delay is so long that its end is not stored exactly",
                before: "active a=7; leases 7:30000:w=9000; job a=A",
                call: retry(7, &[("a", u64::MAX, "x")]),
                answer: "settled",
                wakes: &[""],
                after: "schedule a=9007199254740991; tries a=1_1_0_0_x; meta retried=1; job a=A",
            },
        ],
    )
    .await;
}

#[tokio::test]
async fn a_retry_with_a_stale_token_is_refused() {
    check("retry", [
            Case {
                what: "a stale token: reason and attempts of the job that another worker has stay as they are",
                before: "active a=8; leases 8:30000:v=9000; tries a=1_0_1_0_; job a=A",
                call: retry(7, &[("a", 500, "late")]),
                answer: "lost a",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "a stale token: the job is done and nothing of it comes back",
                before: "meta done=1",
                call: retry(7, &[("a", 500, "late")]),
                answer: "lost a",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "a second time: the failure counts once",
                before: "schedule a=1500; tries a=1_1_0_0_x; meta retried=1; job a=A",
                call: retry(7, &[("a", 500, "x")]),
                answer: "lost a",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "one is lost, one is not",
                before: "active a=8 b=7; leases 7:30000:w=9000 8:30000:v=9000; job a=A b=B",
                call: retry(7, &[("a", 500, "x"), ("b", 600, "y")]),
                answer: "lost a",
                wakes: &[""],
                after: "active a=8; leases 8:30000:v=9000; schedule b=1600; tries b=1_1_0_0_y; meta retried=1; job a=A b=B",
            },
    ]).await;
}
