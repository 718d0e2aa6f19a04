//! Cases from the field, C012 and C100: what is found on a server.

use echomq_contract::Contract;
use echomq_keyspace::Slot;
use echomq_ops::{Limits, Stranger, Verification};

use crate::scene::{contract, dump, scanned, store};

/// What the list of keys calls a finding, in its words.
fn verdict(verification: &Verification, key: &str) -> String {
    let shown = echomq_keyspace::Escaped(key.as_bytes()).to_string();
    if let Some(mistyped) = verification.mistyped.iter().find(|mistyped| mistyped.key.to_string() == shown) {
        return format!("wrong type: {} expected", mistyped.expected);
    }
    let is_of = |example: &echomq_ops::Name| example.to_string() == shown;
    match verification.strangers.iter().find(|group| group.examples.iter().any(is_of)) {
        None => "ok".to_owned(),
        Some(group) => match group.like {
            Stranger::Braces => {
                let looks_like = group.text.split("looks like ").nth(1).unwrap().split(',').next().unwrap();
                format!("no tag: not under the contract, looks like {looks_like}")
            }
            Stranger::UnknownKey => "unknown key of entity orders".to_owned(),
            Stranger::Blanks => "unknown key (trailing space)".to_owned(),
            Stranger::EmptyTag => "empty tag".to_owned(),
            like => panic!("{key}: {like:?}"),
        },
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c100_each_key_of_the_list_is_found_with_its_type_and_nothing_is_deleted() {
    let server = testkit::standalone();
    let list = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/contracts/keys-to-validate.tsv"
    ))
    .unwrap();
    let rows: Vec<Vec<&str>> =
        list.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 7);
    for row in &rows {
        server.raw(&store(row[0], row[1])[..]).unwrap();
    }
    let before = dump(|command| server.raw(command).unwrap());
    server.raw(&["CONFIG", "RESETSTAT"]).unwrap();

    let verification =
        scanned(&server.url(), &contract("testdata/contracts/queue-good.toml"), Limits::default()).await;
    for row in &rows {
        assert_eq!(verdict(&verification, row[0]), row[2], "{:?}", row[0]);
    }
    let [mistyped] = verification.mistyped.as_slice() else { panic!("{verification:?}") };
    let told = (mistyped.key.to_string(), mistyped.name.as_str(), mistyped.found.as_str(), mistyped.expected);
    assert_eq!(told, ("emq:{orders}:pending".to_owned(), "queue.pending", "zset", "list"));
    assert!(!verification.is_fine() && verification.is_complete(), "{verification:?}");

    let ran: String = redis::from_redis_value(server.raw(&["INFO", "commandstats"]).unwrap()).unwrap();
    for write in ["del", "unlink", "set", "hset", "rename", "restore", "expire", "eval"] {
        assert!(!ran.contains(&format!("cmdstat_{write}:")), "{ran}");
    }
    assert_eq!(dump(|command| server.raw(command).unwrap()), before);
}

/// The keys of EchoMQ itself, with one that an older program has left: what the worker would refuse is found before.
#[tokio::test(flavor = "multi_thread")]
async fn c100_the_contract_of_echomqs_own_keys_finds_a_list_where_a_sorted_set_is_to_be() {
    let server = testkit::standalone();
    server.raw(&["RPUSH", "shop:emq:{orders}:pending", "1"]).unwrap();
    server.raw(&["SET", "cache", "1"]).unwrap();
    let limits = Limits { prefix: b"shop:".to_vec(), ..Limits::default() };
    let verification = scanned(&server.url(), &Contract::echomq(), limits).await;
    let [mistyped] = verification.mistyped.as_slice() else { panic!("{verification:?}") };
    assert_eq!(mistyped.key.to_string(), "shop:emq:{orders}:pending");
    assert_eq!((mistyped.found.as_str(), mistyped.expected), ("list", "zset"));
    assert_eq!((verification.coverage.passed_over, verification.strangers.len()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn c012_forty_queues_under_one_constant_tag_are_shown_with_their_share_of_keys_and_of_memory() {
    let cluster = testkit::cluster_with(3, 0);
    let slot = Slot::of(b"prod");
    let owner = cluster.owner_of(slot.get());
    for queue in 0..40 {
        for job in 0..5 {
            let key = format!("{{prod}}:queue-{queue}:job:{job}");
            cluster.raw(owner, ("SET", key, vec![b'x'; 10_000])).unwrap();
        }
    }
    for other in 0..50 {
        let key = format!("session:{other}");
        let node = cluster.owner_of(cluster.slot_of(&key));
        cluster.raw(node, &["SET", &key, "x"]).unwrap();
    }
    let text = r#"
        contract = 1
        [family.queue]
        tag = { field = "queue", alphabet = "a-z0-9-", length = [1, 30], cardinality = 1000 }
        keys.job = { type = "string", pattern = "{prod}:<queue>:job:<id>" }
    "#;
    let declared = Contract::parse(text).unwrap();
    let warned = declared.check();
    assert_eq!(warned.findings[0].code.word(), "constant-tag");
    assert!(warned.findings[0].text.contains(&format!("co-located, but every entity shares slot {slot}")));

    let verification = scanned(&cluster.url(), &declared, Limits::default()).await;
    let [hot] = verification.hot.slots.as_slice() else { panic!("{:?}", verification.hot) };
    assert_eq!((hot.slot, hot.keys, hot.keys_per_10000), (slot.get(), 200, 8_000));
    assert!(hot.memory_per_10000 > 9_900 && hot.memory_bytes > 200 * 10_000, "{hot:?}");
    assert_eq!(hot.node.as_deref(), Some(cluster.addresses()[owner].as_str()));
    assert_eq!(hot.tag.as_ref().map(ToString::to_string).as_deref(), Some("prod"));
    assert!(hot.constant);
    let text = hot.to_string();
    assert!(
        text.contains("80.0 % of the keys") && text.contains("co-located, but every entity shares it"),
        "{text}"
    );

    // The same keys where no contract tells that the tag is a constant.
    let foreign = scanned(&cluster.url(), &crate::scene::shop(), Limits::default()).await;
    let [hot] = foreign.hot.slots.as_slice() else { panic!("{:?}", foreign.hot) };
    assert!(!hot.constant && hot.to_string().contains("one tag can not be spread"), "{hot}");
}
