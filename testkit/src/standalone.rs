//! A single server that is no cluster.

use echomq_local::{Launch, Local};
use redis::{ToRedisArgs, Value};

use crate::names::engine;

/// A single server of the test's own, which ends when this is dropped.
#[derive(Debug)]
pub struct Standalone {
    local: Local,
}

/// Starts a single server.
///
/// # Panics
///
/// When it does not start.
#[track_caller]
pub fn standalone() -> Standalone {
    standalone_configured(&[])
}

/// [`standalone`] with these settings of the server's configuration.
///
/// # Panics
///
/// When it does not start.
#[track_caller]
pub fn standalone_configured(settings: &[(&str, &str)]) -> Standalone {
    let launch = Launch::standalone().engine(engine().clone()).config("enable-debug-command", "local");
    let launch = settings.iter().fold(launch, |launch, (key, value)| launch.config(*key, *value));
    Standalone { local: launch.start().unwrap_or_else(|error| panic!("{error}")) }
}

impl Standalone {
    /// `redis://127.0.0.1:<port>`
    pub fn url(&self) -> String {
        self.local.url()
    }

    /// `127.0.0.1:<port>`
    pub fn address(&self) -> String {
        self.local.nodes()[0].address()
    }

    /// Sends one command; see [`Cluster::raw`](crate::Cluster::raw).
    ///
    /// # Errors
    ///
    /// What the server or the system said, as text.
    pub fn raw(&self, command: impl ToRedisArgs) -> Result<Value, String> {
        self.local.nodes()[0].ask(command)
    }

    /// Ends the server as a crash does.
    pub fn kill(&self) {
        self.local.nodes()[0].kill();
    }

    /// Stops the server's process until [`Standalone::thaw`].
    #[track_caller]
    pub fn freeze(&self) {
        self.local.nodes()[0].freeze().unwrap_or_else(|error| panic!("{error}"));
    }

    /// Lets the server go on.
    #[track_caller]
    pub fn thaw(&self) {
        self.local.nodes()[0].thaw().unwrap_or_else(|error| panic!("{error}"));
    }

    /// Starts the server again on its port. Its data is gone.
    #[track_caller]
    pub fn restart(&self) {
        self.local.restart(0).unwrap_or_else(|error| panic!("{error}"));
    }
}
