//! One task's own counter, and what its replies say about the client.

use serde::Serialize;

/// How far apart the counters begin: no task has so many increments, so a reply tells whose it is.
const APART: i64 = 1_000_000;

/// The increments of one task on a key that nobody else touches.
///
/// Each reply must be the next number of this key. After a command whose fate is unknown there are two such numbers.
#[derive(Debug)]
pub(crate) struct Counter {
    base: i64,
    last: i64,
    /// Sent since `last`, fate unknown.
    open: i64,
    tally: Tally,
}

/// What became of increments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Tally {
    pub(crate) sent: i64,
    /// Answered with the next number of the task's own key.
    pub(crate) ok: i64,
    pub(crate) errors: i64,
    pub(crate) hung: i64,
    /// Answered as a success with a number that can not be of the task's key.
    pub(crate) foreign: i64,
    /// Answered with a number of the task's key that is not the next one.
    pub(crate) out_of_turn: i64,
    /// Acknowledged, but not in the key at the end.
    pub(crate) lost: i64,
    /// In the key at the end beyond all that was sent.
    pub(crate) doubled: i64,
}

/// What came back for one increment.
#[derive(Debug)]
pub(crate) enum Reply {
    Number(i64),
    Error,
    Hung,
}

impl Counter {
    /// The counter of task `i`.
    pub(crate) fn of_task(i: usize) -> Counter {
        let base = APART * (i as i64 + 1);
        Counter { base, last: base, open: 0, tally: Tally::default() }
    }

    /// What the key must hold before the first increment.
    pub(crate) fn base(&self) -> i64 {
        self.base
    }

    pub(crate) fn take(&mut self, reply: Reply) {
        self.tally.sent += 1;
        let Reply::Number(n) = reply else {
            self.open += 1;
            match reply {
                Reply::Hung => self.tally.hung += 1,
                _ => self.tally.errors += 1,
            }
            return;
        };
        if !(self.base..self.base + APART).contains(&n) {
            self.tally.foreign += 1;
            self.open += 1;
        } else if n > self.last && n <= self.last + 1 + self.open {
            self.tally.ok += 1;
            (self.last, self.open) = (n, 0);
        } else {
            self.tally.out_of_turn += 1;
            (self.last, self.open) = (self.last.max(n), 0);
        }
    }

    /// Holds the replies against what the key has at the end.
    pub(crate) fn close(mut self, at_the_end: i64) -> Tally {
        let happened = at_the_end - self.base;
        self.tally.lost = (self.tally.ok - happened).max(0);
        self.tally.doubled = (happened - self.tally.sent).max(0);
        self.tally
    }
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(tallies: I) -> Tally {
        tallies.fold(Tally::default(), |a, b| Tally {
            sent: a.sent + b.sent,
            ok: a.ok + b.ok,
            errors: a.errors + b.errors,
            hung: a.hung + b.hung,
            foreign: a.foreign + b.foreign,
            out_of_turn: a.out_of_turn + b.out_of_turn,
            lost: a.lost + b.lost,
            doubled: a.doubled + b.doubled,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(task: usize, replies: &[i64], at_the_end: i64) -> Tally {
        let mut counter = Counter::of_task(task);
        let base = counter.base();
        for n in replies {
            counter.take(Reply::Number(base + n));
        }
        counter.close(base + at_the_end)
    }

    #[test]
    fn replies_in_turn_are_all_well() {
        assert_eq!(told(0, &[1, 2, 3], 3), Tally { sent: 3, ok: 3, ..Tally::default() });
    }

    #[test]
    fn the_reply_of_another_task_is_foreign_wherever_both_stand() {
        let mut mine = Counter::of_task(3);
        mine.take(Reply::Number(Counter::of_task(4).base() + 1));
        assert_eq!(mine.close(4 * APART + 1), Tally { sent: 1, foreign: 1, ..Tally::default() });
    }

    #[test]
    fn an_acknowledged_increment_that_is_not_there_is_lost() {
        assert_eq!(told(0, &[1, 2, 3], 2).lost, 1);
    }

    #[test]
    fn an_increment_that_ran_twice_is_out_of_turn_and_doubled() {
        let tally = told(0, &[1, 3], 3);
        assert_eq!((tally.ok, tally.out_of_turn, tally.doubled), (1, 1, 1));
    }

    #[test]
    fn after_an_error_either_number_is_in_turn() {
        for next in [1, 2] {
            let mut counter = Counter::of_task(0);
            counter.take(Reply::Error);
            counter.take(Reply::Number(counter.base() + next));
            let tally = counter.close(APART + next);
            assert_eq!((tally.ok, tally.errors, tally.out_of_turn, tally.doubled), (1, 1, 0, 0));
        }
    }
}
