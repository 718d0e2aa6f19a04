//! Encrypted connections: whom to trust, as whom to come, and files that are renewed.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use echomq_cluster::{Client, Error, Login, Repeat, Resolver, Settings, Tls, Value};
use futures_util::future::{BoxFuture, join_all};
use tempfile::TempDir;

use crate::scene::{ask, try_ask};
use crate::terminator::{Authority, Terminator, shows};

/// Files that a client reads.
struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

async fn connect(port: u16, tls: Tls) -> Result<Client, Error> {
    Client::connect_with(Settings::from_url(&format!("redis://127.0.0.1:{port}")).unwrap().tls(tls)).await
}

fn trusting(path: &Path) -> Tls {
    Tls::new().authorities(path)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_trusted_whose_certificate_an_authority_of_ours_signed_for_its_name() {
    let server = testkit::standalone();
    let (ours, theirs) = (Authority::new(), Authority::new());
    let files = Files::new();
    let (ours_file, theirs_file) = (files.write("ours", &ours.pem), files.write("theirs", &theirs.pem));
    let by_address = Terminator::before(server.address(), shows(&ours.sign(&["127.0.0.1"]), None)).await;
    let client = connect(by_address.port, trusting(&ours_file)).await.unwrap();
    assert_eq!(ask(&client, "INCR", "{k}", &[]).await, Value::Int(1));

    let Err(error) = connect(by_address.port, trusting(&theirs_file)).await else { panic!("trusted") };
    assert!(error.is_unreachable() && error.to_string().contains("invalid peer certificate"), "{error}");
    let Err(error) = connect(by_address.port, Tls::new()).await else { panic!("trusted") };
    assert!(error.is_unreachable(), "not signed by an authority of the system: {error}");

    // By whatever address it is reached: the name counts that we expect.
    let by_name = Terminator::before(server.address(), shows(&ours.sign(&["cache.test"]), None)).await;
    let Err(error) = connect(by_name.port, trusting(&ours_file)).await else { panic!("trusted") };
    assert!(error.to_string().contains("not valid for name"), "{error}");
    let client = connect(by_name.port, trusting(&ours_file).server_name("cache.test")).await.unwrap();
    assert_eq!(ask(&client, "INCR", "{k}", &[]).await, Value::Int(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_says_it_all_and_a_password_goes_with_it() {
    let server = testkit::standalone();
    server.raw(&["CONFIG", "SET", "requirepass", "s3cret"]).unwrap();
    let authority = Authority::new();
    let files = Files::new();
    let ca = files.write("ca", &authority.pem);
    let terminator = Terminator::before(server.address(), shows(&authority.sign(&["n.test"]), None)).await;
    let url = |password| {
        let port = terminator.port;
        format!("rediss://:{password}@127.0.0.1:{port}/2?tls-ca={}&tls-name=n.test", ca.display())
    };
    let client = Client::connect(&url("s3cret")).await.unwrap();
    ask(&client, "SET", "{k}", &["1"]).await;
    let Err(error) = Client::connect(&url("wr0ng")).await else { panic!("connected") };
    assert!(error.to_string().contains("WRONGPASS") && !error.to_string().contains("wr0ng"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_comes_with_a_certificate_where_one_is_asked_for() {
    let server = testkit::standalone();
    let authority = Authority::new();
    let files = Files::new();
    let ca = files.write("ca", &authority.pem);
    let config = shows(&authority.sign(&["127.0.0.1"]), Some(&authority));
    let terminator = Terminator::before(server.address(), config).await;
    let Err(error) = connect(terminator.port, trusting(&ca)).await else { panic!("it was let in") };
    assert!(error.is_unreachable(), "{error}");
    let ours = authority.sign(&["client"]);
    let (certificate, key) = (files.write("crt", &ours.pem), files.write("key", &ours.key.serialize_pem()));
    let client = connect(terminator.port, trusting(&ca).identity(certificate, key)).await.unwrap();
    assert_eq!(ask(&client, "INCR", "{k}", &[]).await, Value::Int(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_that_are_renewed_are_used_for_new_connections_without_a_restart() {
    let server = testkit::standalone();
    let (first, second) = (Authority::new(), Authority::new());
    let files = Files::new();
    let ca = files.write("ca", &first.pem);
    let write_client = |authority: &Authority| {
        let signed = authority.sign(&["client"]);
        (files.write("crt", &signed.pem), files.write("key", &signed.key.serialize_pem()))
    };
    let (certificate, key) = write_client(&first);
    let config = |authority: &Authority| shows(&authority.sign(&["127.0.0.1"]), Some(authority));
    let terminator = Terminator::before(server.address(), config(&first)).await;
    let client = connect(terminator.port, trusting(&ca).identity(certificate, key)).await.unwrap();
    assert_eq!(ask(&client, "INCR", "{k}", &[]).await, Value::Int(1));

    // Everything of the server's is of another authority, and nothing of the client's yet.
    terminator.show(config(&second));
    tokio::time::sleep(Duration::from_millis(100)).await;
    let hasty = client.with_deadline(Duration::from_millis(500));
    let error = try_ask(&hasty, Repeat::Never, "INCR", "{k}", &[]).await.unwrap_err();
    assert!(error.is_deadline() && error.to_string().contains("invalid peer certificate"), "{error}");
    files.write("ca", &second.pem);
    write_client(&second);
    assert_eq!(ask(&client, "INCR", "{k}", &[]).await, Value::Int(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_can_not_be_read_are_named() {
    let Err(error) = connect(1, trusting(Path::new("/no/such/ca.pem"))).await else { panic!("connected") };
    assert!(error.to_string().contains("/no/such/ca.pem"), "{error}");
    let shown = format!("{:?}", Settings::from_url("rediss://a").unwrap().login(Login::password("s3cret")));
    assert!(!shown.contains("s3cret"), "{shown}");
}

/// Leads each node's port to that of the terminator before it.
struct Behind(Vec<(u16, u16)>);

impl Resolver for Behind {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        let before = self.0.iter().find(|(node, _)| *node == port).map_or(port, |(_, before)| *before);
        Box::pin(async move { Ok(tokio::net::lookup_host((host, before)).await?.collect()) })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_node_of_a_cluster_is_reached_encrypted() {
    let cluster = testkit::cluster();
    let authority = Authority::new();
    let files = Files::new();
    let config = shows(&authority.sign(&["127.0.0.1"]), None);
    let terminators = cluster.addresses().into_iter().map(|node| Terminator::before(node, config.clone()));
    let terminators = join_all(terminators).await;
    let detours = terminators.iter().enumerate().map(|(i, before)| (cluster.node(i).port(), before.port));
    let settings = Settings::from_url(&cluster.url().replace("redis://", "rediss://")).unwrap();
    let settings =
        settings.tls(trusting(&files.write("ca", &authority.pem))).resolver(Behind(detours.collect()));
    let client = Client::connect_with(settings).await.unwrap();
    for n in 0..30 {
        let key = format!("{{{}}}", testkit::unique_queue("tls"));
        assert_eq!(ask(&client, "INCR", &key, &[]).await, Value::Int(1), "{n}");
    }
    assert!(client.stats().requests.iter().all(|(_, sent)| *sent > 0), "{:?}", client.stats());
}
