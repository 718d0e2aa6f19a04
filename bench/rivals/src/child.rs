//! One trial of one client in a process of its own: a client that hangs, or takes the runtime with it, is ended and
//! reported.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::client::{Client, EchoMq, Name};
use crate::findings::Findings;
use crate::trial::Trial;
use crate::{ground, name_of};

/// A trial that takes longer is ended.
const LIMIT: Duration = Duration::from_secs(90);

/// Runs a trial in a process of its own.
pub(crate) fn run_apart(client: Name, trial: Trial) -> Result<Findings, String> {
    let program = std::env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    let mut child = Command::new(program)
        .args(["alone", &name_of(&client), &name_of(&trial)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("can not start this program again: {error}"))?;
    let said = reader(child.stdout.take());
    let complained = reader(child.stderr.take());
    let in_time = wait(&mut child)?;
    let [said, complained] = [said, complained].map(|reader| reader.join().unwrap_or_default());
    if let Some(findings) = said.lines().last().and_then(|line| serde_json::from_str(line).ok()) {
        return Ok(findings);
    }
    Ok(Findings::broken(match complained.trim() {
        _ if !in_time => format!("hung: ended after {} s", LIMIT.as_secs()),
        "" => "the process ended without a word".to_owned(),
        complained => complained.to_owned(),
    }))
}

/// Both streams are read to their end at the same time, or a full pipe would hold the child up.
fn reader(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What came before a failure counts.
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Returns whether it ended by itself.
fn wait(child: &mut Child) -> Result<bool, String> {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => return Ok(true),
            Ok(None) if begun.elapsed() < LIMIT => thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
                return Ok(false);
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Runs a trial here and prints what was found as one line of JSON.
pub(crate) fn run_here(client: Name, trial: Trial) -> Result<bool, String> {
    match client {
        Name::Echomq => with::<EchoMq>(trial),
        #[cfg(feature = "redis")]
        Name::Redis => with::<crate::client::Redis>(trial),
        #[cfg(feature = "rustis")]
        Name::Rustis => with::<crate::client::Rustis>(trial),
        #[cfg(feature = "fred")]
        Name::Fred => with::<crate::client::Fred>(trial),
        #[cfg(feature = "glide")]
        Name::Glide => with::<crate::client::Glide>(trial),
    }
}

fn with<C: Client>(trial: Trial) -> Result<bool, String> {
    let cluster = ground::primaries();
    let runtime = tokio::runtime::Runtime::new().map_err(|error| format!("no runtime: {error}"))?;
    let findings = runtime.block_on(trial.run::<C>(&cluster))?;
    let line = serde_json::to_string(&findings).map_err(|error| error.to_string())?;
    println!("{line}");
    // Whatever a client still has in hand shall not keep the process.
    runtime.shutdown_background();
    Ok(true)
}
