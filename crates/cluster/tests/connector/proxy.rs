//! Stands between a client and a server: a port of its own that leads to another one.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use echomq_cluster::Resolver;
use futures_util::future::BoxFuture;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Leads on to a server; ends when dropped.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    pub(crate) connections: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Serves each connection only after `delay`.
    pub(crate) async fn to(server: String, delay: Duration) -> Proxy {
        Proxy::at(TcpListener::bind("127.0.0.1:0").await.unwrap(), server, delay)
    }

    pub(crate) fn at(listener: TcpListener, server: String, delay: Duration) -> Proxy {
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicU64::new(0));
        let counted = connections.clone();
        let task = tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                let server = server.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    if let Ok(mut server) = TcpStream::connect(server).await {
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                    }
                });
            }
        });
        Proxy { port, connections, task }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends whoever looks for one port to another one, and counts how often that was.
#[derive(Clone)]
pub(crate) struct Detour {
    from: u16,
    to: u16,
    pub(crate) taken: Arc<AtomicU64>,
}

impl Detour {
    pub(crate) fn new(from: u16, to: u16) -> Detour {
        Detour { from, to, taken: Arc::default() }
    }
}

impl Resolver for Detour {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        let is_here = port == self.from;
        self.taken.fetch_add(u64::from(is_here), Ordering::Relaxed);
        let port = if is_here { self.to } else { port };
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}
