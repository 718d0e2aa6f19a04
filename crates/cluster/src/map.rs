//! Which node owns which slot, as far as we know. Read without a lock by every request.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use echomq_keyspace::Slot;

use crate::Address;
use crate::node::Node;
use crate::topology::Shard;

const NOBODY: u32 = u32::MAX;

/// Slots point into a table of nodes that only grows: a request may hold a node that has left, and a node
/// that comes back finds its place.
pub(crate) struct SlotMap {
    slots: Box<[AtomicU32]>,
    table: RwLock<Table>,
}

#[derive(Default)]
struct Table {
    nodes: Vec<Arc<Node>>,
    index: HashMap<Address, u32>,
    /// The replicas of each primary.
    replicas: HashMap<u32, Vec<u32>>,
    /// The nodes of the last topology, primaries first.
    current: Vec<u32>,
    primaries: usize,
}

impl Table {
    fn place(&mut self, address: &Address) -> u32 {
        if let Some(&at) = self.index.get(address) {
            return at;
        }
        let at = self.nodes.len() as u32;
        self.nodes.push(Arc::new(Node::new(address.clone())));
        self.index.insert(address.clone(), at);
        at
    }
}

impl SlotMap {
    pub(crate) fn new() -> SlotMap {
        let slots = (0..Slot::COUNT).map(|_| AtomicU32::new(NOBODY)).collect();
        SlotMap { slots, table: RwLock::default() }
    }

    pub(crate) fn owner(&self, slot: Slot) -> Option<Arc<Node>> {
        let at = self.slots[usize::from(slot.get())].load(Ordering::Acquire);
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.nodes.get(at as usize).cloned()
    }

    /// One of the replicas of a slot's owner, by chance.
    pub(crate) fn replica(&self, slot: Slot) -> Option<Arc<Node>> {
        let at = self.slots[usize::from(slot.get())].load(Ordering::Acquire);
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let replica = fastrand::choice(table.replicas.get(&at)?)?;
        table.nodes.get(*replica as usize).cloned()
    }

    pub(crate) fn node(&self, address: &Address) -> Arc<Node> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let at = table.place(address);
        table.nodes[at as usize].clone()
    }

    /// What a MOVED says about one slot.
    pub(crate) fn patch(&self, slot: Slot, address: &Address) -> Arc<Node> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let at = table.place(address);
        if !table.current.contains(&at) {
            let primaries = table.primaries;
            table.current.insert(primaries, at);
            table.primaries += 1;
        }
        self.slots[usize::from(slot.get())].store(at, Ordering::Release);
        table.nodes[at as usize].clone()
    }

    /// Takes over a whole topology; a slot that it does not name has no node. True if anything is new.
    pub(crate) fn replace(&self, shards: &[Shard]) -> bool {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let mut owners = vec![NOBODY; usize::from(Slot::COUNT)];
        let mut primaries = Vec::new();
        let mut replicas = Vec::new();
        let mut of_primary = HashMap::new();
        for shard in shards {
            let at = table.place(&shard.primary);
            owners[usize::from(shard.first.get())..=usize::from(shard.last.get())].fill(at);
            if !primaries.contains(&at) {
                primaries.push(at);
            }
            let own: Vec<u32> = shard.replicas.iter().map(|address| table.place(address)).collect();
            replicas.extend(&own);
            of_primary.insert(at, own);
        }
        let mut changed = false;
        for (slot, owner) in self.slots.iter().zip(owners) {
            changed |= slot.swap(owner, Ordering::AcqRel) != owner;
        }
        replicas.retain(|at| !primaries.contains(at));
        replicas.sort_unstable();
        replicas.dedup();
        let current = primaries.len();
        primaries.extend(replicas);
        changed |= table.current != primaries || table.replicas != of_primary;
        table.replicas = of_primary;
        table.primaries = current;
        table.current = primaries;
        changed
    }

    /// The first slot that has no node.
    pub(crate) fn hole(&self) -> Option<Slot> {
        let hole = self.slots.iter().position(|owner| owner.load(Ordering::Acquire) == NOBODY)?;
        Slot::new(u16::try_from(hole).ok()?)
    }

    /// Every node that was ever heard of.
    pub(crate) fn all(&self) -> Vec<Arc<Node>> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).nodes.clone()
    }

    /// The nodes that own slots.
    pub(crate) fn primaries(&self) -> Vec<Arc<Node>> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.current[..table.primaries].iter().map(|&at| table.nodes[at as usize].clone()).collect()
    }

    /// All nodes of the last topology.
    pub(crate) fn nodes(&self) -> Vec<Arc<Node>> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.current.iter().map(|&at| table.nodes[at as usize].clone()).collect()
    }
}
