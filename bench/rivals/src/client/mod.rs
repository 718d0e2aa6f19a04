//! What every client must be able to do, and one implementation for each.

use std::future::Future;

mod echomq;
#[cfg(feature = "fred")]
mod fred;
#[cfg(feature = "glide")]
mod glide;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "rustis")]
mod rustis;

pub(crate) use echomq::EchoMq;
#[cfg(feature = "fred")]
pub(crate) use fred::Fred;
#[cfg(feature = "glide")]
pub(crate) use glide::Glide;
#[cfg(feature = "redis")]
pub(crate) use redis::Redis;
#[cfg(feature = "rustis")]
pub(crate) use rustis::Rustis;

/// A client of a cluster, shared by all tasks of a trial. What went wrong is told as the client's own text.
pub(crate) trait Client: Clone + Send + Sync + 'static {
    /// Connects with the client's own defaults; `addresses` are those of all nodes, `host:port`.
    fn connect(addresses: &[String]) -> impl Future<Output = Result<Self, String>> + Send;

    /// `GET`
    fn get(&self, key: &str) -> impl Future<Output = Result<Option<Vec<u8>>, String>> + Send;

    /// `SET`
    #[cfg_attr(not(feature = "redis"), expect(dead_code, reason = "only the throughput sends it"))]
    fn set(&self, key: &str, value: &str) -> impl Future<Output = Result<(), String>> + Send;

    /// `INCR`
    fn incr(&self, key: &str) -> impl Future<Output = Result<i64, String>> + Send;

    /// `MULTI`, an `INCR` for each key, `EXEC`.
    fn incr_all(&self, keys: &[String]) -> impl Future<Output = Result<Vec<i64>, String>> + Send;

    /// The pipeline `[INCR counter, MGET a b]`, not atomic: one text for each answer, or one for both.
    fn incr_and_read(
        &self,
        counter: &str,
        both: &[String; 2],
    ) -> impl Future<Output = Result<Vec<String>, String>> + Send;
}

/// The clients that can be named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Name {
    /// `echomq-cluster` of this repository
    Echomq,
    /// the cluster client of the crate `redis`
    #[cfg(feature = "redis")]
    Redis,
    /// the crate `rustis`
    #[cfg(feature = "rustis")]
    Rustis,
    /// the crate `fred`
    #[cfg(feature = "fred")]
    Fred,
    /// the crate `valkey-glide`
    #[cfg(feature = "glide")]
    Glide,
}

impl Name {
    /// The package, as it stands in `Cargo.lock`.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Name::Echomq => "echomq-cluster",
            #[cfg(feature = "redis")]
            Name::Redis => "redis",
            #[cfg(feature = "rustis")]
            Name::Rustis => "rustis",
            #[cfg(feature = "fred")]
            Name::Fred => "fred",
            #[cfg(feature = "glide")]
            Name::Glide => "valkey-glide",
        }
    }

    /// The version that this program was built with.
    pub(crate) fn version(self) -> &'static str {
        let lock = include_str!("../../Cargo.lock");
        let mut lines = lock.lines().skip_while(|line| line.strip_prefix("name = ") != Some(&self.quoted()));
        lines.find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"')).unwrap_or("?")
    }

    fn quoted(self) -> String {
        format!("\"{}\"", self.package())
    }
}
