//! What a verification sees, and what it says of what it could not see.

use std::time::Duration;

use echomq_cluster::Client;
use echomq_ops::{Limits, Verifier};

use crate::scene::{scanned, shop, store};

/// Stores the keys of some orders: two of each contract name, one from before, one of the wrong type.
fn fill(cluster: &testkit::Cluster, orders: usize) {
    for order in 0..orders {
        for (key, key_type) in [
            (format!("order:{{A-{order:03}}}:head"), "hash"),
            (format!("order:{{A-{order:03}}}:items"), "list"),
            (format!("order:A-{order:03}"), "hash"),
        ] {
            let node = cluster.owner_of(cluster.slot_of(&key));
            cluster.raw(node, &store(&key, key_type)[..]).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_sees_the_keys_of_all_primaries_and_compares_their_slots() {
    let cluster = testkit::cluster_with(3, 1);
    fill(&cluster, 60);
    let verification = scanned(&cluster.url(), &shop(), Limits::default()).await;
    let coverage = &verification.coverage;
    assert_eq!(
        (coverage.keys, coverage.there, coverage.nodes),
        (180, Some(180), 3),
        "replicas count for nothing"
    );
    assert!(coverage.whole && coverage.unseen_slots.is_empty() && coverage.slots > 100, "{coverage:?}");
    let counts: Vec<_> = verification.families.iter().filter(|counted| counted.keys > 0).collect();
    assert_eq!(
        counts.iter().map(|counted| (counted.name.as_str(), counted.keys)).collect::<Vec<_>>(),
        [("order.head", 60), ("order.items", 60)]
    );
    let [before] = verification.before.as_slice() else { panic!("{verification:?}") };
    assert_eq!(
        (before.name.as_str(), before.pattern.as_str(), before.keys),
        ("order.head", "order:<order>", 60)
    );
    assert_eq!(before.examples.len(), 3);
    for example in &before.examples {
        let order = example.key.to_string().split_once(':').unwrap().1.to_owned();
        assert_eq!(example.today.to_string(), format!("order:{{{order}}}:head"));
    }
    assert!(verification.is_complete() && !verification.is_fine(), "names from before are a finding");
    let comparison = &verification.comparison;
    assert!(comparison.compared >= 9 && comparison.wrong.is_empty(), "{comparison:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_ends_at_its_limits_and_says_so() {
    let cluster = testkit::cluster_with(3, 0);
    fill(&cluster, 60);
    let limits = Limits { keys: Some(50), ..Limits::default() };
    let verification = scanned(&cluster.url(), &shop(), limits).await;
    assert_eq!((verification.coverage.keys, verification.coverage.whole), (50, false));
    assert!(verification.is_complete(), "{verification:?}");
    let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    assert_eq!(scanned(&cluster.url(), &shop(), limits).await.coverage.keys, 0);
    let limits = Limits { matching: b"*:items".to_vec(), ..Limits::default() };
    assert_eq!(scanned(&cluster.url(), &shop(), limits).await.coverage.keys, 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_primary_down_the_rest_is_seen_and_the_slots_that_are_missing_are_named() {
    let cluster = testkit::cluster_with(3, 0);
    fill(&cluster, 60);
    let client = Client::connect(&cluster.url()).await.unwrap().with_deadline(Duration::from_millis(600));
    let contract = shop();
    let mut verifier = Verifier::new(&client, &contract, Limits::default());
    cluster.kill(2);
    verifier.scan(|_| ()).await;
    let verification = verifier.finish();
    assert!(!verification.is_complete() && !verification.coverage.whole);
    assert_eq!(verification.coverage.unseen_slots, ["10922-16383"], "{verification:?}");
    assert!((1..180).contains(&verification.coverage.keys), "{:?}", verification.coverage);
    let lost = &cluster.addresses()[2];
    let shortfalls = &verification.shortfalls;
    assert!(shortfalls.iter().any(|s| s.check == "scan" && s.text.contains(lost)), "{shortfalls:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_may_not_scan_is_told_so_and_may_give_the_keys() {
    let server = testkit::standalone();
    server.raw(&["RPUSH", "order:{A-001}:items", "x"]).unwrap();
    server.raw(&["HSET", "order:{A-002}:items", "f", "x"]).unwrap();
    let rules =
        ["ACL", "SETUSER", "ann", "on", ">pw", "~order:*", "-@all", "+type", "+cluster", "+hello", "+client"];
    server.raw(&rules).unwrap();
    let url = format!("redis://ann:pw@{}", server.address());

    let verification = scanned(&url, &shop(), Limits::default()).await;
    assert!(verification.is_fine() && !verification.is_complete() && verification.coverage.keys == 0);
    let needed: Vec<_> = verification.shortfalls.iter().filter(|shortfall| shortfall.needed).collect();
    let [shortfall] = needed.as_slice() else { panic!("{needed:?}") };
    for part in ["not checked (scan)", "NOPERM", "+scan", "--stdin"] {
        assert!(shortfall.to_string().contains(part), "{shortfall}");
    }

    let client = Client::connect(&url).await.unwrap();
    let contract = shop();
    let mut verifier = Verifier::new(&client, &contract, Limits::default());
    let keys = ["order:{A-001}:items", "order:{A-002}:items", "order:{A-003}:items"];
    verifier.keys(keys.map(|key| key.as_bytes().to_vec()).to_vec()).await;
    let given = verifier.finish();
    assert_eq!((given.coverage.keys, given.coverage.gone, given.mistyped_keys), (3, 1, 1));
    assert!(given.is_complete() && !given.is_fine(), "{given:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_user_may_not_ask_is_incomplete_and_never_fine_in_silence() {
    let server = testkit::standalone();
    server.raw(&["RPUSH", "order:{A-001}:items", "x"]).unwrap();
    let rules =
        ["ACL", "SETUSER", "bob", "on", ">pw", "~*", "-@all", "+scan", "+cluster|slots", "+hello", "+client"];
    server.raw(&rules).unwrap();
    let url = format!("redis://bob:pw@{}", server.address());
    let verification = scanned(&url, &shop(), Limits::default()).await;
    assert!(!verification.is_complete(), "{verification:?}");
    let said: String = verification.shortfalls.iter().map(|shortfall| format!("{shortfall}\n")).collect();
    for part in ["(type)", "(keyslot)", "(memory)", "(count)", "order:{A-001}:items"] {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
}

/// Valkey computes slots as a single server too; Redis 7 does not, and then there is nothing to compare with.
#[tokio::test(flavor = "multi_thread")]
async fn a_single_server_is_compared_where_it_computes_slots() {
    let server = testkit::standalone();
    server.raw(&["RPUSH", "order:{A-001}:items", "x"]).unwrap();
    let computes = server.raw(&["CLUSTER", "KEYSLOT", "x"]).is_ok();
    let verification = scanned(&server.url(), &shop(), Limits::default()).await;
    assert!(verification.is_fine() && verification.is_complete(), "{verification:?}");
    assert_eq!(verification.comparison.compared, u64::from(computes));
    let said =
        verification.shortfalls.iter().any(|s| s.check == "keyslot" && s.text.contains("computes none"));
    assert_eq!(said, !computes, "{verification:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_nobody_claims_are_grouped_by_pattern_and_never_more_than_fit() {
    let server = testkit::standalone();
    let client = Client::connect(&server.url()).await.unwrap();
    let word = |n: usize| {
        let letter = |n: usize| char::from(b'a' + (n % 26) as u8);
        [letter(n / 676), letter(n / 26), letter(n)].iter().collect::<String>()
    };
    let mut keys: Vec<Vec<u8>> = (0..2_000).map(|n| format!("user:{n}:cart").into_bytes()).collect();
    keys.extend((0..700).map(|n| format!("word:{}", word(n)).into_bytes()));
    let pairs: Vec<(&Vec<u8>, &str)> = keys.iter().map(|key| (key, "x")).collect();
    client.scatter_mset(&pairs).await.done().unwrap();

    let verification = scanned(&server.url(), &shop(), Limits::default()).await;
    let first = &verification.strangers[0];
    assert_eq!((first.pattern.as_str(), first.keys, first.examples.len()), ("user:<n>:cart", 2_000, 3));
    assert_eq!(verification.strangers.len(), 200);
    assert_eq!(verification.ungrouped_keys, 701 - 200);
    assert_eq!(verification.coverage.keys, 2_700);
}

/// Whatever is asked of it afterwards, all of its keys together: each page is waited for once, not each key.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_between_a_scan_and_its_keys_costs_one_deadline_a_batch() {
    let server = testkit::standalone();
    let client = Client::connect(&server.url()).await.unwrap().with_deadline(Duration::from_millis(500));
    let contract = shop();
    let keys: Vec<Vec<u8>> = (0..200).map(|n| format!("order:{{A-1}}:{n}").into_bytes()).collect();
    server.kill();
    let mut verifier = Verifier::new(&client, &contract, Limits::default());
    let begun = std::time::Instant::now();
    verifier.keys(keys).await;
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(!verifier.finish().is_complete());
}

/// Bytes that are no text, keys that go while they are looked at, and many of them.
#[tokio::test(flavor = "multi_thread")]
async fn names_of_any_bytes_that_come_and_go_are_looked_at_within_the_limits() {
    let server = testkit::standalone();
    let client = Client::connect(&server.url()).await.unwrap();
    let contract = shop();
    let names =
        "for i = 1, 50000 do redis.call('SET', string.char(i % 256, 255, 0, 123, i % 7, 125) .. i, 'x') end";
    server.raw(&["EVAL", names, "0"]).unwrap();
    let gone = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let done = gone.clone();
    let deleting = tokio::task::spawn_blocking(move || {
        while !done.load(std::sync::atomic::Ordering::Relaxed) {
            let some =
                "for _ = 1, 50 do local k = redis.call('RANDOMKEY'); if k then redis.call('DEL', k) end end";
            let _ = server.raw(&["EVAL", some, "0"]);
        }
        server
    });
    let limits = Limits { keys: Some(5_000), ..Limits::default() };
    let mut verifier = Verifier::new(&client, &contract, limits);
    verifier.scan(|_| ()).await;
    gone.store(true, std::sync::atomic::Ordering::Relaxed);
    drop(deleting.await.unwrap());
    let verification = verifier.finish();
    assert!((1..=5_000).contains(&verification.coverage.keys), "{:?}", verification.coverage);
    assert!(verification.strangers.len() <= 200 && verification.mistyped_keys == 0);
}
