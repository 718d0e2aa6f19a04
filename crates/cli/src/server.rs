//! The way to a server.

use anyhow::Context as _;
use echomq::{EchoMq, Prefix};

use crate::cli::Global;

/// Runs a verb that needs a server: the one of `--url`, or the private one of this machine.
pub(crate) fn with<T>(
    global: &Global,
    verb: impl AsyncFnOnce(&EchoMq) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let prefix = Prefix::parse(global.prefix.as_encoded_bytes())?;
    runtime()?.block_on(async {
        let mq = match global.url.as_deref().filter(|url| !url.is_empty()) {
            Some(url) => EchoMq::connect(url).await?,
            None => EchoMq::local().await?,
        };
        verb(&mq.with_prefix(prefix)).await
    })
}

/// What asynchronous code runs on.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("threads can not be started")
}
