//! One node and its connections. The only file that opens a socket for commands.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion, PushInfo, PushKind,
    RedisConnectionInfo, RedisResult,
};

use crate::Address;
use crate::address::Seeds;
use crate::confirm::Confirming;

/// How long one attempt to connect may take.
pub(crate) const CONNECT_LIMIT: Duration = Duration::from_secs(1);

/// A live connection, shared by all requests to its node.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) connection: MultiplexedConnection,
    ended: Arc<AtomicBool>,
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
    pub(crate) async fn link(&self, login: &Seeds) -> RedisResult<Link> {
        self.shared.link(async |ended| open(&self.address, login, ended).await).await
    }

    /// The shared connection for reads that a replica answers too.
    pub(crate) async fn reading_link(&self, login: &Seeds) -> RedisResult<Link> {
        let open = async |ended: &Arc<AtomicBool>| {
            let mut connection = open(&self.address, login, ended).await?;
            match connection.send_packed_command(&redis::cmd("READONLY")).await {
                // A single server knows no replicas of slots, and answers reads all the same.
                Ok(_) => Ok(connection),
                Err(cause) if cause.is_io_error() || cause.is_unrecoverable_error() => Err(cause),
                Err(_) => Ok(connection),
            }
        };
        self.reading.link(open).await
    }

    /// Forgets a connection that failed, unless a newer one has taken its place.
    pub(crate) fn forget(&self, failed: &Link) {
        self.shared.forget(failed);
        self.reading.forget(failed);
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
        open: impl AsyncFnOnce(&Arc<AtomicBool>) -> RedisResult<MultiplexedConnection>,
    ) -> RedisResult<Link> {
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
        let link = Link { connection, ended };
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

    fn slot(&self) -> MutexGuard<'_, Option<Link>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many connections a pool keeps for the next who needs one.
const IDLE: usize = 8;

/// Connections that are lent to one request at a time.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Vec<Link>>);

impl Pool {
    /// A connection that nobody else uses. Who does not [give it back](Pool::give_back), closes it.
    pub(crate) async fn take(&self, address: &Address, login: &Seeds) -> RedisResult<Link> {
        while let Some(link) = self.idle().pop() {
            if !link.has_ended() {
                return Ok(link);
            }
        }
        let ended = Arc::default();
        Ok(Link { connection: Box::pin(open(address, login, &ended)).await?, ended })
    }

    /// Only for a connection with no answer outstanding and no state left.
    pub(crate) fn give_back(&self, link: Link) {
        let mut idle = self.idle();
        if idle.len() < IDLE && !link.has_ended() {
            idle.push(link);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Link>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a connection that raises `ended` when it has ended; RESP3 is what lets it tell.
async fn open(
    address: &Address,
    login: &Seeds,
    ended: &Arc<AtomicBool>,
) -> RedisResult<MultiplexedConnection> {
    let ended = ended.clone();
    let watch = move |push: PushInfo| {
        if push.kind == PushKind::Disconnection {
            ended.store(true, Ordering::Release);
        }
        Ok::<(), redis::aio::SendError>(())
    };
    // The router sets deadlines per request; a second clock down here would only cut them short.
    let config = AsyncConnectionConfig::new()
        .set_response_timeout(None)
        .set_connection_timeout(Some(CONNECT_LIMIT))
        .set_push_sender(watch);
    client(address, login)?.get_multiplexed_async_connection_with_config(&config).await
}

/// How to reach `address` as the user of `login`.
pub(crate) fn client(address: &Address, login: &Seeds) -> RedisResult<Client> {
    let mut settings = RedisConnectionInfo::default()
        .set_protocol(ProtocolVersion::RESP3)
        .set_lib_name("echomq", env!("CARGO_PKG_VERSION"));
    if let Some(username) = &login.username {
        settings = settings.set_username(username);
    }
    if let Some(password) = &login.password {
        settings = settings.set_password(password);
    }
    let address = match address {
        Address::Tcp { host, port } => ConnectionAddr::Tcp(host.clone(), *port),
        Address::Unix(path) => ConnectionAddr::Unix(path.clone()),
    };
    Client::open(address.into_connection_info()?.set_redis_settings(settings))
}
