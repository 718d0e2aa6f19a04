//! The embedded default: one private server, shared by the processes of one user.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};

use crate::conf::{self, Conf};
use crate::guard::{self, Guarded, Keeper};
use crate::places::Places;
use crate::ports::Ports;
use crate::{Engine, Error, admin, lock};

/// One deadline for finding or starting the server, in which it may have to read a large append-only file.
const LIMIT: Duration = Duration::from_secs(60);

/// How long the last holder waits for the server to write out its data and end.
const END_LIMIT: Duration = Duration::from_secs(10);

/// A server that nobody watches any more is told to end after this, and killed after twice this.
const PATIENCE: Duration = Duration::from_secs(3);

/// So often a start is tried again with other ports when a port was lost to another process.
const PORT_ATTEMPTS: usize = 5;

const POLL: Duration = Duration::from_millis(2);

/// A log larger than this is put aside at the next start, over the one that was put aside before.
const LOG_MAX_BYTES: u64 = 1 << 20;

/// A hold on the private server of a folder. The server runs while somebody holds it.
///
/// It is a real server in cluster mode that owns all slots, so that the slot rules hold, with every change in an
/// append-only file in its folder. The first process starts it, others join it, and when the last hold is dropped
/// or its process ends in any other way, it writes out its data and ends.
///
/// # How it is shared
///
/// The first starter is not special; it may go first. Four files in the folder see to that:
///
/// * `starting.lock` is locked while somebody starts or joins, so that two starters do not meet;
/// * `holders.lock` is locked by all holders together, so that one who leaves knows whether it was the last;
/// * `running.lock` is locked by the server itself, which was given the open file: it is free exactly when the
///   server and its guard are gone, even after a crash of the machine;
/// * `life` is a FIFO that all holders keep open for writing. A small shell beside the server reads from it, sees
///   its end when the last writer has gone, however it went, and ends the server.
#[derive(Debug)]
pub struct Embedded {
    dir: PathBuf,
    port: u16,
    /// `None` once given up.
    life: Option<File>,
    holders: File,
    /// The guard, if this process started the server.
    started: Option<Guarded>,
}

impl Embedded {
    /// Joins the server of this folder, or starts it if it does not run. The folder is made if need be; if none is
    /// named it is `echomq` in `XDG_DATA_HOME` or `~/.local/share`.
    ///
    /// A start takes a little over two seconds, which is how long a server in cluster mode waits before it takes
    /// writes; joining takes milliseconds.
    ///
    /// # Errors
    ///
    /// [`Error::is_not_ready`] with the log, the errors of [`Engine::find`], or [`Error::is_io`] if the folder can
    /// not be used.
    pub fn join_or_start(dir: Option<&Path>) -> Result<Embedded, Error> {
        let dir = match dir {
            Some(dir) => dir.to_owned(),
            None => Places::from_env().data().ok_or_else(|| {
                Error::invalid("there is no home folder for the embedded server; name a folder for its data")
            })?,
        };
        let dir = private_folder(&dir).map_err(|error| Error::io(format!("can not use {dir:?}"), error))?;
        Folder::of(dir).hold()
    }

    /// Where clients find it: `redis://127.0.0.1:<port>`. The port is the one before where it is free.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The port for clients.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder with the server's data, configuration and log.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What the server prints.
    pub fn log_path(&self) -> PathBuf {
        self.dir.join(guard::LOG)
    }

    /// The server's process id, as it wrote it down itself.
    pub fn pid(&self) -> Option<u32> {
        read_number(&self.dir.join(PID))
    }
}

impl Drop for Embedded {
    /// Gives up the hold. If it was the last one, waits until the server has ended.
    fn drop(&mut self) {
        drop(self.life.take());
        // Somebody else may come to hold it at this moment: then this lock is not had, and that is right.
        if self.holders.try_lock().is_err() {
            return;
        }
        if let Ok(running) = lock::open(&self.dir.join(RUNNING_LOCK)) {
            let _ = lock::exclusive_by(&running, Instant::now() + END_LIMIT);
        }
        if let Some(guard) = &mut self.started {
            guard.wait(END_LIMIT);
        }
    }
}

const STARTING_LOCK: &str = "starting.lock";
const HOLDERS_LOCK: &str = "holders.lock";
const RUNNING_LOCK: &str = "running.lock";
const LIFE: &str = "life";
const HEARD: &str = "life.heard";
const PORT: &str = "server.port";
const PID: &str = "server.pid";

/// The folder of an embedded server while one holder joins or starts it.
struct Folder {
    dir: PathBuf,
    started: Instant,
    deadline: Instant,
}

/// A hold on a server that may still have to settle.
struct Joined {
    life: File,
    port: u16,
    started: Option<Guarded>,
}

impl Folder {
    fn of(dir: PathBuf) -> Folder {
        let started = Instant::now();
        Folder { dir, started, deadline: started + LIMIT }
    }

    fn hold(&self) -> Result<Embedded, Error> {
        let starting = self.open_lock(STARTING_LOCK)?;
        if !self.io("lock the folder", lock::exclusive_by(&starting, self.deadline))? {
            return Err(self.not_ready("another process has been starting it all the while".into()));
        }
        let holders = self.open_lock(HOLDERS_LOCK)?;
        if !self.io("lock the folder", lock::shared_by(&holders, self.deadline))? {
            return Err(self.not_ready("its last holder is still waiting for its end".into()));
        }
        loop {
            let mut joined = self.join_or_start()?;
            if self.settle(&mut joined)? {
                let Joined { life, port, started } = joined;
                return Ok(Embedded { dir: self.dir.clone(), port, life: Some(life), holders, started });
            }
        }
    }

    /// Joins the server that runs, or starts one as soon as none does.
    fn join_or_start(&self) -> Result<Joined, Error> {
        let mut unwatched_since = None;
        loop {
            let running = self.open_lock(RUNNING_LOCK)?;
            if self.io("lock the folder", lock::exclusive_by(&running, Instant::now()))? {
                return self.start(running);
            }
            match self.open_life()? {
                Some(life) if self.is_heard(&life)? => {
                    if let Some(port) = read_number(&self.dir.join(PORT)) {
                        return Ok(Joined { life, port, started: None });
                    }
                }
                Some(_) => {}
                // It is about to end, or whoever watched it was killed.
                None => self.urge(*unwatched_since.get_or_insert_with(Instant::now)),
            }
            if Instant::now() >= self.deadline {
                return Err(self.not_ready(self.stuck()));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Starts the server. It inherits the locked file, which keeps it locked until the server is gone.
    fn start(&self, running: File) -> Result<Joined, Error> {
        let engine = Engine::find()?;
        put_log_aside(&self.dir.join(guard::LOG));
        // The time in which a server was fetched is not the start's.
        let folder = Folder::of(self.dir.clone());
        let mut attempt = 1;
        loop {
            let running = self.io("share the lock", running.try_clone())?;
            match folder.start_once(&engine, running) {
                Err(error) if error.is_port_lost() && attempt < PORT_ATTEMPTS => attempt += 1,
                result => return result,
            }
        }
    }

    fn start_once(&self, engine: &Engine, running: File) -> Result<Joined, Error> {
        let before = read_number(&self.dir.join(PORT));
        let ports = self.io("find a free port", Ports::choose_again(before))?;
        self.io(
            "write the configuration",
            fs::write(self.dir.join(conf::FILE), configuration(&ports).text()),
        )?;
        self.io("write the port", fs::write(self.dir.join(PORT), ports.client.to_string()))?;
        // The process id of a server that is long gone may be another program's by now.
        self.io("remove the old process id", remove(&self.dir.join(PID)))?;
        let life = self.dir.join(LIFE);
        let keeper = Keeper::Holders { life: &life, lock: running };
        let spawned = guard::spawn(engine.path(), &self.dir, conf::FILE, keeper);
        let mut process = self.io("start the server", spawned)?;
        match self.watched(&mut process, ports.client) {
            Ok(life) => Ok(Joined { life, port: ports.client, started: Some(process) }),
            Err(error) => {
                process.kill();
                Err(error)
            }
        }
    }

    /// Waits until the new server is watched over and answers.
    fn watched(&self, process: &mut Guarded, port: u16) -> Result<File, Error> {
        let life = loop {
            if let Some(life) = self.open_life()? {
                break life;
            }
            self.wait_a_moment(process.is_running(), "nobody watches over it".into())?;
        };
        while let Err(missing) = admin::serves(port, process.pid()) {
            self.wait_a_moment(process.is_running(), missing)?;
        }
        Ok(life)
    }

    /// Opens the FIFO as a holder. `None` if nobody reads it.
    fn open_life(&self) -> Result<Option<File>, Error> {
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
        match options.open(self.dir.join(LIFE)) {
            Ok(life) => Ok(Some(life)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => Ok(None),
            Err(error) => self.io("open the FIFO", Err(error)),
        }
    }

    /// Asks the shell beside the server whether it still watches. Only a holder asks, and after the answer the shell
    /// can not miss it any more: so a server that is about to end is never joined.
    fn is_heard(&self, mut life: &File) -> Result<bool, Error> {
        let heard = self.dir.join(HEARD);
        self.io("remove the last answer", remove(&heard))?;
        if life.write_all(b"\n").is_err() {
            return Ok(false);
        }
        let patience = Instant::now() + PATIENCE;
        while Instant::now() < patience {
            if heard.exists() {
                return Ok(true);
            }
            std::thread::sleep(POLL);
        }
        Ok(false)
    }

    /// Waits until the server has read its data and serves all slots. `false` if it was joined in its last moment,
    /// when its guard still answered, and is gone.
    fn settle(&self, joined: &mut Joined) -> Result<bool, Error> {
        loop {
            let missing = match admin::ask::<String>(joined.port, &["CLUSTER", "INFO"]) {
                Ok(info) if info.contains("cluster_state:ok") => return Ok(true),
                Ok(info) if info.contains("cluster_slots_assigned:0") => {
                    match admin::ask::<()>(joined.port, &["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]) {
                        Ok(()) => continue,
                        Err(refusal) => refusal,
                    }
                }
                Ok(_) => "CLUSTER INFO does not say cluster_state:ok".into(),
                Err(error) => error,
            };
            let is_running = match &mut joined.started {
                Some(process) => process.is_running(),
                None if self.is_running()? => true,
                None => return Ok(false),
            };
            self.wait_a_moment(is_running, missing)?;
        }
    }

    fn is_running(&self) -> Result<bool, Error> {
        let running = self.open_lock(RUNNING_LOCK)?;
        Ok(!self.io("lock the folder", lock::exclusive_by(&running, Instant::now()))?)
    }

    /// Ends a server that nobody watches. Its lock shows that it lives, so the process id is still its own.
    fn urge(&self, unwatched_since: Instant) {
        let signal = match unwatched_since.elapsed() {
            waited if waited < PATIENCE => return,
            waited if waited < 2 * PATIENCE => Signal::TERM,
            _ => Signal::KILL,
        };
        let pid = read_number(&self.dir.join(PID)).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process(pid, signal);
        }
    }

    fn wait_a_moment(&self, is_running: bool, missing: String) -> Result<(), Error> {
        if !is_running {
            return Err(Error::ended(self.who(), &self.dir.join(guard::LOG)));
        }
        if Instant::now() >= self.deadline {
            return Err(self.not_ready(missing));
        }
        std::thread::sleep(POLL);
        Ok(())
    }

    fn stuck(&self) -> String {
        let pid = read_number::<u32>(&self.dir.join(PID))
            .map(|pid| format!(" (process {pid})"))
            .unwrap_or_default();
        format!("an earlier server{pid} neither serves nor ends; end it and try again")
    }

    fn who(&self) -> String {
        format!("the embedded server of {:?}", self.dir)
    }

    fn not_ready(&self, missing: String) -> Error {
        Error::not_ready(self.who(), self.started.elapsed().as_millis(), missing, &self.dir.join(guard::LOG))
    }

    fn open_lock(&self, name: &str) -> Result<File, Error> {
        self.io("open a lock file", lock::open(&self.dir.join(name)))
    }

    fn io<T>(&self, doing: &str, result: io::Result<T>) -> Result<T, Error> {
        result.map_err(|error| Error::io(format!("can not {doing} in {:?}", self.dir), error))
    }
}

/// Nobody but the user may read the jobs.
fn private_folder(dir: &Path) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    dir.canonicalize()
}

fn configuration(ports: &Ports) -> Conf {
    let mut conf = Conf::default();
    conf.set("port", ports.client)
        .set("cluster-port", ports.bus)
        .set("bind", "127.0.0.1")
        .set("cluster-enabled", "yes")
        .set("cluster-config-file", "nodes.conf")
        .set("pidfile", PID)
        .set("save", "")
        .set("appendonly", "yes")
        .set("appendfsync", "always");
    conf
}

/// Removes a file that need not be there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn put_log_aside(log: &Path) {
    // A log that can not be put aside just grows: no reason not to start.
    if fs::metadata(log).is_ok_and(|meta| meta.len() > LOG_MAX_BYTES) {
        let _ = fs::rename(log, log.with_extension("log.old"));
    }
}

fn read_number<T: std::str::FromStr>(path: &Path) -> Option<T> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}
