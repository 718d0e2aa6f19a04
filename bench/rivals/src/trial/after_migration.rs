//! S1: a client that only sends transactions, after their slot went elsewhere.

use testkit::Cluster;

use super::{HUNG, connect, transactions};
use crate::client::Client;
use crate::findings::Findings;
use crate::ground;

const COUNT: usize = 20;

pub(super) async fn run<C: Client>(cluster: &Cluster) -> Result<Findings, String> {
    let keys = ["{s1}:a".to_owned(), "{s1}:b".to_owned()];
    let way = ground::way(cluster, &keys[0]);
    let client: C = connect(cluster).await?;
    let before = transactions(&client, &keys, 0, 1).await;
    if before.ok != 1 {
        return Err(format!("no transaction before the migration: {:?}", before.said));
    }
    tokio::task::block_in_place(|| cluster.migrate_slots(way.slot, way.from, way.to));

    let mut findings = Findings::default();
    transactions(&client, &keys, 1, COUNT).await.tell(&mut findings, COUNT);

    // Does an ordinary command teach the client what the transactions did not?
    let _ = tokio::time::timeout(HUNG, client.get(&keys[0])).await;
    let last = tokio::task::block_in_place(|| ground::number(cluster, &keys[0]));
    let after = transactions(&client, &keys, last, 5).await;
    findings.set("then, after one GET, ok of 5", after.ok);
    findings.expect(after.ok == 5, || format!("{} of 5 transactions after a GET", after.ok));
    Ok(findings)
}
