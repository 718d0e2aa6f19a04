//! Each call by itself, and from each state that a crash can leave.

use std::time::Duration;

use echomq_cluster::dual::{Dual, Held, Left, Relocated, Renamed, Stage};
use echomq_cluster::{Client, Command, Confirm, Repeat, Value};
use echomq_keyspace::Slot;

use crate::scene::{Scene, get, set, some, string, try_get};

#[tokio::test(flavor = "multi_thread")]
async fn a_value_is_read_under_the_old_name_until_it_is_written_and_under_the_new_one_from_then_on() {
    let scene = Scene::new("calls").await;
    let key = scene.key(0);
    assert_ne!(Slot::of(key.new_name()), Slot::of(&key.old_names()[0]));
    assert_eq!(get(&scene.lead, &key).await, (None, Held::Nowhere));
    scene.set_old(&key, "1").await;
    assert_eq!(get(&scene.lead, &key).await, (some("1"), Held::Old));

    let written = set(&scene.lead, &key, "2").await;
    assert!(written.left.is_none() && written.deleted == 1, "{written:?}");
    assert_eq!(scene.stored(&key).await, [some("2"), None]);
    assert_eq!(get(&scene.lead, &key).await, (some("2"), Held::New));
    assert_eq!(set(&scene.lead, &key, "3").await.deleted, 0);
    assert!(scene.lead.delete(&key).await.unwrap());
    assert!(!scene.lead.delete(&key).await.unwrap());
    assert_eq!(get(&scene.lead, &key).await, (None, Held::Nowhere));

    let stats = scene.lead.stats();
    assert_eq!((stats.read_new, stats.read_old, stats.read_none), (1, 1, 2));
    assert_eq!((stats.writes, stats.writes_that_deleted, stats.relocated), (2, 1, 0));
}

/// A crash after the first step of a write or a relocation.
#[tokio::test(flavor = "multi_thread")]
async fn where_both_names_have_a_value_the_new_one_counts_and_every_call_ends_the_old_one() {
    let scene = Scene::new("both").await;
    for (n, call) in ["write", "delete", "relocate", "update"].into_iter().enumerate() {
        let key = scene.key(n);
        scene.set_old(&key, "10").await;
        scene.set_new(&key, "20").await;
        assert_eq!(get(&scene.lead, &key).await, (some("20"), Held::New), "{call}");
        let after = match call {
            "write" => {
                assert_eq!(set(&scene.lead, &key, "30").await.deleted, 1);
                [some("30"), None]
            }
            "delete" => {
                assert!(scene.lead.delete(&key).await.unwrap());
                [None, None]
            }
            "relocate" => {
                assert_eq!(scene.lead.relocate(&key).await.unwrap(), Relocated::Remnant);
                assert_eq!(scene.lead.relocate(&key).await.unwrap(), Relocated::Nothing);
                [some("20"), None]
            }
            _ => {
                let incr = |name: &[u8]| Command::new("INCR").key(name);
                let reply = scene.lead.update(&key, incr, Repeat::Never).await.unwrap();
                assert_eq!(reply, Value::Int(21));
                scene.lead.relocate(&key).await.unwrap();
                [some("21"), None]
            }
        };
        assert_eq!(scene.stored(&key).await, after, "{call}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_writes_nothing_leaves_the_old_value_where_it_is() {
    let scene = Scene::new("nothing").await;
    let key = scene.key(0);
    scene.set_old(&key, "1").await;
    let set_xx = |name: &[u8]| Command::new("SET").key(name).arg("2").arg("XX");
    let written = scene.lead.write(&key, set_xx, Repeat::Never).await.unwrap();
    assert!(matches!(written.left, Some(Left::NothingWritten)), "{written:?}");
    assert_eq!(scene.stored(&key).await, [None, some("1")]);
    // What depends on what is there is an update.
    assert_eq!(scene.lead.update(&key, set_xx, Repeat::Never).await.unwrap(), Value::Okay);
    assert_eq!(scene.stored(&key).await, [some("2"), None]);

    let wrong = |name: &[u8]| Command::new("RPUSH").key(name).arg("x");
    let error = scene.lead.write(&key, wrong, Repeat::Never).await.unwrap_err();
    assert_eq!(error.server_code(), Some("WRONGTYPE"), "{error}");
    let error = scene.lead.read(&key, |name| Command::new("LLEN").key(name)).await.unwrap_err();
    assert_eq!(error.server_code(), Some("WRONGTYPE"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_every_type_are_read_and_brought_over_with_their_time_to_live() {
    let scene = Scene::new("types").await;
    let many: Vec<String> = (0..2_000).map(|n| format!("m{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let pairs: Vec<&str> = many.iter().flat_map(|member| [*member, "1"]).collect();
    let scores: Vec<&str> = many.iter().flat_map(|member| ["1", *member]).collect();
    for (n, (store, args, read, count)) in [
        ("SET", vec!["plain"], "STRLEN", 5),
        ("HSET", pairs, "HLEN", 2_000),
        ("RPUSH", many.clone(), "LLEN", 2_000),
        ("SADD", many, "SCARD", 2_000),
        ("ZADD", scores, "ZCARD", 2_000),
        ("XADD", vec!["1-1", "f", "x"], "XLEN", 1),
    ]
    .into_iter()
    .enumerate()
    {
        let key = scene.key(n);
        scene.call(store, &key.old_names()[0], &args).await;
        scene.call("PEXPIRE", &key.old_names()[0], &["600000"]).await;
        let size = async |held| {
            let answer = scene.lead.read(&key, |name| Command::new(read).key(name)).await.unwrap();
            assert_eq!((answer.reply, answer.held), (Value::Int(count), held), "{read}");
        };
        size(Held::Old).await;
        assert_eq!(scene.lead.relocate(&key).await.unwrap(), Relocated::Moved, "{store}");
        size(Held::New).await;
        let Value::Int(ttl_ms) = scene.call("PTTL", key.new_name(), &[]).await else { panic!() };
        assert!((500_000..=600_000).contains(&ttl_ms), "{ttl_ms}");
        assert_eq!(scene.call("EXISTS", &key.old_names()[0], &[]).await, Value::Int(0));
    }
    assert_eq!(scene.lead.stats().relocated, 6);
}

/// A reply such as 0 may come of a key that is there and of none.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_answer_is_told_from_no_key_at_all() {
    let scene = Scene::new("empty").await;
    let key = scene.key(0);
    scene.call("SADD", &key.old_names()[0], &["a"]).await;
    scene.call("SADD", key.new_name(), &["b"]).await;
    let answer = scene.lead.read(&key, |name| Command::new("SISMEMBER").key(name).arg("a")).await.unwrap();
    assert_eq!((answer.reply, answer.held), (Value::Int(0), Held::New), "the old set is a remnant");
    let key = scene.key(1);
    scene.set_new(&key, "").await;
    assert_eq!(get(&scene.lead, &key).await, (some(""), Held::New));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_old_names_the_youngest_counts() {
    let scene = Scene::new("three").await;
    let label = testkit::unique_queue("three");
    let key = Renamed::new(format!("c:{{{label}}}"), [format!("b:{label}"), format!("a:{label}")]);
    scene.call("SET", &key.old_names()[1], &["oldest"]).await;
    assert_eq!(get(&scene.lead, &key).await, (some("oldest"), Held::Old));
    scene.call("SET", &key.old_names()[0], &["younger"]).await;
    assert_eq!(get(&scene.lead, &key).await, (some("younger"), Held::Old));
    assert_eq!(scene.lead.relocate(&key).await.unwrap(), Relocated::Moved);
    assert_eq!(get(&scene.lead, &key).await, (some("younger"), Held::New));
    assert_eq!(scene.call("EXISTS", &key.old_names()[1], &[]).await, Value::Int(0));
}

/// Two processes in different stages and one that only looks, one after the other: nobody misses what another wrote.
#[tokio::test(flavor = "multi_thread")]
async fn while_some_follow_and_some_lead_each_reads_what_was_written_last() {
    let scene = Scene::new("mixed").await;
    let (follow, lead) = (scene.process(Stage::Follow).await, scene.process(Stage::Lead).await);
    for n in 0..40 {
        let key = scene.key(n);
        let mut leads = false;
        for step in 0..6 {
            let by_lead = (n >> step) & 1 == 1;
            leads |= by_lead;
            let value = format!("{n}-{step}");
            let _ = set(if by_lead { &lead } else { &follow }, &key, &value).await;
            for dual in [&follow, &lead, &scene.lead] {
                assert_eq!(get(dual, &key).await.0, some(&value));
            }
            let name = usize::from(!leads);
            assert_eq!(scene.stored(&key).await[name], some(&value), "nothing moves before one leads");
            assert_eq!(scene.stored(&key).await[1 - name], None);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_slot_of_the_new_name_is_half_moved_a_relocation_waits_and_nothing_is_lost() {
    let scene = Scene::new("half").await;
    let key = scene.key(0);
    scene.set_old(&key, "1").await;
    let slot = Slot::of(key.new_name()).get();
    let from = scene.cluster.owner_of(slot);
    let to = scene.cluster.primaries().into_iter().find(|node| *node != from).unwrap();
    scene.cluster.begin_move(slot, from, to);
    let hasty = Dual::new(&scene.client.with_deadline(Duration::from_millis(400)), Stage::Lead);
    let error = hasty.relocate(&key).await.unwrap_err();
    assert!(error.is_slot_moving(), "{error}");
    assert_eq!(get(&scene.lead, &key).await, (some("1"), Held::Old));
    assert!(set(&scene.lead, &key, "2").await.left.is_none(), "a write goes on");
    assert_eq!(get(&scene.lead, &key).await, (some("2"), Held::New));
    scene.cluster.finish_move(slot, from, to);
    assert_eq!(get(&scene.lead, &key).await, (some("2"), Held::New));
    scene.cluster.move_slot(slot, to, from);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_confirmation_that_was_asked_for_the_old_value_stays() {
    let cluster = testkit::cluster_with(3, 1);
    let client = Client::connect(&cluster.url()).await.unwrap();
    let confirm = Confirm::replicas(1, Duration::from_millis(300));
    let dual = Dual::new(&client, Stage::Lead).confirming(confirm);
    let keys: Vec<Renamed> = (0..3).map(|n| Renamed::new(format!("k:{{{n}}}"), [format!("k:{n}")])).collect();
    for key in &keys {
        let set = Command::new("SET").key(&key.old_names()[0]).arg("1");
        client.call(set, Repeat::Never).await.unwrap();
    }
    let replicas: Vec<usize> =
        cluster.primaries().into_iter().flat_map(|node| cluster.replicas_of(node)).collect();
    assert_eq!(replicas.len(), 3);
    replicas.iter().for_each(|replica| cluster.freeze(*replica));
    let written = set(&dual, &keys[0], "2").await;
    assert!(matches!(written.left, Some(Left::Unconfirmed)), "{written:?}");
    for key in &keys[1..] {
        assert_eq!(dual.relocate(key).await.unwrap(), Relocated::Unconfirmed);
        assert_eq!(dual.relocate(key).await.unwrap(), Relocated::Unconfirmed, "not by asking twice either");
    }
    let old = async |key: &Renamed| {
        string(&client.call(Command::new("GET").key(&key.old_names()[0]), Repeat::Idempotent).await.unwrap())
    };
    for key in &keys {
        assert_eq!(old(key).await, some("1"));
    }
    replicas.iter().for_each(|replica| cluster.thaw(*replica));
    let confirmed = Dual::new(&client, Stage::Lead).confirming(Confirm::replicas(1, Duration::from_secs(20)));
    assert!(set(&confirmed, &keys[0], "3").await.left.is_none());
    for (key, value) in keys.iter().zip(["3", "1", "1"]) {
        let _ = confirmed.relocate(key).await.unwrap();
        assert_eq!((try_get(&confirmed, key).await.unwrap().held, old(key).await), (Held::New, None));
        assert_eq!(get(&confirmed, key).await.0, some(value));
    }
}
