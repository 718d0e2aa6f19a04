//! active -> dead.

use super::{Case, SILENT, UNCHANGED, check};
use crate::store::Class;
use crate::tests::call::bury;

#[tokio::test]
async fn a_bury_keeps_row_and_reason() {
    check(
        "bury",
        [
            Case {
                what: "the last failure: the row stays to be looked at, with the reason, and nobody is woken",
                before: "active a=7; leases 7:30000:w=9000; tries a=2_2_0_3_what_was; job a=A",
                call: bury(7, Class::Failed, &[("a", "what is")]),
                answer: "settled",
                wakes: SILENT,
                after: "dead a=1000; tries a=3_3_0_3_what_is; meta dead:failed=1; job a=A",
            },
            Case {
                what: "a row that can not be read",
                before: "active a=7; leases 7:30000:w=9000; meta dead:undecodable=4; job a=\\xff\\xfe",
                call: bury(7, Class::Undecodable, &[("a", "byte 0xff")]),
                answer: "settled",
                wakes: SILENT,
                after: "dead a=1000; tries a=1_1_0_0_byte_0xff; meta dead:undecodable=5; job a=\\xff\\xfe",
            },
            Case {
                what: "no row",
                before: "active a=7; leases 7:30000:w=9000",
                call: bury(7, Class::Gone, &[("a", "gone")]),
                answer: "settled",
                wakes: SILENT,
                after: "dead a=1000; tries a=1_1_0_0_gone; meta dead:gone=1",
            },
            Case {
                what: "part of a claim: the lease stays for the rest",
                before: "active a=7 b=7; leases 7:30000:w=9000; job a=A b=B",
                call: bury(7, Class::Failed, &[("b", "\0")]),
                answer: "settled",
                wakes: SILENT,
                after: "active a=7; leases 7:30000:w=9000; dead b=1000; tries b=1_1_0_0_\\x00; meta dead:failed=1; \
                        job a=A b=B",
            },
        ],
    )
    .await;
}

#[tokio::test]
async fn a_bury_with_a_stale_token_is_refused() {
    check("bury", [
            Case {
                what: "a stale token changes nothing",
                before: "active a=8; leases 8:30000:v=9000; tries a=1_0_1_0_; job a=A",
                call: bury(7, Class::Failed, &[("a", "late")]),
                answer: "lost a",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "a second time: it died once",
                before: "dead a=1000; tries a=1_1_0_0_x; meta dead:failed=1; job a=A",
                call: bury(7, Class::Failed, &[("a", "x")]),
                answer: "lost a",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "one is lost, one is not",
                before: "active a=8 b=7; leases 7:30000:w=9000 8:30000:v=9000; job a=A b=B",
                call: bury(7, Class::Failed, &[("a", "x"), ("b", "y")]),
                answer: "lost a",
                wakes: SILENT,
                after: "active a=8; leases 8:30000:v=9000; dead b=1000; tries b=1_1_0_0_y; meta dead:failed=1; job a=A b=B",
            },
    ]).await;
}
