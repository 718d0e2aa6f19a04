//! Promoting replicas, against a real cluster.

use testkit::{Cluster, LIMIT, cluster_with, wait_until};

/// A key of slot 0 to 5460, so that node 0 owns it at the start.
const KEY: &str = "bar";

fn get(cluster: &Cluster, i: usize) -> Option<String> {
    redis::from_redis_value(cluster.raw(i, &["GET", KEY]).unwrap()).unwrap()
}

fn three_with_replicas() -> (Cluster, usize) {
    let cluster = cluster_with(3, 1);
    assert_eq!(cluster.owner_of(cluster.slot_of(KEY)), 0);
    let [replica] = cluster.replicas_of(0)[..] else { panic!("node 0 has one replica") };
    assert_eq!(replica, 3);
    (cluster, replica)
}

#[test]
fn an_agreed_failover_loses_nothing_and_can_be_undone() {
    let (cluster, replica) = three_with_replicas();
    cluster.raw(0, &["SET", KEY, "v"]).unwrap();
    cluster.failover(replica);
    assert_eq!(cluster.primaries(), [1, 2, replica]);
    assert_eq!(cluster.replicas_of(replica), [0]);
    assert_eq!(get(&cluster, replica).as_deref(), Some("v"));
    cluster.wait_ready();
    cluster.failover(0);
    assert_eq!(cluster.primaries(), [0, 1, 2]);
    assert_eq!(get(&cluster, 0).as_deref(), Some("v"));
}

#[test]
fn a_replica_whose_replication_is_paused_forgets_what_came_after_when_it_is_promoted() {
    let promotions: [fn(&Cluster, usize); 2] = [Cluster::failover_takeover, Cluster::failover_force];
    for promote in promotions {
        let (cluster, replica) = three_with_replicas();
        cluster.raw(0, &["SET", KEY, "before"]).unwrap();
        let acknowledged = cluster.raw(0, &["WAIT", "1", "5000"]).unwrap();
        drop(acknowledged);
        // WAIT counts for the connection that wrote; what the replica has is asked of the replica.
        wait_until("the replica has the write", LIMIT, || {
            replicated(&cluster, replica) == Some("before".into())
        });
        cluster.pause_replication(replica);
        cluster.raw(0, &["SET", KEY, "after"]).unwrap();
        promote(&cluster, replica);
        assert_eq!(get(&cluster, replica).as_deref(), Some("before"));
        cluster.wait_ready();
        assert_eq!(cluster.replicas_of(replica), [0], "the old primary follows the new one");
    }
}

/// The value that a replica has, read at the replica.
fn replicated(cluster: &Cluster, replica: usize) -> Option<String> {
    let client = redis::Client::open(format!("redis://{}", cluster.addresses()[replica])).unwrap();
    let mut connection = client.get_connection().unwrap();
    redis::cmd("READONLY").exec(&mut connection).unwrap();
    redis::cmd("GET").arg(KEY).query(&mut connection).unwrap()
}

#[test]
fn a_paused_replica_catches_up_when_it_is_resumed() {
    let (cluster, replica) = three_with_replicas();
    cluster.pause_replication(replica);
    cluster.raw(0, &["SET", KEY, "v"]).unwrap();
    assert_eq!(replicated(&cluster, replica), None);
    cluster.resume_replication(replica);
    wait_until("the replica catches up", LIMIT, || replicated(&cluster, replica).as_deref() == Some("v"));
}

#[test]
fn a_replica_takes_over_from_a_primary_that_was_killed_and_gets_it_as_its_replica() {
    let (cluster, replica) = three_with_replicas();
    cluster.raw(0, &["SET", KEY, "v"]).unwrap();
    wait_until("the replica has the write", LIMIT, || replicated(&cluster, replica) == Some("v".into()));
    cluster.kill(0);
    wait_until("the replica is promoted by the others", LIMIT, || cluster.primaries().contains(&replica));
    cluster.restart(0);
    cluster.wait_ready();
    assert_eq!(cluster.replicas_of(replica), [0]);
    assert_eq!(get(&cluster, replica).as_deref(), Some("v"));
}
