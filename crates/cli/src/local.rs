//! `echomq local`: a private server or cluster, until Ctrl-C; or the pinned server alone, fetched.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use echomq_local::{Embedded, Engine, EngineName, Launch, Local};
use serde::Serialize;

use crate::exit::Exit;
use crate::screen::{DIM, GOOD, HEAD, Report, Screen};
use crate::server::runtime;
use crate::signals::Signals;

/// Start a private server or cluster, until Ctrl-C.
///
/// Without --nodes it is the very server that the other commands use when they get no --url: they join it while it
/// runs, and its data stays. With --nodes it is a cluster of its own; its data goes with it, unless a folder is named.
///
/// With --fetch and without --nodes nothing is started: the pinned Valkey is fetched if need be, and its path
/// printed, as for ECHOMQ_SERVER_BIN=$(echomq local --fetch).
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A cluster of so many primaries, which share the slots evenly.
    #[arg(long, value_name = "N")]
    nodes: Option<usize>,
    /// So many replicas for each primary.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, requires = "nodes")]
    replicas: usize,
    /// Keep the data in this folder, and find it there at the next start.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Take the pinned Valkey, fetched if need be, whatever server is installed here; without --nodes, print its
    /// path and end.
    #[arg(long)]
    fetch: bool,
}

/// The pinned server, on this disk.
#[derive(Serialize)]
struct Fetched {
    path: PathBuf,
    version: String,
}

impl Report for Fetched {
    /// The path alone, so that a script can take it.
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.path.as_os_str().as_bytes())?;
        writeln!(out)
    }
}

#[derive(Serialize)]
struct Running {
    url: String,
    engine: Option<String>,
    nodes: Vec<Node>,
    dir: Option<PathBuf>,
}

#[derive(Serialize)]
struct Node {
    address: String,
    role: &'static str,
    pid: Option<u32>,
    log: PathBuf,
}

impl Report for Running {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.engine {
            Some(engine) => self.cluster_text(engine, out),
            None => self.shared_text(out),
        }
    }
}

impl Running {
    fn cluster_text(&self, engine: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{GOOD}{engine} is ready{GOOD:#}\n")?;
        for node in &self.nodes {
            writeln!(out, "  {}  {:7}  {DIM}log {}{DIM:#}", node.address, node.role, node.log.display())?;
        }
        writeln!(out, "\nIn another terminal:\n\n  {HEAD}export ECHOMQ_URL={}{HEAD:#}", self.url)?;
        writeln!(out, "  {HEAD}echomq queue ls{HEAD:#}\n\nCtrl-C stops it.")
    }

    fn shared_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{GOOD}The private server of this machine is ready{GOOD:#}\n\n  url   {}", self.url)?;
        if let Some(dir) = &self.dir {
            writeln!(out, "  data  {}", dir.display())?;
        }
        for node in &self.nodes {
            writeln!(out, "  log   {}", node.log.display())?;
        }
        writeln!(
            out,
            "\nCommands that get no --url use it: try {HEAD}echomq queue ls{HEAD:#} in another terminal."
        )?;
        writeln!(out, "Ctrl-C lets it go: it ends when nobody else uses it, and its data stays.")
    }
}

pub(crate) fn run(args: Args, screen: &mut Screen) -> anyhow::Result<Exit> {
    let only_fetches = args.fetch && args.nodes.is_none();
    ensure!(
        !only_fetches || args.dir.is_none(),
        "--fetch starts nothing that could use --dir; add --nodes N, or leave one out"
    );
    let runtime = runtime()?;
    // Heard from now on, so that a start that is broken off ends what it has started.
    let mut signals = runtime.block_on(async { Signals::hear() }).context("signals can not be heard")?;
    let start = runtime.spawn_blocking(move || start(args));
    let started = runtime.block_on(async {
        tokio::select! {
            started = start => Some(started),
            () = signals.next() => None,
        }
    });
    let Some(started) = started else {
        // The start goes on in its thread; the guards beside the servers end them with this process.
        runtime.shutdown_background();
        return Ok(if only_fetches { Exit::Trouble } else { Exit::Fine });
    };
    match started?? {
        Started::Fetched(fetched) => screen.show(&fetched)?,
        Started::Running(running, servers) => {
            screen.show(&running)?;
            screen.flush()?;
            runtime.block_on(signals.next());
            drop(servers);
        }
    }
    Ok(Exit::Fine)
}

/// What a start came to.
enum Started {
    Fetched(Fetched),
    Running(Running, Servers),
}

/// What runs, until it is dropped.
#[expect(dead_code, reason = "held for what their drop does")]
enum Servers {
    Cluster(Local),
    Shared(Embedded),
}

fn start(args: Args) -> anyhow::Result<Started> {
    let Some(primaries) = args.nodes else {
        if args.fetch {
            let engine = Engine::fetch()?;
            let (path, version) = (engine.path().to_owned(), engine.version().to_string());
            return Ok(Started::Fetched(Fetched { path, version }));
        }
        let shared = Embedded::join_or_start(args.dir.as_deref())?;
        return Ok(Started::Running(Running::shared(&shared), Servers::Shared(shared)));
    };
    let mut launch = Launch::cluster(primaries).replicas(args.replicas);
    if let Some(dir) = &args.dir {
        launch = launch.dir(dir).append_only(true);
    }
    if args.fetch {
        launch = launch.engine(Engine::fetch()?);
    }
    let local = launch.start()?;
    Ok(Started::Running(Running::cluster(&local, primaries, args.dir), Servers::Cluster(local)))
}

impl Running {
    fn shared(shared: &Embedded) -> Running {
        let node = Node {
            address: format!("127.0.0.1:{}", shared.port()),
            role: "primary",
            pid: shared.pid(),
            log: shared.log_path(),
        };
        Running { url: shared.url(), engine: None, nodes: vec![node], dir: Some(shared.dir().to_owned()) }
    }

    fn cluster(local: &Local, primaries: usize, dir: Option<PathBuf>) -> Running {
        let node = |(i, node): (usize, &echomq_local::Node)| Node {
            address: node.address(),
            role: if i < primaries { "primary" } else { "replica" },
            pid: node.pid(),
            log: node.log_path(),
        };
        let nodes = local.nodes().iter().enumerate().map(node).collect();
        Running { url: local.url(), engine: Some(engine_text(local.engine())), nodes, dir }
    }
}

fn engine_text(engine: &Engine) -> String {
    let name = match engine.name() {
        EngineName::Valkey => "Valkey",
        EngineName::Redis => "Redis",
    };
    format!("{name} {}", engine.version())
}
