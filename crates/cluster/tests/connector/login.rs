//! Who is asking: users, passwords that are renewed, numbered databases.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use echomq_cluster::{Client, Command, Credentials, Login, Notice, Repeat, Settings, Value};
use futures_util::future::BoxFuture;
use testkit::{Cluster, LIMIT, wait_until};
use tokio::sync::watch;

use crate::scene::{ask, text, try_ask};

fn settings(url: &str) -> Settings {
    Settings::from_url(url).unwrap()
}

fn add_user(cluster: &Cluster, name: &str, password: &str) {
    for node in 0..cluster.addresses().len() {
        cluster
            .raw(node, &["ACL", "SETUSER", name, "on", &format!(">{password}"), "~*", "&*", "+@all"])
            .unwrap();
    }
}

/// The connections of a user to a node, by the server's number.
fn connections_of(cluster: &Cluster, node: usize, user: &str) -> Vec<String> {
    let list = match cluster.raw(node, &["CLIENT", "LIST"]).unwrap() {
        Value::BulkString(list) => String::from_utf8(list).unwrap(),
        Value::VerbatimString { text, .. } => text,
        other => panic!("{other:?}"),
    };
    let is_of = |line: &&str| line.split(' ').any(|field| field == format!("user={user}"));
    let number = |line: &str| line.split(' ').next().unwrap().to_owned();
    list.lines().filter(is_of).map(number).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_of_the_url_logs_in_on_every_node_and_a_wrong_password_is_told_without_it() {
    let cluster = testkit::cluster_with(2, 0);
    add_user(&cluster, "ann", "s3cr:et");
    let hosts = cluster.addresses().join(",");
    let client = Client::connect(&format!("redis://ann:s3cr%3Aet@{hosts}")).await.unwrap();
    for key in ["{a}", "{b}", "{c}", "{d}"] {
        ask(&client, "SET", key, &["1"]).await;
    }
    for node in 0..2 {
        assert_eq!(connections_of(&cluster, node, "ann").len(), 1);
    }
    let started = Instant::now();
    let Err(error) = Client::connect(&format!("redis://ann:wr0ng@{hosts}")).await else {
        panic!("connected")
    };
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(error.to_string().contains("WRONGPASS") && !error.to_string().contains("wr0ng"), "{error}");
}

/// A provider that counts how often it is asked.
struct Counting(Arc<AtomicU64>);

impl Credentials for Counting {
    fn login(&self) -> BoxFuture<'_, Result<Login, String>> {
        let n = self.0.fetch_add(1, Relaxed);
        Box::pin(async move { if n < 100 { Ok(Login::user("ann", "pw")) } else { Err("no more".into()) } })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_is_asked_for_each_new_connection_and_its_own_trouble_is_told() {
    let cluster = testkit::cluster_with(1, 0);
    add_user(&cluster, "ann", "pw");
    let asked = Arc::new(AtomicU64::new(0));
    let provider = Counting(asked.clone());
    let client = Client::connect_with(settings(&cluster.url()).credentials(provider)).await.unwrap();
    let at_start = asked.load(Relaxed);
    for n in 1..=3 {
        assert!(cluster.cut_clients(0) > 0);
        tokio::time::sleep(Duration::from_millis(100)).await;
        ask(&client, "INCR", "{k}", &[]).await;
        assert_eq!(asked.load(Relaxed), at_start + n);
    }
    asked.store(100, Relaxed);
    let hasty = client.with_deadline(Duration::from_millis(300));
    cluster.cut_clients(0);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let error = try_ask(&hasty, Repeat::Never, "INCR", "{k}", &[]).await.unwrap_err();
    assert!(error.to_string().contains("no more"), "{error}");
}

/// The server cuts the connections of a user that is deleted: none of ours is that user's any more by then.
#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_login_is_told_on_every_connection_that_stands() {
    let cluster = testkit::cluster_with(2, 0);
    add_user(&cluster, "old", "1");
    add_user(&cluster, "new", "2");
    let (renew, current) = watch::channel(Login::user("old", "1"));
    let client = Client::connect_with(settings(&cluster.url()).credentials(current)).await.unwrap();
    let mut heard = client.subscribe(b"{a}");
    assert_eq!(heard.next().await, Some(Notice::Resubscribed));
    let keys = ["{a}", "{b}", "{c}", "{d}"];
    for key in keys {
        ask(&client, "SET", key, &["0"]).await;
    }
    let connections = || (0..2).map(|node| connections_of(&cluster, node, "old").len()).sum::<usize>();
    assert_eq!(connections(), 3, "two for requests, one for messages");
    assert_eq!(client.stats().connections, 3);

    renew.send_replace(Login::user("new", "2"));
    wait_until("every connection is the new user's", LIMIT, || connections() == 0);
    for node in 0..2 {
        cluster.raw(node, &["ACL", "DELUSER", "old"]).unwrap();
    }
    for key in keys {
        assert_eq!(ask(&client, "INCR", key, &[]).await, Value::Int(1));
    }
    client.call(Command::new("SPUBLISH").key("{a}").arg("m"), Repeat::Idempotent).await.unwrap();
    assert_eq!(heard.next().await, Some(Notice::Message(b"m".to_vec())), "no gap");
    // A new connection is the new user's from the start.
    assert!(cluster.cut_clients(0) > 0);
    tokio::time::sleep(Duration::from_millis(100)).await;
    for key in keys {
        assert_eq!(ask(&client, "INCR", key, &[]).await, Value::Int(2));
    }
}

async fn other_databases_are_other_rooms(url: &str) {
    let zero = Client::connect(url).await.unwrap();
    let three = Client::connect(&format!("{url}/3")).await.unwrap();
    for key in ["{a}", "{b}", "{c}", "{d}"] {
        ask(&three, "SET", key, &["three"]).await;
        assert_eq!(ask(&zero, "GET", key, &[]).await, Value::Nil);
    }
    let both = [Command::new("GET").key("{a}"), Command::new("GET").key("{d}")];
    for value in three.pipeline(both.to_vec(), Repeat::Never).await {
        assert_eq!(value.unwrap(), text("three"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_server_s_database_is_selected_on_every_connection() {
    let server = testkit::standalone();
    other_databases_are_other_rooms(&server.url()).await;
    let client = Client::connect(&format!("{}?db=3", server.url())).await.unwrap();
    server.raw(&["CLIENT", "KILL", "TYPE", "normal"]).unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(ask(&client, "GET", "{a}", &[]).await, text("three"));
    let Err(error) = Client::connect(&format!("{}/400", server.url())).await else { panic!("connected") };
    assert!(error.to_string().contains("there is no database 400"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_s_numbered_databases_are_selected_on_every_node() {
    if testkit::valkey9("a_cluster_s_numbered_databases_are_selected_on_every_node") {
        let cluster = testkit::cluster_configured(2, 0, &[("cluster-databases", "4")]);
        other_databases_are_other_rooms(&cluster.url()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_without_numbered_databases_says_what_they_take() {
    let cluster = testkit::cluster();
    let started = Instant::now();
    let Err(error) = Client::connect(&format!("{}/3", cluster.url())).await else { panic!("connected") };
    assert!(started.elapsed() < Duration::from_secs(2));
    for word in ["there is no database 3", "Valkey 9", "cluster-databases"] {
        assert!(error.to_string().contains(word), "{error}");
    }
}
