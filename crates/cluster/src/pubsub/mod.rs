//! Messages: who wants to hear what. The connections they come over are the [`listener`]'s.

mod line;
mod listener;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tokio::sync::{Notify, mpsc};

use crate::Login;
use crate::client::Shared;
use line::Event;
use listener::Listener;

/// How many notices wait for a subscriber that does not read; more are dropped, since each is a hint.
const BACKLOG: usize = 64;

/// What a subscriber hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A message of the channel.
    Message(Vec<u8>),
    /// The subscription stands (again). Messages sent before may be missing: because it did not stand, or because
    /// too many waited to be read.
    Resubscribed,
}

/// A subscription; dropping it ends it.
#[derive(Debug)]
pub struct Subscription {
    topic: Topic,
    notices: mpsc::Receiver<Notice>,
    wishes: Weak<Wishes>,
}

impl Subscription {
    /// The next notice; `None` when the client has gone.
    pub async fn next(&mut self) -> Option<Notice> {
        self.notices.recv().await
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.notices.close();
        if let Some(wishes) = self.wishes.upgrade() {
            let mut channels = wishes.lock();
            let channels = channels.of(self.topic.kind);
            if let Some(subscribers) = channels.get_mut(&self.topic.channel) {
                subscribers.retain(|subscriber| !subscriber.notices.is_closed());
                if subscribers.is_empty() {
                    channels.remove(&self.topic.channel);
                }
            }
            wishes.changed.notify_one();
        }
    }
}

/// Where the messages of a channel go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// To the nodes that serve the channel's slot.
    Sharded,
    /// To every node.
    Plain,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Topic {
    pub(crate) kind: Kind,
    pub(crate) channel: Vec<u8>,
}

/// One who wants to hear a channel.
#[derive(Debug)]
struct Subscriber {
    notices: mpsc::Sender<Notice>,
    /// It knows that the subscription stands, and has missed nothing since.
    told: bool,
}

impl Subscriber {
    /// A full backlog loses the notice, but not the news that something was lost.
    fn tell(&mut self, notice: Notice) {
        if !self.told {
            self.told = self.notices.try_send(Notice::Resubscribed).is_ok();
        }
        if self.told && notice != Notice::Resubscribed {
            self.told = self.notices.try_send(notice).is_ok();
        }
    }
}

type Subscribers = HashMap<Vec<u8>, Vec<Subscriber>>;

#[derive(Debug, Default)]
struct Channels {
    sharded: Subscribers,
    plain: Subscribers,
}

impl Channels {
    fn of(&mut self, kind: Kind) -> &mut Subscribers {
        match kind {
            Kind::Sharded => &mut self.sharded,
            Kind::Plain => &mut self.plain,
        }
    }
}

/// Which channels somebody wants to hear.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    channels: Mutex<Channels>,
    changed: Notify,
}

impl Wishes {
    fn lock(&self) -> MutexGuard<'_, Channels> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn topics(&self) -> Vec<Topic> {
        let mut channels = self.lock();
        let mut topics = Vec::new();
        for kind in [Kind::Sharded, Kind::Plain] {
            topics.extend(channels.of(kind).keys().map(|channel| Topic { kind, channel: channel.clone() }));
        }
        topics
    }

    /// Hands on a message.
    fn tell(&self, kind: Kind, channel: &[u8], message: &[u8]) {
        for subscriber in self.lock().of(kind).get_mut(channel).into_iter().flatten() {
            subscriber.tell(Notice::Message(message.to_vec()));
        }
    }

    /// Some messages may be missing from now on. It is told before the next one that comes, or when it stands again.
    fn fell(&self, topic: &Topic) {
        for subscriber in self.lock().of(topic.kind).get_mut(&topic.channel).into_iter().flatten() {
            subscriber.told = false;
        }
    }

    /// Tells that the subscription stands: everybody if it stands anew, else those who do not know.
    fn stands(&self, topic: &Topic, anew: bool) {
        for subscriber in self.lock().of(topic.kind).get_mut(&topic.channel).into_iter().flatten() {
            subscriber.told &= !anew;
            subscriber.tell(Notice::Resubscribed);
        }
    }
}

#[derive(Default)]
pub(crate) struct Hub {
    wishes: Arc<Wishes>,
    events: OnceLock<mpsc::UnboundedSender<Event>>,
}

impl Hub {
    pub(crate) fn subscribe(&self, shared: &Arc<Shared>, kind: Kind, channel: &[u8]) -> Subscription {
        let topic = Topic { kind, channel: channel.to_vec() };
        let (sender, notices) = mpsc::channel(BACKLOG);
        let subscriber = Subscriber { notices: sender, told: false };
        self.wishes.lock().of(kind).entry(channel.to_vec()).or_default().push(subscriber);
        self.wishes.changed.notify_one();
        self.events.get_or_init(|| {
            let (events, heard) = mpsc::unbounded_channel();
            let listener = Listener::new(Arc::downgrade(shared), self.wishes.clone(), events.clone());
            tokio::spawn(listener.run(heard));
            events
        });
        Subscription { topic, notices, wishes: Arc::downgrade(&self.wishes) }
    }

    /// Tells the servers of another login.
    pub(crate) fn renew(&self, login: &Login) {
        if let Some(events) = self.events.get() {
            let _ = events.send(Event::Renewed(login.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_does_not_read_hears_that_something_was_lost() {
        let (sender, mut notices) = mpsc::channel(2);
        let mut subscriber = Subscriber { notices: sender, told: false };
        let message = |n: u8| Notice::Message(vec![n]);
        for n in 0..3 {
            subscriber.tell(message(n));
        }
        assert_eq!(notices.recv().await, Some(Notice::Resubscribed));
        assert_eq!(notices.recv().await, Some(message(0)));
        subscriber.tell(message(3));
        assert_eq!(notices.recv().await, Some(Notice::Resubscribed), "1 and 2 are missing");
        assert_eq!(notices.recv().await, Some(message(3)));
    }
}
