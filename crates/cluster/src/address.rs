//! Where a node answers.

use std::fmt;
use std::path::PathBuf;

/// The place where one node answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Address {
    /// A host name or an IP address (an IPv6 address without brackets) and a port.
    Tcp {
        /// Name or address, never empty.
        host: String,
        /// Never 0.
        port: u16,
    },
    /// The path of a Unix socket. As a seed of a cluster it leads to the nodes, which are named by host and port.
    Unix(PathBuf),
}

impl Address {
    /// A host and a port; `None` when either is missing.
    pub fn tcp(host: &str, port: u16) -> Option<Address> {
        (!host.is_empty() && port != 0).then(|| Address::Tcp { host: host.to_owned(), port })
    }

    /// Reads `host:port`, cut at the last colon, so that `::1:7001` and `[::1]:7001` both name port 7001.
    pub(crate) fn announced(text: &str, from: &Address) -> Option<Address> {
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok()?;
        let host = host.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(host);
        Address::at_host(host, port, from)
    }

    /// A host and a port as the node `from` said them. An empty host and `?` stand for the host we asked; a Unix socket
    /// is of this machine.
    pub(crate) fn at_host(host: &str, port: u16, from: &Address) -> Option<Address> {
        match (host, from) {
            ("" | "?", Address::Tcp { host, .. }) => Address::tcp(host, port),
            ("" | "?", Address::Unix(_)) => Address::tcp("127.0.0.1", port),
            _ => Address::tcp(host, port),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(text: &str, from: &Address) -> Option<String> {
        Address::announced(text, from).map(|address| address.to_string())
    }

    /// The host is cut off at the last colon, with brackets or without, and shown in brackets.
    #[test]
    fn an_ipv6_address_is_cut_at_its_last_colon() {
        let from = Address::tcp("10.0.0.9", 7000).unwrap();
        for text in ["2a01:4f8:0:1::7:7001", "[2a01:4f8:0:1::7]:7001"] {
            assert_eq!(announced(text, &from).as_deref(), Some("[2a01:4f8:0:1::7]:7001"));
        }
        assert_eq!(announced("::1:7001", &from).as_deref(), Some("[::1]:7001"));
    }

    #[test]
    fn a_host_that_is_not_known_is_the_one_that_was_asked() {
        let tcp = Address::tcp("10.0.0.9", 7000).unwrap();
        let unix = Address::Unix("/run/server.sock".into());
        for text in [":7001", "?:7001"] {
            assert_eq!(announced(text, &tcp).as_deref(), Some("10.0.0.9:7001"));
            assert_eq!(
                announced(text, &unix).as_deref(),
                Some("127.0.0.1:7001"),
                "a socket is of this machine"
            );
        }
    }

    #[test]
    fn what_names_no_place_is_refused() {
        let from = Address::tcp("10.0.0.9", 7000).unwrap();
        for text in ["", "a", "a:", "a:0", "a:70000", "a:-1", ":"] {
            assert_eq!(announced(text, &from), None, "{text}");
        }
    }
}
