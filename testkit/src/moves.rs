//! Moving a slot from one primary to another: step by step as resharding tools do it, or as a whole.

use redis::Value;

use crate::Cluster;
use crate::wait::{LIMIT, wait_until};

/// So many keys go in one `MIGRATE` when all of them are moved.
const BATCH: usize = 100;

/// A classic move in steps. Between [`Cluster::begin_move`] and its end the slot is half moved: its owner answers
/// `ASK` for a key that is not there any more, and `TRYAGAIN` for several of which some are.
impl Cluster {
    /// Opens the slot on both sides: `IMPORTING` on the target, then `MIGRATING` on the source.
    ///
    /// # Panics
    ///
    /// When `from` does not own the slot.
    #[track_caller]
    pub fn begin_move(&self, slot: u16, from: usize, to: usize) {
        let slot = slot.to_string();
        self.must::<()>(to, &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &self.id_of(from)]);
        self.must::<()>(from, &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &self.id_of(to)]);
    }

    /// Moves these keys of an open slot. Keys that are not there are passed over.
    #[track_caller]
    pub fn move_keys(&self, from: usize, to: usize, keys: &[impl AsRef<[u8]>]) {
        let port = self.node(to).port().to_string();
        for keys in keys.chunks(BATCH) {
            let mut command: Vec<&[u8]> =
                ["MIGRATE", "127.0.0.1", &port, "", "0", "5000", "KEYS"].map(str::as_bytes).into();
            command.extend(keys.iter().map(AsRef::as_ref));
            self.must::<Value>(from, command);
        }
    }

    /// Moves the rest of the keys and gives the slot to the target; returns when every node knows.
    #[track_caller]
    pub fn finish_move(&self, slot: u16, from: usize, to: usize) {
        self.move_rest(slot, from, to);
        // The target first: the slot has an owner at every moment.
        let others =
            self.primaries().into_iter().filter(|i| *i != from && *i != to && self.node(*i).is_running());
        let id = self.id_of(to);
        for i in [to, from].into_iter().chain(others) {
            self.must::<()>(i, &["CLUSTER", "SETSLOT", &slot.to_string(), "NODE", &id]);
        }
        self.wait_owner(slot, to);
    }

    /// Takes an open slot back to the source with all its keys. The source closes the slot before it can take keys
    /// back, so for a moment a key that had moved seems not to exist.
    #[track_caller]
    pub fn abort_move(&self, slot: u16, from: usize, to: usize) {
        let stable = |i| self.must::<()>(i, &["CLUSTER", "SETSLOT", &slot.to_string(), "STABLE"]);
        stable(from);
        self.move_rest(slot, to, from);
        stable(to);
    }

    /// A whole classic move.
    #[track_caller]
    pub fn move_slot(&self, slot: u16, from: usize, to: usize) {
        self.begin_move(slot, from, to);
        self.finish_move(slot, from, to);
    }

    /// Ends an open move from `from` to `to`, and moves the slot back to `from`: there is no moment at which a key
    /// seems not to exist.
    #[track_caller]
    pub fn move_back(&self, slot: u16, from: usize, to: usize) {
        self.finish_move(slot, from, to);
        self.move_slot(slot, to, from);
    }

    /// The keys of a slot that node `i` holds itself, the first thousand.
    #[track_caller]
    pub fn keys_in(&self, i: usize, slot: u16) -> Vec<Vec<u8>> {
        self.must(i, ("CLUSTER", "GETKEYSINSLOT", slot, 1_000))
    }

    #[track_caller]
    fn move_rest(&self, slot: u16, from: usize, to: usize) {
        loop {
            let keys = self.keys_in(from, slot);
            if keys.is_empty() {
                return;
            }
            self.move_keys(from, to, &keys);
        }
    }
}

/// A move as a whole, which Valkey does since version 9 ([`valkey9`](crate::valkey9)).
impl Cluster {
    /// Moves a slot atomically and returns when every node knows the new owner.
    ///
    /// # Panics
    ///
    /// When the server can not do it or gives up.
    #[track_caller]
    pub fn migrate_slots(&self, slot: u16, from: usize, to: usize) {
        let id = self.id_of(to);
        let text = slot.to_string();
        self.must::<()>(from, &["CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", &text, &text, "NODE", &id]);
        wait_until(&format!("slot {slot} migrates from node {from} to node {to}"), LIMIT, || {
            match self.last_migration(from).as_str() {
                "success" => true,
                state @ ("failed" | "cancelled") => panic!("the migration of slot {slot} ended as {state}"),
                _ => false,
            }
        });
        self.wait_owner(slot, to);
    }

    /// The state of the latest migration that node `i` knows of; the server lists the latest first.
    #[track_caller]
    fn last_migration(&self, i: usize) -> String {
        let jobs: Vec<std::collections::HashMap<String, Value>> =
            self.must(i, &["CLUSTER", "GETSLOTMIGRATIONS"]);
        let state = jobs.first().and_then(|job| job.get("state")).cloned();
        state.and_then(|state| redis::from_redis_value(state).ok()).unwrap_or_default()
    }
}
