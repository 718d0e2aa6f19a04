//! Starting a server or a cluster.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::conf::Conf;
use crate::forming::{self, Deadline};
use crate::node::{Node, Plan};
use crate::{Engine, Error, Local};

/// So often a start is tried again with other ports when a port was lost to another process.
const PORT_ATTEMPTS: usize = 5;

/// What to start. Nothing is checked or done before [`Launch::start`].
///
/// ```no_run
/// let local = echomq_local::Launch::cluster(3).replicas(1).start()?;
/// println!("{}", local.url());
/// # Ok::<(), echomq_local::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing starts before `start`"]
pub struct Launch {
    /// `None` is a single server that is no cluster.
    primaries: Option<usize>,
    replicas: usize,
    dir: Option<PathBuf>,
    engine: Option<Engine>,
    node_timeout_ms: u64,
    ready_within_ms: u64,
    append_only: bool,
    settings: Vec<(String, String)>,
}

impl Launch {
    /// A cluster of so many primaries, which share the slots evenly.
    pub fn cluster(primaries: usize) -> Launch {
        Launch { primaries: Some(primaries), ..Launch::standalone() }
    }

    /// A single server that is no cluster.
    pub fn standalone() -> Launch {
        Launch {
            primaries: None,
            replicas: 0,
            dir: None,
            engine: None,
            node_timeout_ms: 2_000,
            ready_within_ms: 30_000,
            append_only: false,
            settings: Vec::new(),
        }
    }

    /// So many replicas for each primary; none if not set. Node `i + k·primaries` follows node `i`.
    pub fn replicas(mut self, per_primary: usize) -> Launch {
        self.replicas = per_primary;
        self
    }

    /// After so many milliseconds of silence the others hold a node for dead; 2,000 if not set.
    pub fn node_timeout_ms(mut self, ms: u64) -> Launch {
        self.node_timeout_ms = ms;
        self
    }

    /// Keeps everything in this folder, a folder for each node, and finds it there at the next start. If not set, a
    /// temporary folder is used, which goes when the servers go.
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Launch {
        self.dir = Some(dir.into());
        self
    }

    /// Writes each change to an append-only file; off if not set.
    pub fn append_only(mut self, on: bool) -> Launch {
        self.append_only = on;
        self
    }

    /// Any further setting of the servers' configuration, as in their configuration file: `("maxmemory", "10mb")`.
    pub fn config(mut self, key: impl Into<String>, value: impl Into<String>) -> Launch {
        self.settings.push((key.into(), value.into()));
        self
    }

    /// Starts this server; if not set, the one that [`Engine::find`] finds.
    pub fn engine(mut self, engine: Engine) -> Launch {
        self.engine = Some(engine);
        self
    }

    /// How long everything together may take until it is ready; 30,000 if not set.
    pub fn ready_within_ms(mut self, ms: u64) -> Launch {
        self.ready_within_ms = ms;
        self
    }

    /// Starts the servers and returns when they are ready: each answers, and in a cluster all agree on nodes, slots
    /// and roles, report `cluster_state:ok`, and every replica has its primary's data.
    ///
    /// A cluster takes a little over two seconds, which is how long a primary waits after its start before it takes
    /// writes.
    ///
    /// # Errors
    ///
    /// [`Error::is_not_ready`] names the node, what was missing and the log, whose folder is kept even if it is a
    /// temporary one; [`Error::is_invalid`] if what was asked for makes no sense; the errors of [`Engine::find`].
    pub fn start(self) -> Result<Local, Error> {
        let count = self.node_count()?;
        let conf = self.conf()?;
        let engine = self.engine.clone().map_or_else(Engine::find, Ok)?;
        let mut attempt = 1;
        loop {
            let folder = Folder::open(self.dir.as_deref())?;
            match self.attempt(count, &conf, &engine, folder) {
                Err(error) if error.is_port_lost() && attempt < PORT_ATTEMPTS => attempt += 1,
                result => return result,
            }
        }
    }

    fn attempt(&self, count: usize, conf: &Conf, engine: &Engine, folder: Folder) -> Result<Local, Error> {
        let deadline = Deadline::within(Duration::from_millis(self.ready_within_ms));
        let started = (0..count)
            .map(|i| Node::start(folder.plan(i, engine, conf)))
            .collect::<Result<Vec<Node>, Error>>()
            .and_then(|nodes| {
                let all: Vec<&Node> = nodes.iter().collect();
                forming::answer(&all, deadline)?;
                if let Some(primaries) = self.primaries {
                    forming::form(&all, primaries, deadline)?;
                }
                Ok(nodes)
            });
        match started {
            Ok(nodes) => {
                Ok(Local::new(nodes, self.primaries.is_some(), engine.clone(), conf.clone(), folder))
            }
            Err(error) => {
                if !error.is_port_lost() {
                    folder.keep();
                }
                Err(error)
            }
        }
    }

    fn node_count(&self) -> Result<usize, Error> {
        /// Every node keeps a connection to every other one; more than this is no test on one machine.
        const MOST: usize = 200;
        let Some(primaries) = self.primaries else {
            return match self.replicas {
                0 => Ok(1),
                _ => Err(Error::invalid("a standalone server has no replicas; ask for a cluster")),
            };
        };
        let count = primaries.saturating_mul(self.replicas.saturating_add(1));
        match count {
            0 => Err(Error::invalid("a cluster needs at least one primary")),
            1..=MOST => Ok(count),
            _ => {
                Err(Error::invalid(format!("{count} nodes are too many for one machine; the most is {MOST}")))
            }
        }
    }

    fn conf(&self) -> Result<Conf, Error> {
        let mut conf = Conf::default();
        let yes_no = |on| if on { "yes" } else { "no" };
        conf.set("save", "").set("appendonly", yes_no(self.append_only)).set("repl-diskless-sync-delay", 0);
        if self.primaries.is_some() {
            conf.set("cluster-enabled", "yes")
                .set("cluster-config-file", "nodes.conf")
                .set("cluster-node-timeout", self.node_timeout_ms)
                // Who follows whom is the caller's choice.
                .set("cluster-allow-replica-migration", "no");
        }
        self.settings.iter().try_for_each(|(key, value)| conf.set_checked(key, value))?;
        Ok(conf)
    }
}

/// The folder that holds the nodes' folders.
#[derive(Debug)]
pub(crate) enum Folder {
    Named(PathBuf),
    Temporary(TempDir),
}

impl Folder {
    fn open(named: Option<&Path>) -> Result<Folder, Error> {
        let Some(dir) = named else {
            let temp = tempfile::Builder::new().prefix("echomq-").tempdir();
            let temp = temp.map_err(|error| Error::io("can not make a temporary folder", error))?;
            return Ok(Folder::Temporary(temp));
        };
        let made = fs::create_dir_all(dir).and_then(|()| dir.canonicalize());
        made.map(Folder::Named).map_err(|error| Error::io(format!("can not make the folder {dir:?}"), error))
    }

    pub(crate) fn plan<'a>(&'a self, i: usize, engine: &'a Engine, conf: &'a Conf) -> Plan<'a> {
        let (path, sweep) = match self {
            Folder::Named(path) => (path.as_path(), None),
            Folder::Temporary(dir) => (dir.path(), Some(dir.path())),
        };
        let label = format!("node {i}");
        Plan { dir: path.join(format!("node-{i}")), label, engine: engine.path(), sweep, conf }
    }

    /// Leaves a temporary folder where it is, since an error points at the logs in it.
    fn keep(self) {
        if let Folder::Temporary(dir) = self {
            let _ = dir.keep();
        }
    }
}
