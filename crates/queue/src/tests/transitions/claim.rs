//! pending -> active.

use super::{Case, SILENT, UNCHANGED, check, check_at};
use crate::store::Due;
use crate::tests::call::{Call, claim, row};
use crate::tests::stage::Stage;

#[tokio::test]
async fn a_claim_takes_the_first_under_one_token_and_one_lease() {
    check(
        "claim",
        [
            Case {
                what: "the first by rank, then by id, under one token and one lease",
                before: "pending c=1 b=2 a=2 d=3; meta seq=3; job a=A b=B c=C d=D",
                call: claim(3),
                answer: "claimed 1000000: c a b",
                wakes: SILENT,
                after: "pending d=3; active a=1000000 b=1000000 c=1000000; leases 1000000:30000:w=31000; \
                        meta seq=3 token=1000000; job a=A b=B c=C d=D",
            },
            Case {
                what: "fewer than wanted are no fault",
                before: "pending a=1; meta seq=1; job a=A",
                call: claim(10),
                answer: "claimed 1000000: a",
                wakes: SILENT,
                after: "active a=1000000; leases 1000000:30000:w=31000; meta seq=1 token=1000000; job a=A",
            },
            Case {
                what: "a clock behind the last token: the token is one more, the lease is by the clock",
                before: "pending a=1; meta seq=1 token=5000000; job a=A",
                call: claim(1),
                answer: "claimed 5000001: a",
                wakes: SILENT,
                after: "active a=5000001; leases 5000001:30000:w=31000; meta seq=1 token=5000001; job a=A",
            },
            Case {
                what: "a clock at the last token: the token is one more",
                before: "pending a=1; meta token=1000000; job a=A",
                call: claim(1),
                answer: "claimed 1000001: a",
                wakes: SILENT,
                after: "active a=1000001; leases 1000001:30000:w=31000; meta token=1000001; job a=A",
            },
            Case {
                what: "a lease below a second stays in milliseconds, an owner may be called anything",
                before: "pending a=1; job a=A",
                call: Call::Claim { most: 1, lease_ms: 801, owner: "host:1 \u{e9}".to_owned() },
                answer: "claimed 1000000: a",
                wakes: SILENT,
                after: "active a=1000000; leases 1000000:801:host:1_\\xc3\\xa9=1801; meta token=1000000; job a=A",
            },
        ],
    )
    .await;
}

#[tokio::test]
async fn a_claim_takes_what_there_is_to_take() {
    check("claim", [
            Case {
                what: "what a job has behind it comes along, that of others does not",
                before: "pending a=1 b=2; dead c=5; tries b=2_1_1_-3_no\\x0aluck_ c=1_1_0_0_x; job a=A b=B c=C",
                call: claim(2),
                answer: "claimed 1000000: a b(2 1 1 -3 no\\x0aluck_)",
                wakes: SILENT,
                after: "active a=1000000 b=1000000; leases 1000000:30000:w=31000; dead c=5; \
                        tries b=2_1_1_-3_no\\x0aluck_ c=1_1_0_0_x; meta token=1000000; job a=A b=B c=C",
            },
            Case {
                what: "no number of jobs is no job; one is the least",
                before: "pending a=1 b=2; job a=A b=B",
                call: claim(0),
                answer: "claimed 1000000: a",
                wakes: SILENT,
                after: "pending b=2; active a=1000000; leases 1000000:30000:w=31000; meta token=1000000; job a=A b=B",
            },
            Case {
                what: "an id without its row is claimed: whoever fetches the row finds out",
                before: "pending a=1",
                call: claim(1),
                answer: "claimed 1000000: a",
                wakes: SILENT,
                after: "active a=1000000; leases 1000000:30000:w=31000; meta token=1000000",
            },
            Case {
                what: "nothing waits",
                before: "schedule a=1; meta seq=3 token=7; job a=A",
                call: claim(5),
                answer: "empty",
                wakes: SILENT,
                after: UNCHANGED,
            },
            Case {
                what: "a paused queue hands out nothing",
                before: "pending a=1; meta paused=900_me seq=1; job a=A",
                call: claim(5),
                answer: "paused",
                wakes: SILENT,
                after: UNCHANGED,
            },
    ]).await;
}

#[tokio::test]
async fn todays_tokens_and_deadlines_are_exact_be_they_round_or_not() {
    check_at(
        1_800_000_000_000,
        "claim-today",
        [Case {
            what: "a round token, a round deadline",
            before: "pending a=1; meta token=1799999999999999; job a=A",
            call: claim(1),
            answer: "claimed 1800000000000000: a",
            wakes: SILENT,
            after: "active a=1800000000000000; leases 1800000000000000:30000:w=1800000030000; \
                        meta token=1800000000000000; job a=A",
        }],
    )
    .await;
}

#[tokio::test]
async fn no_claim_takes_more_than_a_thousand() {
    let stage = Stage::new("claim-most").await;
    for half in ["a", "b"] {
        let rows = (0..600).map(|n| row(&format!("{half}-{n:03}"), Due::Now, "x")).collect();
        assert_eq!(Call::Enqueue(rows).on(&stage.store).await, "added");
    }
    claim(usize::MAX).on(&stage.store).await;
    let state = stage.state().await;
    assert_eq!((state.active.len(), state.pending.len()), (1_000, 200));
    stage.clear().await;
}
