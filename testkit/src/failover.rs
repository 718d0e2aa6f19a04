//! Promoting a replica: with all its primary's data, or without the latest of it.

use crate::Cluster;
use crate::wait::{LIMIT, wait_until};

impl Cluster {
    /// Promotes a replica in agreement with its primary (`CLUSTER FAILOVER`): nothing is lost. Returns when it is a
    /// primary and every node that is up knows.
    ///
    /// # Panics
    ///
    /// When `replica` is none or its link is down.
    #[track_caller]
    pub fn failover(&self, replica: usize) {
        self.promote(replica, &["CLUSTER", "FAILOVER"]);
    }

    /// Promotes a replica with the votes of the other primaries but without asking its own (`FORCE`), as for a
    /// primary that is down. What had not reached the replica is lost.
    #[track_caller]
    pub fn failover_force(&self, replica: usize) {
        self.promote(replica, &["CLUSTER", "FAILOVER", "FORCE"]);
    }

    /// Promotes a replica without asking anybody (`TAKEOVER`). What had not reached the replica is lost.
    #[track_caller]
    pub fn failover_takeover(&self, replica: usize) {
        self.promote(replica, &["CLUSTER", "FAILOVER", "TAKEOVER"]);
    }

    /// Keeps everything that its primary writes from now on from a replica, until [`Cluster::resume_replication`] or
    /// its promotion: the replica answers and is a candidate, but knows only the past.
    ///
    /// Stopping its process would not do: what the primary sends meanwhile waits in the socket, and is read before
    /// anybody can promote it. So its link is cut, and made to fail at each new attempt, by a user name that the
    /// primary does not know.
    ///
    /// # Panics
    ///
    /// When `replica` is none.
    #[track_caller]
    pub fn pause_replication(&self, replica: usize) {
        self.link_as(replica, "nobody-by-this-name");
        self.must::<u64>(replica, &["CLIENT", "KILL", "TYPE", "master"]);
        wait_until(&format!("the link of replica {replica} is down"), LIMIT, || {
            self.info(replica, "replication", "master_link_status").as_deref() == Some("down")
        });
    }

    /// Lets a replica follow its primary again and returns when it has caught up.
    #[track_caller]
    pub fn resume_replication(&self, replica: usize) {
        self.link_as(replica, "");
        wait_until(&format!("the link of replica {replica} is up"), LIMIT, || {
            self.info(replica, "replication", "master_link_status").as_deref() == Some("up")
        });
    }

    #[track_caller]
    fn promote(&self, replica: usize, command: &[&str]) {
        let view = self.view(replica);
        let followed = view.iter().find(|seen| seen.node == replica).and_then(|seen| seen.primary.clone());
        let Some(old) = followed else { panic!("node {replica} is no replica") };
        self.must::<()>(replica, command);
        wait_until(&format!("all see that node {replica} took over"), LIMIT, || {
            self.up().all(|i| {
                self.view(i).iter().all(|seen| match seen.primary {
                    None => seen.id != old || !self.is_up(seen.node),
                    Some(_) => seen.node != replica,
                })
            })
        });
        // It may be a replica again one day.
        self.link_as(replica, "");
    }

    /// The name and password with which a replica introduces itself to its primary; empty: none.
    #[track_caller]
    fn link_as(&self, replica: usize, user: &str) {
        self.must::<()>(replica, &["CONFIG", "SET", "masteruser", user, "masterauth", user]);
    }
}
