//! One server of a [`Local`](crate::Local), with its folder and its ports.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use redis::{FromRedisValue, ToRedisArgs};
use rustix::process::Signal;

use crate::conf::{self, Conf};
use crate::guard::{self, Guarded, Keeper};
use crate::ports::Ports;
use crate::{Error, admin};

/// How long a server may take to write out its data when it is asked to end.
const END_LIMIT: Duration = Duration::from_secs(5);

/// One server that this process started.
#[derive(Debug)]
pub struct Node {
    label: String,
    engine: PathBuf,
    dir: PathBuf,
    /// The folder of all nodes, if it goes with them.
    sweep: Option<PathBuf>,
    ports: Ports,
    process: Mutex<Option<Guarded>>,
    is_frozen: AtomicBool,
}

impl Node {
    /// The port for clients.
    pub fn port(&self) -> u16 {
        self.ports.client
    }

    /// The address for clients, as `127.0.0.1:<port>`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.ports.client)
    }

    /// The port of the cluster bus.
    pub(crate) fn bus_port(&self) -> u16 {
        self.ports.bus
    }

    /// The server's process id, if it runs.
    pub fn pid(&self) -> Option<u32> {
        self.process().as_mut().and_then(|process| process.is_running().then(|| process.pid()))
    }

    /// The folder with the server's configuration, data and log.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What the server prints. It is kept over restarts.
    pub fn log_path(&self) -> PathBuf {
        self.dir.join(guard::LOG)
    }

    /// The server's process is there, be it stopped or not.
    pub fn is_running(&self) -> bool {
        self.process().as_mut().is_some_and(Guarded::is_running)
    }

    /// Ends the server as a crash does (SIGKILL) and returns when it is gone. Its folder and its ports stay its own.
    pub fn kill(&self) {
        *self.process() = None;
    }

    /// Stops the server's process (SIGSTOP): it holds its connections and answers nothing, until [`Node::thaw`].
    ///
    /// # Errors
    ///
    /// [`Error::is_io`] if the operating system refuses.
    pub fn freeze(&self) -> Result<(), Error> {
        self.signal(Signal::STOP)?;
        self.is_frozen.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Lets a stopped server go on.
    ///
    /// # Errors
    ///
    /// [`Error::is_io`] if the operating system refuses.
    pub fn thaw(&self) -> Result<(), Error> {
        self.signal(Signal::CONT)?;
        self.is_frozen.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// The server runs, but [`Node::freeze`] has stopped it.
    pub fn is_frozen(&self) -> bool {
        self.is_frozen.load(Ordering::Relaxed) && self.is_running()
    }

    /// Sends one command to this node on a connection of its own and returns the answer, or why there is none.
    /// A server that does not answer within two seconds counts as silent.
    ///
    /// # Errors
    ///
    /// What the server or the system said, as text.
    pub fn ask<T: FromRedisValue>(&self, command: impl ToRedisArgs) -> Result<T, String> {
        admin::ask(self.port(), command)
    }

    /// Starts the server in `dir`, with ports of its own.
    pub(crate) fn start(plan: Plan<'_>) -> Result<Node, Error> {
        let ports = Ports::choose().map_err(|error| Error::io("no free port on 127.0.0.1", error))?;
        Node::start_on(ports, plan)
    }

    fn start_on(ports: Ports, plan: Plan<'_>) -> Result<Node, Error> {
        let mut conf = plan.conf.clone();
        conf.set("port", ports.client).set("cluster-port", ports.bus).set("bind", "127.0.0.1");
        let path = plan.dir.join(conf::FILE);
        fs::create_dir_all(&plan.dir)
            .and_then(|()| fs::write(&path, conf.text()))
            .map_err(|error| Error::io(format!("can not write {path:?}"), error))?;
        let sweep = plan.sweep.map(Path::to_owned);
        let (label, engine, dir) = (plan.label, plan.engine.to_owned(), plan.dir);
        let node = Node {
            label,
            engine,
            dir,
            sweep,
            ports,
            process: Mutex::new(None),
            is_frozen: AtomicBool::new(false),
        };
        node.spawn()?;
        Ok(node)
    }

    /// Starts the server again that ended, on the same ports and data.
    pub(crate) fn spawn(&self) -> Result<(), Error> {
        let keeper = Keeper::Spawner { sweep: self.sweep.as_deref() };
        let process = guard::spawn(&self.engine, &self.dir, conf::FILE, keeper)
            .map_err(|error| Error::io(format!("can not start {:?}", self.engine), error))?;
        *self.process() = Some(process);
        self.is_frozen.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Ends the server: at once if its data goes with it, else in good order.
    pub(crate) fn end(&self) {
        if let Some(mut process) = self.process().take() {
            match self.sweep {
                Some(_) => process.kill(),
                None => process.end(END_LIMIT),
            }
        }
    }

    /// Waits until the server answers and has read its data.
    pub(crate) fn answers_by(&self, started: Instant, deadline: Instant) -> Result<(), Error> {
        loop {
            let Some(pid) = self.pid() else { return Err(Error::ended(self.who(), &self.log_path())) };
            let Err(missing) = admin::serves(self.port(), pid) else { return Ok(()) };
            if Instant::now() >= deadline {
                return Err(self.not_ready(started, missing));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sends a command that must succeed.
    pub(crate) fn must<T: FromRedisValue>(&self, command: &[&str]) -> Result<T, Error> {
        self.ask(command).map_err(|reply| Error::refused(self.who(), command, reply, &self.log_path()))
    }

    pub(crate) fn not_ready(&self, started: Instant, missing: String) -> Error {
        Error::not_ready(self.who(), started.elapsed().as_millis(), missing, &self.log_path())
    }

    pub(crate) fn who(&self) -> String {
        format!("{} ({})", self.label, self.address())
    }

    fn signal(&self, signal: Signal) -> Result<(), Error> {
        let Some(process) = &mut *self.process() else { return Ok(()) };
        process.signal(signal).map_err(|error| Error::io(format!("can not signal {}", self.who()), error))
    }

    fn process(&self) -> MutexGuard<'_, Option<Guarded>> {
        self.process.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a node is started from.
pub(crate) struct Plan<'a> {
    pub(crate) label: String,
    pub(crate) engine: &'a Path,
    pub(crate) dir: PathBuf,
    pub(crate) sweep: Option<&'a Path>,
    pub(crate) conf: &'a Conf,
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::Engine;

    #[test]
    fn a_start_whose_port_was_lost_to_somebody_else_says_so() {
        let engine = Engine::find().unwrap();
        let choose: [fn(&Ports) -> u16; 2] = [|ports| ports.client, |ports| ports.bus];
        for port in choose {
            let dir = tempfile::tempdir().unwrap();
            let mut conf = Conf::default();
            conf.set("cluster-enabled", "yes").set("save", "");
            let ports = Ports::choose().unwrap();
            let _somebody = TcpListener::bind(("127.0.0.1", port(&ports))).unwrap();
            let (label, path) = ("node 0".into(), dir.path().to_owned());
            let plan = Plan { label, engine: engine.path(), dir: path, sweep: None, conf: &conf };
            let node = Node::start_on(ports, plan).unwrap();
            let now = Instant::now();
            let error = node.answers_by(now, now + Duration::from_secs(20)).unwrap_err();
            assert!(error.is_port_lost(), "{error}");
        }
    }
}
