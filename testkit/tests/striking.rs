//! Faults in random order, against a real cluster.

use testkit::{Fault, Faults, cluster_with};

fn keys() -> Vec<String> {
    (0..8).map(|n| format!("key-{n}")).collect()
}

/// Strikes with one kind of fault.
fn faults(kind: Fault) -> Faults {
    Faults::new(cluster_with(3, 1), 7, &[kind], &keys())
}

#[test]
fn a_primary_that_was_lost_is_replaced_and_comes_back_as_a_replica() {
    for kind in [Fault::Kill, Fault::Freeze] {
        let mut faults = faults(kind);
        let before = faults.cluster().primaries();
        let struck = faults.strike();
        assert!(struck.fault == kind && struck.serving > struck.at);
        assert_eq!(faults.mend(), [0; 0]);
        let after = faults.cluster().primaries();
        let new: Vec<usize> = after.iter().copied().filter(|node| !before.contains(node)).collect();
        let [new] = new[..] else { panic!("{before:?} became {after:?}") };
        let old: Vec<usize> = before.iter().copied().filter(|node| *node + 3 == new).collect();
        assert_eq!(faults.cluster().replicas_of(new), old);
    }
}

#[test]
fn a_node_joins_with_slots_and_leaves_without_at_the_next_stroke() {
    let mut faults = faults(Fault::Resize);
    faults.strike();
    faults.mend();
    let slots = faults.cluster().slots_of(6);
    assert_eq!((faults.cluster().addresses().len(), slots.len()), (7, 4), "{slots:?}");
    faults.strike();
    faults.mend();
    assert_eq!(faults.cluster().addresses().len(), 6);
    let owned: usize = faults.cluster().primaries().iter().map(|i| faults.cluster().slots_of(*i).len()).sum();
    assert_eq!(owned, 16_384);
}

#[test]
fn a_slot_moves_key_by_key_with_all_it_holds() {
    let mut faults = faults(Fault::Move);
    let owners = |faults: &Faults| -> Vec<usize> {
        keys().iter().map(|key| faults.cluster().owner_of(faults.cluster().slot_of(key))).collect()
    };
    for key in keys() {
        let owner = faults.cluster().owner_of(faults.cluster().slot_of(&key));
        faults.cluster().raw(owner, &["SET", &key, &key]).unwrap();
    }
    let before = owners(&faults);
    faults.strike();
    let after = owners(&faults);
    assert_eq!(before.iter().zip(&after).filter(|(one, two)| one != two).count(), 1);
    for (key, owner) in keys().iter().zip(after) {
        let value: Option<String> =
            redis::from_redis_value(faults.cluster().raw(owner, &["GET", key]).unwrap()).unwrap();
        assert_eq!(value.as_ref(), Some(key));
    }
}

#[test]
fn a_promotion_that_no_fault_made_is_told() {
    let mut faults = faults(Fault::Flush);
    faults.strike();
    faults.cluster().failover(4);
    assert_eq!(faults.mend(), [4]);
    faults.strike();
    assert_eq!(faults.mend(), [0; 0]);
}

#[test]
fn a_failover_and_a_stall_leave_every_node_up() {
    for kind in [Fault::Failover, Fault::Stall] {
        let mut faults = faults(kind);
        let before = faults.cluster().primaries();
        faults.strike();
        faults.mend();
        assert_eq!(faults.cluster().primaries() == before, kind == Fault::Stall);
    }
}
