//! From the name of a host to the addresses it has now.

use std::io;
use std::net::SocketAddr;

use futures_util::future::BoxFuture;

/// Where host names are looked up. The system's own way is used where none is set.
///
/// Every name is looked up anew for every new connection, be it a seed's or one that a node announced. Of several
/// addresses the first that takes the connection is used.
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of a host, each with the port to use (usually `port`).
    ///
    /// # Errors
    ///
    /// Why there are none.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>>;
}

/// The system's way.
pub(crate) struct System;

impl Resolver for System {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}
