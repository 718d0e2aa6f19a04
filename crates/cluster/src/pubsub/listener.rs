//! One connection for messages per node that has any to send, and the subscriptions on it; set up again wherever they
//! belong after a failover or a move.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use echomq_keyspace::{Escaped, Slot};
use futures_util::future::join_all;
use redis::ServerError;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::line::{Event, Line, Subscribed};
use super::{Kind, Topic, Wishes};
use crate::answer::Answer;
use crate::client::{Next, Shared};
use crate::{Address, Login, Repeat, dial};

/// How soon a channel without its subscription is tried again.
const RETRY: Duration = Duration::from_millis(100);
/// How often the owners of the channels' slots are compared with the map when all is well.
const CHECK: Duration = Duration::from_secs(1);
/// How often it is asked whether the lines still live: a node that froze sends nothing, and neither does a quiet one.
const PULSE: Duration = Duration::from_secs(5);

pub(super) struct Listener {
    shared: Weak<Shared>,
    wishes: Arc<Wishes>,
    lines: HashMap<Address, Line>,
    events: mpsc::UnboundedSender<Event>,
    opened: u64,
    /// The node that plain channels are heard from: every node hears all of them.
    home: Option<Address>,
    felt: Instant,
}

impl Listener {
    pub(super) fn new(
        shared: Weak<Shared>,
        wishes: Arc<Wishes>,
        events: mpsc::UnboundedSender<Event>,
    ) -> Listener {
        let lines = HashMap::new();
        Listener { shared, wishes, lines, events, opened: 0, home: None, felt: Instant::now() }
    }

    pub(super) async fn run(mut self, mut heard: mpsc::UnboundedReceiver<Event>) {
        let wishes = self.wishes.clone();
        loop {
            let Some(shared) = self.shared.upgrade() else { return };
            self.feel().await;
            let all_stand = self.set_up(&shared).await;
            drop(shared);
            let pause = if all_stand { CHECK } else { RETRY };
            tokio::select! {
                () = wishes.changed.notified() => {}
                () = tokio::time::sleep(pause) => {}
                Some(event) = heard.recv() => {
                    self.take(event).await;
                    while let Ok(event) = heard.try_recv() {
                        self.take(event).await;
                    }
                }
            }
        }
    }

    async fn take(&mut self, event: Event) {
        match event {
            Event::Dropped(number, topic) => {
                for line in self.lines.values_mut().filter(|line| line.number == number) {
                    if line.topics.remove(&topic) {
                        self.wishes.fell(&topic);
                    }
                }
            }
            Event::Ended(number) => self.keep(|line| line.number != number),
            Event::Renewed(login) => return self.renew(&login).await,
        }
        if let Some(shared) = self.shared.upgrade() {
            shared.refresher.request();
        }
    }

    async fn renew(&mut self, login: &Login) {
        let told =
            join_all(self.lines.values_mut().map(|line| dial::tell(&mut line.connection, login))).await;
        let mut told = told.into_iter();
        self.keep(|_| told.next() == Some(true));
    }

    /// Gives up the other lines, and with them what was heard over them.
    fn keep(&mut self, mut is_good: impl FnMut(&Line) -> bool) {
        let wishes = &self.wishes;
        self.lines.retain(|_, line| {
            let keeps = is_good(line);
            if !keeps {
                line.topics.iter().for_each(|topic| wishes.fell(topic));
            }
            keeps
        });
    }

    /// Gives up the lines that do not live any more.
    async fn feel(&mut self) {
        if self.felt.elapsed() < PULSE {
            return;
        }
        let alive = join_all(self.lines.values().map(Line::is_alive)).await;
        let mut alive = alive.into_iter();
        self.keep(|_| alive.next() == Some(true));
        self.felt = Instant::now();
    }

    /// Subscribes what is wanted and does not stand, drops what is superfluous. True when all stands.
    async fn set_up(&mut self, shared: &Arc<Shared>) -> bool {
        let wanted: HashSet<Topic> = self.wishes.topics().into_iter().collect();
        self.choose_home(shared);
        let mut missing: HashMap<Address, Vec<Topic>> = HashMap::new();
        let mut all_stand = true;
        for topic in &wanted {
            match self.place_of(shared, topic) {
                Some(node) if self.stands_at(&node, topic) => self.wishes.stands(topic, false),
                Some(node) => missing.entry(node).or_default().push(topic.clone()),
                None => {
                    shared.refresher.request();
                    all_stand = false;
                }
            }
        }
        all_stand &= self.subscribe(shared, missing).await;
        self.drop_superfluous(shared, &wanted).await;
        all_stand
    }

    /// Any node will do, as long as it is one of the present topology and its line stands.
    fn choose_home(&mut self, shared: &Shared) {
        let stays = |home: &Address| {
            self.lines.contains_key(home) && shared.map.nodes().iter().any(|node| node.address == *home)
        };
        if !self.home.as_ref().is_some_and(stays) {
            let mut nodes = shared.map.primaries();
            fastrand::shuffle(&mut nodes);
            self.home = nodes.first().map(|node| node.address.clone());
        }
    }

    fn place_of(&self, shared: &Shared, topic: &Topic) -> Option<Address> {
        match topic.kind {
            Kind::Sharded => shared.map.owner(Slot::of(&topic.channel)).map(|node| node.address.clone()),
            Kind::Plain => self.home.clone(),
        }
    }

    fn stands_at(&self, node: &Address, topic: &Topic) -> bool {
        self.lines.get(node).is_some_and(|line| line.topics.contains(topic))
    }

    /// All nodes side by side, so that one that is silent holds up no other. True when all stands.
    async fn subscribe(&mut self, shared: &Arc<Shared>, missing: HashMap<Address, Vec<Topic>>) -> bool {
        let attempts = missing.into_iter().map(|(node, topics)| {
            self.opened += 1;
            let (number, standing) = (self.opened, self.lines.remove(&node));
            let (wishes, events) = (self.wishes.clone(), self.events.clone());
            async move {
                let line = match standing {
                    Some(line) => Ok(line),
                    None => Line::open(number, &shared.dialer, &node, wishes, events).await,
                };
                match line {
                    Ok(mut line) => {
                        let answers = line.subscribe(topics).await;
                        (node, Some(line), answers)
                    }
                    Err(cause) => {
                        tracing::debug!(%node, cause, "no connection for messages");
                        (node, None, Vec::new())
                    }
                }
            }
        });
        let attempts: Vec<_> = attempts.collect();
        let mut all_stand = true;
        for (node, line, answers) in join_all(attempts).await {
            let mut is_broken = line.is_none();
            for (topic, answer) in answers {
                match answer {
                    Subscribed::Stands => self.wishes.stands(&topic, true),
                    Subscribed::Refused(fault) => all_stand &= is_final(shared, &node, &topic, &fault),
                    Subscribed::Broken => is_broken = true,
                }
            }
            // A broken line is left; all that it had begins anew.
            match line {
                Some(line) if !is_broken => drop(self.lines.insert(node, line)),
                Some(line) => line.topics.iter().for_each(|topic| self.wishes.fell(topic)),
                None => {}
            }
            all_stand &= !is_broken;
        }
        if !all_stand {
            shared.refresher.request();
        }
        all_stand
    }

    /// Ends what nobody wants any more, and what stands where it belongs too: a replica tells its subscribers what its
    /// primary is told, so that after a failover all would be heard twice.
    async fn drop_superfluous(&mut self, shared: &Shared, wanted: &HashSet<Topic>) {
        let is_superfluous = |node: &Address, topic: &Topic| {
            !wanted.contains(topic)
                || self
                    .place_of(shared, topic)
                    .is_some_and(|place| place != *node && self.stands_at(&place, topic))
        };
        let mut superfluous = Vec::new();
        for (node, line) in &self.lines {
            let topics = line.topics.iter().filter(|topic| is_superfluous(node, topic));
            superfluous.extend(topics.map(|topic| (node.clone(), topic.clone())));
        }
        for (node, topic) in superfluous {
            let Some(line) = self.lines.get_mut(&node) else { continue };
            // A replica refers us to its primary, a frozen node is silent: closing the line ends it as well.
            if !line.unsubscribe(&topic).await {
                self.lines.remove(&node);
            }
        }
        // A connection that nothing comes over any more is closed.
        self.lines.retain(|_, line| !line.topics.is_empty());
    }
}

/// Acts on a refusal. True if it would be the same at once again: who may not hear a channel is not helped by haste.
fn is_final(shared: &Shared, node: &Address, topic: &Topic, fault: &ServerError) -> bool {
    let answer = Answer::read(fault.code(), fault.details().unwrap_or_default(), node);
    let is_final = matches!(shared.heed(&answer, Repeat::Idempotent, String::new), Next::Tell);
    if is_final {
        let channel = Escaped(&topic.channel);
        tracing::warn!(%node, %channel, %fault, "a subscription was refused");
    }
    is_final
}
