//! The public face: a connection to a cluster, and queues on it.

use std::sync::Arc;

use echomq_cluster::{Address, Client, Value};
use echomq_keyspace::{JobId, KeyKind, KeyName, Kind, Part, PartKeys, Prefix, QueueName, Slot};
use tokio::sync::OnceCell;

use crate::Error;
use crate::clock::Clock;
use crate::inspect::{Counts, JobView};
use crate::producer::Producer;
use crate::spec::{Enqueued, JobSpec};
use crate::store::Store;

/// The largest payload when nothing else is said: 1 MiB.
pub const PAYLOAD_MAX_BYTES: usize = 1024 * 1024;

/// A connection to a cluster or a single server. Cheap to clone.
#[derive(Clone)]
pub struct EchoMq {
    client: Client,
    prefix: Prefix,
    #[cfg(feature = "local")]
    server: Option<Arc<echomq_local::Embedded>>,
}

impl EchoMq {
    /// Connects to the nodes of a URL; its form is told at [`Settings::from_url`](echomq_cluster::Settings::from_url). For
    /// logins that are renewed and the like, see [`EchoMq::over`].
    pub async fn connect(url: &str) -> Result<EchoMq, Error> {
        Ok(EchoMq::over(Client::connect(url).await?))
    }

    /// Queues over a client that is there already, for instance by
    /// [`Client::connect_with`](echomq_cluster::Client::connect_with).
    pub fn over(client: Client) -> EchoMq {
        EchoMq {
            client,
            prefix: Prefix::none(),
            #[cfg(feature = "local")]
            server: None,
        }
    }

    /// Starts a private server on this machine, or joins it where it runs. It ends with its last user.
    #[cfg(feature = "local")]
    pub async fn local() -> Result<EchoMq, Error> {
        let server = tokio::task::spawn_blocking(|| echomq_local::Embedded::join_or_start(None)).await;
        let server = server.map_err(|_| Error::stopped())??;
        let mut mq = EchoMq::connect(&server.url()).await?;
        mq.server = Some(Arc::new(server));
        Ok(mq)
    }

    /// Puts a text before `emq:` in every key.
    #[must_use]
    pub fn with_prefix(mut self, prefix: Prefix) -> EchoMq {
        self.prefix = prefix;
        self
    }

    /// A queue by its name. Nothing is sent: the queue comes into being with its first job.
    pub fn queue(&self, name: impl AsRef<[u8]>) -> Result<Queue, Error> {
        let name = QueueName::parse(name)?;
        let keys = PartKeys::new(&self.prefix, &Part::first(&name));
        let part = Store { client: self.client.clone(), keys, clock: Clock::default() };
        let inner = Inner {
            name,
            parts: vec![part],
            payload_max_bytes: PAYLOAD_MAX_BYTES,
            kind: None,
            producer: OnceCell::new(),
            #[cfg(feature = "local")]
            server: self.server.clone(),
        };
        Ok(Queue { inner: Arc::new(inner) })
    }

    /// The queues that exist, sorted. Every primary is scanned in bounded steps; needed by no transition.
    pub async fn queues(&self) -> Result<Vec<QueueName>, Error> {
        let mut names = Vec::new();
        let pattern = KeyName::pattern(&self.prefix, KeyKind::Meta);
        for node in self.client.primaries() {
            let mut cursor = b"0".to_vec();
            loop {
                let mut scan = echomq_cluster::raw("SCAN");
                scan.arg(&cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(1_000);
                let answer = self.client.call_node(&node, &scan).await?;
                let Value::Array(parts) = &answer else {
                    return Err(echomq_cluster::Error::reply("SCAN", &answer).into());
                };
                let [Value::BulkString(next), Value::Array(keys)] = &parts[..] else {
                    return Err(echomq_cluster::Error::reply("SCAN", &answer).into());
                };
                for key in keys {
                    let Value::BulkString(key) = key else { continue };
                    if let Ok(KeyName { queue, suffix: None, kind: KeyKind::Meta, .. }) =
                        KeyName::parse(&self.prefix, key)
                    {
                        names.push(queue);
                    }
                }
                if next == b"0" {
                    break;
                }
                cursor.clone_from(next);
            }
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// The connector beneath.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

/// One logical queue. Cheap to clone.
#[derive(Clone)]
pub struct Queue {
    inner: Arc<Inner>,
}

struct Inner {
    name: QueueName,
    /// A queue of width 1 has one part; each transition works on one.
    parts: Vec<Store>,
    payload_max_bytes: usize,
    kind: Option<Kind>,
    producer: OnceCell<Producer>,
    /// Kept alive by those who use it.
    #[cfg(feature = "local")]
    server: Option<Arc<echomq_local::Embedded>>,
}

impl Queue {
    /// The name it was asked for by.
    pub fn name(&self) -> &QueueName {
        &self.inner.name
    }

    /// The slot of all its keys.
    pub fn slot(&self) -> Slot {
        self.first_part().keys.slot()
    }

    /// The node that owns the slot, as far as the client knows. No round trip.
    pub fn node(&self) -> Option<Address> {
        self.first_part().client.owner(self.slot())
    }

    /// Takes payloads up to this size.
    #[must_use]
    pub fn with_payload_max_bytes(self, bytes: usize) -> Queue {
        self.changed(|inner| inner.payload_max_bytes = bytes)
    }

    /// Fixes the kind of the queue's ids: from the first use on, an id of another kind is refused before
    /// anything is written.
    #[must_use]
    pub fn with_kind(self, kind: Kind) -> Queue {
        self.changed(|inner| inner.kind = Some(kind))
    }

    fn changed(self, change: impl FnOnce(&mut Inner)) -> Queue {
        let Inner { name, parts, payload_max_bytes, kind, .. } = &*self.inner;
        let mut inner = Inner {
            name: name.clone(),
            parts: parts.clone(),
            payload_max_bytes: *payload_max_bytes,
            kind: *kind,
            producer: OnceCell::new(),
            #[cfg(feature = "local")]
            server: self.inner.server.clone(),
        };
        change(&mut inner);
        Queue { inner: Arc::new(inner) }
    }

    /// Adds one job, and returns when the primary has stored it.
    ///
    /// What can be lost: replication is asynchronous, so a job that was acknowledged in the last moment before its
    /// primary failed, and had not reached the replica that is promoted, is gone with the primary. Without a failover
    /// nothing is, as far as the server's own persistence goes.
    ///
    /// # Errors
    ///
    /// A payload, name or due time that is refused (nothing was sent); a deadline (nothing was written); an answer
    /// that never came, see [`Error::is_unknown`] and [`Error::unknown_ids`].
    pub async fn enqueue(&self, job: JobSpec) -> Result<Enqueued, Error> {
        let mut results = self.enqueue_many(vec![job]).await?;
        results.pop().ok_or_else(Error::stopped)
    }

    /// Adds many jobs; one result per job, in order. They are sent in calls of up to 1,000; each call is added
    /// whole. A job that is refused for its size, its due time or its kind refuses all before anything is sent.
    /// What can be lost is said at [`Queue::enqueue`].
    pub async fn enqueue_many(&self, jobs: Vec<JobSpec>) -> Result<Vec<Enqueued>, Error> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        self.producer().await?.enqueue(self, jobs).await
    }

    /// Claims answer *paused* from now on. `who` is shown to whoever asks why. True when it was not paused before.
    pub async fn pause(&self, who: &str) -> Result<bool, Error> {
        Ok(self.first_part().pause(who).await?)
    }

    /// Claims are answered again. True when it was paused.
    pub async fn resume(&self) -> Result<bool, Error> {
        Ok(self.first_part().resume().await?)
    }

    /// How many jobs may wait in pending; an enqueue over it is refused whole. `None` for no limit.
    pub async fn set_limit(&self, most: Option<u64>) -> Result<(), Error> {
        self.first_part().bound(most).await?;
        Ok(())
    }

    /// How many jobs are in each state, and what has happened so far.
    pub async fn counts(&self) -> Result<Counts, Error> {
        Ok(Counts::read(self.first_part().counts().await?))
    }

    /// Where a job is and what it holds; `None` when the queue knows no such job.
    pub async fn job(&self, id: &JobId) -> Result<Option<JobView>, Error> {
        let part = self.first_part();
        let Some(found) = part.find(id).await? else { return Ok(None) };
        let row = part.row(id).await?;
        Ok(Some(JobView::read(id.clone(), found, row)))
    }

    /// Opens the queue once: claims its layout, learns its kind, gets a producer number.
    pub(crate) async fn producer(&self) -> Result<&Producer, Error> {
        let open = || Producer::open(self.first_part(), self.inner.name.as_str(), self.inner.kind);
        self.inner.producer.get_or_try_init(open).await
    }

    pub(crate) fn first_part(&self) -> &Store {
        &self.inner.parts[0]
    }

    pub(crate) fn payload_max_bytes(&self) -> usize {
        self.inner.payload_max_bytes
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Queue({}, slot {})", self.inner.name, self.slot())
    }
}
