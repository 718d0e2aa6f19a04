//! One node and its one shared connection. The only file that opens a socket for commands.

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

/// How long one attempt to connect may take.
pub(crate) const CONNECT_LIMIT: Duration = Duration::from_secs(1);

/// A live connection, shared by all requests to its node.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) connection: MultiplexedConnection,
    generation: u64,
    ended: Arc<AtomicBool>,
}

pub(crate) struct Node {
    pub(crate) address: Address,
    pub(crate) requests: AtomicU64,
    link: Mutex<Option<Link>>,
    opening: tokio::sync::Mutex<u64>,
}

impl Node {
    pub(crate) fn new(address: Address) -> Node {
        Node {
            address,
            requests: AtomicU64::new(0),
            link: Mutex::new(None),
            opening: tokio::sync::Mutex::new(0),
        }
    }

    /// The shared connection; opened by the first who asks, while the others wait for it.
    pub(crate) async fn link(&self, login: &Seeds) -> RedisResult<Link> {
        if let Some(link) = self.standing() {
            return Ok(link);
        }
        let mut generation = self.opening.lock().await;
        if let Some(link) = self.standing() {
            return Ok(link);
        }
        *generation += 1;
        let ended = Arc::default();
        let connection = open(&self.address, login, &ended).await?;
        let link = Link { connection, generation: *generation, ended };
        *self.slot() = Some(link.clone());
        Ok(link)
    }

    /// A connection that was cut while nothing was under way is not used again: whatever was handed to it would
    /// count as sent, and be reported as perhaps carried out.
    fn standing(&self) -> Option<Link> {
        self.slot().clone().filter(|link| !link.ended.load(Ordering::Acquire))
    }

    /// Forgets a connection that failed, unless a newer one has taken its place.
    pub(crate) fn forget(&self, failed: &Link) {
        let mut slot = self.slot();
        if slot.as_ref().is_some_and(|link| link.generation == failed.generation) {
            *slot = None;
        }
    }

    pub(crate) fn count(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    fn slot(&self) -> MutexGuard<'_, Option<Link>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
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
