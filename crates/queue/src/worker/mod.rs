//! Works jobs off: claims in batches, runs handlers side by side, settles what they said, keeps leases
//! alive, and does the queue's upkeep.
//!
//! Five tasks share one [`Desk`]: `fetch` claims and starts handlers, `settle` gathers outcomes per claim,
//! `renew` extends all leases in one call, `upkeep` promotes what is due and reclaims
//! what was lost, and hears wake-ups in a task of its own.

mod desk;
mod fetch;
mod renew;
mod settle;
mod upkeep;

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use echomq_keyspace::{JobId, QueueName};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use self::desk::Desk;
use crate::envelope::Envelope;
use crate::tries::Tries;
use crate::{Error, Queue};

/// The shortest lease: below it, a pause of the machine would look like a dead worker.
pub const LEASE_MIN: Duration = Duration::from_millis(100);
/// The longest lease.
pub const LEASE_MAX: Duration = Duration::from_secs(24 * 3600);
/// The most jobs that one claim call takes.
const BATCH: usize = 200;
/// The most handlers of one worker.
const CONCURRENCY_MAX: usize = 1_000_000;
/// What is kept of an error's text, in bytes: its end tells most.
const REASON_MAX_BYTES: usize = 2_000;
/// The longest name of a worker, in bytes, before what makes it unique.
const OWNER_MAX_BYTES: usize = 120;

/// A job in the hands of a handler.
#[derive(Clone, Debug)]
pub struct Job {
    /// The queue it came from.
    pub queue: QueueName,
    /// Its id.
    pub id: JobId,
    /// What kind of work it is; empty when the producer said nothing.
    pub name: String,
    /// Which run this is: 1 for the first.
    pub attempt: u32,
    /// The claim's fencing token: grows with every claim call of the queue, and is the same for jobs taken together. Hand it to whatever the handler writes
    /// to, and let that refuse a lower one than it has seen.
    pub token: u64,
    /// What failed and was lost before.
    pub tries: Tries,
    /// When it was enqueued, in ms since 1970.
    pub created_ms: u64,
    /// The bytes that were enqueued.
    pub payload: Vec<u8>,
}

type Outcome = Result<(), String>;
type Handler = Arc<dyn Fn(Job) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync>;

/// How a worker works. Made by [`Queue::worker`].
pub struct WorkerBuilder {
    queue: Queue,
    handler: Handler,
    options: Options,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    concurrency: usize,
    lease: Duration,
    poll: Duration,
    lost_limit: u32,
    owner: String,
}

impl Queue {
    /// A worker for this queue. The handler gets each job; `Ok` completes it, `Err` fails it with the error's text.
    ///
    /// ```no_run
    /// # async fn example(queue: echomq::Queue) -> Result<(), echomq::Error> {
    /// let worker = queue
    ///     .worker(|job| async move {
    ///         println!("{} says {}", job.id, String::from_utf8_lossy(&job.payload));
    ///         Ok::<(), std::io::Error>(())
    ///     })
    ///     .concurrency(8)
    ///     .start()
    ///     .await?;
    /// // … later: waits for what runs, hands back what does not end within ten seconds.
    /// worker.stop(std::time::Duration::from_secs(10)).await;
    /// # Ok(()) }
    /// ```
    pub fn worker<H, F, E>(&self, handler: H) -> WorkerBuilder
    where
        H: Fn(Job) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display,
    {
        let handler: Handler = Arc::new(move |job| {
            let run = handler(job);
            Box::pin(async move { run.await.map_err(|error| error.to_string()) })
        });
        let owner = unique(&std::process::id().to_string());
        let options = Options {
            concurrency: 10,
            lease: Duration::from_secs(30),
            poll: Duration::from_secs(5),
            lost_limit: 3,
            owner,
        };
        WorkerBuilder { queue: self.clone(), handler, options }
    }
}

impl WorkerBuilder {
    /// How many handlers run side by side; 10 when not said, a million at most.
    #[must_use]
    pub fn concurrency(mut self, handlers: usize) -> WorkerBuilder {
        self.options.concurrency = handlers.clamp(1, CONCURRENCY_MAX);
        self
    }

    /// How long a claim holds without a sign of life; renewed every third of it. 30 s when not said. From
    /// 100 ms to a day, whole milliseconds.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> WorkerBuilder {
        self.options.lease = lease;
        self
    }

    /// How often an idle worker looks by itself, should a wake-up have been lost. 5 s when not said, from 10 ms to a day.
    #[must_use]
    pub fn poll(mut self, poll: Duration) -> WorkerBuilder {
        self.options.poll = poll.clamp(Duration::from_millis(10), LEASE_MAX);
        self
    }

    /// After this many lost leases a job is taken to kill its workers and goes to the dead set. 3 when not said.
    #[must_use]
    pub fn lost_limit(mut self, leases: u32) -> WorkerBuilder {
        self.options.lost_limit = leases.max(1);
        self
    }

    /// The name by which people see who holds a job, up to 120 bytes; a few letters are added that make it unique.
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> WorkerBuilder {
        self.options.owner = unique(&owner.into());
        self
    }

    /// Opens the queue (its stored layout must be ours) and starts to work.
    pub async fn start(self) -> Result<Worker, Error> {
        let lease = self.options.lease;
        if lease < LEASE_MIN || lease > LEASE_MAX || !lease.subsec_nanos().is_multiple_of(1_000_000) {
            let rule = "a lease is a whole number of milliseconds from 100 ms to a day";
            return Err(Error::duration("a lease", format!("{lease:?}"), rule));
        }
        let owner = self.options.owner.len();
        if owner > OWNER_MAX_BYTES + UNIQUE_BYTES {
            return Err(Error::too_long("the name of a worker", owner - UNIQUE_BYTES, OWNER_MAX_BYTES));
        }
        self.queue.producer().await?;
        let (outcomes, gathered) = mpsc::unbounded_channel();
        let desk = Arc::new(Desk::new(self.queue, self.options, outcomes));
        let settling = tokio::spawn(settle::run(desk.clone(), gathered));
        let tasks = vec![
            tokio::spawn(fetch::run(desk.clone(), self.handler)),
            tokio::spawn(renew::run(desk.clone())),
            tokio::spawn(upkeep::run(desk.clone())),
            tokio::spawn(upkeep::listen(desk.clone())),
        ];
        Ok(Worker { desk, tasks, settling })
    }
}

/// What a worker did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Jobs completed.
    pub done: u64,
    /// Jobs that failed and are due again later.
    pub retried: u64,
    /// Jobs put into the dead set.
    pub buried: u64,
    /// Jobs handed back unrun or unfinished.
    pub released: u64,
    /// Outcomes refused because the lease was lost: another worker has the job, or had it.
    pub lost: u64,
}

/// A running worker. Dropping it stops it at once: its jobs go to others when their leases have run out.
pub struct Worker {
    desk: Arc<Desk>,
    tasks: Vec<JoinHandle<()>>,
    settling: JoinHandle<()>,
}

impl Worker {
    /// What it did so far.
    pub fn report(&self) -> Report {
        self.desk.report()
    }

    /// Its handlers that run now.
    pub fn running(&self) -> usize {
        self.desk.running()
    }

    /// The name by which people see what it holds.
    pub fn owner(&self) -> &str {
        &self.desk.options.owner
    }

    /// Claims nothing more, waits up to `grace` for the handlers that run, hands back the jobs of those that
    /// do not end (no attempt is counted), and settles everything.
    pub async fn stop(mut self, grace: Duration) -> Report {
        self.desk.stopping.cancel();
        if tokio::time::timeout(grace, self.desk.quiet()).await.is_err() {
            self.desk.abandon.cancel();
            self.desk.quiet().await;
        }
        self.desk.close();
        // Settling ends by itself when the last outcome is in, or when the server can not be reached.
        let _ = (&mut self.settling).await;
        self.desk.report()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.desk.stopping.cancel();
        self.desk.abandon.cancel();
        self.tasks.iter().for_each(JoinHandle::abort);
        self.settling.abort();
    }
}

/// How much [`unique`] adds.
const UNIQUE_BYTES: usize = 9;

/// A name that no other worker has: by it a worker finds claims of its own whose answers never came.
fn unique(name: &str) -> String {
    format!("{name}-{:08x}", fastrand::u32(..))
}

/// The end of an error's text, cut at a letter's border.
fn reason(mut text: String) -> String {
    if text.len() > REASON_MAX_BYTES {
        let cut = text.len() - REASON_MAX_BYTES;
        let cut = (cut..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
        text.replace_range(..cut, "… ");
    }
    text
}

fn job(queue: &QueueName, id: JobId, tries: Tries, token: u64, envelope: Envelope) -> Job {
    let created_ms = envelope.created_at_ms(&id);
    let Envelope { name, payload, .. } = envelope;
    Job { queue: queue.clone(), id, name, attempt: tries.attempt(), token, tries, created_ms, payload }
}
