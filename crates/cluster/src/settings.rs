//! How to reach a cluster: whom to ask first, who is asking, and what to make of the answers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::login::{Credentials, Login};
use crate::resolver::{Resolver, System};
use crate::tls::Tls;
use crate::{Address, Error, url};

/// What a [`Client`](crate::Client) is made from.
///
/// ```
/// use echomq_cluster::{Login, Settings, Tls};
/// # fn main() -> Result<(), echomq_cluster::Error> {
/// let settings = Settings::from_url("rediss://cache.example:6380/2")?
///     .login(Login::user("app", "secret"))
///     .tls(Tls::new().authorities("/etc/app/ca.pem"));
/// assert!(!format!("{settings:?}").contains("secret"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Settings {
    pub(crate) seeds: Vec<Address>,
    pub(crate) credentials: Option<Arc<dyn Credentials>>,
    pub(crate) database: u16,
    pub(crate) tls: Option<Tls>,
    pub(crate) one_endpoint: bool,
    pub(crate) full_coverage: bool,
    pub(crate) look_every: Duration,
    pub(crate) nodelay: bool,
    pub(crate) resolver: Arc<dyn Resolver>,
}

impl Settings {
    /// Asks these nodes first. One that answers is enough to find the others.
    ///
    /// # Errors
    ///
    /// [`Error`] when there is none.
    pub fn new(seeds: impl IntoIterator<Item = Address>) -> Result<Settings, Error> {
        let seeds: Vec<Address> = seeds.into_iter().collect();
        if seeds.is_empty() {
            return Err(Error::url("", "no node is named"));
        }
        Ok(Settings {
            seeds,
            credentials: None,
            database: 0,
            tls: None,
            one_endpoint: false,
            full_coverage: false,
            look_every: Duration::from_secs(60),
            nodelay: false,
            resolver: Arc::new(System),
        })
    }

    /// Reads a URL: `redis://[user[:password]@]host[:port][,host[:port]…][/database][?option=value&…]`.
    ///
    /// `valkey://` is the same; `rediss://` and `valkeys://` encrypt; `unix:/path[?option=value&…]` is a socket of this
    /// machine. User and password are percent-coded. An IPv6 address stands in brackets: `redis://[::1]:7001`.
    ///
    /// | option | is |
    /// |---|---|
    /// | `db=2` | [`Settings::database`], as `/2` |
    /// | `one-endpoint=true` | [`Settings::one_endpoint`] |
    /// | `full-coverage=true` | [`Settings::full_coverage`] |
    /// | `tls-ca=FILE` | [`Tls::authorities`] |
    /// | `tls-cert=FILE`, `tls-key=FILE` | [`Tls::identity`] |
    /// | `tls-name=NAME` | [`Tls::server_name`] |
    ///
    /// # Errors
    ///
    /// What can not be read, and what to write instead. The password is not part of it.
    pub fn from_url(url: &str) -> Result<Settings, Error> {
        url::parse(url)
    }

    /// Logs in as this user on every connection.
    pub fn login(self, login: Login) -> Settings {
        self.credentials(login)
    }

    /// Asks this for the login of every connection; see [`Credentials`].
    pub fn credentials(mut self, credentials: impl Credentials) -> Settings {
        self.credentials = Some(Arc::new(credentials));
        self
    }

    /// Selects a numbered database on every connection; 0 if not set. A cluster has others than 0 since Valkey 9, where
    /// its configuration says so (`cluster-databases`).
    pub fn database(mut self, number: u16) -> Settings {
        self.database = number;
        self
    }

    /// Encrypts every connection.
    pub fn tls(mut self, tls: Tls) -> Settings {
        self.tls = Some(tls);
        self
    }

    /// Every slot is at the seed that answers, and nobody is asked for the topology: for services that show one endpoint
    /// and hide their nodes. The slot rules stay on: two slots are refused before sending.
    ///
    /// A redirect there is not followed, since its address is one that the service hides or that somebody forgot to: it
    /// is an error that names the redirect and this setting.
    pub fn one_endpoint(mut self, on: bool) -> Settings {
        self.one_endpoint = on;
        self
    }

    /// Refuses to start while some slot has no node. If not set, the start succeeds as soon as one slot has a node:
    /// commands for the others fail at once and name their slot, those for the rest work, as far as the servers serve a
    /// part (`cluster-require-full-coverage no`).
    pub fn full_coverage(mut self, on: bool) -> Settings {
        self.full_coverage = on;
        self
    }

    /// Asks for the topology after so long without a reason to, so that replicas which came later are read from and nodes
    /// which left are forgotten; a minute if not set. What a request meets, a redirect or a node that is gone, is a reason to
    /// ask at once.
    pub fn look_every(mut self, calm: Duration) -> Settings {
        self.look_every = calm;
        self
    }

    /// Sends every request at once (`TCP_NODELAY`). If not set, the system may hold back a small request while an earlier one
    /// of the connection is unanswered, for a round trip at most, and send it together with those that come meanwhile: with
    /// 64 tasks on one client that saves a fifth of the client's processor time. A caller that is alone never waits.
    pub fn nodelay(mut self, on: bool) -> Settings {
        self.nodelay = on;
        self
    }

    /// Looks host names up here.
    pub fn resolver(mut self, resolver: impl Resolver) -> Settings {
        self.resolver = Arc::new(resolver);
        self
    }
}

/// Without secrets.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seeds: Vec<String> = self.seeds.iter().map(Address::to_string).collect();
        f.debug_struct("Settings")
            .field("seeds", &seeds)
            .field("has_login", &self.credentials.is_some())
            .field("database", &self.database)
            .field("tls", &self.tls)
            .field("one_endpoint", &self.one_endpoint)
            .field("full_coverage", &self.full_coverage)
            .finish_non_exhaustive()
    }
}
