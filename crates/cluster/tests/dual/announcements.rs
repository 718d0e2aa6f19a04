//! Announcements, and what they allow.

use std::time::Duration;

use echomq_cluster::dual::{LegacyKeys, Stage, Writers};

use crate::scene::{Scene, get, set};

#[tokio::test(flavor = "multi_thread")]
async fn a_relocation_knows_when_every_writer_leads_and_a_dead_process_is_forgotten() {
    let scene = Scene::new("marker").await;
    let marker = testkit::unique_queue("renaming").into_bytes();
    let holds = Duration::from_secs(2);
    let read = async || Writers::read(&scene.client, &marker).await.unwrap();
    assert!(read().await.all_dual().is_err(), "nobody is no consent");

    let (follow, lead) = (scene.process(Stage::Follow).await, scene.process(Stage::Lead).await);
    let first = follow.announce(&marker, "web-1", "2.0 beta", holds).await.unwrap();
    let second = lead.announce(&marker, "web-2", "2.1", Duration::from_secs(60)).await.unwrap();
    let writers = read().await;
    let told: Vec<_> = writers
        .list
        .iter()
        .map(|w| (w.process.as_str(), w.version.as_str(), w.stage, w.met_old_ms))
        .collect();
    assert_eq!(told, [("web-1", "2.0 beta", Stage::Follow, None), ("web-2", "2.1", Stage::Lead, None)]);
    assert_eq!(writers.all_dual(), Ok(()));
    assert!(
        writers.all_lead().unwrap_err()[0].starts_with("web-1 (version 2.0 beta) still writes old names")
    );

    // It is repeated for as long as the process lives, and ends with it.
    let since = writers.list[0].since_ms;
    let began = tokio::time::Instant::now();
    while began.elapsed() < 2 * holds {
        let writers = read().await;
        assert_eq!((writers.list.len(), writers.list[0].since_ms), (2, since));
        tokio::time::sleep(holds / 6).await;
    }
    drop(first);
    until("the dead process is forgotten", async || read().await.list.len() == 1).await;
    assert_eq!(read().await.all_lead(), Ok(()));
    second.leave().await.unwrap();
    assert!(read().await.list.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_old_names_may_go_when_none_was_met_for_long_enough() {
    let scene = Scene::new("quiet").await;
    let marker = testkit::unique_queue("renaming").into_bytes();
    let process = scene.process(Stage::Lead).await;
    let holds = Duration::from_millis(1_500);
    let _word = process.announce(&marker, "web-1", "3", holds).await.unwrap();
    let key = scene.key(0);
    scene.set_old(&key, "1").await;
    let _ = get(&process, &key).await;
    let met = async || Writers::read(&scene.client, &marker).await.unwrap().list[0].met_old_ms;
    until("the word tells of the old name", async || met().await.is_some()).await;

    let quiet = Duration::from_millis(1_000);
    let verdict =
        async |legacy| Writers::read(&scene.client, &marker).await.unwrap().may_switch_off(quiet, legacy);
    let missing = verdict(LegacyKeys::Found(1)).await.unwrap_err();
    assert!(missing.iter().any(|text| text.contains("web-1 met an old name")), "{missing:?}");
    assert!(missing.iter().any(|text| text.contains("1 keys have old names")), "{missing:?}");
    let _ = set(&process, &key, "2").await;
    until("it was quiet", async || verdict(LegacyKeys::None).await.is_ok()).await;
    assert!(verdict(LegacyKeys::Unknown).await.is_err());
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let limit = tokio::time::Instant::now() + testkit::LIMIT;
    while !holds().await {
        assert!(tokio::time::Instant::now() < limit, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
