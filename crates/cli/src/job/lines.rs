//! `echomq job add --file`: a job a line, in calls of up to a thousand.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use echomq::{Enqueued, JobId, JobSpec, Queue};
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::add::{PATIENCE, Plan};
use crate::cli::Global;
use crate::exit::{Exit, note};
use crate::screen::{Report, Screen};
use crate::server;

/// A call holds no more than this, so that its fate is one.
const CALL_JOBS: usize = 1_000;
const CALL_BYTES: usize = 512 * 1024;
/// When no line comes for so long, those that came are sent.
const QUIET: Duration = Duration::from_millis(20);
/// So many bad lines are told one by one; the rest is counted.
const TOLD: u64 = 10;

#[derive(Default, Serialize)]
struct Loaded {
    queue: String,
    slot: u16,
    added: u64,
    duplicates: u64,
    full: u64,
    bad: u64,
    empty: u64,
    took_ms: u64,
}

impl Report for Loaded {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Loaded { queue, slot, added, took_ms, .. } = self;
        let seconds = *took_ms as f64 / 1_000.0;
        write!(out, "{added} jobs added to {queue} (slot {slot}) in {seconds:.1} s")?;
        for (count, what) in [
            (self.duplicates, "there already"),
            (self.full, "refused, the queue is full"),
            (self.bad, "bad lines"),
            (self.empty, "empty lines passed over"),
        ] {
            if count > 0 {
                write!(out, "; {count} {what}")?;
            }
        }
        writeln!(out)
    }
}

/// Where the lines come from.
enum Source {
    Stdin,
    File(File),
}

pub(super) fn run(plan: &Plan, file: &Path, global: &Global, screen: &mut Screen) -> anyhow::Result<Exit> {
    let (source, bytes) = open(file)?;
    let bar = progress_bar(bytes);
    let begun = Instant::now();
    let result = server::with(global, async |mq| {
        let queue = mq.queue(plan.queue.as_str())?;
        let loaded =
            Loaded { queue: queue.name().to_string(), slot: queue.slot().get(), ..Loaded::default() };
        let mut load = Load { plan, queue, bar: &bar, call: Call::default(), loaded };
        let ended = load.all(lines(source)).await;
        Ok((load.loaded, ended))
    });
    bar.finish_and_clear();
    let (mut loaded, ended) = result?;
    loaded.took_ms = begun.elapsed().as_millis() as u64;
    screen.show(&loaded)?;
    ended?;
    Ok(Exit::finding_if(loaded.duplicates + loaded.full + loaded.bad > 0))
}

fn open(file: &Path) -> anyhow::Result<(Source, Option<u64>)> {
    if file == Path::new("-") {
        return Ok((Source::Stdin, None));
    }
    let opened = File::open(file).and_then(|opened| Ok((opened.metadata()?, opened)));
    let (facts, opened) = opened.with_context(|| format!("{file:?} can not be read"))?;
    Ok((Source::File(opened), facts.is_file().then_some(facts.len())))
}

/// The lines as they come, each with its line feed if it has one. They are read by a thread of their own, so that
/// jobs need not wait for the next line; it ends with the process, whatever it waits for.
fn lines(source: Source) -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel(2 * CALL_JOBS);
    std::thread::spawn(move || {
        let mut input: Box<dyn BufRead> = match source {
            Source::Stdin => Box::new(io::stdin().lock()),
            Source::File(file) => Box::new(BufReader::new(file)),
        };
        loop {
            let mut line = Vec::new();
            let read = input.read_until(b'\n', &mut line);
            let (is_last, item) = match read {
                Ok(0) => return,
                Ok(_) => (false, Ok(line)),
                Err(error) => (true, Err(error)),
            };
            if sender.blocking_send(item).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

/// On standard error, and only when that is a terminal.
fn progress_bar(bytes: Option<u64>) -> ProgressBar {
    let (bar, template) = match bytes {
        Some(bytes) => (ProgressBar::new(bytes), "{bar:30} {percent:>3} %  {msg}  {eta} left"),
        None => (ProgressBar::new_spinner(), "{spinner} {msg}  {elapsed}"),
    };
    bar.set_message("0 jobs");
    bar.enable_steady_tick(Duration::from_millis(200));
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The jobs of one call, and the number of the first line in it.
#[derive(Default)]
struct Call {
    jobs: Vec<JobSpec>,
    bytes: usize,
    first_line: u64,
}

/// A file on its way into a queue.
struct Load<'a> {
    plan: &'a Plan,
    queue: Queue,
    bar: &'a ProgressBar,
    call: Call,
    loaded: Loaded,
}

impl Load<'_> {
    async fn all(&mut self, mut lines: mpsc::Receiver<io::Result<Vec<u8>>>) -> anyhow::Result<()> {
        let mut number = 0;
        loop {
            let line = match lines.try_recv() {
                Ok(line) => line,
                Err(_) => match tokio::time::timeout(QUIET, lines.recv()).await {
                    Ok(Some(line)) => line,
                    Ok(None) => return self.send().await,
                    Err(_) => {
                        self.send().await?;
                        match lines.recv().await {
                            Some(line) => line,
                            None => return Ok(()),
                        }
                    }
                },
            };
            number += 1;
            self.line(number, &line.context("the input can not be read")?).await?;
        }
    }

    async fn line(&mut self, number: u64, line: &[u8]) -> anyhow::Result<()> {
        self.bar.inc(line.len() as u64);
        let payload = line.strip_suffix(b"\n").unwrap_or(line);
        if payload.is_empty() {
            self.loaded.empty += 1;
            return Ok(());
        }
        let id = match self.plan.id_from.as_deref().map(|field| id_of(payload, field)).transpose() {
            Ok(id) => id,
            Err(why) => {
                self.loaded.bad += 1;
                self.bar.suspend(|| tell(self.loaded.bad, number, &why));
                return Ok(());
            }
        };
        let Call { jobs, bytes, .. } = &self.call;
        if jobs.len() == CALL_JOBS || !jobs.is_empty() && bytes + payload.len() > CALL_BYTES {
            self.send().await?;
        }
        if self.call.jobs.is_empty() {
            self.call.first_line = number;
        }
        self.call.bytes += payload.len();
        self.call.jobs.push(self.plan.spec(id, payload.to_vec()));
        Ok(())
    }

    async fn send(&mut self) -> anyhow::Result<()> {
        let Call { jobs, first_line, .. } = std::mem::take(&mut self.call);
        if jobs.is_empty() {
            return Ok(());
        }
        let results = echomq_load::enqueue_surely(&self.queue, jobs, PATIENCE).await;
        let results =
            results.with_context(|| format!("stopped at line {first_line}; the lines before it are in"))?;
        for result in &results {
            match result {
                Enqueued::Added(_) => self.loaded.added += 1,
                Enqueued::Duplicate(_) => self.loaded.duplicates += 1,
                Enqueued::Full(_) => self.loaded.full += 1,
            }
        }
        self.bar.set_message(format!("{} jobs", self.loaded.added));
        Ok(())
    }
}

/// The id in a field of a JSON object: a text, or a whole number digit for digit.
fn id_of(line: &[u8], field: &str) -> anyhow::Result<JobId> {
    #[derive(Deserialize)]
    struct Object<'a>(#[serde(borrow)] HashMap<Cow<'a, str>, &'a RawValue>);
    let Object(fields) = serde_json::from_slice(line).context("it is no JSON object")?;
    let value = fields.get(field).ok_or_else(|| anyhow!("it has no field {field:?}"))?.get();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let id = match serde_json::from_str::<String>(value) {
        Ok(text) => text,
        Err(_) if is_number(value) => value.to_owned(),
        Err(_) => return Err(anyhow!("its field {field:?} is neither a text nor a whole number")),
    };
    Ok(JobId::parse(id)?)
}

fn tell(bad: u64, line: u64, why: &anyhow::Error) {
    match bad {
        ..TOLD => note(&format!("line {line} is passed over: {why:#}")),
        TOLD => note(&format!("line {line} is passed over: {why:#} (further ones are only counted)")),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(line: &str) -> Result<String, String> {
        id_of(line.as_bytes(), "order").map(|id| id.to_string()).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn an_id_is_a_text_or_a_number_digit_for_digit() {
        assert_eq!(id(r#"{"order":"A-7","x":{"order":1}}"#).unwrap(), "A-7");
        assert_eq!(id(r#"{"x":[1],"order":9007199254740993}"#).unwrap(), "9007199254740993");
        assert_eq!(id(r#"{"or\u0064er":"a\u0062"}"#).unwrap(), "ab");
    }

    #[test]
    fn what_is_no_id_says_why() {
        for (line, why) in [
            ("[1]", "no JSON object"),
            ("{", "no JSON object"),
            (r#"{"a":1}"#, "no field \"order\""),
            (r#"{"order":1.5}"#, "neither a text nor a whole number"),
            (r#"{"order":-1}"#, "neither a text nor a whole number"),
            (r#"{"order":null}"#, "neither a text nor a whole number"),
            (r#"{"order":""}"#, "job id \"\" refused"),
            (r#"{"order":"a\n"}"#, "control byte"),
        ] {
            let error = id(line).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
    }
}
