//! Free ports on loopback.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::Mutex;

/// Below the range from which Linux and macOS take the ports of outgoing connections, so that a port can not be
/// lost to a client while its server is down for a moment.
const RANGE: Range<u16> = 20_000..32_000;

/// What this process has given out: another launch of it does not choose the same, even while a server is down.
static TAKEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// The two ports of a node, this process's own until dropped.
#[derive(Debug)]
pub(crate) struct Ports {
    /// For clients.
    pub(crate) client: u16,
    /// For the cluster bus.
    pub(crate) bus: u16,
}

impl Ports {
    /// Two ports that are free at this moment. Another process may still be quicker; the caller then asks again.
    pub(crate) fn choose() -> io::Result<Ports> {
        Ports::choose_again(None)
    }

    /// The same, with `before` for clients where it is free, so that they find a server again that was started anew.
    pub(crate) fn choose_again(before: Option<u16>) -> io::Result<Ports> {
        let client = match before.filter(|&port| take_this(port)) {
            Some(port) => port,
            None => take()?,
        };
        match take() {
            Ok(bus) => Ok(Ports { client, bus }),
            Err(error) => {
                give_back(client);
                Err(error)
            }
        }
    }
}

impl Drop for Ports {
    fn drop(&mut self) {
        give_back(self.client);
        give_back(self.bus);
    }
}

fn take_this(port: u16) -> bool {
    let mut taken = TAKEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    !taken.contains(&port) && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() && taken.insert(port)
}

fn take() -> io::Result<u16> {
    let mut taken = TAKEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut last = None;
    for _ in 0..10_000 {
        let port = fastrand::u16(RANGE);
        if taken.contains(&port) {
            continue;
        }
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(_) => {
                taken.insert(port);
                return Ok(port);
            }
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::other(format!("all ports of {RANGE:?} are given out"))))
}

fn give_back(port: u16) {
    TAKEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).remove(&port);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_is_given_out_twice_while_it_is_held() {
        let held: Vec<Ports> = (0..500).map(|_| Ports::choose().unwrap()).collect();
        let distinct: BTreeSet<u16> = held.iter().flat_map(|ports| [ports.client, ports.bus]).collect();
        assert_eq!(distinct.len(), 1_000);
    }
}
