//! Moving a slot from one primary to another: step by step as resharding tools do it, or as a whole.

use std::collections::HashMap;
use std::sync::PoisonError;

use redis::Value;

use crate::Cluster;
use crate::wait::{LIMIT, wait_until};

/// So many keys go in one `MIGRATE` when all of them are moved.
const BATCH: usize = 100;

/// What a server says when it can not begin one kind of move because of one of the other kind.
const IN_THE_WAY: [&str; 3] = ["import in progress", "export in progress", "being manually"];

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
        self.must_in_turn(to, &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &self.id_of(from)]);
        self.must_in_turn(from, &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &self.id_of(to)]);
    }

    /// Moves these keys of an open slot. Keys that are not there are passed over.
    ///
    /// One call at a time in the cluster: a node that sends keys does nothing else until the other one has them, so
    /// that two nodes which send to each other, in two tests, would wait for ever.
    #[track_caller]
    pub fn move_keys(&self, from: usize, to: usize, keys: &[impl AsRef<[u8]>]) {
        let _one = self.migrating.lock().unwrap_or_else(PoisonError::into_inner);
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
        let others = self.primaries().into_iter().filter(|i| *i != from && *i != to && self.is_up(*i));
        let id = self.id_of(to);
        self.change_owner(slot, to, || {
            // The target first: the slot has an owner at every moment.
            for i in [to, from].into_iter().chain(others) {
                self.must_in_turn(i, &["CLUSTER", "SETSLOT", &slot.to_string(), "NODE", &id]);
            }
            true
        });
    }

    /// Takes an open slot back to the source with all its keys. The source closes the slot before it can take keys
    /// back, so for a moment a key that had moved seems not to exist.
    #[track_caller]
    pub fn abort_move(&self, slot: u16, from: usize, to: usize) {
        let stable = |i| self.must_in_turn(i, &["CLUSTER", "SETSLOT", &slot.to_string(), "STABLE"]);
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

    /// A whole classic move, a call for each key.
    #[track_caller]
    pub fn move_slot_by_key(&self, slot: u16, from: usize, to: usize) {
        self.begin_move(slot, from, to);
        for key in self.keys_in(from, slot) {
            self.move_keys(from, to, &[key]);
        }
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
        wait_until(&format!("slot {slot} migrates from node {from} to node {to}"), LIMIT, || {
            self.change_owner(slot, to, || self.migrate_once(slot, from, to))
        });
    }

    /// `false` if another test's classic move is in the way.
    #[track_caller]
    fn migrate_once(&self, slot: u16, from: usize, to: usize) -> bool {
        let (id, slot) = (self.id_of(to), slot.to_string());
        let before: Vec<String> = self.exports(from).into_iter().map(|export| export.name).collect();
        match self.raw(from, &["CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", &slot, &slot, "NODE", &id]) {
            Ok(_) => {}
            Err(error) if is_in_the_way(&error) => return false,
            Err(error) => panic!("node {from} does not migrate slot {slot}: {error}"),
        }
        let mut ended = None;
        wait_until(&format!("the migration of slot {slot} ends"), LIMIT, || {
            let export = self.exports(from).into_iter().find(|export| !before.contains(&export.name));
            ended =
                export.filter(|export| ["success", "failed", "cancelled"].contains(&export.state.as_str()));
            ended.is_some()
        });
        match ended {
            Some(Export { state, .. }) if state == "success" => true,
            Some(Export { message, .. }) if is_in_the_way(&message) => false,
            ended => panic!("the migration of slot {slot} ended otherwise: {ended:?}"),
        }
    }

    /// The migrations away from node `i` that it knows of, with those that have ended.
    #[track_caller]
    fn exports(&self, i: usize) -> Vec<Export> {
        let jobs: Vec<HashMap<String, Value>> = self.must(i, &["CLUSTER", "GETSLOTMIGRATIONS"]);
        let text = |job: &HashMap<String, Value>, field: &str| {
            let value = job.get(field).cloned();
            value.and_then(|value| redis::from_redis_value(value).ok()).unwrap_or_default()
        };
        let exports = jobs.iter().filter(|job| text(job, "operation") == "EXPORT");
        exports
            .map(|job| Export {
                name: text(job, "name"),
                state: text(job, "state"),
                message: text(job, "message"),
            })
            .collect()
    }

    /// Sends a command of a move. A node takes part in either kind of move, not in both at once, be they of
    /// different slots; when another test's move is in the way this waits for its end.
    #[track_caller]
    fn must_in_turn(&self, i: usize, command: &[&str]) {
        wait_until(&format!("node {i} takes {command:?}"), LIMIT, || match self.raw(i, command) {
            Ok(_) => true,
            Err(error) if is_in_the_way(&error) => false,
            Err(error) => panic!("node {i} refused {command:?}: {error}"),
        });
    }
}

/// A migration that a node has begun.
#[derive(Debug)]
struct Export {
    name: String,
    state: String,
    message: String,
}

fn is_in_the_way(error: &str) -> bool {
    IN_THE_WAY.iter().any(|reason| error.contains(reason))
}
