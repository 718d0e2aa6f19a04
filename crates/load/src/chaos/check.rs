//! Holds what the clients were told against what the servers have. Pure: no server here.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::iter::Sum;
use std::ops::AddAssign;

use super::{Event, Fate, Token, Workload};

/// What one workload left at one entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The lists that each write appends its token to, all in one step: they must be the same.
    pub lists: Vec<Vec<Token>>,
    /// The keys that each write sets to its token, in that same step: they must hold the last one listed.
    pub marks: Vec<Option<Token>>,
    /// The two balances between which each write moves its amount; `None` where the workload has none.
    pub balances: Option<[i64; 2]>,
}

/// All pages of one stretch of a run.
pub type Pages = BTreeMap<(Workload, u16), Page>;

/// What became of the writes of one workload. `attempted = acknowledged + unknown + refused`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Writes that were begun.
    pub attempted: u64,
    /// Those whose client was told that it has happened.
    pub acknowledged: u64,
    /// Of those, the ones that a replica was said to have as well.
    pub replicated: u64,
    /// Those that may have happened.
    pub unknown: u64,
    /// Those that have certainly not happened.
    pub refused: u64,
    /// Acknowledged writes that are not there.
    pub lost: u64,
    /// Of those, the ones that a replica was said to have: never allowed.
    pub lost_replicated: u64,
    /// Writes that are there more than once: never allowed.
    pub doubled: u64,
    /// Writes that are there though they were refused, or that nobody began: never allowed.
    pub foreign: u64,
    /// Writes of which a part is there and a part is not: never allowed.
    pub half_applied: u64,
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.attempted += other.attempted;
        self.acknowledged += other.acknowledged;
        self.replicated += other.replicated;
        self.unknown += other.unknown;
        self.refused += other.refused;
        self.lost += other.lost;
        self.lost_replicated += other.lost_replicated;
        self.doubled += other.doubled;
        self.foreign += other.foreign;
        self.half_applied += other.half_applied;
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Count>>(counts: I) -> Count {
        let mut sum = Count::default();
        counts.for_each(|count| sum += count);
        sum
    }
}

/// What is wrong with a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// Acknowledged, and not there.
    Lost,
    /// There more than once.
    Doubled,
    /// There though it was refused, or though nobody began it.
    Foreign,
    /// A part is there and a part is not.
    HalfApplied,
}

/// A write with which something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub wrong: Wrong,
    /// Where.
    pub place: (Workload, u16),
    /// What was found there.
    pub found: String,
    /// The write, as its client saw it; `None` if nobody began it, or if it is not one write that is at fault.
    pub event: Option<Event>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (workload, entity) = self.place;
        write!(f, "{:?}: {} of entity {entity}: {}", self.wrong, workload.name(), self.found)?;
        self.event.iter().try_for_each(|event| write!(f, " ({event})"))
    }
}

/// What a check came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Each workload.
    pub counts: BTreeMap<Workload, Count>,
    /// Every write with which something is wrong.
    pub findings: Vec<Finding>,
}

/// Holds a whole history against the pages that it must have left.
pub fn check(history: &[Event], pages: &Pages) -> Verdict {
    let mut verdict = Verdict::default();
    let mut asked: HashMap<(Workload, u16), HashMap<Token, &Event>> = HashMap::new();
    for event in history {
        verdict.count(event);
        asked.entry((event.workload, event.entity)).or_default().insert(event.token, event);
    }
    let nothing = HashMap::new();
    for (place, page) in pages {
        let asked = asked.remove(place).unwrap_or_else(|| nothing.clone());
        verdict.judge_writes(*place, page, &asked);
        verdict.judge_whole(*place, page);
    }
    // Where there is no page at all, all that was promised is lost.
    for (place, asked) in asked {
        verdict.judge_writes(place, &Page::default(), &asked);
    }
    verdict
}

impl Verdict {
    fn count(&mut self, event: &Event) {
        let count = self.counts.entry(event.workload).or_default();
        count.attempted += 1;
        count.acknowledged += u64::from(event.fate.is_promised());
        count.replicated += u64::from(event.fate == Fate::Replicated);
        count.unknown += u64::from(event.fate == Fate::Unknown);
        count.refused += u64::from(event.fate == Fate::Refused);
    }

    fn add(&mut self, wrong: Wrong, place: (Workload, u16), found: String, event: Option<&Event>) {
        let count = self.counts.entry(place.0).or_default();
        match wrong {
            Wrong::Lost => {
                count.lost += 1;
                count.lost_replicated += u64::from(event.is_some_and(|event| event.fate == Fate::Replicated));
            }
            Wrong::Doubled => count.doubled += 1,
            Wrong::Foreign => count.foreign += 1,
            Wrong::HalfApplied => count.half_applied += 1,
        }
        self.findings.push(Finding { wrong, place, found, event: event.cloned() });
    }

    /// Each write by itself: is it where it must be, as often as it must be?
    fn judge_writes(&mut self, place: (Workload, u16), page: &Page, asked: &HashMap<Token, &Event>) {
        let times = times(&page.lists);
        for (token, times) in &times {
            let event = asked.get(token).copied();
            let (least, most) = (times.iter().min().copied().unwrap_or(0), times.iter().max().copied());
            if least != most.unwrap_or(0) {
                let found = format!("{token} is in its lists {times:?} times");
                self.add(Wrong::HalfApplied, place, found, event);
            }
            if most > Some(1) {
                self.add(Wrong::Doubled, place, format!("{token} is there {times:?} times"), event);
            }
            if event.is_none_or(|event| event.fate == Fate::Refused) {
                self.add(Wrong::Foreign, place, format!("{token} is there"), event);
            }
        }
        let promised = asked.values().filter(|event| event.fate.is_promised());
        for event in promised.filter(|event| !times.contains_key(&event.token)) {
            self.add(Wrong::Lost, place, format!("{} is not there", event.token), Some(event));
        }
    }

    /// The page as a whole: do its keys tell the same story?
    fn judge_whole(&mut self, place: (Workload, u16), page: &Page) {
        let first = page.lists.first().map(Vec::as_slice).unwrap_or_default();
        let same_writes = |list: &&Vec<Token>| sorted(list) == sorted(first);
        if let Some(other) = page.lists.iter().filter(same_writes).find(|list| *list != first) {
            let at = first.iter().zip(other).position(|(one, two)| one != two).unwrap_or_default();
            self.add(
                Wrong::HalfApplied,
                place,
                format!("its lists differ in order from place {at} on"),
                None,
            );
        }
        let last = first.last().copied();
        if let Some(mark) = page.marks.iter().find(|mark| **mark != last) {
            let found = format!("a mark is {mark:?} where the last write listed is {last:?}");
            self.add(Wrong::HalfApplied, place, found, None);
        }
        let moved: i64 = first.iter().map(|token| token.amount()).sum();
        if let Some([from, to]) = page.balances.filter(|balances| *balances != [-moved, moved]) {
            let found = format!("its balances are {from} and {to}, and what is listed moved {moved}");
            self.add(Wrong::HalfApplied, place, found, None);
        }
    }
}

/// How often each token stands in each list.
fn times(lists: &[Vec<Token>]) -> BTreeMap<Token, Vec<usize>> {
    let mut times: BTreeMap<Token, Vec<usize>> = BTreeMap::new();
    for (i, list) in lists.iter().enumerate() {
        for token in list {
            times.entry(*token).or_insert_with(|| vec![0; lists.len()])[i] += 1;
        }
    }
    times
}

fn sorted(list: &[Token]) -> Vec<Token> {
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    sorted
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const ENTITY: u16 = 7;

    fn token(n: u32) -> Token {
        Token::new(3, n)
    }

    fn tokens(ns: &[u32]) -> Vec<Token> {
        ns.iter().map(|n| token(*n)).collect()
    }

    fn event(workload: Workload, n: u32, fate: Fate) -> Event {
        let (invoked, told) = (Duration::from_millis(1), Duration::from_millis(2));
        Event { workload, entity: ENTITY, token: token(n), fate, invoked, told }
    }

    fn pages(workload: Workload, page: Page) -> Pages {
        Pages::from([((workload, ENTITY), page)])
    }

    fn single(ns: &[u32]) -> Pages {
        pages(Workload::Single, Page { lists: vec![tokens(ns)], ..Page::default() })
    }

    fn double(first: &[u32], second: &[u32], marks: [Option<u32>; 2]) -> Pages {
        let marks = marks.map(|mark| mark.map(token)).to_vec();
        let page = Page { lists: vec![tokens(first), tokens(second)], marks, balances: None };
        pages(Workload::Transaction, page)
    }

    fn transfers(ns: &[u32], balances: [i64; 2]) -> Pages {
        let page = Page { lists: vec![tokens(ns)], marks: Vec::new(), balances: Some(balances) };
        pages(Workload::Watch, page)
    }

    fn wrongs(verdict: &Verdict) -> Vec<Wrong> {
        verdict.findings.iter().map(|finding| finding.wrong).collect()
    }

    #[test]
    fn a_history_that_is_all_there_has_no_finding_and_adds_up() {
        use Workload::{Replicated, Single, Transaction, Watch};
        let moved = token(5).amount() + token(6).amount();
        let mut all = single(&[0, 3]);
        all.extend(pages(Replicated, Page { lists: vec![tokens(&[4])], ..Page::default() }));
        all.extend(double(&[7, 8], &[7, 8], [Some(8), Some(8)]));
        all.extend(transfers(&[5, 6], [-moved, moved]));
        let history = [
            event(Single, 0, Fate::Acknowledged),
            event(Single, 1, Fate::Unknown),
            event(Single, 2, Fate::Refused),
            event(Single, 3, Fate::Unknown),
            event(Replicated, 4, Fate::Replicated),
            event(Watch, 5, Fate::Acknowledged),
            event(Watch, 6, Fate::Unknown),
            event(Transaction, 7, Fate::Acknowledged),
            event(Transaction, 8, Fate::Acknowledged),
        ];
        let verdict = check(&history, &all);
        assert_eq!(verdict.findings, []);
        let expected = Count { attempted: 4, acknowledged: 1, unknown: 2, refused: 1, ..Count::default() };
        assert_eq!(verdict.counts[&Single], expected);
        let sum: Count = verdict.counts.values().copied().sum();
        assert_eq!((sum.attempted, sum.acknowledged, sum.replicated), (9, 5, 1));
        assert_eq!(sum.attempted, sum.acknowledged + sum.unknown + sum.refused);
    }

    #[test]
    fn an_acknowledged_write_that_is_not_there_is_lost() {
        let history =
            [event(Workload::Single, 1, Fate::Acknowledged), event(Workload::Single, 2, Fate::Unknown)];
        let verdict = check(&history, &single(&[2]));
        assert_eq!(wrongs(&verdict), [Wrong::Lost]);
        let count = verdict.counts[&Workload::Single];
        assert_eq!((count.lost, count.lost_replicated), (1, 0));
        let text = verdict.findings[0].to_string();
        assert!(text.contains("single") && text.contains(&token(1).to_string()), "{text}");
        assert!(text.contains("invoked 0.001 s, Acknowledged 0.002 s"), "{text}");
    }

    #[test]
    fn an_entity_that_vanished_has_lost_everything() {
        let history = [event(Workload::Single, 1, Fate::Acknowledged)];
        assert_eq!(wrongs(&check(&history, &Pages::new())), [Wrong::Lost]);
    }

    #[test]
    fn a_lost_write_that_a_replica_had_is_counted_apart() {
        let history = [event(Workload::Replicated, 1, Fate::Replicated)];
        let empty = pages(Workload::Replicated, Page { lists: vec![Vec::new()], ..Page::default() });
        let count = check(&history, &empty).counts[&Workload::Replicated];
        assert_eq!((count.lost, count.lost_replicated), (1, 1));
    }

    #[test]
    fn a_write_that_is_there_twice_is_doubled_whatever_its_client_was_told() {
        for fate in [Fate::Acknowledged, Fate::Replicated, Fate::Unknown] {
            let verdict = check(&[event(Workload::Single, 1, fate)], &single(&[1, 1]));
            assert_eq!(wrongs(&verdict), [Wrong::Doubled], "{fate:?}");
        }
        let history = [event(Workload::Transaction, 1, Fate::Acknowledged)];
        let verdict = check(&history, &double(&[1, 1], &[1, 1], [Some(1), Some(1)]));
        assert_eq!(wrongs(&verdict), [Wrong::Doubled]);
    }

    #[test]
    fn a_refused_write_that_is_there_is_foreign_and_so_is_one_that_nobody_began() {
        let verdict = check(&[event(Workload::Single, 1, Fate::Refused)], &single(&[1, 2]));
        assert_eq!(wrongs(&verdict), [Wrong::Foreign, Wrong::Foreign]);
        assert_eq!(verdict.counts[&Workload::Single].foreign, 2);
        assert!(verdict.findings[0].event.is_some() && verdict.findings[1].event.is_none());
    }

    #[test]
    fn a_write_in_one_list_and_not_in_the_other_is_half_applied() {
        for fate in [Fate::Acknowledged, Fate::Unknown] {
            let history = [event(Workload::Transaction, 1, fate)];
            for page in [double(&[1], &[], [Some(1), Some(1)]), double(&[], &[1], [None, None])] {
                assert_eq!(wrongs(&check(&history, &page)), [Wrong::HalfApplied]);
            }
        }
    }

    #[test]
    fn writes_that_overtook_each_other_between_two_lists_are_half_applied() {
        let history = [1, 2].map(|n| event(Workload::Transaction, n, Fate::Acknowledged));
        let verdict = check(&history, &double(&[1, 2], &[2, 1], [Some(2), Some(2)]));
        assert_eq!(wrongs(&verdict), [Wrong::HalfApplied]);
        assert!(verdict.findings[0].found.contains("order from place 0"), "{}", verdict.findings[0]);
    }

    #[test]
    fn a_mark_that_another_write_left_is_half_applied() {
        let history = [1, 2].map(|n| event(Workload::Transaction, n, Fate::Acknowledged));
        for marks in [[Some(2), Some(1)], [Some(1), Some(2)], [None, Some(2)], [Some(1), Some(1)]] {
            let verdict = check(&history, &double(&[1, 2], &[1, 2], marks));
            assert_eq!(wrongs(&verdict), [Wrong::HalfApplied], "{marks:?}");
        }
    }

    #[test]
    fn balances_that_do_not_follow_from_the_transfers_listed_are_half_applied() {
        let history = [1, 2].map(|n| event(Workload::Watch, n, Fate::Acknowledged));
        let (one, both) = (token(2).amount(), token(1).amount() + token(2).amount());
        // One side only; a transfer that was overwritten by another (a lost update); nothing at all.
        for balances in [[-both, one], [-one, one], [0, 0]] {
            let verdict = check(&history, &transfers(&[1, 2], balances));
            assert_eq!(wrongs(&verdict), [Wrong::HalfApplied], "{balances:?}");
        }
    }
}
