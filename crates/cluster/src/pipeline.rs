//! Many commands at once, each to the node of its keys, the replies in the order of the calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use echomq_keyspace::Slot;
use futures_util::future::join_all;
use redis::Value;
use tokio::time::Instant;

use crate::answer::{Answer, Class};
use crate::client::Next;
use crate::errand::ATTEMPT;
use crate::error::{Call, Waiting};
use crate::node::Node;
use crate::silence::SILENCE;
use crate::{Address, Client, Command, Error, Repeat};

type Outcome = Result<Value, Error>;

/// What the first attempt, all commands of a node in one write, came to for one of them.
enum First {
    Answered(Outcome),
    /// Worth another attempt of its own; with what was lost, if it may have been carried out.
    Again(Option<Error>),
}

impl Client {
    /// Sends all commands, those of one node in one write, and returns their answers in the order of the calls; an
    /// error stands at its own place. No command waits for another's answer, and nothing is atomic.
    ///
    /// Commands of one slot are carried out in the order of the calls, but what was redirected, or named a script that a
    /// node did not know, comes later: it is sent again by itself, in the order of those that were. Never is a command
    /// repeated because another one failed. `repeat` holds for each command, the deadline for all of them together.
    pub async fn pipeline(&self, commands: Vec<Command>, repeat: Repeat) -> Vec<Outcome> {
        let until = Instant::now() + self.deadline();
        let mut answers: Vec<Option<Outcome>> = commands.iter().map(|_| None).collect();
        let mut lost: BTreeMap<usize, Error> = BTreeMap::new();
        let mut by_slot: BTreeMap<Slot, Vec<usize>> = BTreeMap::new();
        for (place, command) in commands.iter().enumerate() {
            match command.slot() {
                Ok(slot) => by_slot.entry(slot).or_default().push(place),
                Err(error) => {
                    self.shared().counters.refused();
                    answers[place] = Some(Err(error));
                }
            }
        }
        let mut by_node: BTreeMap<Address, (Arc<Node>, Vec<usize>)> = BTreeMap::new();
        for (&slot, places) in &by_slot {
            if let Some(node) = self.shared().map.owner(slot) {
                by_node.entry(node.address.clone()).or_insert((node, Vec::new())).1.extend(places);
            }
        }
        let firsts = by_node.into_values().map(|(node, mut places)| {
            let commands = &commands;
            async move {
                places.sort_unstable();
                let firsts = self.first_attempt(&node, commands, &places, repeat, until).await;
                places.into_iter().zip(firsts).collect::<Vec<_>>()
            }
        });
        for (place, first) in join_all(firsts).await.into_iter().flatten() {
            match first {
                First::Answered(answer) => answers[place] = Some(answer),
                First::Again(Some(error)) => drop(lost.insert(place, error)),
                First::Again(None) => {}
            }
        }
        let again = by_slot.into_values().map(|places| {
            let open: Vec<usize> = places.into_iter().filter(|&place| answers[place].is_none()).collect();
            self.one_by_one(&commands, open, repeat, until)
        });
        for (place, answer) in join_all(again).await.into_iter().flatten() {
            answers[place] = Some(match (answer, lost.remove(&place)) {
                (Err(error), Some(lost)) if error.is_deadline() => Err(lost),
                (answer, _) => answer,
            });
        }
        answers.into_iter().flatten().collect()
    }

    async fn first_attempt(
        &self,
        node: &Node,
        commands: &[Command],
        places: &[usize],
        repeat: Repeat,
        until: Instant,
    ) -> Vec<First> {
        let Ok(link) = self.shared().link(node, until).await else {
            return places.iter().map(|_| First::Again(None)).collect();
        };
        let mut pipeline = redis::Pipeline::new();
        for &place in places {
            pipeline.add_command(commands[place].cmd().clone());
            node.count();
            commands[place].slot_of_keys().inspect(|slot| self.shared().counters.slot(*slot));
        }
        let mut connection = link.connection.clone();
        let sent = connection.send_packed_commands(&pipeline, 0, places.len());
        let limit = match repeat {
            Repeat::Idempotent => until.min(Instant::now() + ATTEMPT),
            Repeat::Never => until,
        };
        // A node that hangs loses all its slots to one replica, so that any of them tells.
        let slot = places.first().and_then(|&place| commands[place].slot_of_keys());
        let heard = match slot {
            Some(slot) => self.shared().heard(slot, node, SILENCE, limit, sent).await,
            None => return Vec::new(),
        };
        let cause = match heard {
            Ok(Ok(replies)) if replies.len() == places.len() => {
                let answers = places.iter().zip(replies);
                return answers
                    .map(|(&place, reply)| self.first_answer(&commands[place], repeat, reply, node))
                    .collect();
            }
            Ok(Ok(replies)) => format!("{} replies to {} commands", replies.len(), places.len()),
            Ok(Err(cause)) => cause.to_string(),
            Err(silent) => silent.cause().to_owned(),
        };
        node.forget(&link);
        self.shared().refresher.request();
        let unknown = |&place: &usize| {
            let lost = Error::unknown(commands[place].slot_of_keys(), &node.address, &cause);
            match repeat {
                Repeat::Idempotent => First::Again(Some(lost)),
                Repeat::Never => First::Answered(Err(lost)),
            }
        };
        places.iter().map(unknown).collect()
    }

    fn first_answer(&self, command: &Command, repeat: Repeat, reply: Value, node: &Node) -> First {
        let Value::ServerError(fault) = reply else { return First::Answered(Ok(reply)) };
        let (code, detail) = (fault.code(), fault.details().unwrap_or_default());
        let answer = Answer::read(code, detail, &node.address);
        // The second attempt sends the text.
        if answer.class == Class::NoScript {
            return First::Again(None);
        }
        if let Next::Tell = self.shared().heed(&answer, repeat, String::new) {
            let call = Call::of(format!("{command:?}"), &answer, self.shared());
            return First::Answered(Err(Error::server(code, detail, &node.address, call)));
        }
        First::Again(None)
    }

    async fn one_by_one(
        &self,
        commands: &[Command],
        places: Vec<usize>,
        repeat: Repeat,
        until: Instant,
    ) -> Vec<(usize, Outcome)> {
        let mut answers = Vec::with_capacity(places.len());
        for place in places {
            let left = until.saturating_duration_since(Instant::now());
            let answer = match left.is_zero() {
                true => Err(Error::deadline(self.deadline(), commands[place].slot_of_keys(), Waiting::Turn)),
                false => self.with_deadline(left).call(commands[place].clone(), repeat).await,
            };
            answers.push((place, answer));
        }
        answers
    }
}
