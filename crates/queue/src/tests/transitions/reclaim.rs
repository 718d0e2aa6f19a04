//! active -> pending | dead.

use super::{Case, SILENT, check_at};
use crate::tests::call::reclaim;

/// The lease that these sweeps go by is 30,000 ms. They come within half of it.
#[tokio::test]
async fn a_sweep_brings_back_what_ran_out() {
    check_at(40_000, "reclaim", [
            Case {
                what: "what ran out goes to the front of pending, counted as lost, with its last error; the rest stays",
                before: "pending x=4; active a=7 b=8; leases 7:30000:w=40000 8:30000:v=40001; tries a=3_2_1_0_why; \
                         meta swept=36000; job a=A b=B x=X",
                call: reclaim(500, 3),
                answer: "reclaimed 1, dead 0",
                wakes: &[""],
                after: "pending a=0 x=4; active b=8; leases 8:30000:v=40001; tries a=4_2_2_0_why; \
                        meta dead:lost=0 gap=0 until=0 lost=1 swept=40000; job a=A b=B x=X",
            },
            Case {
                what: "a job keeps its priority",
                before: "active a=7 b=7; leases 7:30000:w=1; tries a=1_1_0_-1_x; meta swept=36000; job a=A b=B",
                call: reclaim(500, 3),
                answer: "reclaimed 2, dead 0",
                wakes: &[""],
                after: "pending a=-1099511627776 b=0; tries a=2_1_1_-1_x b=1_0_1_0_; \
                        meta dead:lost=0 gap=0 until=0 lost=2 swept=40000; job a=A b=B",
            },
            Case {
                what: "a job that lost so many leases is buried with that reason, and nobody is woken for it",
                before: "active a=7; leases 7:30000:w=1; tries a=2_0_2_0_why; meta swept=36000; job a=A",
                call: reclaim(500, 3),
                answer: "reclaimed 0, dead 1",
                wakes: SILENT,
                after: "dead a=40000; tries a=3_0_3_0_worker_lost_3_times; \
                        meta dead:lost=1 gap=0 until=0 lost=1 swept=40000; job a=A",
            },
            Case {
                what: "both in one step",
                before: "active a=7 b=8; leases 7:30000:w=1 8:30000:v=1; tries a=1_0_1_0_; meta swept=36000; job a=A b=B",
                call: reclaim(500, 2),
                answer: "reclaimed 1, dead 1",
                wakes: &[""],
                after: "pending b=0; dead a=40000; tries a=2_0_2_0_worker_lost_2_times b=1_0_1_0_; \
                        meta dead:lost=1 gap=0 until=0 lost=2 swept=40000; job a=A b=B",
            },
    ]).await;
}

#[tokio::test]
async fn a_sweep_goes_no_further_than_its_step() {
    check_at(
        40_000,
        "reclaim",
        [
            Case {
                what: "no more than the step; the claim's lease stays with the rest of it",
                before: "active a=7 b=7 c=7; leases 7:30000:w=1; meta swept=36000; job a=A b=B c=C",
                call: reclaim(2, 3),
                answer: "reclaimed 2, dead 0",
                wakes: &[""],
                after: "pending a=0 b=0; active c=7; leases 7:30000:w=1; tries a=1_0_1_0_ b=1_0_1_0_; \
                        meta dead:lost=0 gap=0 until=0 lost=2 swept=40000; job a=A b=B c=C",
            },
            Case {
                what: "just the step",
                before: "active a=7 b=7 c=8; leases 7:30000:w=1 8:30000:v=2; meta swept=36000; job a=A b=B c=C",
                call: reclaim(2, 3),
                answer: "reclaimed 2, dead 0",
                wakes: &[""],
                after: "pending a=0 b=0; active c=8; leases 8:30000:v=2; tries a=1_0_1_0_ b=1_0_1_0_; \
                        meta dead:lost=0 gap=0 until=0 lost=2 swept=40000; job a=A b=B c=C",
            },
            Case {
                what: "the step ends within the second claim; its lease stays with the rest of it",
                before: "active a=7 b=8 c=8; leases 7:30000:w=1 8:30000:v=2; meta swept=36000; job a=A b=B c=C",
                call: reclaim(2, 3),
                answer: "reclaimed 2, dead 0",
                wakes: &[""],
                after: "pending a=0 b=0; active c=8; leases 8:30000:v=2; tries a=1_0_1_0_ b=1_0_1_0_; \
                        meta dead:lost=0 gap=0 until=0 lost=2 swept=40000; job a=A b=B c=C",
            },
            Case {
                what: "a lease of a claim that holds nothing goes",
                before: "leases 7:30000:w=1; meta swept=36000",
                call: reclaim(500, 3),
                answer: "reclaimed 0, dead 0",
                wakes: SILENT,
                after: "meta gap=0 until=0 swept=40000",
            },
            Case {
                what: "nothing ran out",
                before: "active a=7; leases 7:30000:w=40001; meta swept=36000; job a=A",
                call: reclaim(500, 3),
                answer: "reclaimed 0, dead 0",
                wakes: SILENT,
                after: "active a=7; leases 7:30000:w=40001; meta gap=0 until=0 swept=40000; job a=A",
            },
        ],
    )
    .await;
}

/// Who could not be heard while nobody swept is not therefore dead.
#[tokio::test]
async fn a_sweep_after_a_gap_gives_one_more_lease() {
    check_at(40_000, "gap", [
            Case {
                what: "the first sweep ever follows a gap since ever",
                before: "active a=7; leases 7:30000:w=1; job a=A",
                call: reclaim(500, 3),
                answer: "reclaimed 0, dead 0, 1 got more time",
                wakes: SILENT,
                after: "active a=7; leases 7:30000:w=70000.5; meta gap=40000 swept=40000 until=40000; job a=A",
            },
            Case {
                what: "a gap of half its lease takes no claim anything",
                before: "active a=7; leases 7:30000:w=1; meta swept=25000; job a=A",
                call: reclaim(500, 3),
                answer: "reclaimed 1, dead 0",
                wakes: &[""],
                after: "pending a=0; tries a=1_0_1_0_; meta dead:lost=0 gap=15000 lost=1 swept=40000 until=40000; job a=A",
            },
            Case {
                what: "one of more than half does",
                before: "active a=7; leases 7:30000:w=1; meta swept=24999; job a=A",
                call: reclaim(500, 3),
                answer: "reclaimed 0, dead 0, 1 got more time",
                wakes: SILENT,
                after: "active a=7; leases 7:30000:w=70000.5; meta gap=15001 swept=40000 until=40000; job a=A",
            },
            Case {
                what: "who was last heard before the gap ended gets more time, though the lease ran out after it",
                before: "active a=7; leases 7:30000:w=40000; meta gap=16000 swept=36000 until=10001; job a=A",
                call: reclaim(500, 3),
                answer: "reclaimed 0, dead 0, 1 got more time",
                wakes: SILENT,
                after: "active a=7; leases 7:30000:w=70000.5; meta gap=16000 swept=40000 until=10001; job a=A",
            },
            Case {
                what: "who was heard since and then no more is reclaimed",
                before: "active a=7; leases 7:30000:w=40000; meta gap=16000 swept=36000 until=10000; job a=A",
                call: reclaim(500, 3),
                answer: "reclaimed 1, dead 0",
                wakes: &[""],
                after: "pending a=0; tries a=1_0_1_0_; \
                        meta dead:lost=0 gap=16000 lost=1 swept=40000 until=10000; job a=A",
            },
    ]).await;
}

#[tokio::test]
async fn each_claim_gets_one_more_lease_of_its_own_and_once() {
    check_at(40_000, "once", [
            Case {
                what: "each claim by its own lease: the gap was over half of one, not of the other",
                before: "active a=7 b=8; leases 7:30000:w=40000 8:60000:w=40000; \
                         meta gap=16000 swept=36000 until=35000; job a=A b=B",
                call: reclaim(500, 3),
                answer: "reclaimed 1, dead 0, 1 got more time",
                wakes: &[""],
                after: "pending b=0; active a=7; leases 7:30000:w=70000.5; tries b=1_0_1_0_; \
                        meta dead:lost=0 gap=16000 lost=1 swept=40000 until=35000; job a=A b=B",
            },
            Case {
                what: "who got one more lease and was not heard since gets no other, whatever the gaps",
                before: "active a=7; leases 7:30000:w=39999.5; meta gap=16000 swept=20000 until=20000; job a=A",
                call: reclaim(500, 3),
                answer: "reclaimed 1, dead 0",
                wakes: &[""],
                after: "pending a=0; tries a=1_0_1_0_; \
                        meta dead:lost=0 gap=20000 lost=1 swept=40000 until=40000; job a=A",
            },
            Case {
                what: "a clock that was set back ends the gap",
                before: "active a=7; leases 7:30000:w=1; meta gap=16000 swept=36000 until=50000; job a=A",
                call: reclaim(500, 3),
                answer: "reclaimed 1, dead 0",
                wakes: &[""],
                after: "pending a=0; tries a=1_0_1_0_; meta dead:lost=0 gap=0 lost=1 swept=40000 until=50000; job a=A",
            },
            Case {
                what: "an entry that is none of ours keeps nothing from being reclaimed",
                before: "active a=7; leases 7:30000:w=1 x=1; meta swept=36000; job a=A",
                call: reclaim(500, 3),
                answer: "reclaimed 1, dead 0",
                wakes: &[""],
                after: "pending a=0; tries a=1_0_1_0_; meta dead:lost=0 gap=0 lost=1 swept=40000 until=0; job a=A",
            },
    ]).await;
}
