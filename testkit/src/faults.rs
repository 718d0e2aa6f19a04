//! All faults of a cluster in random order: each strikes somewhere, waits until the servers serve again, and can be
//! mended until the cluster is whole.

use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::Cluster;
use crate::names::engine;
use crate::wait::{LIMIT, wait_until};

/// A primary that stops for this long is not replaced: it is a good part of a test cluster's node timeout of 2 s.
const STALL: Duration = Duration::from_millis(500);

/// A node that joins gets so many slots.
const SLOTS_FOR_NEWCOMER: usize = 4;

/// The servers give up an agreed failover after 5 s; then it is asked for again.
const FAILOVER_LIMIT: Duration = Duration::from_secs(6);

/// A way to hurt a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// A primary is killed. It stays down until its replica is promoted, and comes back as a replica.
    Kill,
    /// A primary's process is stopped until its replica is promoted, and then goes on.
    Freeze,
    /// A primary's process is stopped, but goes on before anybody holds it for dead.
    Stall,
    /// A replica is promoted in agreement with its primary.
    Failover,
    /// A slot moves to another primary as a whole. It takes Valkey 9.
    Migrate,
    /// A slot moves to another primary key by key.
    Move,
    /// All connections to a primary are cut.
    Cut,
    /// All servers forget all scripts.
    Flush,
    /// A node joins and gets slots; or the one that joined gives its slots away and leaves.
    Resize,
}

impl Fault {
    /// Those after which everything is still there that a primary had.
    pub const KEEPING: [Fault; 7] =
        [Fault::Stall, Fault::Failover, Fault::Migrate, Fault::Move, Fault::Cut, Fault::Flush, Fault::Resize];

    /// All of them.
    pub const ALL: [Fault; 9] = [
        Fault::Kill,
        Fault::Freeze,
        Fault::Stall,
        Fault::Failover,
        Fault::Migrate,
        Fault::Move,
        Fault::Cut,
        Fault::Flush,
        Fault::Resize,
    ];

    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Kill => "kill",
            Fault::Freeze => "freeze",
            Fault::Stall => "stall",
            Fault::Failover => "failover",
            Fault::Migrate => "migrate",
            Fault::Move => "move",
            Fault::Cut => "cut",
            Fault::Flush => "flush",
            Fault::Resize => "resize",
        }
    }
}

/// A fault that has struck.
#[derive(Clone, Debug)]
pub struct Struck {
    /// What kind of fault.
    pub fault: Fault,
    /// What was done to which node.
    pub what: String,
    /// When it struck.
    pub at: Instant,
    /// When the servers served again: where a primary was lost, when its replica took a write as the primary.
    pub serving: Instant,
    /// The node that is still down or stopped.
    hurt: Option<usize>,
}

/// A cluster with replicas that is hurt again and again: each kind of fault once in random order, and anew.
#[derive(Debug)]
pub struct Faults {
    cluster: Cluster,
    rng: Rng,
    order: Order,
    /// The slots that move.
    slots: Vec<u16>,
    newcomer: Option<usize>,
    hurt: Option<usize>,
    /// The primaries that there are, as far as we made them.
    primaries: Vec<usize>,
}

impl Faults {
    /// The same seed gives the same faults in the same order, on the same nodes as far as the cluster's roles are the
    /// same. The slots that move are those of these keys. Kinds that the server can not do are left out.
    #[track_caller]
    pub fn new(cluster: Cluster, seed: u64, kinds: &[Fault], keys: &[String]) -> Faults {
        let can = |kind: &Fault| *kind != Fault::Migrate || engine().has_atomic_migration();
        let kinds = kinds.iter().copied().filter(can).collect();
        let slots = keys.iter().map(|key| cluster.slot_of(key)).collect();
        let mut rng = Rng::with_seed(seed);
        let order = Order { kinds, rng: rng.fork(), round: Vec::new() };
        let primaries = cluster.primaries();
        Faults { cluster, rng, order, slots, newcomer: None, hurt: None, primaries }
    }

    /// The cluster.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Strikes once and returns when the servers serve again.
    #[track_caller]
    pub fn strike(&mut self) -> Struck {
        let fault = self.order.next().unwrap_or_else(|| panic!("there is no kind of fault to strike with"));
        let struck = match fault {
            Fault::Kill | Fault::Freeze => self.lose_primary(fault),
            Fault::Stall => self.stall(),
            Fault::Failover => self.fail_over(),
            Fault::Migrate | Fault::Move => self.move_a_slot(fault),
            Fault::Cut => self.cut(),
            Fault::Flush => self.flush(),
            Fault::Resize => self.resize(),
        };
        self.hurt = struck.hurt;
        struck
    }

    /// Mends what the last strike left, and returns when the cluster is whole and at rest: with the nodes that are primaries
    /// now though no strike promoted them, as a machine that is too busy may bring about.
    #[track_caller]
    pub fn mend(&mut self) -> Vec<usize> {
        if let Some(node) = self.hurt.take() {
            if self.cluster.node(node).is_frozen() {
                self.cluster.thaw(node);
            } else {
                self.cluster.restart(node);
            }
        }
        self.cluster.wait_ready();
        let expected = std::mem::replace(&mut self.primaries, self.cluster.primaries());
        self.primaries.iter().copied().filter(|node| !expected.contains(node)).collect()
    }

    /// A primary that has a replica, and this replica.
    #[track_caller]
    fn pair(&mut self) -> (usize, usize) {
        let cluster = &self.cluster;
        let pairs = cluster.primaries().into_iter();
        let pairs = pairs.filter_map(|primary| Some((primary, *cluster.replicas_of(primary).first()?)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        self.rng.choice(pairs).unwrap_or_else(|| panic!("no primary has a replica"))
    }

    #[track_caller]
    fn lose_primary(&mut self, fault: Fault) -> Struck {
        let (primary, replica) = self.pair();
        let probe = self.probe(primary);
        let at = Instant::now();
        match fault {
            Fault::Kill => self.cluster.kill(primary),
            _ => self.cluster.freeze(primary),
        }
        let serving = self.serves(replica, &probe);
        self.primaries.push(replica);
        let what = format!("{} of node {primary}, which node {replica} replaced", fault.name());
        Struck { fault, what, at, serving, hurt: Some(primary) }
    }

    #[track_caller]
    fn stall(&mut self) -> Struck {
        let (primary, _) = self.pair();
        let probe = self.probe(primary);
        let at = Instant::now();
        self.cluster.freeze(primary);
        std::thread::sleep(STALL);
        self.cluster.thaw(primary);
        let serving = self.serves(primary, &probe);
        let what = format!("node {primary} stopped for {} ms", STALL.as_millis());
        Struck { fault: Fault::Stall, what, at, serving, hurt: None }
    }

    #[track_caller]
    fn fail_over(&mut self) -> Struck {
        let (primary, replica) = self.pair();
        let probe = self.probe(primary);
        let at = Instant::now();
        let mut asked = at;
        self.cluster.must::<()>(replica, &["CLUSTER", "FAILOVER"]);
        wait_until(&format!("node {replica} takes a write as the primary"), LIMIT, || {
            if asked.elapsed() > FAILOVER_LIMIT {
                asked = Instant::now();
                self.cluster.must::<()>(replica, &["CLUSTER", "FAILOVER"]);
            }
            self.takes_a_write(replica, &probe)
        });
        self.primaries.push(replica);
        let what = format!("agreed failover from node {primary} to node {replica}");
        Struck { fault: Fault::Failover, what, at, serving: Instant::now(), hurt: None }
    }

    #[track_caller]
    fn move_a_slot(&mut self, fault: Fault) -> Struck {
        let slot =
            self.rng.choice(&self.slots).copied().unwrap_or_else(|| panic!("there is no slot to move"));
        let from = self.cluster.owner_of(slot);
        let to = self.any_primary_but(from);
        let at = Instant::now();
        if fault == Fault::Migrate {
            self.cluster.migrate_slots(slot, from, to);
        } else {
            self.cluster.move_slot_by_key(slot, from, to);
        }
        let what = format!("{} of slot {slot} from node {from} to node {to}", fault.name());
        Struck { fault, what, at, serving: Instant::now(), hurt: None }
    }

    #[track_caller]
    fn cut(&mut self) -> Struck {
        let (primary, _) = self.pair();
        let at = Instant::now();
        let cut = self.cluster.cut_clients(primary);
        let what = format!("{cut} connections to node {primary} cut");
        Struck { fault: Fault::Cut, what, at, serving: Instant::now(), hurt: None }
    }

    #[track_caller]
    fn flush(&mut self) -> Struck {
        let at = Instant::now();
        self.cluster.script_flush_all();
        let what = "all scripts forgotten".to_owned();
        Struck { fault: Fault::Flush, what, at, serving: Instant::now(), hurt: None }
    }

    #[track_caller]
    fn resize(&mut self) -> Struck {
        let at = Instant::now();
        let what = match self.newcomer.take() {
            Some(node) => {
                let slots = self.cluster.slots_of(node);
                for slot in &slots {
                    let to = self.any_primary_but(node);
                    self.carry(*slot, node, to);
                }
                self.cluster.remove_node();
                format!("node {node} gave {} slots away and left", slots.len())
            }
            None => {
                let node = self.cluster.add_node();
                // A newcomer takes no key until it has seen the others for a while.
                self.cluster.wait_ready();
                let slots = self.rng.choose_multiple(self.slots.iter().copied(), SLOTS_FOR_NEWCOMER);
                for slot in &slots {
                    self.carry(*slot, self.cluster.owner_of(*slot), node);
                }
                self.newcomer = Some(node);
                self.primaries.push(node);
                format!("node {node} joined and got slots {slots:?}")
            }
        };
        Struck { fault: Fault::Resize, what, at, serving: Instant::now(), hurt: None }
    }

    /// Moves a slot in the best way that the server can.
    #[track_caller]
    fn carry(&self, slot: u16, from: usize, to: usize) {
        if engine().has_atomic_migration() {
            self.cluster.migrate_slots(slot, from, to);
        } else {
            self.cluster.move_slot(slot, from, to);
        }
    }

    #[track_caller]
    fn any_primary_but(&mut self, node: usize) -> usize {
        let others: Vec<usize> = self.cluster.primaries().into_iter().filter(|i| *i != node).collect();
        self.rng.choice(others).unwrap_or_else(|| panic!("there is no primary but node {node}"))
    }

    /// A key that node `i` owns.
    #[track_caller]
    fn probe(&self, i: usize) -> String {
        let names = (0..).map(|n| format!("probe-{n}"));
        let mut owned = names.filter(|name| self.cluster.owner_of(self.cluster.slot_of(name)) == i);
        owned.next().unwrap_or_else(|| panic!("node {i} owns no slot"))
    }

    /// Waits until node `i` takes a write as the primary, and returns when it did.
    #[track_caller]
    fn serves(&self, i: usize, probe: &str) -> Instant {
        wait_until(&format!("node {i} takes a write as the primary"), LIMIT, || self.takes_a_write(i, probe));
        Instant::now()
    }

    fn takes_a_write(&self, i: usize, probe: &str) -> bool {
        self.cluster.raw(i, &["SET", probe, "1"]).is_ok()
    }
}

/// Each kind once in random order, and anew. Its dice are its own, so that what a fault throws for changes no order.
#[derive(Debug)]
struct Order {
    kinds: Vec<Fault>,
    rng: Rng,
    /// What is left of this round, the next one last.
    round: Vec<Fault>,
}

impl Iterator for Order {
    type Item = Fault;

    fn next(&mut self) -> Option<Fault> {
        if self.round.is_empty() {
            self.round.clone_from(&self.kinds);
            self.rng.shuffle(&mut self.round);
        }
        self.round.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(seed: u64) -> Order {
        Order { kinds: Fault::ALL.to_vec(), rng: Rng::with_seed(seed), round: Vec::new() }
    }

    #[test]
    fn each_round_has_each_kind_once_and_the_seed_decides_the_order() {
        let first: Vec<Fault> = order(1).take(27).collect();
        for round in first.chunks(9) {
            let mut kinds = round.to_vec();
            kinds.sort_unstable();
            assert_eq!(kinds, Fault::ALL);
        }
        assert_eq!(first, order(1).take(27).collect::<Vec<_>>());
        assert_ne!(first, order(2).take(27).collect::<Vec<_>>());
    }

    #[test]
    fn each_kind_has_a_name_of_its_own_and_those_that_keep_data_lose_no_primary() {
        let names: std::collections::BTreeSet<&str> = Fault::ALL.map(Fault::name).into();
        assert_eq!(names.len(), Fault::ALL.len());
        let losing: Vec<Fault> =
            Fault::ALL.into_iter().filter(|fault| !Fault::KEEPING.contains(fault)).collect();
        assert_eq!(losing, [Fault::Kill, Fault::Freeze]);
    }
}
