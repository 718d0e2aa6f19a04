//! One connection for messages.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::future::join_all;
use redis::aio::MultiplexedConnection;
use redis::{Cmd, PushInfo, PushKind, ServerError, Value};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{Kind, Topic, Wishes};
use crate::dial::{CONNECT_LIMIT, Dialer};
use crate::{Address, Login};

/// What becomes known about the lines apart from messages, by the number of the line.
pub(super) enum Event {
    /// The server has ended a subscription: its slot has left that node, or we asked for it ourselves.
    Dropped(u64, Topic),
    Ended(u64),
    Renewed(Login),
}

impl Kind {
    fn subscribe(self) -> (&'static str, PushKind) {
        match self {
            Kind::Sharded => ("SSUBSCRIBE", PushKind::SSubscribe),
            Kind::Plain => ("SUBSCRIBE", PushKind::Subscribe),
        }
    }

    fn unsubscribe(self) -> &'static str {
        match self {
            Kind::Sharded => "SUNSUBSCRIBE",
            Kind::Plain => "UNSUBSCRIBE",
        }
    }
}

/// Messages go straight to those who wait for them, so that none waits behind another node's connection.
fn hear(number: u64, push: PushInfo, wishes: &Wishes, events: &mpsc::UnboundedSender<Event>) {
    let kind = match push.kind {
        PushKind::SMessage | PushKind::SUnsubscribe => Kind::Sharded,
        _ => Kind::Plain,
    };
    let event = match (push.kind, &push.data[..]) {
        (
            PushKind::SMessage | PushKind::Message,
            [Value::BulkString(channel), Value::BulkString(message)],
        ) => {
            return wishes.tell(kind, channel, message);
        }
        (PushKind::SUnsubscribe | PushKind::Unsubscribe, [Value::BulkString(channel), ..]) => {
            Event::Dropped(number, Topic { kind, channel: channel.clone() })
        }
        (PushKind::Disconnection, _) => Event::Ended(number),
        _ => return,
    };
    let _ = events.send(event);
}

pub(super) struct Line {
    pub(super) number: u64,
    pub(super) connection: MultiplexedConnection,
    /// What is subscribed here.
    pub(super) topics: HashSet<Topic>,
}

/// What an attempt to subscribe came to.
pub(super) enum Subscribed {
    Stands,
    Refused(ServerError),
    /// Something else than the answer: an unasked-for end of a subscription taken for it, or a lost line.
    Broken,
}

impl Line {
    pub(super) async fn open(
        number: u64,
        dialer: &Dialer,
        node: &Address,
        wishes: Arc<Wishes>,
        events: mpsc::UnboundedSender<Event>,
    ) -> Result<Line, String> {
        let connection = dialer.dial(node, move |push| hear(number, push, &wishes, &events)).await?;
        Ok(Line { number, connection, topics: HashSet::new() })
    }

    /// One command per channel: of two slots in one the server would refuse all.
    pub(super) async fn subscribe(&mut self, topics: Vec<Topic>) -> Vec<(Topic, Subscribed)> {
        let asked = topics.iter().map(|topic| subscribe(self.connection.clone(), topic));
        let answers = timeout(CONNECT_LIMIT, join_all(asked)).await;
        let answers = answers.unwrap_or_else(|_| topics.iter().map(|_| Subscribed::Broken).collect());
        let answers: Vec<(Topic, Subscribed)> = topics.into_iter().zip(answers).collect();
        let stand = answers.iter().filter(|(_, answer)| matches!(answer, Subscribed::Stands));
        self.topics.extend(stand.map(|(topic, _)| topic.clone()));
        answers
    }

    /// False if the line is of no use any more.
    pub(super) async fn unsubscribe(&mut self, topic: &Topic) -> bool {
        let mut cmd = Cmd::new();
        cmd.arg(topic.kind.unsubscribe()).arg(&topic.channel);
        let answer = timeout(CONNECT_LIMIT, self.connection.send_packed_command(&cmd)).await;
        self.topics.remove(topic);
        matches!(answer, Ok(Ok(Value::Push { .. })))
    }

    pub(super) async fn is_alive(&self) -> bool {
        let mut connection = self.connection.clone();
        let ping = redis::cmd("PING");
        matches!(timeout(CONNECT_LIMIT, connection.send_packed_command(&ping)).await, Ok(Ok(_)))
    }
}

async fn subscribe(mut connection: MultiplexedConnection, topic: &Topic) -> Subscribed {
    let (name, expected) = topic.kind.subscribe();
    let mut cmd = Cmd::new();
    cmd.arg(name).arg(&topic.channel);
    match connection.send_packed_command(&cmd).await {
        Ok(Value::Push { kind, data })
            if kind == expected && data.first() == Some(&Value::BulkString(topic.channel.clone())) =>
        {
            Subscribed::Stands
        }
        Ok(Value::ServerError(fault)) => Subscribed::Refused(fault),
        _ => Subscribed::Broken,
    }
}
