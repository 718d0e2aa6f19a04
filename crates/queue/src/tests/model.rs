//! What each transition does, said once more in Rust: the stored state before a call, and after it with the answer.

use echomq_keyspace::JobId;

use super::call::{Call, added, claimed, extended, promoted, reclaimed, settled, yes};
use super::state::{Bytes, State, ranked};
use crate::store::{Added, Claimed, Class, Due, Lease, Promoted, Reclaimed, Row};
use crate::tries::Tries;

/// Up to so many jobs and bytes each job of an enqueue gets a rank of its own; beyond, ids that ascend share one.
const SMALL: (usize, usize) = (8, 8 * 1024);
/// A job that comes back is ranked by its priority alone, before all that were added.
const PRIORITY: f64 = (1u64 << 40) as f64;

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) state: State,
}

impl Model {
    /// Carries the call out at this time and says what it answers.
    pub(super) fn on(&mut self, now_ms: u64, call: &Call) -> String {
        match call {
            Call::Enqueue(rows) => added(self.enqueue(now_ms, rows)),
            Call::Claim { most, lease_ms, owner } => claimed(self.claim(now_ms, *most, *lease_ms, owner)),
            Call::Complete(lease, ids) => self.complete(lease, ids),
            Call::Retry(lease, jobs) => self.retry(now_ms, lease, jobs),
            Call::Bury(lease, class, jobs) => self.bury(now_ms, lease, *class, jobs),
            Call::Release(lease, ids) => self.release(lease, ids),
            Call::Extend(leases, lease_ms) => self.extend(now_ms, leases, *lease_ms),
            Call::Promote(most) => promoted(self.promote(now_ms, *most)),
            Call::Reclaim { most, lost_limit, lease_ms } => {
                reclaimed(self.reclaim(now_ms, *most, *lost_limit, *lease_ms))
            }
            Call::Pause(who) => yes("paused", self.pause(now_ms, who)),
            Call::Resume => yes("resumed", self.state.meta.remove(&b"paused"[..]).is_some()),
            Call::Bound(most) => {
                match most {
                    Some(most) => drop(self.state.meta.insert(b"limit".to_vec(), most.to_string().into())),
                    None => drop(self.state.meta.remove(&b"limit"[..])),
                }
                yes("bound", true)
            }
        }
    }

    fn enqueue(&mut self, now_ms: u64, rows: &[Row]) -> Added {
        let state = &mut self.state;
        let is_bounded = state.meta.contains_key(&b"limit"[..]);
        if is_bounded && (state.pending.len() + rows.len()) as u64 > state.number("limit") {
            return Added::Full;
        }
        if rows.iter().any(|row| state.job.contains_key(row.id.as_bytes())) {
            return Added::Taken;
        }
        let ready: Vec<&Row> = rows.iter().filter(|row| row.due == Due::Now).collect();
        let is_small =
            rows.len() <= SMALL.0 && rows.iter().map(|row| row.body.len()).sum::<usize>() <= SMALL.1;
        let share = !is_small && ready.is_sorted_by(|a, b| a.id < b.id);
        let ranks = if share { ready.len().min(1) } else { ready.len() };
        let seq = state.number("seq");
        for (at, row) in ready.iter().enumerate() {
            let rank = seq + 1 + if share { 0 } else { at as u64 };
            state.pending.insert(row.id.as_bytes().to_vec(), rank as f64);
        }
        if ranks > 0 {
            state.count("seq", ranks as u64);
        }
        for row in rows {
            let due = match row.due {
                Due::Now => None,
                Due::InMs(ms) => Some(now_ms + ms),
                Due::AtMs(ms) => Some(ms),
            };
            if let Some(due) = due {
                state.schedule.insert(row.id.as_bytes().to_vec(), due as f64);
            }
            state.job.insert(row.id.as_bytes().to_vec(), row.body.clone());
        }
        Added::All
    }

    fn claim(&mut self, now_ms: u64, most: usize, lease_ms: u64, owner: &str) -> Claimed {
        let state = &mut self.state;
        if state.meta.contains_key(&b"paused"[..]) {
            return Claimed::Paused;
        }
        let first: Vec<Bytes> =
            ranked(&state.pending).into_iter().take(most).map(|(id, _)| id.clone()).collect();
        if first.is_empty() {
            return Claimed::Empty;
        }
        let token = (now_ms * 1_000).max(state.number("token") + 1);
        state.meta.insert(b"token".to_vec(), token.to_string().into());
        let lease = Lease { token, lease_ms, owner: owner.to_owned(), jobs: first.len() };
        state.leases.insert(entry(&lease), (now_ms + lease_ms) as f64);
        let mut jobs = Vec::new();
        for id in first {
            self.state.pending.remove(&id);
            jobs.push((JobId::parse(&id).unwrap(), self.tries(&id)));
            self.state.active.insert(id, token as f64);
        }
        Claimed::Jobs { lease, jobs }
    }

    fn complete(&mut self, lease: &Lease, ids: &[JobId]) -> String {
        let (held, lost) = self.let_go(lease, ids);
        for id in &held {
            self.state.job.remove(id.as_bytes());
            self.state.tries.remove(id.as_bytes());
        }
        self.counted("done", held.len());
        settled(lost)
    }

    fn retry(&mut self, now_ms: u64, lease: &Lease, jobs: &[(JobId, u64, String)]) -> String {
        let ids: Vec<JobId> = jobs.iter().map(|(id, ..)| id.clone()).collect();
        let (held, lost) = self.let_go(lease, &ids);
        for (id, delay_ms, error) in jobs.iter().filter(|(id, ..)| held.contains(id)) {
            let due = (now_ms + delay_ms) as f64;
            self.state.schedule.insert(id.as_bytes().to_vec(), due);
            self.failed(id, error);
        }
        self.counted("retried", held.len());
        settled(lost)
    }

    fn bury(&mut self, now_ms: u64, lease: &Lease, class: Class, jobs: &[(JobId, String)]) -> String {
        let ids: Vec<JobId> = jobs.iter().map(|(id, _)| id.clone()).collect();
        let (held, lost) = self.let_go(lease, &ids);
        for (id, reason) in jobs.iter().filter(|(id, _)| held.contains(id)) {
            self.state.dead.insert(id.as_bytes().to_vec(), now_ms as f64);
            self.failed(id, reason);
        }
        let field = match class {
            Class::Failed => "dead:failed",
            Class::Undecodable => "dead:undecodable",
            Class::Gone => "dead:gone",
        };
        self.counted(field, held.len());
        settled(lost)
    }

    fn release(&mut self, lease: &Lease, ids: &[JobId]) -> String {
        let (held, lost) = self.let_go(lease, ids);
        for id in &held {
            let rank = f64::from(self.tries(id.as_bytes()).priority) * PRIORITY;
            self.state.pending.insert(id.as_bytes().to_vec(), rank);
        }
        settled(lost)
    }

    fn extend(&mut self, now_ms: u64, leases: &[Lease], lease_ms: u64) -> String {
        let (held, lost): (Vec<_>, Vec<_>) =
            leases.iter().cloned().partition(|lease| self.state.leases.contains_key(&entry(lease)));
        for lease in &held {
            self.state.leases.insert(entry(lease), (now_ms + lease_ms) as f64);
        }
        extended(lost)
    }

    fn promote(&mut self, now_ms: u64, most: usize) -> Promoted {
        let order: Vec<(Bytes, f64)> =
            ranked(&self.state.schedule).into_iter().map(|(id, due)| (id.clone(), due)).collect();
        let due = order.iter().take(most).take_while(|(_, due)| *due <= now_ms as f64).count();
        let next = order.get(due).map(|(_, due)| (*due as u64).saturating_sub(now_ms));
        let seq = self.state.number("seq");
        for (at, (id, _)) in order[..due].iter().enumerate() {
            let rank = f64::from(self.tries(id).priority) * PRIORITY + (seq + 1 + at as u64) as f64;
            self.state.schedule.remove(id);
            self.state.pending.insert(id.clone(), rank);
        }
        self.counted("seq", due);
        Promoted { jobs: due as u64, next_in_ms: next }
    }

    fn reclaim(&mut self, now_ms: u64, most: usize, lost_limit: u32, lease_ms: u64) -> Reclaimed {
        let since = now_ms.saturating_sub(self.state.number("swept"));
        let (mut gap, mut until) = (self.state.number("gap"), self.state.number("until"));
        if 4 * since > lease_ms {
            (gap, until) = (since, now_ms);
        }
        if until > now_ms {
            gap = 0;
        }
        for (field, ms) in [("swept", now_ms), ("gap", gap), ("until", until)] {
            self.state.meta.insert(field.into(), ms.to_string().into());
        }
        let (mut back, mut dead, mut extended) = (0, 0, 0);
        let ended = ranked(&self.state.leases).into_iter().take_while(|(_, end)| *end <= now_ms as f64);
        let ended: Vec<(Lease, f64)> =
            ended.take(most).map(|(member, end)| (read_entry(member), end)).collect();
        for (lease, end) in ended {
            let was_heard_since = end >= (until + lease.lease_ms) as f64;
            if !was_heard_since && 2 * gap > lease.lease_ms && end.fract() == 0.0 {
                self.state.leases.insert(entry(&lease), (now_ms + lease.lease_ms) as f64 + 0.5);
                extended += 1;
                continue;
            }
            let mut held = self.held(&lease);
            held.truncate(most - back - dead);
            self.let_go(&lease, &held);
            for id in held {
                self.lose(now_ms, &id, lost_limit, &mut back, &mut dead);
            }
            if back + dead == most {
                break;
            }
        }
        if back + dead > 0 {
            self.state.count("lost", (back + dead) as u64);
            self.state.count("dead:lost", dead as u64);
        }
        Reclaimed { back: back as u64, dead: dead as u64, extended }
    }

    fn lose(&mut self, now_ms: u64, id: &JobId, lost_limit: u32, back: &mut usize, dead: &mut usize) {
        let mut tries = self.tries(id.as_bytes());
        tries.claims += 1;
        tries.lost += 1;
        if tries.lost >= lost_limit {
            tries.error = format!("worker lost {} times", tries.lost).into_bytes();
            self.state.dead.insert(id.as_bytes().to_vec(), now_ms as f64);
            *dead += 1;
        } else {
            self.state.pending.insert(id.as_bytes().to_vec(), f64::from(tries.priority) * PRIORITY);
            *back += 1;
        }
        self.set_tries(id, &tries);
    }

    fn pause(&mut self, now_ms: u64, who: &str) -> bool {
        let is_new = !self.state.meta.contains_key(&b"paused"[..]);
        if is_new {
            self.state.meta.insert(b"paused".to_vec(), format!("{now_ms} {who}").into());
        }
        is_new
    }

    /// The jobs of a claim that are still its own, by their bytes.
    fn held(&self, lease: &Lease) -> Vec<JobId> {
        let held = self.state.active.iter().filter(|(_, token)| **token == lease.token as f64);
        held.map(|(id, _)| JobId::parse(id).unwrap()).collect()
    }

    /// Takes from the claim those of the ids that are its own; the claim ends with its last job.
    fn let_go(&mut self, lease: &Lease, ids: &[JobId]) -> (Vec<JobId>, Vec<JobId>) {
        let own = self.held(lease);
        let (held, lost): (Vec<_>, Vec<_>) = ids.iter().cloned().partition(|id| own.contains(id));
        self.state.active.retain(|id, _| !held.iter().any(|held| held.as_bytes() == id));
        if held.len() == own.len() {
            self.state.leases.remove(&entry(lease));
        }
        (held, lost)
    }

    fn failed(&mut self, id: &JobId, error: &str) {
        let mut tries = self.tries(id.as_bytes());
        tries.claims += 1;
        tries.failures += 1;
        tries.error = error.into();
        self.set_tries(id, &tries);
    }

    fn tries(&self, id: &[u8]) -> Tries {
        self.state.tries.get(id).map(|text| Tries::parse(text).unwrap()).unwrap_or_default()
    }

    fn set_tries(&mut self, id: &JobId, tries: &Tries) {
        let Tries { claims, failures, lost, priority, error } = tries;
        let mut text = format!("{claims} {failures} {lost} {priority} ").into_bytes();
        text.extend(error);
        self.state.tries.insert(id.as_bytes().to_vec(), text);
    }

    fn counted(&mut self, field: &str, jobs: usize) {
        if jobs > 0 {
            self.state.count(field, jobs as u64);
        }
    }
}

fn entry(lease: &Lease) -> Bytes {
    lease.entry().into_bytes()
}

fn read_entry(member: &[u8]) -> Lease {
    let text = String::from_utf8_lossy(member);
    let mut fields = text.splitn(3, ':');
    let mut number = || fields.next().unwrap().parse().unwrap();
    let (token, lease_ms) = (number(), number());
    Lease { token, lease_ms, owner: fields.next().unwrap().to_owned(), jobs: 0 }
}
