//! Making servers into a cluster, and knowing when they are one.

use std::time::{Duration, Instant};

use crate::Error;
use crate::node::Node;
use crate::view::{self, Member, Missing};

/// How often something that is waited for is looked at.
const POLL: Duration = Duration::from_millis(5);

/// One deadline for all steps of a start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    started: Instant,
    at: Instant,
}

impl Deadline {
    pub(crate) fn within(limit: Duration) -> Deadline {
        let started = Instant::now();
        Deadline { started, at: started + limit }
    }

    /// Waits until `look` finds nothing missing any more. A node that ends meanwhile is an error at once.
    fn wait(self, nodes: &[&Node], look: impl Fn() -> Option<Missing>) -> Result<(), Error> {
        while let Some(missing) = look() {
            if let Some(node) = nodes.iter().find(|node| !node.is_running()) {
                return Err(Error::ended(node.who(), &node.log_path()));
            }
            if Instant::now() >= self.at {
                return Err(nodes[missing.node].not_ready(self.started, missing.what));
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }
}

/// Waits until each node answers and has read its data.
pub(crate) fn answer(nodes: &[&Node], deadline: Deadline) -> Result<(), Error> {
    nodes.iter().try_for_each(|node| node.answers_by(deadline.started, deadline.at))
}

/// Makes a cluster of nodes that answer: the first `primaries` share the slots, the others follow them in turn.
/// Nodes that were a cluster before, in the same folders, become it again. Returns when it is ready.
pub(crate) fn form(nodes: &[&Node], primaries: usize, deadline: Deadline) -> Result<(), Error> {
    let views = nodes.iter().map(|node| view_of(node)).collect::<Result<Vec<_>, _>>()?;
    let old = views.iter().filter(|view| !is_fresh(view)).count();
    match old {
        0 => {
            share_slots(&nodes[..primaries])?;
            meet(nodes)?;
            follow(nodes, primaries, deadline)?;
        }
        // They know each other, but not the ports of this start.
        _ if old == nodes.len() => meet(nodes)?,
        _ => {
            let what = "some of the folders hold nodes of an earlier cluster and some are new; start it with as many \
                        nodes as before, or in an empty folder";
            return Err(Error::invalid(what));
        }
    }
    ready(nodes, deadline)
}

/// Makes one more node known to the nodes of a running cluster.
pub(crate) fn join(newcomer: &Node, nodes: &[&Node], deadline: Deadline) -> Result<(), Error> {
    for node in nodes {
        introduce(node, newcomer)?;
    }
    let everyone: Vec<&Node> = nodes.iter().copied().chain([newcomer]).collect();
    acquainted(&everyone, deadline)
}

/// Makes the nodes of a running cluster forget one that owns no slots.
pub(crate) fn leave(node: &Node, others: &[Node]) -> Result<(), Error> {
    let view = view_of(node)?;
    let Some(own) = view.iter().find(|member| member.is_myself()) else { return Ok(()) };
    if !own.slots.is_empty() {
        return Err(Error::invalid(format!("{} still owns slots; move them away first", node.who())));
    }
    let command = ["CLUSTER", "FORGET", &own.id];
    for other in others.iter().filter(|other| other.is_running()) {
        match other.ask::<()>(&command) {
            // Who has forgotten a node tells the others.
            Err(reply) if !reply.contains("Unknown node") => {
                return Err(Error::refused(other.who(), &command, reply, &other.log_path()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Waits until the cluster is at rest and serves: every node agrees on members, slots and roles, reports
/// `cluster_state:ok`, and every replica has its primary's data.
pub(crate) fn ready(nodes: &[&Node], deadline: Deadline) -> Result<(), Error> {
    deadline.wait(nodes, || {
        let views: Vec<Vec<Member>> = match views(nodes) {
            Ok(views) => views,
            Err(missing) => return Some(missing),
        };
        let serving = || nodes.iter().enumerate().find_map(|(i, node)| missing_at(i, node, &views[i]));
        view::missing(&views).or_else(serving)
    })
}

fn view_of(node: &Node) -> Result<Vec<Member>, Error> {
    let command = ["CLUSTER", "NODES"];
    let text: String = node.must(&command)?;
    view::read(&text).map_err(|reply| Error::refused(node.who(), &command, reply, &node.log_path()))
}

fn views(nodes: &[&Node]) -> Result<Vec<Vec<Member>>, Missing> {
    let look = |(i, node): (usize, &&Node)| {
        node.ask::<String>(&["CLUSTER", "NODES"])
            .and_then(|text| view::read(&text))
            .map_err(|what| Missing { node: i, what })
    };
    nodes.iter().enumerate().map(look).collect()
}

fn is_fresh(view: &[Member]) -> bool {
    view.len() == 1 && view.iter().all(|member| member.slots.is_empty())
}

/// Gives each primary its share and an epoch of its own, so that no two of them ever have to settle a conflict.
fn share_slots(primaries: &[&Node]) -> Result<(), Error> {
    for (i, node) in (0u16..).zip(primaries) {
        let slots = view::share(i, primaries.len() as u16);
        let (first, last) = (slots.start().to_string(), slots.end().to_string());
        node.must::<()>(&["CLUSTER", "SET-CONFIG-EPOCH", &(i + 1).to_string()])?;
        node.must::<()>(&["CLUSTER", "ADDSLOTSRANGE", &first, &last])?;
    }
    Ok(())
}

/// Everyone meets everyone: gossip alone would take seconds.
fn meet(nodes: &[&Node]) -> Result<(), Error> {
    for (i, node) in nodes.iter().enumerate() {
        nodes[i + 1..].iter().try_for_each(|other| introduce(node, other))?;
    }
    Ok(())
}

fn introduce(node: &Node, other: &Node) -> Result<(), Error> {
    node.must(&["CLUSTER", "MEET", "127.0.0.1", &other.port().to_string(), &other.bus_port().to_string()])
}

/// A node can only follow a primary that it knows by name, so this waits for the introductions first.
fn follow(nodes: &[&Node], primaries: usize, deadline: Deadline) -> Result<(), Error> {
    if nodes.len() == primaries {
        return Ok(());
    }
    acquainted(nodes, deadline)?;
    for (i, replica) in nodes[primaries..].iter().enumerate() {
        let primary: String = nodes[i % primaries].must(&["CLUSTER", "MYID"])?;
        replica.must::<()>(&["CLUSTER", "REPLICATE", &primary])?;
    }
    Ok(())
}

/// Waits until each of these nodes knows each of them by its own name.
fn acquainted(nodes: &[&Node], deadline: Deadline) -> Result<(), Error> {
    let ids = nodes.iter().map(|node| node.must(&["CLUSTER", "MYID"])).collect::<Result<Vec<String>, _>>()?;
    deadline.wait(nodes, || {
        let views = match views(nodes) {
            Ok(views) => views,
            Err(missing) => return Some(missing),
        };
        let stranger = |(node, view): (usize, &Vec<Member>)| {
            let (i, _) = ids.iter().enumerate().find(|(_, id)| !view::knows(view, id))?;
            Some(Missing { node, what: format!("it does not know {}", nodes[i].who()) })
        };
        views.iter().enumerate().find_map(stranger)
    })
}

/// What keeps one node, whose view is in order, from serving.
fn missing_at(i: usize, node: &Node, view: &[Member]) -> Option<Missing> {
    let follows = view.iter().any(|member| member.is_myself() && member.primary.is_some());
    let wanted: [(&[&str], &str); 2] =
        [(&["CLUSTER", "INFO"], "cluster_state:ok"), (&["INFO", "replication"], "master_link_status:up")];
    wanted[..1 + usize::from(follows)].iter().find_map(|(command, line)| {
        let what = match node.ask::<String>(command) {
            Ok(text) if text.lines().any(|found| found == *line) => return None,
            Ok(_) => format!("{} does not say {line}", command.join(" ")),
            Err(error) => error,
        };
        Some(Missing { node: i, what })
    })
}
