//! Servers that this process started.

use std::fs;
use std::time::Duration;

use crate::conf::Conf;
use crate::forming::{self, Deadline};
use crate::launch::Folder;
use crate::node::Node;
use crate::{Engine, Error};

/// A server or a cluster of this process's own, as [`Launch::start`](crate::Launch::start) returns it.
///
/// It ends when this is dropped, and also when the process ends without dropping it, be it by a panic, Ctrl-C or
/// SIGKILL: each server is watched over by a small shell that sees its end. A temporary folder goes with it.
#[derive(Debug)]
pub struct Local {
    nodes: Vec<Node>,
    /// So many were there at the start.
    founders: usize,
    is_cluster: bool,
    engine: Engine,
    conf: Conf,
    // Last: it is removed after the servers have ended.
    folder: Folder,
}

impl Local {
    pub(crate) fn new(
        nodes: Vec<Node>,
        is_cluster: bool,
        engine: Engine,
        conf: Conf,
        folder: Folder,
    ) -> Local {
        Local { founders: nodes.len(), nodes, is_cluster, engine, conf, folder }
    }

    /// Where clients find it: `redis://127.0.0.1:<port>`, in a cluster with the addresses of all nodes, separated
    /// by commas.
    pub fn url(&self) -> String {
        let addresses: Vec<String> = self.nodes.iter().map(Node::address).collect();
        format!("redis://{}", addresses.join(","))
    }

    /// The nodes: first the primaries, then the replicas, then those that were added.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The server that runs.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Starts one more node, which joins the cluster as a primary without slots, and returns it when it and every
    /// node that runs know each other.
    ///
    /// # Errors
    ///
    /// [`Error::is_invalid`] for a server that is no cluster; [`Error::is_not_ready`].
    pub fn add_node(&mut self) -> Result<&Node, Error> {
        if !self.is_cluster {
            return Err(Error::invalid("a standalone server takes no further node; start a cluster"));
        }
        let deadline = Deadline::within(Duration::from_secs(30));
        let node = Node::start(self.folder.plan(self.nodes.len(), &self.engine, &self.conf))?;
        forming::answer(&[&node], deadline)?;
        let others: Vec<&Node> = self.nodes.iter().filter(|node| node.is_running()).collect();
        forming::join(&node, &others, deadline)?;
        self.nodes.push(node);
        Ok(&self.nodes[self.nodes.len() - 1])
    }

    /// Takes the node that was added last out of the cluster, and ends it: all others that run forget it, and its
    /// folder is removed.
    ///
    /// # Errors
    ///
    /// [`Error::is_invalid`] if there is none, or while it owns slots: move them away first.
    pub fn remove_node(&mut self) -> Result<(), Error> {
        let Some((node, others)) = self.nodes.split_last().filter(|_| self.nodes.len() > self.founders)
        else {
            return Err(Error::invalid("no node was added that could be removed"));
        };
        forming::leave(node, others)?;
        let dir = node.dir().to_owned();
        self.nodes.pop();
        fs::remove_dir_all(&dir).map_err(|error| Error::io(format!("can not remove {dir:?}"), error))
    }

    /// Starts node `i` on its old ports and data, after ending it if it runs, and returns when it answers. What its
    /// cluster makes of it is another matter: [`Local::wait_ready`].
    ///
    /// # Errors
    ///
    /// [`Error::is_invalid`] if there is no such node; [`Error::is_not_ready`].
    pub fn restart(&self, i: usize) -> Result<(), Error> {
        let node = self.nodes.get(i).ok_or_else(|| {
            Error::invalid(format!("there is no node {i}; the last one is {}", self.nodes.len() - 1))
        })?;
        node.end();
        node.spawn()?;
        forming::answer(&[node], Deadline::within(Duration::from_secs(30)))
    }

    /// Waits until everything is ready, as after the start: every node runs and answers, and in a cluster all agree
    /// and every replica has its primary's data.
    ///
    /// # Errors
    ///
    /// [`Error::is_not_ready`] names the node and what is missing.
    pub fn wait_ready(&self, limit: Duration) -> Result<(), Error> {
        let deadline = Deadline::within(limit);
        let all: Vec<&Node> = self.nodes.iter().collect();
        forming::answer(&all, deadline)?;
        if self.is_cluster { forming::ready(&all, deadline) } else { Ok(()) }
    }

    /// Ends all servers and returns when they are gone: the same as dropping it, for one who wants to say so.
    pub fn stop(self) {}
}
