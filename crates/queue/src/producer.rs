//! Adds jobs: mints ids, encodes, sends in chunks, and says of each job what became of it.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Instant;

use echomq_keyspace::{IdSource, JobId, Kind};

use crate::Error;
use crate::envelope::Envelope;
use crate::queue::Queue;
use crate::spec::{Enqueued, JobSpec};
use crate::store::{Added, Body, LAYOUT, MOST_IDS, Opened, Row, Store};

/// A call holds no more than this, so that no single command keeps the server busy for long.
const CHUNK_BYTES: usize = 1024 * 1024;
/// The kind of a minted id where the queue has fixed none.
const KIND: &str = "JOB";
/// How often a chunk is sent again whole after some of its ids were found taken.
const ROUNDS: usize = 2;

/// What a process knows of a queue after it has opened it: its number, the server's time, the fixed kind.
#[derive(Debug)]
pub(crate) struct Producer {
    ids: Mutex<IdSource>,
    server_ms: u64,
    at: Instant,
    kind: Kind,
    fixed: bool,
}

/// A job on its way, with its place in the caller's list.
struct Parcel {
    place: usize,
    minted: bool,
    row: Row,
}

impl Producer {
    pub(crate) async fn open(store: &Store, queue: &str, wanted: Option<Kind>) -> Result<Producer, Error> {
        if let Some(mistyped) = store.mistyped().await? {
            return Err(Error::mistyped(queue, mistyped));
        }
        let wanted = wanted.as_ref().map_or("", Kind::as_str);
        match store.open(wanted).await? {
            Opened::Open { producer, kind, now_ms } => Ok(Producer {
                // The slot is mixed in so that producers of different queues seldom share a number.
                ids: Mutex::new(IdSource::new(
                    ((producer + u64::from(store.keys.slot().get())) % 1024) as u16,
                )),
                server_ms: now_ms,
                at: Instant::now(),
                fixed: kind.is_some(),
                kind: Kind::parse(kind.as_deref().unwrap_or(KIND))?,
            }),
            Opened::Layout(stored) => Err(Error::layout(queue, &stored, LAYOUT)),
            Opened::Kind(fixed) => Err(Error::other_kind(queue, &fixed, wanted)),
        }
    }

    /// The server's time, by the time it said at the opening and what has passed here since.
    pub(crate) fn now_ms(&self) -> u64 {
        self.server_ms + self.at.elapsed().as_millis() as u64
    }

    fn mint(&self) -> JobId {
        let mut ids = self.ids.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        JobId::from_serial(self.kind, ids.next(self.now_ms()))
    }

    fn check_kind(&self, queue: &Queue, id: &JobId) -> Result<(), Error> {
        match id.kind() {
            _ if !self.fixed => Ok(()),
            Some(kind) if kind == self.kind => Ok(()),
            other => {
                let other = other.map_or_else(|| format!("\"{id}\""), |kind| kind.as_str().to_owned());
                Err(Error::other_kind(queue.name().as_str(), self.kind.as_str(), &other))
            }
        }
    }

    pub(crate) async fn enqueue(&self, queue: &Queue, specs: Vec<JobSpec>) -> Result<Vec<Enqueued>, Error> {
        let mut results: Vec<Option<Enqueued>> = vec![None; specs.len()];
        let parcels = self.pack(queue, specs, &mut results)?;
        for chunk in chunks(parcels) {
            self.send(queue.first_part(), chunk, &mut results).await?;
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// Checks all before anything is sent. An id that stands twice in the list is a duplicate the second time.
    fn pack(
        &self,
        queue: &Queue,
        specs: Vec<JobSpec>,
        results: &mut [Option<Enqueued>],
    ) -> Result<Vec<Parcel>, Error> {
        let now_ms = self.now_ms();
        let mut seen = HashSet::new();
        let mut parcels = Vec::with_capacity(specs.len());
        for (place, spec) in specs.into_iter().enumerate() {
            spec.check(queue.payload_max_bytes(), now_ms)?;
            let minted = spec.id.is_none();
            let id = match spec.id {
                Some(id) => {
                    self.check_kind(queue, &id)?;
                    if !seen.insert(id.clone()) {
                        results[place] = Some(Enqueued::Duplicate(id));
                        continue;
                    }
                    id
                }
                None => self.mint(),
            };
            let JobSpec { name, attempts, backoff, due, payload, .. } = spec;
            let created_ms = if minted { 0 } else { now_ms };
            let envelope = Envelope { name, attempts, backoff, created_ms, payload };
            parcels.push(Parcel { place, minted, row: Row { id, due, body: envelope.encode() } });
        }
        Ok(parcels)
    }

    /// Adds a chunk whole where it can. Where others keep taking ids of it meanwhile, it is halved: a single job is
    /// added or refused for its own sake, so that none is called a duplicate for another's.
    async fn send(
        &self,
        store: &Store,
        chunk: Vec<Parcel>,
        results: &mut [Option<Enqueued>],
    ) -> Result<(), Error> {
        let mut open = vec![(chunk, 0)];
        while let Some((mut chunk, round)) = open.pop() {
            if round >= ROUNDS && chunk.len() > 1 {
                let rest = chunk.split_off(chunk.len() / 2);
                open.extend([(rest, round), (chunk, round)]);
                continue;
            }
            if chunk.is_empty() {
                continue;
            }
            let rows: Vec<Row> = chunk.iter().map(|parcel| parcel.row.clone()).collect();
            let added = match store.enqueue(&rows).await {
                Ok(added) => added,
                Err(error) if error.is_unknown() => fate(store, &rows, error).await?,
                Err(error) => return Err(error.into()),
            };
            match added {
                Added::All => settle(chunk, results, Enqueued::Added),
                Added::Full => settle(chunk, results, Enqueued::Full),
                Added::Taken if chunk.len() == 1 && !chunk[0].minted => {
                    settle(chunk, results, Enqueued::Duplicate)
                }
                Added::Taken => open.push((self.sort_out(store, chunk, results).await?, round + 1)),
            }
        }
        Ok(())
    }

    /// Some id of the chunk is taken. Those are duplicates, but for minted ones, which get another id: more
    /// than 1,024 producers share numbers.
    async fn sort_out(
        &self,
        store: &Store,
        chunk: Vec<Parcel>,
        results: &mut [Option<Enqueued>],
    ) -> Result<Vec<Parcel>, Error> {
        let ids: Vec<&JobId> = chunk.iter().map(|parcel| &parcel.row.id).collect();
        let taken = store.taken(&ids).await?;
        let mut rest = Vec::with_capacity(chunk.len());
        for (mut parcel, taken) in chunk.into_iter().zip(taken) {
            match (taken, parcel.minted) {
                (false, _) => rest.push(parcel),
                (true, true) => {
                    parcel.row.id = self.mint();
                    rest.push(parcel);
                }
                (true, false) => results[parcel.place] = Some(Enqueued::Duplicate(parcel.row.id)),
            }
        }
        Ok(rest)
    }
}

fn settle(chunk: Vec<Parcel>, results: &mut [Option<Enqueued>], how: fn(JobId) -> Enqueued) {
    for parcel in chunk {
        results[parcel.place] = Some(how(parcel.row.id));
    }
}

/// The answer to an enqueue never came. Where all rows stand just as they were sent, it happened; where they
/// do not, it may have happened and been worked off since, so only the caller can decide.
async fn fate(store: &Store, rows: &[Row], cause: echomq_cluster::Error) -> Result<Added, Error> {
    let ids: Vec<JobId> = rows.iter().map(|row| row.id.clone()).collect();
    let bodies = store.bodies(&ids).await;
    let there = |bodies: &[Body]| {
        bodies.iter().zip(rows).all(|(body, row)| matches!(body, Body::Here(bytes) if *bytes == row.body))
    };
    match bodies {
        Ok(bodies) if there(&bodies) => Ok(Added::All),
        _ => Err(Error::unknown(ids, cause)),
    }
}

fn chunks(parcels: Vec<Parcel>) -> Vec<Vec<Parcel>> {
    let mut chunks = Vec::new();
    let (mut chunk, mut bytes) = (Vec::new(), 0);
    for parcel in parcels {
        let size = parcel.row.body.len();
        if !chunk.is_empty() && (chunk.len() == MOST_IDS || bytes + size > CHUNK_BYTES) {
            chunks.push(std::mem::take(&mut chunk));
            bytes = 0;
        }
        bytes += size;
        chunk.push(parcel);
    }
    if !chunk.is_empty() {
        chunks.push(chunk);
    }
    chunks
}
