//! What holds after every call, whatever was called. Knows no transition and no model.

use super::call::Call;
use super::state::{Bytes, Scores, State};

/// One call and what it did.
pub(super) struct Step<'s> {
    pub(super) before: &'s State,
    pub(super) call: &'s Call,
    /// The messages on the wake channel, unless some may be missing.
    pub(super) heard: Option<&'s [String]>,
    pub(super) after: &'s State,
    /// How many jobs were added since the queue began.
    pub(super) jobs_added: u64,
}

/// The first law that does not hold.
pub(super) fn broken(step: &Step<'_>) -> Option<&'static str> {
    let wakes = step.heard.map(|heard| wakes(step, heard)).unwrap_or_default();
    let laws = [places(step.after), counters(step), tokens(step), wakes];
    laws.iter().flatten().find(|(_, holds)| !holds).map(|(law, _)| *law)
}

type Laws = Vec<(&'static str, bool)>;

fn places(state: &State) -> Laws {
    let places = [&state.pending, &state.active, &state.schedule, &state.dead];
    let mut ids: Vec<&Bytes> = places.iter().flat_map(|set| set.keys()).collect();
    ids.sort();
    let exact = |score: f64| score.fract() == 0.0 && score.abs() < (1u64 << 53) as f64;
    // The end of a lease that was given one more is at half a millisecond.
    let whole = |set: &str, score: f64| exact(score) || set == "leases" && exact(score - 0.5);
    vec![
        ("a job is in exactly one place", ids.windows(2).all(|pair| pair[0] != pair[1])),
        ("every id has a row and every row an id", ids.iter().copied().eq(state.job.keys())),
        ("tries are of jobs that exist", state.tries.keys().all(|id| state.job.contains_key(id))),
        ("no other key is in the slot", state.foreign.is_empty()),
        (
            "scores are whole and exact",
            state.sets().iter().all(|(name, set)| set.values().all(|&score| whole(name, score))),
        ),
    ]
}

fn counters(Step { before, after, jobs_added, .. }: &Step<'_>) -> Laws {
    let died = ["dead:failed", "dead:undecodable", "dead:gone", "dead:lost"].map(|why| after.number(why));
    let never_falls = |counter: &&str| after.number(counter) >= before.number(counter);
    vec![
        ("what was added is done or there", *jobs_added == after.number("done") + after.job.len() as u64),
        ("what died is in dead", died.iter().sum::<u64>() == after.dead.len() as u64),
        ("no counter falls", ["seq", "done", "retried", "lost"].iter().all(never_falls)),
    ]
}

fn tokens(Step { before, after, .. }: &Step<'_>) -> Laws {
    let mut held: Vec<u64> = after.active.values().map(|token| *token as u64).collect();
    held.sort_unstable();
    held.dedup();
    let mut leased: Vec<u64> = after.leases.keys().map(|entry| token_of(entry)).collect();
    leased.sort_unstable();
    let is_new = |(id, token): &(&Bytes, &f64)| before.active.get(*id) != Some(*token);
    let last = before.number("token");
    vec![
        ("every claim has one lease and every lease a claim", held == leased),
        ("no token is lower than the last", after.number("token") >= last),
        (
            "a claim's token is higher than every one before it",
            after.active.iter().filter(is_new).all(|(_, token)| *token as u64 > last),
        ),
    ]
}

/// A worker that waits for a message must get one when there is something to do sooner than it knew.
fn wakes(Step { before, call, after, .. }: &Step<'_>, heard: &[String]) -> Laws {
    let first = |set: &Scores| set.values().copied().fold(f64::INFINITY, f64::min);
    let is_sooner = first(&after.schedule) < first(&before.schedule);
    let is_new_work = before.pending.is_empty() && !after.pending.is_empty();
    let makes_no_work = matches!(
        call,
        Call::Claim { .. }
            | Call::Complete(..)
            | Call::Bury(..)
            | Call::Extend(..)
            | Call::Bound(_)
            | Call::Pause(_)
    );
    vec![
        ("who waits hears that something waits", !is_new_work || !heard.is_empty()),
        ("who waits hears that something is due sooner", !is_sooner || heard.iter().any(String::is_empty)),
        (
            "nobody is woken where there is nothing to do",
            heard.is_empty() || !makes_no_work && before != after,
        ),
    ]
}

fn token_of(entry: &[u8]) -> u64 {
    String::from_utf8_lossy(entry).split(':').next().unwrap().parse().unwrap()
}
