//! The clients of a chaos run: each writes without a pause, and writes down what it is told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use fastrand::Rng;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::driver::{Class, Driver, Outcome};
use super::entity::{ENTITIES, Place};
use super::meter::Meter;
use super::{Error, Event, Fate, Token, Workload};

/// A request that has not ended after this, be it in an error, hangs.
pub const HUNG: Duration = Duration::from_secs(30);

/// One step of so many is a look at two keys instead of a write.
const LOOK_EVERY: u32 = 8;

/// The workloads whose writes have several keys.
const PAIRED: [Workload; 3] = [Workload::Transaction, Workload::Watch, Workload::Script];

/// A client whose request failed waits so long before its next one.
const AFTER_ERROR: Duration = Duration::from_millis(5);

/// The stretch that ends all clients.
const THE_END: u64 = u64::MAX;

/// What the clients did in one stretch.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) history: Vec<Event>,
    pub(super) errors: BTreeMap<(Workload, Class), u64>,
    /// Looks that were answered.
    pub(super) looks: u64,
    /// What was seen of writes that were applied by half.
    pub(super) halves: Vec<String>,
}

impl Batch {
    fn add(&mut self, other: Batch) {
        self.history.extend(other.history);
        self.looks += other.looks;
        self.halves.extend(other.halves);
        for (class, count) in other.errors {
            *self.errors.entry(class).or_default() += count;
        }
    }
}

/// How long after the beginning of an operation a client begins its next one; at once if that is over.
#[derive(Debug, Default)]
struct Pace(AtomicU64);

impl Pace {
    fn set(&self, pace: Duration) {
        self.0.store(u64::try_from(pace.as_micros()).unwrap_or(u64::MAX), Relaxed);
    }

    async fn keep(&self, begun: Instant) {
        let pace = Duration::from_micros(self.0.load(Relaxed));
        if begun.elapsed() < pace {
            tokio::time::sleep_until(begun + pace).await;
        }
    }
}

/// All clients of a run.
pub(super) struct Crew {
    pace: Arc<Pace>,
    stretch: watch::Sender<u64>,
    batches: mpsc::UnboundedReceiver<Batch>,
    clients: JoinSet<()>,
}

impl Crew {
    pub(super) fn start<D: Driver>(driver: &D, clients: u32, seed: u64, meter: &Arc<Meter>) -> Crew {
        let (sender, batches) = mpsc::unbounded_channel();
        let stretch = watch::Sender::new(0);
        let (mut crew, pace) = (JoinSet::new(), Arc::new(Pace::default()));
        for number in 0..clients {
            let mut client = One {
                driver: driver.clone(),
                number,
                writes: 0,
                workload: Workload::ALL[number as usize % Workload::ALL.len()],
                rng: Rng::with_seed(seed ^ u64::from(number)),
                meter: meter.clone(),
                pace: pace.clone(),
                batch: Batch::default(),
            };
            let (stretch, sender) = (stretch.subscribe(), sender.clone());
            crew.spawn(async move { client.work(&stretch, &sender).await });
        }
        Crew { pace, stretch, batches, clients: crew }
    }

    /// From now on each client begins an operation no sooner than this after the one before; zero: without a pause.
    pub(super) fn set_pace(&self, pace: Duration) {
        self.pace.set(pace);
    }

    /// Lets all clients go on with a new stretch and returns what they did in the one before, when the last of them
    /// has left it.
    pub(super) async fn next_stretch(&mut self) -> Result<Batch, Error> {
        self.stretch.send_modify(|stretch| *stretch += 1);
        self.gather().await
    }

    /// Ends all clients and returns what they did in the last stretch.
    pub(super) async fn end(&mut self) -> Result<Batch, Error> {
        self.stretch.send_replace(THE_END);
        self.gather().await
    }

    async fn gather(&mut self) -> Result<Batch, Error> {
        let mut all = Batch::default();
        let clients = self.clients.len();
        for left in 0..clients {
            let batch = timeout(HUNG, self.batches.recv()).await.ok().flatten();
            all.add(batch.ok_or(Error::Hung(clients - left))?);
        }
        Ok(all)
    }
}

/// One client.
struct One<D> {
    driver: D,
    number: u32,
    writes: u32,
    workload: Workload,
    rng: Rng,
    meter: Arc<Meter>,
    pace: Arc<Pace>,
    batch: Batch,
}

impl<D: Driver> One<D> {
    async fn work(&mut self, stretch: &watch::Receiver<u64>, batches: &mpsc::UnboundedSender<Batch>) {
        let mut now = *stretch.borrow();
        loop {
            let next = *stretch.borrow();
            if next != now {
                // Nobody listens any more if the run has failed.
                let gone = batches.send(std::mem::take(&mut self.batch)).is_err();
                if gone || next == THE_END {
                    return;
                }
                now = next;
            }
            let begun = Instant::now();
            let fine = match self.rng.u32(..LOOK_EVERY) {
                0 => self.look(now).await,
                _ => self.write(now).await,
            };
            match fine {
                // Where a replica is to have a write, it takes as long as it takes until there is one again.
                true if self.workload == Workload::Replicated => {}
                true => self.meter.done(),
                false => tokio::time::sleep(AFTER_ERROR).await,
            }
            self.pace.keep(begun).await;
        }
    }

    async fn write(&mut self, stretch: u64) -> bool {
        let (workload, entity) = (self.workload, self.rng.u16(..ENTITIES));
        let token = Token::new(self.number, self.writes);
        self.writes += 1;
        let place = Place::new(workload, entity, stretch);
        let invoked = self.meter.elapsed();
        let outcome = match workload {
            Workload::Single => self.driver.write(place.single(token)).await,
            Workload::Replicated => self.driver.write_replicated(place.single(token)).await,
            Workload::Transaction => self.driver.transaction(place.deed(token)).await,
            Workload::Script => self.driver.script(place.deed_keys(), token.to_string()).await,
            Workload::Watch => {
                let keys = place.balance_keys();
                self.driver.watch(keys, move |balances| place.transfer(token, balances)).await
            }
        };
        let fate = match outcome {
            Outcome::Replicated => Fate::Replicated,
            Outcome::Acknowledged => Fate::Acknowledged,
            Outcome::Unknown(class) => self.failed(class, Fate::Unknown),
            Outcome::Refused(class) => self.failed(class, Fate::Refused),
        };
        let told = self.meter.elapsed();
        self.batch.history.push(Event { workload, entity, token, fate, invoked, told });
        fate.is_promised()
    }

    /// Looks at two keys of some entity that must always belong together.
    async fn look(&mut self, stretch: u64) -> bool {
        let workload = PAIRED[self.rng.usize(..PAIRED.len())];
        let place = Place::new(workload, self.rng.u16(..ENTITIES), stretch);
        let Some(keys) = place.pair() else { return true };
        match self.driver.pair(keys.clone()).await {
            Ok(pair) => {
                self.batch.looks += 1;
                if !place.is_whole(&pair) {
                    self.batch
                        .halves
                        .push(format!("{} held {:?} and {} {:?}", keys[0], pair[0], keys[1], pair[1]));
                }
                true
            }
            Err(class) => {
                *self.batch.errors.entry((workload, class)).or_default() += 1;
                false
            }
        }
    }

    fn failed(&mut self, class: Class, fate: Fate) -> Fate {
        *self.batch.errors.entry((self.workload, class)).or_default() += 1;
        fate
    }
}
