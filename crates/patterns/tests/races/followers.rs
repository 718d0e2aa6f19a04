use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use echomq_cluster::Client;
use echomq_keyspace::Slot;
use echomq_patterns::followers::Followers;
use testkit::{Cluster, cluster_with};

use crate::scene::{client, name, number, side_by_side};

const SHARES: u16 = 6;
const MEMBERS: usize = 1_200;

/// What the busiest one of a layout got, of all.
#[derive(Debug)]
struct Load {
    key: f64,
    slot: f64,
    node: f64,
}

async fn load(cluster: &Cluster, client: &Client, fans: &Followers) -> Load {
    let adds = || (0..3).map(|node| cluster.commandstats(node).get("sadd").map_or(0, |stat| stat.calls));
    let before: Vec<u64> = adds().collect();
    side_by_side(8, |i| {
        let fans = fans.clone();
        async move {
            for member in (i..MEMBERS).step_by(8) {
                assert!(fans.add(&format!("fan-{member}")).await.unwrap());
            }
        }
    })
    .await;
    let slots: BTreeMap<Slot, u64> = client.slot_requests().into_iter().collect();
    let nodes: Vec<u64> = adds().zip(before).map(|(after, before)| after - before).collect();
    assert_eq!(nodes.iter().sum::<u64>(), MEMBERS as u64);
    assert_eq!(fans.count().await.unwrap(), MEMBERS as u64, "the counts add up");
    let mut keys = Vec::new();
    for key in fans.keys() {
        keys.push(number(client, "SCARD", &key.to_string(), &[]).await as u64);
    }
    let share =
        |parts: &[u64]| parts.iter().max().copied().unwrap_or(0) as f64 / parts.iter().sum::<u64>() as f64;
    let slots: Vec<u64> = slots.into_values().collect();
    Load { key: share(&keys), slot: share(&slots), node: share(&nodes) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sub_keys_split_the_key_and_not_the_load_and_spread_tags_split_both() {
    let cluster = cluster_with(3, 0);
    let user = name("ann");
    let one = client(&cluster).await;
    let sub_keys = load(&cluster, &one, &Followers::sub_keys(&one, &user, SHARES).unwrap()).await;
    let other = client(&cluster).await;
    let spread = load(&cluster, &other, &Followers::spread_tags(&other, &user, SHARES).unwrap()).await;

    let fair = 1.0 / f64::from(SHARES);
    let about = |part: f64, fair: f64| part < fair * 1.4;
    assert!(about(sub_keys.key, fair) && about(spread.key, fair), "{sub_keys:?}, {spread:?}");
    assert_eq!((sub_keys.slot, sub_keys.node), (1.0, 1.0), "sub-keys leave all on one slot of one node");
    assert!(about(spread.slot, fair), "{spread:?}");
    assert!(about(spread.node, 1.0 / 3.0), "{spread:?}");
}

/// One member, renamed again and again by one client, while others count by another one: on one connection nobody would
/// come in between.
async fn counts_seen(by: &Followers, fans: &Followers, rename: impl AsyncFn(&str, &str)) -> Vec<u64> {
    let ended = Arc::new(AtomicBool::new(false));
    let readers = side_by_side(3, |_| {
        let (fans, ended) = (by.clone(), ended.clone());
        async move {
            let mut seen = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                seen.push(fans.count().await.unwrap());
            }
            seen.sort_unstable();
            seen.dedup();
            seen
        }
    });
    let renames = async {
        let mut old = "fan-0".to_owned();
        assert!(fans.add(&old).await.unwrap());
        for number in 1..400 {
            let new = format!("fan-{number}");
            rename(&old, &new).await;
            old = new;
        }
        ended.store(true, Ordering::Relaxed);
    };
    let (seen, ()) = tokio::join!(readers, renames);
    seen.into_iter().flatten().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_count_over_sub_keys_is_of_one_moment_and_one_over_spread_tags_is_not() {
    let cluster = testkit::cluster();
    let (other, client) = (client(&cluster).await, client(&cluster).await);
    let (first, user) = ("ben", name("ann"));
    // So many that their counts do not reach the server in one piece.
    let many = 400;
    let fans = Followers::sub_keys(&client, &user, many).unwrap();
    let by = Followers::sub_keys(&other, &user, many).unwrap();
    assert!(fans.add(first).await.unwrap());
    let seen = counts_seen(&by, &fans, async |old, new| assert!(fans.rename(old, new).await.unwrap())).await;
    assert!(seen.contains(&2) && seen.iter().all(|count| [1, 2].contains(count)), "{seen:?}");
    assert_eq!(fans.count().await.unwrap(), 2);
    assert!(!fans.rename("nobody", "somebody").await.unwrap());

    let fans = Followers::spread_tags(&client, &user, SHARES).unwrap();
    let by = Followers::spread_tags(&other, &user, SHARES).unwrap();
    assert!(fans.add(first).await.unwrap());
    let (old, new) =
        ("fan-0", (1..).map(|i| format!("fan-{i}")).find(|new| fans.share_of(new) != fans.share_of("fan-0")));
    let refused = fans.rename(old, &new.unwrap()).await.unwrap_err();
    assert!(refused.cluster().unwrap().is_crossslot(), "{refused}");
    let seen = counts_seen(&by, &fans, async |old, new| {
        assert!(fans.add(new).await.unwrap());
        assert!(fans.remove(old).await.unwrap());
    });
    let seen = seen.await;
    assert!(seen.contains(&3), "both names at once were never counted: {seen:?}");
}

#[tokio::test]
async fn a_member_is_found_where_it_was_put() {
    let cluster = testkit::cluster();
    let client = client(&cluster).await;
    let user = name("ann");
    let spread = Followers::spread_tags(&client, &user, 1).unwrap();
    assert_eq!(spread.slots().len(), 1);
    let spread = Followers::spread_tags(&client, &user, 100).unwrap();
    assert_eq!((spread.keys().len(), spread.slots().len()), (100, 100));
    let sub_keys = Followers::sub_keys(&client, &user, 100).unwrap();
    assert_eq!((sub_keys.keys().len(), sub_keys.slots().len()), (100, 1));
    assert!(spread.slots().is_superset(&sub_keys.slots()), "the first share stays with the user");
    for fans in [&spread, &sub_keys] {
        assert!(fans.add("ben").await.unwrap());
        assert!(!fans.add("ben").await.unwrap());
        assert!(fans.contains("ben").await.unwrap());
        assert!(fans.remove("ben").await.unwrap());
        assert!(!fans.contains("ben").await.unwrap());
        assert_eq!(fans.count().await.unwrap(), 0);
    }
    for shares in [0, 1_025] {
        assert!(Followers::sub_keys(&client, &user, shares).err().unwrap().is_refused());
    }
    assert!(Followers::spread_tags(&client, "a~b", 2).err().unwrap().is_refused());
}
