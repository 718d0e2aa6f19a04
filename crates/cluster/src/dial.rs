//! Opens connections, as the settings say. The only file that does.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::{MultiplexedConnection, SendError};
use redis::io::AsyncDNSResolver;
use redis::io::tcp::{TcpSettings, socket2::TcpKeepalive};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, IntoConnectionInfo, ProtocolVersion, PushInfo,
    RedisConnectionInfo, RedisFuture, Value,
};

use crate::tls::Tls;
use crate::{Address, Login, Resolver, Settings};

/// How long one attempt to connect may take, the login included.
pub(crate) const CONNECT_LIMIT: Duration = Duration::from_secs(1);

/// A connection on which nothing happens is probed after this time, and every [`PROBE_PAUSE`] after; when
/// [`PROBES`] were not answered, it has ended.
const SILENCE: Duration = Duration::from_secs(15);
const PROBE_PAUSE: Duration = Duration::from_secs(5);
const PROBES: u32 = 3;

/// Opens connections and counts those that are open.
pub(crate) struct Dialer {
    pub(crate) settings: Settings,
    open: Arc<AtomicU64>,
    /// The user of the last login.
    user: Mutex<Option<String>>,
}

/// One open connection: counted until dropped.
struct Counted(Arc<AtomicU64>);

impl Counted {
    fn new(open: &Arc<AtomicU64>) -> Counted {
        open.fetch_add(1, Ordering::Relaxed);
        Counted(open.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Dialer {
    pub(crate) fn new(settings: Settings) -> Dialer {
        Dialer { settings, open: Arc::default(), user: Mutex::default() }
    }

    /// The connections that are open now.
    pub(crate) fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    /// Opens a connection of its own to a node: with login, database and RESP3. `hear` gets what the server sends
    /// unasked, and a last word ([`redis::PushKind::Disconnection`]) when the connection has ended.
    ///
    /// It has no limit of its own for answers: who sends a request knows its deadline.
    pub(crate) async fn dial(
        &self,
        address: &Address,
        hear: impl Fn(PushInfo) + Send + Sync + 'static,
    ) -> Result<MultiplexedConnection, String> {
        let counted = Counted::new(&self.open);
        let hear = move |push: PushInfo| {
            // Lives as long as the connection, with this closure.
            let _counted = &counted;
            hear(push);
            Ok::<(), SendError>(())
        };
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(None)
            .set_connection_timeout(None)
            .set_dns_resolver(Named { address: address.clone(), resolver: self.settings.resolver.clone() })
            .set_push_sender(hear);
        let opening = async {
            let client = self.client(address).await?;
            let opened = client.get_multiplexed_async_connection_with_config(&config).await;
            opened.map_err(|cause| self.explained(cause.to_string()))
        };
        let opened = tokio::time::timeout(CONNECT_LIMIT, opening).await;
        opened.unwrap_or_else(|_| Err(format!("no connection within {} s", CONNECT_LIMIT.as_secs())))
    }

    async fn client(&self, address: &Address) -> Result<Client, String> {
        let mut redis = RedisConnectionInfo::default()
            .set_protocol(ProtocolVersion::RESP3)
            .set_lib_name("echomq", env!("CARGO_PKG_VERSION"))
            .set_db(self.settings.database.into());
        if let Some(Login { username, password }) = self.login().await? {
            redis = redis.set_password(password);
            if let Some(username) = username {
                redis = redis.set_username(username);
            }
        }
        let keepalive =
            TcpKeepalive::new().with_time(SILENCE).with_interval(PROBE_PAUSE).with_retries(PROBES);
        let tcp = TcpSettings::default().set_nodelay(self.settings.nodelay).set_keepalive(keepalive);
        let addr = match address {
            Address::Unix(path) => ConnectionAddr::Unix(path.clone()),
            Address::Tcp { host, port } => match &self.settings.tls {
                None => ConnectionAddr::Tcp(host.clone(), *port),
                Some(tls) => {
                    // By this name the certificate is checked; the connection goes to the address all the same.
                    let host = tls.server_name.as_ref().unwrap_or(host).clone();
                    ConnectionAddr::TcpTls { host, port: *port, insecure: false, tls_params: None }
                }
            },
        };
        let info = addr.into_connection_info().map_err(|cause| cause.to_string())?;
        let info = info.set_redis_settings(redis).set_tcp_settings(tcp);
        match (&self.settings.tls, address) {
            (Some(tls), Address::Tcp { .. }) => encrypted(info, tls).await,
            _ => Client::open(info).map_err(|cause| cause.to_string()),
        }
    }

    /// The login to use now.
    pub(crate) async fn login(&self) -> Result<Option<Login>, String> {
        match &self.settings.credentials {
            None => Ok(None),
            Some(credentials) => {
                let login =
                    credentials.login().await.map_err(|cause| format!("there is no login: {cause}"))?;
                self.last_user().clone_from(&login.username);
                Ok(Some(login))
            }
        }
    }

    /// Who is asking, as servers name them.
    pub(crate) fn user(&self) -> String {
        self.last_user().clone().unwrap_or_else(|| "default".to_owned())
    }

    fn last_user(&self) -> MutexGuard<'_, Option<String>> {
        self.user.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says what to do about a database that the server does not have.
    fn explained(&self, cause: String) -> String {
        let number = self.settings.database;
        if number != 0
            && (cause.contains("database") || cause.contains("SELECT") || cause.contains("DB index"))
        {
            return format!(
                "there is no database {number} ({cause}). A cluster has numbered databases since Valkey 9, where \
                 cluster-databases is set; without, use database 0"
            );
        }
        cause
    }
}

/// Tells the server of another login on a connection that stands.
pub(crate) fn auth(login: &Login) -> Cmd {
    let mut cmd = Cmd::new();
    cmd.arg("AUTH").arg(&login.username).arg(&login.password);
    cmd
}

/// True if the server took the login.
pub(crate) async fn tell(connection: &mut MultiplexedConnection, login: &Login) -> bool {
    let cmd = auth(login);
    let told = tokio::time::timeout(CONNECT_LIMIT, connection.send_packed_command(&cmd)).await;
    matches!(told, Ok(Ok(Value::Okay)))
}

#[cfg(feature = "tls")]
async fn encrypted(info: redis::ConnectionInfo, tls: &Tls) -> Result<Client, String> {
    let certificates = crate::tls::certificates(tls).await?;
    Client::build_with_tls(info, certificates).map_err(|cause| cause.to_string())
}

/// Whether connections can be encrypted so: the files are there.
#[cfg(feature = "tls")]
pub(crate) async fn check(tls: &Tls) -> Result<(), String> {
    crate::tls::certificates(tls).await.map(drop)
}

#[cfg(not(feature = "tls"))]
pub(crate) async fn check(_: &Tls) -> Result<(), String> {
    Err(WITHOUT_TLS.to_owned())
}

#[cfg(not(feature = "tls"))]
const WITHOUT_TLS: &str =
    "this program was built without encryption: it takes the feature \"tls\" of echomq-cluster";

#[cfg(not(feature = "tls"))]
async fn encrypted(_: redis::ConnectionInfo, _: &Tls) -> Result<Client, String> {
    Err(WITHOUT_TLS.to_owned())
}

/// Looks up the host of one node, by whatever name its certificate goes.
struct Named {
    address: Address,
    resolver: Arc<dyn Resolver>,
}

impl AsyncDNSResolver for Named {
    fn resolve<'a, 'b: 'a>(
        &'a self,
        _: &'b str,
        _: u16,
    ) -> RedisFuture<'a, Box<dyn Iterator<Item = SocketAddr> + Send + 'a>> {
        Box::pin(async move {
            let Address::Tcp { host, port } = &self.address else {
                return Ok(Box::new(std::iter::empty()) as _);
            };
            let found = self.resolver.resolve(host, *port).await?;
            if found.is_empty() {
                return Err(std::io::Error::other(format!("the name {host} has no address")).into());
            }
            Ok(Box::new(found.into_iter()) as _)
        })
    }
}
