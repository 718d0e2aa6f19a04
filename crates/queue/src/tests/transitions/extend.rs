//! active -> active.

use super::{Case, SILENT, UNCHANGED, check};
use crate::store::Lease;
use crate::tests::call::{Call, lease};

fn extend(leases: &[Lease], lease_ms: u64) -> Call {
    Call::Extend(leases.to_vec(), lease_ms)
}

#[tokio::test]
async fn an_extend_lets_leases_that_hold_something_begin_anew() {
    check(
        "extend",
        [
            Case {
                what: "the leases begin anew, those of others do not",
                before: "active a=7 b=8 c=9; leases 7:30000:w=1500 8:30000:w=1600 9:30000:v=1700; job a=A b=B c=C",
                call: extend(&[lease(7, 1), lease(8, 1)], 800),
                answer: "extended",
                wakes: SILENT,
                after: "active a=7 b=8 c=9; leases 7:30000:w=1800 8:30000:w=1800 9:30000:v=1700; job a=A b=B c=C",
            },
            Case {
                what: "a lease that ran out and was not reclaimed yet begins anew too",
                before: "active a=7; leases 7:30000:w=999; job a=A",
                call: extend(&[lease(7, 1)], 30_000),
                answer: "extended",
                wakes: SILENT,
                after: "active a=7; leases 7:30000:w=31000; job a=A",
            },
            Case {
                what: "a claim that holds nothing any more is lost and does not come back",
                before: "pending a=0; tries a=1_0_1_0_; job a=A",
                call: extend(&[lease(7, 1)], 30_000),
                answer: "lost 7:30000:w",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "a claim of another owner under the same token is another claim",
                before: "active a=7; leases 7:30000:v=1500; job a=A",
                call: extend(&[lease(7, 1)], 30_000),
                answer: "lost 7:30000:w",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "one is lost, one is not",
                before: "active a=8; leases 8:30000:w=1500; job a=A",
                call: extend(&[lease(7, 1), lease(8, 1)], 30_000),
                answer: "lost 7:30000:w",
                wakes: SILENT,
                after: "active a=8; leases 8:30000:w=31000; job a=A",
            },
        ],
    )
    .await;
}
