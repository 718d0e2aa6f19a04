//! What a client library must be able to do so that the chaos workload can be run on it.

use std::borrow::Cow;
use std::future::Future;

/// One write to one key: `command key value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// `RPUSH` or `SET`.
    pub command: &'static str,
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}

/// The script of the workload: `KEYS[1]` and `KEYS[4]` are set to `ARGV[1]`, which `KEYS[2]` and `KEYS[3]` get appended.
pub const SCRIPT: &str = "\
redis.call('SET', KEYS[1], ARGV[1])
redis.call('RPUSH', KEYS[2], ARGV[1])
redis.call('RPUSH', KEYS[3], ARGV[1])
redis.call('SET', KEYS[4], ARGV[1])
return ARGV[1]";

/// The kind of an error, by the name that the library's documentation gives it.
pub type Class = Cow<'static, str>;

/// How a write ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has happened, and at least one replica has it.
    Replicated,
    /// It has happened.
    Acknowledged,
    /// It may have happened.
    Unknown(Class),
    /// It has certainly not happened.
    Refused(Class),
}

/// A client library, as the chaos workload uses it. All clients of a run share one, cloned.
///
/// No method repeats a write whose fate is unknown, and each ends, be it in an error, within
/// [`HUNG`](super::HUNG). All keys of one call have the same hash tag.
pub trait Driver: Clone + Send + Sync + 'static {
    /// The classes of errors that the library documents. Any other class fails the run.
    const CLASSES: &'static [&'static str];

    /// Carries out one write.
    fn write(&self, write: Write) -> impl Future<Output = Outcome> + Send;

    /// Carries out one write and asks that one replica has it. A library that can not ask leaves this as it is:
    /// a plain write.
    fn write_replicated(&self, write: Write) -> impl Future<Output = Outcome> + Send {
        self.write(write)
    }

    /// Carries out all of these in one MULTI … EXEC.
    fn transaction(&self, writes: Vec<Write>) -> impl Future<Output = Outcome> + Send;

    /// Watches two keys, reads them, and commits what `decide` makes of their numbers (0 for a key that is not there),
    /// in a MULTI … EXEC that happens only if neither has changed since. Begins anew when one has, but not for ever.
    fn watch(
        &self,
        keys: [String; 2],
        decide: impl Fn([i64; 2]) -> Vec<Write> + Send + Sync + 'static,
    ) -> impl Future<Output = Outcome> + Send;

    /// Runs [`SCRIPT`] by its SHA, and by its text where a server does not know it.
    fn script(&self, keys: [String; 4], token: String) -> impl Future<Output = Outcome> + Send;

    /// Reads two keys in one command, `MGET`.
    ///
    /// # Errors
    ///
    /// The class of the error.
    fn pair(&self, keys: [String; 2]) -> impl Future<Output = Result<[Option<String>; 2], Class>> + Send;
}
