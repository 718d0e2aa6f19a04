//! One node and its connections.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redis::aio::MultiplexedConnection;
use redis::{PushInfo, PushKind};

use crate::confirm::Confirming;
use crate::dial::{self, Dialer};
use crate::{Address, Login};

/// A live connection, shared by all requests to its node.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) connection: MultiplexedConnection,
    ended: Arc<AtomicBool>,
    /// Of its pool, when it was opened.
    round: u64,
}

impl Link {
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }
}

pub(crate) struct Node {
    pub(crate) address: Address,
    pub(crate) requests: AtomicU64,
    /// Commands of everybody.
    shared: Line,
    /// Reads of everybody, that a replica may answer.
    reading: Line,
    /// Connections that one request at a time has for itself.
    pub(crate) apart: Pool,
    /// Writes that wait for their confirmation.
    pub(crate) confirming: Confirming,
}

impl Node {
    pub(crate) fn new(address: Address) -> Node {
        Node {
            address,
            requests: AtomicU64::new(0),
            shared: Line::default(),
            reading: Line::default(),
            apart: Pool::default(),
            confirming: Confirming::default(),
        }
    }

    /// The shared connection; opened by the first who asks, while the others wait for it.
    pub(crate) async fn link(&self, dialer: &Dialer) -> Result<Link, String> {
        self.shared.link(async |ended| open(&self.address, dialer, ended).await).await
    }

    /// The shared connection for reads that a replica answers too.
    pub(crate) async fn reading_link(&self, dialer: &Dialer) -> Result<Link, String> {
        let open = async |ended: &Arc<AtomicBool>| {
            let mut connection = open(&self.address, dialer, ended).await?;
            match connection.send_packed_command(&redis::cmd("READONLY")).await {
                // A single server knows no replicas of slots, and answers reads all the same.
                Ok(_) => Ok(connection),
                Err(cause) if cause.is_io_error() || cause.is_unrecoverable_error() => Err(cause.to_string()),
                Err(_) => Ok(connection),
            }
        };
        self.reading.link(open).await
    }

    /// The shared connection stands, as far as is known.
    pub(crate) fn is_connected(&self) -> bool {
        self.shared.standing().is_some()
    }

    /// Forgets a connection that failed, unless a newer one has taken its place.
    pub(crate) fn forget(&self, failed: &Link) {
        self.shared.forget(failed);
        self.reading.forget(failed);
    }

    /// Tells the server of another login. A connection on which it is not taken is given up, and so is one that was at
    /// nobody's service just then.
    pub(crate) async fn renew(&self, login: &Login) {
        self.apart.empty();
        futures_util::future::join(self.shared.renew(login), self.reading.renew(login)).await;
    }

    pub(crate) fn count(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }
}

/// A place for one shared connection.
#[derive(Default)]
struct Line {
    link: Mutex<Option<Link>>,
    opening: tokio::sync::Mutex<()>,
}

impl Line {
    async fn link(
        &self,
        open: impl AsyncFnOnce(&Arc<AtomicBool>) -> Result<MultiplexedConnection, String>,
    ) -> Result<Link, String> {
        if let Some(link) = self.standing() {
            return Ok(link);
        }
        let _opening = self.opening.lock().await;
        if let Some(link) = self.standing() {
            return Ok(link);
        }
        let ended = Arc::default();
        // Rare, and large: a request that finds its connection open does not carry the way to open one.
        let connection = Box::pin(open(&ended)).await?;
        let link = Link { connection, ended, round: 0 };
        *self.slot() = Some(link.clone());
        Ok(link)
    }

    /// A connection that was cut while nothing was under way is not used again: whatever was handed to it would
    /// count as sent, and be reported as perhaps carried out.
    fn standing(&self) -> Option<Link> {
        self.slot().clone().filter(|link| !link.has_ended())
    }

    fn forget(&self, failed: &Link) {
        let mut slot = self.slot();
        if slot.as_ref().is_some_and(|link| Arc::ptr_eq(&link.ended, &failed.ended)) {
            *slot = None;
        }
    }

    async fn renew(&self, login: &Login) {
        let Some(mut link) = self.standing() else { return };
        if !dial::tell(&mut link.connection, login).await {
            self.forget(&link);
        }
    }

    fn slot(&self) -> MutexGuard<'_, Option<Link>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many connections a pool keeps for the next who needs one.
const IDLE: usize = 8;

/// Connections that are lent to one request at a time.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Idle>);

#[derive(Default)]
struct Idle {
    links: Vec<Link>,
    /// How often it was emptied: what was lent before is not taken back.
    round: u64,
}

impl Pool {
    /// A connection that nobody else uses. Who does not [give it back](Pool::give_back), closes it.
    pub(crate) async fn take(&self, address: &Address, dialer: &Dialer) -> Result<Link, String> {
        let round = {
            let mut idle = self.idle();
            while let Some(link) = idle.links.pop() {
                if !link.has_ended() {
                    return Ok(link);
                }
            }
            idle.round
        };
        let ended = Arc::default();
        Ok(Link { connection: Box::pin(open(address, dialer, &ended)).await?, ended, round })
    }

    /// Only for a connection with no answer outstanding and no state left.
    pub(crate) fn give_back(&self, link: Link) {
        let mut idle = self.idle();
        if idle.links.len() < IDLE && !link.has_ended() && link.round == idle.round {
            idle.links.push(link);
        }
    }

    fn empty(&self) {
        let mut idle = self.idle();
        idle.links.clear();
        idle.round += 1;
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a connection that raises `ended` when it has ended; RESP3 is what lets it tell.
async fn open(
    address: &Address,
    dialer: &Dialer,
    ended: &Arc<AtomicBool>,
) -> Result<MultiplexedConnection, String> {
    let ended = ended.clone();
    let watch = move |push: PushInfo| {
        if push.kind == PushKind::Disconnection {
            ended.store(true, Ordering::Release);
        }
    };
    dialer.dial(address, watch).await
}
