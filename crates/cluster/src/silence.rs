//! Waiting for a node that may never answer again: one that hangs holds its connections and says nothing, while its slots
//! have long had another owner.

use std::time::Duration;

use echomq_keyspace::Slot;
use tokio::time::{Instant, timeout_at};

use crate::client::Shared;
use crate::node::Node;

/// After so long without a word the topology is asked for, and again after as long.
pub(crate) const SILENCE: Duration = Duration::from_millis(500);
/// A connection is there sooner than this, or it is looked whether the node still has the slot.
pub(crate) const CONNECTING: Duration = Duration::from_millis(100);
/// How often a silent node's slot is looked up.
const LOOK: Duration = Duration::from_millis(25);
/// So long a former owner of the slot is still waited for. One that is up says MOVED by then.
const GRACE: Duration = Duration::from_millis(100);

/// Why nothing was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silent {
    /// Not within the limit.
    Late,
    /// Another node has the slot by now.
    Replaced,
}

impl Silent {
    pub(crate) fn cause(self) -> &'static str {
        match self {
            Silent::Late => "no answer in time",
            Silent::Replaced => "no answer, and another node has the slot by now",
        }
    }

    /// The same as an error.
    pub(crate) fn say<T>(self) -> Result<T, String> {
        Err(self.cause().to_owned())
    }
}

impl Shared {
    /// Waits until `limit` for what `node` has to say as the owner of a slot, but no longer than it is the owner. It may
    /// be silent for `patience` without anybody wondering.
    pub(crate) async fn heard<F: Future>(
        &self,
        slot: Slot,
        node: &Node,
        patience: Duration,
        limit: Instant,
        answer: F,
    ) -> Result<F::Output, Silent> {
        tokio::pin!(answer);
        let mut next_look = Instant::now() + patience;
        let (mut next_ring, mut replaced): (Instant, Option<Instant>) = (next_look, None);
        loop {
            if let Ok(answer) = timeout_at(limit.min(next_look), &mut answer).await {
                return Ok(answer);
            }
            let now = Instant::now();
            if now >= limit {
                return Err(Silent::Late);
            }
            if now >= next_ring {
                self.refresher.request();
                next_ring = now + SILENCE;
            }
            match self.map.owner(slot) {
                Some(owner) if owner.address != node.address => {
                    if now - *replaced.get_or_insert(now) >= GRACE {
                        return Err(Silent::Replaced);
                    }
                }
                _ => replaced = None,
            }
            next_look = now + LOOK;
        }
    }
}
