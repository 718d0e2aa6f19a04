//! The one table from what a server refuses to what is done about it. Pure decisions; `errand` acts on them.

use echomq_keyspace::Slot;

use crate::{Address, Repeat};

/// A refusal, by class: servers word them differently, so that the first word decides, and for what a script ran into
/// the word that its error wraps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) class: Class,
    /// A command inside a script was refused: what the script had written before stands.
    pub(crate) partly: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The slot lives elsewhere, for good.
    Moved { slot: Slot, to: Address },
    /// This request, and only this one, is to be asked at another node.
    Ask { to: Address },
    /// A redirect that names no place.
    BadRedirect,
    /// The keys of one slot are on two nodes at the moment.
    TryAgain,
    /// The cluster or the node's primary is down, or the node is loading its data.
    Down,
    /// The node is a replica now.
    Demoted,
    /// A blocking call ended because its node is a replica now.
    Unblocked,
    /// A script or function holds the node up.
    Busy,
    /// The node takes no more connections.
    Crowded,
    /// Fewer replicas are connected than the node wants for a write.
    NoReplicas,
    /// The script is not in this node's cache.
    NoScript,
    /// The transaction died of an earlier error.
    ExecAbort,
    /// The keys are not of one slot.
    CrossSlot,
    /// A script touched a key that it did not declare, and that lives elsewhere.
    Undeclared,
    /// The node has no memory left.
    OutOfMemory,
    /// The node can not persist, and takes no writes.
    CannotPersist,
    /// The user may not do this.
    NotPermitted,
    /// The connection is not logged in, or the login was refused.
    NotLoggedIn,
    /// What a command itself has to say.
    Other,
}

/// What the connector does about a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Patch the map and go to the slot's new owner.
    Follow { slot: Slot, to: Address },
    /// Ask there, once.
    AskThere { to: Address },
    /// Send the script's text to the same node.
    SendText,
    /// Ask for the topology, and try again a little later.
    RefreshAndWait,
    /// Try again a little later.
    Wait,
    /// Tell the caller.
    Tell,
}

impl Answer {
    /// Reads an error reply of `from`: its first word, and what follows.
    pub(crate) fn read(code: &str, detail: &str, from: &Address) -> Answer {
        let wrapped = detail.contains(" script: ");
        match code {
            "MOVED" | "ASK" => Answer { class: redirect(code, detail, from), partly: false },
            "ERR" => Answer::read_wrapped(detail),
            _ => Answer { class: Class::of(code).unwrap_or(Class::Other), partly: wrapped },
        }
    }

    /// An error without a word of its own: some say by their text what they are, and older servers put the word of what
    /// a script ran into somewhere inside.
    fn read_wrapped(detail: &str) -> Answer {
        let partly = ["script: ", "in script", "running script", "executing the script"];
        let partly = partly.iter().any(|mark| detail.contains(mark));
        let class = match detail {
            _ if detail.contains("max number of clients") => Class::Crowded,
            _ if detail.contains("non local key") || detail.contains("do not hash to the same slot") => {
                Class::Undeclared
            }
            _ if detail.contains("ACL failure") || detail.contains("user executing the script can't") => {
                Class::NotPermitted
            }
            _ if partly => {
                let mut words = detail.split([' ', '-', ':']);
                words.find_map(Class::of).unwrap_or(Class::Other)
            }
            _ => Class::Other,
        };
        Answer { class, partly }
    }

    /// The next step, for a request that may or may not be sent twice.
    ///
    /// A refusal of the whole request is as if it had never been sent. What a script ran into may have come after some
    /// of its writes, so that only an idempotent one is run again.
    pub(crate) fn step(&self, repeat: Repeat) -> Step {
        let again = |step| if self.partly && repeat == Repeat::Never { Step::Tell } else { step };
        match &self.class {
            Class::Moved { slot, to } => Step::Follow { slot: *slot, to: to.clone() },
            Class::Ask { to } => Step::AskThere { to: to.clone() },
            Class::NoScript => Step::SendText,
            Class::BadRedirect | Class::Down | Class::Demoted | Class::Unblocked => {
                again(Step::RefreshAndWait)
            }
            Class::TryAgain | Class::Busy | Class::Crowded | Class::NoReplicas => again(Step::Wait),
            Class::ExecAbort
            | Class::CrossSlot
            | Class::Undeclared
            | Class::OutOfMemory
            | Class::CannotPersist
            | Class::NotPermitted
            | Class::NotLoggedIn
            | Class::Other => Step::Tell,
        }
    }
}

impl Class {
    /// The class of a first word.
    fn of(word: &str) -> Option<Class> {
        Some(match word {
            "TRYAGAIN" => Class::TryAgain,
            "CLUSTERDOWN" | "MASTERDOWN" | "LOADING" => Class::Down,
            "READONLY" => Class::Demoted,
            "UNBLOCKED" => Class::Unblocked,
            "BUSY" => Class::Busy,
            "NOREPLICAS" => Class::NoReplicas,
            "NOSCRIPT" => Class::NoScript,
            "EXECABORT" => Class::ExecAbort,
            "CROSSSLOT" => Class::CrossSlot,
            "OOM" => Class::OutOfMemory,
            "MISCONF" => Class::CannotPersist,
            "NOPERM" => Class::NotPermitted,
            "NOAUTH" | "WRONGPASS" => Class::NotLoggedIn,
            _ => return None,
        })
    }
}

fn redirect(code: &str, detail: &str, from: &Address) -> Class {
    match (code, place(detail, from)) {
        ("MOVED", Some((slot, to))) => Class::Moved { slot, to },
        (_, Some((_, to))) => Class::Ask { to },
        (_, None) => Class::BadRedirect,
    }
}

/// `3999 host:port`
fn place(detail: &str, from: &Address) -> Option<(Slot, Address)> {
    let (slot, to) = detail.split_once(' ')?;
    Some((Slot::new(slot.parse().ok()?)?, Address::announced(to.split(' ').next()?, from)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from() -> Address {
        Address::tcp("192.0.2.10", 7000).unwrap()
    }

    fn rows(table: &'static str) -> Vec<Vec<&'static str>> {
        let lines = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        lines.map(|line| line.split('\t').collect()).collect()
    }

    fn read(reply: &str) -> Answer {
        let (code, detail) = reply.split_once(' ').unwrap_or((reply, ""));
        Answer::read(code, detail, &from())
    }

    #[test]
    fn c027_c029_redirects_are_followed_or_refused_as_the_table_says() {
        let rows = rows(include_str!("../../../testdata/cases/topology/redirects.tsv"));
        assert_eq!(rows.len(), 11);
        for row in rows {
            let [reply, kind, slot, to] = row[..] else { panic!("{row:?}") };
            let to = to.split(' ').next().unwrap();
            match (kind, read(reply).class) {
                ("MOVED", Class::Moved { slot: got, to: at }) => {
                    assert_eq!((got.to_string().as_str(), at.to_string().as_str()), (slot, to), "{row:?}");
                }
                ("ASK", Class::Ask { to: at }) => assert_eq!(at.to_string(), to, "{row:?}"),
                ("error", Class::BadRedirect) | ("ordinary error", Class::Other) => {}
                (_, got) => panic!("{row:?}: {got:?}"),
            }
        }
    }

    /// Every answer, as Valkey 9.1 and Redis 7.0 (and 6.2, for wrapped ones) word it.
    #[test]
    fn c034_every_answer_leads_to_the_step_that_the_table_says() {
        let rows = rows(include_str!("../../../testdata/answers.tsv"));
        let mut classes = std::collections::BTreeSet::new();
        for row in &rows {
            let [reply, class, where_, idempotent, never] = row[..] else { panic!("{row:?}") };
            let answer = read(reply);
            let word = |text: String| text.split([' ', '{']).next().unwrap().to_owned();
            assert_eq!(word(format!("{:?}", answer.class)), class, "{reply}");
            assert_eq!(if answer.partly { "script" } else { "whole" }, where_, "{reply}");
            assert_eq!(word(format!("{:?}", answer.step(Repeat::Idempotent))), idempotent, "{reply}");
            assert_eq!(word(format!("{:?}", answer.step(Repeat::Never))), never, "{reply}");
            classes.insert(class);
        }
        assert_eq!(classes.len(), 19, "a class without a row: {classes:?}");
    }
}
