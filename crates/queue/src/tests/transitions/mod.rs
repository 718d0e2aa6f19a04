//! Each transition by a table: what is stored before, the call, its answer, what is heard on the wake channel, and
//! what is stored after, all on raw keys of a real cluster.
//!
//! The clock stands at 1,000 ms unless a table says otherwise, so that the token of a claim is 1000000.

mod bury;
mod claim;
mod complete;
mod enqueue;
mod extend;
mod memory;
mod meta;
mod promote;
mod readers;
mod reclaim;
mod release;
mod retry;

use super::call::Call;
use super::stage::Stage;
use super::state::State;

/// In place of the state after: not one byte has changed.
const UNCHANGED: &str = "unchanged";
/// No message.
const SILENT: &[&str] = &[];

struct Case {
    /// A sentence.
    what: &'static str,
    before: &'static str,
    call: Call,
    answer: &'static str,
    wakes: &'static [&'static str],
    after: &'static str,
}

async fn check(label: &str, cases: impl IntoIterator<Item = Case>) {
    check_at(1_000, label, cases).await;
}

async fn check_at(now_ms: u64, label: &str, cases: impl IntoIterator<Item = Case>) {
    let stage = Stage::new(label).await;
    stage.set_clock(now_ms);
    let mut ear = stage.ear().await;
    for Case { what, before, call, answer, wakes, after } in cases {
        stage.put(&before.parse().unwrap()).await;
        let stored = stage.dumps().await;
        let said = call.on(&stage.store).await;
        let heard = ear.heard().await;
        let is_heard = heard.as_ref().is_none_or(|heard| heard == wakes);
        let (is, wanted): (State, State) =
            (stage.state().await, if after == UNCHANGED { before } else { after }.parse().unwrap());
        assert!(
            said == answer && is_heard && is == wanted,
            "{what}: {call:?}\nanswer: {said:?}, wanted {answer:?}\nheard:  {heard:?}, wanted {wakes:?}\n\
             before: {before}\nafter:  {is}\nwanted: {wanted}\n"
        );
        if after == UNCHANGED {
            assert_eq!(stage.dumps().await, stored, "{what}: some byte has changed");
        }
    }
    stage.clear().await;
}
