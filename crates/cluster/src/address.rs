//! Where a node answers, and how a URL names the first nodes to ask.

use std::fmt;
use std::path::PathBuf;

use crate::Error;

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
    /// The path of a Unix socket (a single server only: a cluster names its nodes by host and port).
    Unix(PathBuf),
}

impl Address {
    /// A host and a port; `None` when either is missing.
    pub fn tcp(host: &str, port: u16) -> Option<Address> {
        (!host.is_empty() && port != 0).then(|| Address::Tcp { host: host.to_owned(), port })
    }

    /// Reads `host:port`, cut at the last colon, so that `::1:7001` and `[::1]:7001` both name port 7001.
    ///
    /// An empty host stands for the host of the node that said it, `from`; servers answer so when they do
    /// not know their own address.
    pub(crate) fn announced(text: &str, from: &Address) -> Option<Address> {
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok()?;
        let host = host.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(host);
        match (host, from) {
            ("" | "?", Address::Tcp { host, .. }) => Address::tcp(host, port),
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

/// What a URL says: the first nodes to ask, and who is asking.
#[derive(Clone)]
pub(crate) struct Seeds {
    pub(crate) addresses: Vec<Address>,
    pub(crate) username: Option<String>,
    pub(crate) password: Option<String>,
}

impl Seeds {
    /// Reads `redis://[user[:password]@]host:port[,host:port…]`, `valkey://…` or `unix:/path`.
    pub(crate) fn parse(url: &str) -> Result<Seeds, Error> {
        let bad = |why: &str| Error::url(url, why);
        if let Some(path) = url.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            let addresses = vec![Address::Unix(PathBuf::from(path))];
            return if path.is_empty() {
                Err(bad("the path of the socket is missing"))
            } else {
                Ok(Seeds { addresses, username: None, password: None })
            };
        }
        let rest = ["redis://", "valkey://"]
            .iter()
            .find_map(|scheme| url.strip_prefix(scheme))
            .ok_or_else(|| bad("it must begin with redis://, valkey:// or unix:"))?;
        let (login, hosts) = match rest.rsplit_once('@') {
            Some((login, hosts)) => (Some(login), hosts),
            None => (None, rest),
        };
        let hosts = hosts.strip_suffix('/').unwrap_or(hosts);
        if hosts.contains('/') {
            return Err(bad("a cluster has one database: leave out what follows the port"));
        }
        let addresses =
            hosts.split(',').map(|part| host_and_port(part).map_err(bad)).collect::<Result<_, _>>()?;
        let (username, password) = match login.map(|login| login.split_once(':').unwrap_or((login, ""))) {
            None => (None, None),
            Some((user, password)) => (decoded(user), decoded(password)),
        };
        Ok(Seeds { addresses, username, password })
    }
}

fn host_and_port(part: &str) -> Result<Address, &'static str> {
    let (host, port) = match part.strip_prefix('[').map(|inner| inner.split_once(']')) {
        Some(Some((host, ""))) => (host, "6379"),
        Some(Some((host, rest))) => (host, rest.strip_prefix(':').ok_or("after ] comes :port")?),
        Some(None) => return Err("a [ has no ]"),
        None => part.rsplit_once(':').unwrap_or((part, "6379")),
    };
    if host.contains(':') && !part.starts_with('[') {
        return Err("write an IPv6 address in brackets, as in redis://[::1]:6379");
    }
    let port = port.parse().map_err(|_| "the port is no number from 1 to 65535")?;
    Address::tcp(host, port).ok_or("a host name is missing, or the port is 0")
}

/// Undoes percent coding; `None` for nothing at all.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = (first == b'%').then(|| tail.get(..2)).flatten();
        let code = code.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(url: &str) -> String {
        let seeds = Seeds::parse(url).expect(url);
        seeds.addresses.iter().map(Address::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_url_names_one_or_many_nodes() {
        assert_eq!(addresses("redis://localhost"), "localhost:6379");
        assert_eq!(addresses("redis://a:1,b:2/"), "a:1 b:2");
        assert_eq!(addresses("valkey://[::1]:7001"), "[::1]:7001");
        assert_eq!(addresses("unix:/tmp/s"), "unix:/tmp/s");
    }

    #[test]
    fn a_login_is_read_and_decoded() {
        let seeds = Seeds::parse("redis://ann:p%40ss@a:1").unwrap();
        assert_eq!((seeds.username.as_deref(), seeds.password.as_deref()), (Some("ann"), Some("p@ss")));
        let seeds = Seeds::parse("redis://:secret@a:1").unwrap();
        assert_eq!((seeds.username.as_deref(), seeds.password.as_deref()), (None, Some("secret")));
    }

    #[test]
    fn a_url_that_cannot_be_read_says_what_to_write_and_hides_the_password() {
        for url in [
            "http://a",
            "redis://",
            "redis://a:0",
            "redis://a:x",
            "redis://::1:7001",
            "redis://[::1",
            "redis://a/3",
            "unix:",
        ] {
            let Err(error) = Seeds::parse(url) else { panic!("{url} was taken") };
            assert!(error.to_string().contains(url), "{error}");
        }
        let Err(error) = Seeds::parse("redis://u:secret@a:x") else { panic!() };
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
