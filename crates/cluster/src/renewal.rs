//! A renewed login is told on every connection that stands.

use std::sync::Arc;

use futures_util::future::join_all;
use tokio::task::AbortHandle;

use crate::client::Shared;
use crate::{Credentials, Login};

/// Ends the task when the client goes.
pub(crate) struct Renewal(AbortHandle);

impl Drop for Renewal {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Shared {
    /// Starts the task that waits for another login than `used`.
    pub(crate) fn keep_logged_in(shared: &Arc<Shared>, credentials: Arc<dyn Credentials>, mut used: Login) {
        let weak = Arc::downgrade(shared);
        let task = tokio::spawn(async move {
            loop {
                credentials.renewed(&used).await;
                match credentials.login().await {
                    Ok(login) => used = login,
                    Err(cause) => {
                        tracing::warn!(cause, "a renewed login could not be had");
                        tokio::time::sleep(crate::dial::CONNECT_LIMIT).await;
                        continue;
                    }
                }
                let Some(shared) = weak.upgrade() else { return };
                let nodes = shared.map.all();
                join_all(nodes.iter().map(|node| node.renew(&used))).await;
                shared.hub.renew(&used);
            }
        });
        let _ = shared.renewal.set(Renewal(task.abort_handle()));
    }
}
