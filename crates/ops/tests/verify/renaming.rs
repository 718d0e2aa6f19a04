//! From names of before to those of today, until the old ones may go.

use std::time::Duration;

use echomq_cluster::dual::{Dual, LegacyKeys, Relocated, Renamed, Stage, Writers};
use echomq_cluster::{Client, Command, Repeat};
use echomq_contract::Entry;
use echomq_ops::Limits;

use crate::scene::{scanned, shop};

#[tokio::test(flavor = "multi_thread")]
async fn a_verification_tells_when_no_name_from_before_is_left_and_then_the_old_names_may_go() {
    let cluster = testkit::cluster_with(3, 0);
    let client = Client::connect(&cluster.url()).await.unwrap();
    let dual = Dual::new(&client, Stage::Lead);
    let _word = dual.announce(b"renaming:{shop}", "web-1", "2", Duration::from_secs(3)).await.unwrap();
    let old_names: Vec<String> = (0..50).map(|n| format!("order:A-{n:03}:items")).collect();
    for old in &old_names {
        client.call(Command::new("RPUSH").key(old).arg("x"), Repeat::Never).await.unwrap();
    }
    let whole = Limits { keys: None, matching: b"order:*".to_vec(), ..Limits::default() };
    let scan = async || scanned(&cluster.url(), &shop(), whole.clone()).await.legacy_keys();
    assert_eq!(scan().await, LegacyKeys::Found(50));

    let contract = shop();
    for old in &old_names {
        let entry = contract.directory().find(old.as_bytes());
        let Entry::Before { today, .. } = entry else { panic!("{entry:?}") };
        let key = Renamed::new(today, [old.as_str()]);
        assert_eq!(dual.relocate(&key).await.unwrap(), Relocated::Moved);
    }
    assert_eq!(scan().await, LegacyKeys::None);
    let limits = Limits { keys: Some(10), ..whole.clone() };
    assert_eq!(scanned(&cluster.url(), &shop(), limits).await.legacy_keys(), LegacyKeys::Unknown);

    let quiet = Duration::from_millis(1_000);
    let verdict = async || {
        let writers = Writers::read(&client, b"renaming:{shop}").await.unwrap();
        writers.may_switch_off(quiet, scan().await)
    };
    let limit = tokio::time::Instant::now() + testkit::LIMIT;
    while let Err(missing) = verdict().await {
        assert!(missing.iter().all(|text| text.starts_with("web-1 ")), "{missing:?}");
        assert!(tokio::time::Instant::now() < limit, "{missing:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
