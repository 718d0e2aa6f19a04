//! Reads what scripts answer: a word, or an array that begins with a word.

use echomq_cluster::{Error, Value};
use echomq_keyspace::JobId;

/// The answer of one script.
pub(crate) struct Reply {
    script: &'static str,
    whole: Value,
}

impl Reply {
    pub(crate) fn new(script: &'static str, whole: Value) -> Reply {
        Reply { script, whole }
    }

    /// The first word and what follows it.
    pub(crate) fn parts(&self) -> Result<(&str, &[Value]), Error> {
        let parts = match &self.whole {
            Value::Array(items) => items.split_first(),
            word => Some((word, &[][..])),
        };
        let (word, rest) = parts.ok_or_else(|| self.unexpected())?;
        let word = bytes(word).and_then(|word| std::str::from_utf8(word).ok());
        Ok((word.ok_or_else(|| self.unexpected())?, rest))
    }

    pub(crate) fn unexpected(&self) -> Error {
        Error::reply(self.script, &self.whole)
    }

    pub(crate) fn integer(&self, value: Option<&Value>) -> Result<u64, Error> {
        integer(value).ok_or_else(|| self.unexpected())
    }

    pub(crate) fn text(&self, value: Option<&Value>) -> Result<String, Error> {
        let text = value.and_then(bytes).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        text.ok_or_else(|| self.unexpected())
    }

    /// A reply that is ids and nothing else.
    pub(crate) fn whole_ids(&self) -> Result<Vec<JobId>, Error> {
        self.ids(Some(&self.whole))
    }

    pub(crate) fn ids(&self, value: Option<&Value>) -> Result<Vec<JobId>, Error> {
        let Some(Value::Array(items)) = value else { return Err(self.unexpected()) };
        let ids = items.iter().map(|item| JobId::parse(bytes(item)?).ok());
        ids.collect::<Option<_>>().ok_or_else(|| self.unexpected())
    }
}

pub(crate) fn bytes(value: &Value) -> Option<&[u8]> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.as_bytes()),
        Value::Okay => Some(b"OK"),
        _ => None,
    }
}

/// A whole number, as an integer or as its text.
pub(crate) fn integer(value: Option<&Value>) -> Option<u64> {
    match value? {
        Value::Int(number) => u64::try_from(*number).ok(),
        other => std::str::from_utf8(bytes(other)?).ok()?.parse().ok(),
    }
}
