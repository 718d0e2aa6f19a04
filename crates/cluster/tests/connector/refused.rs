//! What is refused before a byte is sent, and what a server refuses.

use std::sync::LazyLock;

use echomq_cluster::{Client, Command, DEADLINE, Error, Fate, Repeat, Script, Transaction, Value, raw};
use echomq_keyspace::Colocated;
use testkit::Cluster;

use crate::scene::{Tag, ask, client, text};

/// How many commands the nodes were sent, but for those that ask this.
fn arrived(cluster: &Cluster) -> u64 {
    let nodes = cluster.primaries().into_iter();
    let calls = nodes.flat_map(|node| cluster.commandstats(node));
    calls.filter(|(name, _)| name != "info" && !name.starts_with("cluster")).map(|(_, stat)| stat.calls).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn c011_an_empty_key_among_others_is_refused_with_its_position() {
    let cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    let keys = ["emq:{orders}:pending", "", "emq:{orders}:meta"];
    let before = arrived(&cluster);
    let apart = Colocated::of(keys).unwrap_err();
    assert!(apart.to_string().contains("key 2 is empty: it is on slot 0"), "{apart}");
    let raw = Command::new("EVALSHA").arg("a".repeat(40)).arg(3).key(keys[0]).key(keys[1]).key(keys[2]);
    let refused = client.call(raw, Repeat::Never).await.unwrap_err();
    assert!(refused.is_crossslot() && refused.to_string().contains("key 2 is empty"), "{refused}");
    assert!(refused.to_string().contains("slot   105"), "{refused}");
    assert_eq!(arrived(&cluster), before, "something was sent");
}

#[test]
fn what_is_named_as_a_key_is_held_against_the_table_of_commands() {
    let refused = |command: Command| command.slot().unwrap_err();
    let forgotten = refused(Command::new("RENAME").key("{a}:1").arg("{b}:2"));
    assert!(
        forgotten.is_refused() && forgotten.to_string().contains("argument 2, \"{b}:2\", is a key"),
        "{forgotten}"
    );
    let superfluous = refused(Command::new("SET").key("{a}:1").key("{a}:value"));
    assert!(superfluous.to_string().contains("argument 2, \"{a}:value\", is no key"), "{superfluous}");
    for (command, remedy) in [
        (Command::new("WATCH").key("{a}:1"), "Client::watch"),
        (Command::new("BLPOP").key("{a}:1").arg(1), "Client::call_blocking"),
        (
            Command::new("XREAD").arg("BLOCK").arg(5).arg("STREAMS").key("{a}:1").arg("$"),
            "Client::call_blocking",
        ),
        (Command::new("SSUBSCRIBE").key("{a}:1"), "Client::subscribe"),
    ] {
        let apart = refused(command);
        assert!(apart.is_refused() && apart.to_string().contains(remedy), "{apart}");
    }
    assert!(Command::new("XREAD").arg("STREAMS").key("{a}:1").arg("0").slot().is_ok(), "it does not wait");
    assert!(Command::new("NEWER.THAN.THE.TABLE").key("{a}:1").slot().is_ok());
    assert_eq!(
        refused(Command::new("MSETNX").key("{a}:1").arg("1").key("{b}:2").arg("2")).fate(),
        Fate::NotDone
    );
}

#[test]
fn c018_a_number_of_keys_that_does_not_fit_is_refused_here() {
    let call = |count: &'static str| {
        Command::new("EVALSHA").arg("a".repeat(40)).arg(count).key("{q}:a").key("{q}:b")
    };
    assert!(call("2").slot().is_ok());
    for count in ["3", "-1", "x", "", "99999999999999999999", "1", "0"] {
        let error = call(count).slot().unwrap_err();
        assert!(
            error.is_refused() && error.to_string().starts_with("EVALSHA was not sent"),
            "{count}: {error}"
        );
    }
    for words in [["EVALSHA", "sha", "-1", "9"], ["EVALSHA", "sha", "3", "9"], ["EVALSHA", "sha", "two", "9"]]
    {
        assert!(Command::parse(&words).unwrap_err().is_refused());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c018_a_script_goes_to_the_owner_of_its_keys_whatever_its_hash_is() {
    static SCRIPTS: LazyLock<Vec<Script>> = LazyLock::new(|| {
        (0..5)
            .map(|n| Script::new(&format!("#!lua\nlocal n = {n}\nreturn redis.call('INCR', KEYS[1])")))
            .collect()
    });
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(&cluster, "sha");
    let keys = [tag.key("pending"), tag.key("active")];
    for n in 1..=100 {
        let command = Command::script(&SCRIPTS[n % 5], &Colocated::of(&keys).unwrap()).arg(9);
        assert_eq!(command.slot().unwrap().get(), tag.slot);
        assert_eq!(client.call(command, Repeat::Never).await.unwrap(), Value::Int(n as i64));
    }
    assert_eq!(client.stats().moved, 0, "it went to the right node at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn c019_a_script_without_keys_is_refused_unless_a_node_is_named() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let tag = Tag::new(&cluster, "zero");
    let text = format!("return redis.call('LLEN','{}')", tag.key("pending"));
    let refused = client.call(Command::new("EVAL").arg(&text).arg(0), Repeat::Idempotent).await.unwrap_err();
    assert!(refused.is_refused() && refused.to_string().contains("names no key"), "{refused}");
    for node in client.primaries() {
        let answer = client.call_node(&node, raw("EVAL").arg(&text).arg(0)).await;
        match node.to_string() == cluster.addresses()[tag.from] {
            true => assert_eq!(answer.unwrap(), Value::Int(0)),
            false => {
                let error = answer.unwrap_err();
                assert!(
                    error.to_string().contains("non local key") && error.fate() == Fate::Partly,
                    "{error}"
                );
            }
        }
    }
}

/// Two tags whose slots are on one node.
fn neighbours(cluster: &Cluster) -> [Tag; 2] {
    let one = Tag::new(cluster, "one");
    let two = Tag::at(cluster, "two", one.from);
    assert_ne!(one.slot, two.slot);
    [one, two]
}

#[tokio::test(flavor = "multi_thread")]
async fn c020_a_transaction_over_two_slots_of_one_node_is_refused_at_its_second_command() {
    let cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    let [a, b] = neighbours(&cluster).map(|tag| tag.key("list"));
    let before = arrived(&cluster);
    let mut both = Transaction::of([Command::new("LPUSH").key(&a).arg("x")]).unwrap();
    let refused = both.push(Command::new("LPUSH").key(&b).arg("x")).unwrap_err();
    assert!(
        refused.is_crossslot() && refused.to_string().contains(&a) && refused.to_string().contains(&b),
        "{refused}"
    );
    assert_eq!(arrived(&cluster), before, "something was sent");
    assert_eq!(both.len(), 1, "the transaction is as it was");
    assert_eq!(
        client.transaction(both, Repeat::Never).await.unwrap(),
        [Value::Int(1)],
        "the connection is clean"
    );
    assert_eq!(ask(&client, "EXISTS", &b, &[]).await, Value::Int(0));

    let first = Colocated::of([&a]).unwrap();
    let refused = Transaction::on(&first).push(Command::new("LPUSH").key(&b).arg("x")).unwrap_err();
    assert!(refused.is_crossslot() && refused.to_string().contains("2 keys on 2 slots"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn c021_what_has_no_key_goes_along_in_a_transaction_and_alone_needs_a_node() {
    let cluster = testkit::cluster();
    let client = client(&cluster.url(), DEADLINE).await;
    let key = Tag::new(&cluster, "keyless").key("meta");
    let set = || Command::new("SET").key(&key).arg("1");
    let replies =
        client.transaction(Transaction::of([set(), Command::new("PING")]).unwrap(), Repeat::Idempotent).await;
    assert_eq!(replies.unwrap(), [Value::Okay, Value::SimpleString("PONG".into())]);
    let wait = Command::new("WAIT").arg(0).arg(1);
    let replies = client.transaction(Transaction::of([wait, set()]).unwrap(), Repeat::Idempotent).await;
    assert_eq!(replies.unwrap(), [Value::Int(0), Value::Okay]);

    let alone = Transaction::of([Command::new("PING"), Command::new("TIME")]).unwrap_err();
    assert!(
        alone.is_refused() && !alone.is_crossslot() && alone.to_string().contains("Name a node"),
        "{alone}"
    );
    let node = client.primaries().remove(0);
    assert_eq!(client.call_node(&node, &raw("PING")).await.unwrap(), Value::SimpleString("PONG".into()));
}

#[test]
fn what_would_break_a_transaction_or_the_shared_connection_is_refused() {
    let keys = Colocated::of(["{t}:a"]).unwrap();
    let commands = [
        Command::new("WATCH").key("{t}:a"),
        Command::new("EXEC"),
        Command::new("MULTI"),
        Command::new("SELECT").arg(1),
        Command::new("EVALSHA").arg("a".repeat(40)).arg(1).key("{t}:a"),
        Command::new("CLIENT").arg("REPLY").arg("OFF"),
    ];
    for command in commands {
        let shown = format!("{command:?}");
        let mut transaction = Transaction::on(&keys);
        let error = transaction.push(command).unwrap_err();
        assert!(error.is_refused() && error.to_string().contains("inside a transaction"), "{shown}: {error}");
        assert!(transaction.is_empty());
    }
    let mut transaction = Transaction::on(&keys);
    transaction.push(Command::new("BLPOP").key("{t}:a").arg(1)).unwrap();
    assert!(transaction.push(Command::new("GET").arg("{t}:a")).unwrap_err().to_string().contains("is a key"));
}

#[tokio::test(flavor = "multi_thread")]
async fn c022_a_crossslot_answer_ends_the_request_at_once_and_refreshes_nothing() {
    let cluster = testkit::cluster_with(3, 0);
    let client = client(&cluster.url(), DEADLINE).await;
    let before = client.stats().refreshes;
    let node = client.primaries().remove(0);
    let error = client.call_node(&node, raw("MGET").arg("bull:a").arg("bull:b")).await.unwrap_err();
    assert_eq!(error.server_code(), Some("CROSSSLOT"), "{error}");
    assert!(error.to_string().contains("bull:a") && error.to_string().contains("bull:b"), "{error}");
    let seen = |node| {
        cluster.info(node, "errorstats", "errorstat_CROSSSLOT").is_some_and(|count| count == "count=1")
    };
    let attempts = (0..3).filter(|&node| seen(node)).count();
    assert_eq!((attempts, client.stats().refreshes), (1, before));
}

#[tokio::test(flavor = "multi_thread")]
async fn c034_what_a_script_ran_into_is_known_for_what_it_is() {
    static COUNT: LazyLock<Script> = LazyLock::new(|| Script::new("return redis.call('INCR', KEYS[1])"));
    static BOTH: LazyLock<Script> = LazyLock::new(|| {
        Script::new("redis.call('SET', KEYS[1], 'x')\nreturn redis.call('SET', KEYS[2], 'x')")
    });
    let server = testkit::standalone();
    let connected = client(&server.url(), DEADLINE).await;
    let count = |repeat| connected.call(Command::script(&COUNT, &Colocated::of(["n"]).unwrap()), repeat);
    assert_eq!(count(Repeat::Never).await.unwrap(), Value::Int(1));

    server.raw(&["REPLICAOF", "127.0.0.1", "1"]).unwrap();
    let told = count(Repeat::Never).await.unwrap_err();
    assert_eq!((told.server_code(), told.fate()), (Some("READONLY"), Fate::Partly), "{told}");
    let again = async {
        let waits = || connected.stats().refreshes >= 2;
        while !waits() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        server.raw(&["REPLICAOF", "NO", "ONE"]).unwrap();
    };
    let (counted, ()) = tokio::join!(count(Repeat::Idempotent), again);
    assert_eq!(counted.unwrap(), Value::Int(2), "once it is the primary again");

    let sent = || connected.stats().requests.iter().map(|(_, sent)| sent).sum::<u64>();
    server.raw(&["CONFIG", "SET", "maxmemory", "1"]).unwrap();
    let before = sent();
    let full = count(Repeat::Idempotent).await.unwrap_err();
    assert_eq!((full.server_code(), sent() - before), (Some("OOM"), 1), "{full}");
    server.raw(&["CONFIG", "SET", "maxmemory", "0"]).unwrap();

    server.raw(&["ACL", "SETUSER", "bob", "on", ">pw", "~{k}:allowed", "+@all"]).unwrap();
    let as_bob = client(&server.url().replace("redis://", "redis://bob:pw@"), DEADLINE).await;
    let keys = ["{k}:allowed", "{k}:denied"];
    let both = || Command::script(&BOTH, &Colocated::of(keys).unwrap());
    let denied = as_bob.call(both(), Repeat::Idempotent).await.unwrap_err();
    assert!(
        denied.to_string().contains("as user \"bob\"") && denied.to_string().contains("{k}:denied"),
        "{denied}"
    );
    assert_eq!(as_bob.stats().requests[0].1, 1, "not retried");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_right_is_told_with_user_command_and_key_and_not_asked_for_again() {
    let server = testkit::standalone();
    server.raw(&["ACL", "SETUSER", "bob", "on", ">pw", "~{k}:allowed", "+@all", "-del"]).unwrap();
    let as_bob = client(&server.url().replace("redis://", "redis://bob:pw@"), DEADLINE).await;
    let refusals: [(Command, &str); 2] = [
        (Command::new("SET").key("{k}:denied").arg("secret"), "SET \"{k}:denied\""),
        (Command::new("DEL").key("{k}:allowed"), "DEL \"{k}:allowed\""),
    ];
    for (command, shown) in refusals {
        let error = as_bob.call(command, Repeat::Idempotent).await.unwrap_err();
        let said = error.to_string();
        assert_eq!((error.server_code(), error.fate()), (Some("NOPERM"), Fate::NotDone), "{said}");
        assert!(said.contains(shown) && said.contains("bob") && !said.contains("secret"), "{said}");
    }
    assert_eq!(as_bob.stats().requests[0].1, 2);
}

/// A user who may not open a transaction: what was meant to be one runs command by command, and the caller must know.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_may_not_be_opened_is_not_said_to_be_undone() {
    let server = testkit::standalone();
    server.raw(&["ACL", "SETUSER", "bob", "on", ">pw", "~*", "+@all", "-multi"]).unwrap();
    let as_bob = client(&server.url().replace("redis://", "redis://bob:pw@"), DEADLINE).await;
    let both = Transaction::of([Command::new("SET").key("{t}:a").arg("1")]).unwrap();
    let error = as_bob.transaction(both, Repeat::Never).await.unwrap_err();
    assert_eq!((error.server_code(), error.fate()), (Some("NOPERM"), Fate::Partly), "{error}");
    assert!(error.to_string().starts_with("MULTI"), "{error}");
    assert_eq!(server.raw(&["GET", "{t}:a"]).unwrap(), text("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_error_that_a_server_was_brought_to_say_is_in_the_table() {
    let server = testkit::standalone();
    let connected = client(&server.url(), std::time::Duration::from_millis(300)).await;
    let set = || connected.call(Command::new("SET").key("k").arg("v"), Repeat::Idempotent);
    let code = |error: &Error| error.server_code().map(str::to_owned);

    server.raw(&["CONFIG", "SET", "min-replicas-to-write", "1"]).unwrap();
    let error = set().await.unwrap_err();
    assert!(error.is_deadline() && error.to_string().contains("NOREPLICAS"), "{error}");
    server.raw(&["CONFIG", "SET", "min-replicas-to-write", "0"]).unwrap();

    server.raw(&["CONFIG", "SET", "maxmemory", "1"]).unwrap();
    assert_eq!(code(&set().await.unwrap_err()).as_deref(), Some("OOM"));
    server.raw(&["CONFIG", "SET", "maxmemory", "0"]).unwrap();

    server.raw(&["REPLICAOF", "127.0.0.1", "1"]).unwrap();
    let error = set().await.unwrap_err();
    assert!(error.is_deadline() && error.to_string().contains("READONLY"), "{error}");
    server.raw(&["CONFIG", "SET", "replica-serve-stale-data", "no"]).unwrap();
    let error = connected.call(Command::new("GET").key("k"), Repeat::Idempotent).await.unwrap_err();
    assert!(error.is_deadline() && error.to_string().contains("MASTERDOWN"), "{error}");
    server.raw(&["REPLICAOF", "NO", "ONE"]).unwrap();

    let as_nobody = server.url().replace("redis://", "redis://nobody:x@");
    let login = Client::connect(&as_nobody).await.err().unwrap();
    assert!(login.is_unreachable() && login.to_string().contains("WRONGPASS"), "{login}");
    assert_eq!(set().await.unwrap(), Value::Okay);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_a_script_holds_up_is_waited_for() {
    let server = testkit::standalone();
    let connected = client(&server.url(), DEADLINE).await;
    ask(&connected, "SET", "k", &["v"]).await;
    server.raw(&["CONFIG", "SET", "busy-reply-threshold", "50"]).unwrap();
    let address = connected.primaries().remove(0);
    let apart = client(&server.url(), DEADLINE).await;
    let endless =
        tokio::spawn(
            async move { apart.call_node(&address, raw("EVAL").arg("while true do end").arg(0)).await },
        );
    let killed = async {
        while connected.stats().requests[0].1 < 3 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        server.raw(&["SCRIPT", "KILL"]).unwrap();
    };
    let patient = async {
        loop {
            // Until the server is held up, it answers.
            let before = connected.stats().requests[0].1;
            let value = ask(&connected, "GET", "k", &[]).await;
            if connected.stats().requests[0].1 > before + 1 {
                return value;
            }
        }
    };
    let (value, ()) = tokio::join!(patient, killed);
    assert_eq!(value, text("v"));
    assert!(endless.await.unwrap().is_err());
}
