//! S4b: transactions on a half-moved slot whose keys have all gone ahead.

use testkit::Cluster;

use super::{connect, transactions};
use crate::client::Client;
use crate::findings::Findings;
use crate::ground::{self, put};

const COUNT: usize = 20;

pub(super) async fn run<C: Client>(cluster: &Cluster) -> Result<Findings, String> {
    let keys = ["{s4b}:a".to_owned(), "{s4b}:b".to_owned()];
    let way = ground::way(cluster, &keys[0]);
    let client: C = connect(cluster).await?;
    tokio::task::block_in_place(|| {
        keys.iter().for_each(|key| put(cluster, way.from, key, 0));
        cluster.begin_move(way.slot, way.from, way.to);
        cluster.move_keys(way.from, way.to, &keys);
    });
    let seen = transactions(&client, &keys, 0, COUNT).await;

    let mut findings = Findings::default();
    seen.tell(&mut findings, COUNT);
    tokio::task::block_in_place(|| cluster.finish_move(way.slot, way.from, way.to));
    let at_the_end = keys.each_ref().map(|key| ground::number(cluster, key));
    findings.set("in the keys at the end", at_the_end);
    findings.expect(at_the_end == [COUNT as i64; 2], || format!("the keys hold {at_the_end:?}"));
    Ok(findings)
}
