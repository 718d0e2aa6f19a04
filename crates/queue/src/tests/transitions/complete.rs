//! active -> none.

use super::{Case, SILENT, UNCHANGED, check};
use crate::tests::call::complete;

const TWO_OF_ONE_CLAIM: &str =
    "active a=7 b=7 x=8; leases 7:30000:w=9000 8:30000:v=9000; meta token=8; job a=A b=B x=X";

#[tokio::test]
async fn a_complete_takes_jobs_rows_and_the_lease_of_the_last() {
    check("complete", [
            Case {
                what: "a whole claim: its jobs, rows and lease go, those of others stay",
                before: TWO_OF_ONE_CLAIM,
                call: complete(7, 2, "a b"),
                answer: "settled",
                wakes: SILENT,
                after: "active x=8; leases 8:30000:v=9000; meta done=2 token=8; job x=X",
            },
            Case {
                what: "part of a claim: the lease stays for the rest",
                before: TWO_OF_ONE_CLAIM,
                call: complete(7, 2, "b"),
                answer: "settled",
                wakes: SILENT,
                after: "active a=7 x=8; leases 7:30000:w=9000 8:30000:v=9000; meta done=1 token=8; job a=A x=X",
            },
            Case {
                what: "the rest of a claim: the lease goes with its last job",
                before: "active b=7; leases 7:30000:w=9000; meta done=1; job b=B",
                call: complete(7, 2, "b"),
                answer: "settled",
                wakes: SILENT,
                after: "meta done=2",
            },
            Case {
                what: "the last job of a queue leaves nothing but the counters",
                before: "active a=7; leases 7:30000:w=9000; tries a=1_1_0_0_x; job a=A",
                call: complete(7, 1, "a"),
                answer: "settled",
                wakes: SILENT,
                after: "meta done=1",
            },
            Case {
                what: "what a job had behind it goes, that of others stays",
                before: "active a=7 b=7; leases 7:30000:w=9000; schedule c=5; tries a=1_1_0_0_x c=1_1_0_0_y; job a=A b=B c=C",
                call: complete(7, 2, "a b"),
                answer: "settled",
                wakes: SILENT,
                after: "schedule c=5; tries c=1_1_0_0_y; meta done=2; job c=C",
            },
    ]).await;
}

#[tokio::test]
async fn a_second_complete_changes_nothing() {
    check("complete", [
            Case {
                what: "a second time: both are lost and nothing happens",
                before: "active x=8; leases 8:30000:v=9000; meta done=2; job x=X",
                call: complete(7, 2, "a b"),
                answer: "lost a b",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "part of a claim a second time, with as many others still to do: those others stay",
                before: "active c=7 d=7; leases 7:30000:w=9000; meta done=2; job c=C d=D",
                call: complete(7, 4, "a b"),
                answer: "lost a b",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "one is done already, as many as named are still to do: only the one that is named goes",
                before: "active b=7 c=7; leases 7:30000:w=9000; meta done=1; job b=B c=C",
                call: complete(7, 3, "a b"),
                answer: "lost a",
                wakes: SILENT,
                after: "active c=7; leases 7:30000:w=9000; meta done=2; job c=C",
            },
            Case {
                what: "a job that failed before is not completed after all, though as many are held",
                before: "active b=7; leases 7:30000:w=9000; schedule a=5; tries a=1_1_0_0_x; job a=A b=B",
                call: complete(7, 2, "a"),
                answer: "lost a",
                wakes: SILENT,
                after: UNCHANGED,
            },
    ]).await;
}

#[tokio::test]
async fn a_complete_with_a_stale_token_is_refused() {
    check("complete", [
            Case {
                what: "a stale token: another worker has the job now",
                before: "active a=8; leases 8:30000:v=9000; tries a=1_0_1_0_; meta token=8; job a=A",
                call: complete(7, 1, "a"),
                answer: "lost a",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "a stale token: the job waits again",
                before: "pending a=0; tries a=1_0_1_0_; job a=A",
                call: complete(7, 1, "a"),
                answer: "lost a",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "one is lost, one is not",
                before: "active a=8 b=7; leases 7:30000:w=9000 8:30000:v=9000; job a=A b=B",
                call: complete(7, 2, "a b"),
                answer: "lost a",
                wakes: SILENT,
                after: "active a=8; leases 8:30000:v=9000; meta done=1; job a=A",
            },
            Case {
                what: "a token of today, round as it is",
                before: "active a=1800000000000000 b=1800000000000001; leases 1800000000000000:30000:w=5; job a=A b=B",
                call: complete(1_800_000_000_000_000, 2, "a b"),
                answer: "lost b",
                wakes: SILENT,
                after: "active b=1800000000000001; meta done=1; job b=B",
            },
    ]).await;
}
