//! What servers may say that makes no sense: every call ends by its deadline, and nothing panics.

use std::time::Duration;

use echomq_cluster::{Client, Command, Confirm, Decision, Repeat, Transaction, View, raw};
use echomq_keyspace::{Colocated, Slot};

use crate::liar::{Liar, Words, honest};

const DEADLINE: Duration = Duration::from_millis(300);
/// Within this every call has ended: its deadline, a connection's time, what is waited for, and a busy machine.
const PATIENCE: Duration = Duration::from_secs(8);

/// Answers that are none, or not to what was asked.
fn nonsense() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = [
        "",
        "\r\n",
        "!@#$%\r\n",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "$-5\r\n",
        "$10\r\nab",
        "$9223372036854775807\r\n",
        "$99999999999999999999\r\n",
        "*-7\r\n",
        "*3\r\n:1\r\n",
        "*1152921504606846975\r\n",
        "*100000000\r\n",
        "%1152921504606846975\r\n",
        "~1152921504606846975\r\n",
        ":99999999999999999999\r\n",
        ",nan\r\n",
        ",x\r\n",
        "#x\r\n",
        "(\r\n",
        "=3\r\nab\r\n",
        "=1\r\na\r\n",
        "|1\r\n+a\r\n+b\r\n",
        ">0\r\n",
        ">1\r\n:1\r\n",
        ">2\r\n+message\r\n:1\r\n",
        ">3\r\n+invalidate\r\n_\r\n_\r\n",
        "-\r\n",
        "- \r\n",
        "-MOVED\r\n",
        "-MOVED 99999 127.0.0.1:1\r\n",
        "-MOVED 1 \r\n",
        "-MOVED 1 :\r\n",
        "-MOVED 1 127.0.0.1:1\r\n",
        "-MOVED 1 no.such.host.invalid:1\r\n",
        "-ASK 1 127.0.0.1:1\r\n",
        "-ASK\r\n",
        "-TRYAGAIN\r\n",
        "-NOSCRIPT \r\n",
        "-EXECABORT\r\n",
        "!0\r\n\r\n",
        "!5\r\nMOVED\r\n",
        "_\r\n",
        "+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n",
    ]
    .into_iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    all.push(b"*1\r\n".repeat(50_000));
    all.push(b"+".iter().copied().chain(std::iter::repeat_n(b'a', 1 << 20)).collect());
    all.push((0..=255).cycle().take(5_000).collect());
    all
}

/// One of each way to ask, each in time; whatever comes of it.
async fn ask_in_every_way(client: &Client) {
    let key = "{liar}:k";
    let keys = Colocated::of([key]).unwrap();
    let get = || Command::new("GET").key(key);
    let set = || Command::new("SET").key(key).arg("v");
    let both = || Transaction::of([set(), get()]).unwrap();
    let confirm = Confirm::replicas(1, Duration::from_millis(100));
    let watch = client.watch(&keys, 3, |view: View| async move {
        view.read(Command::new("GET").key(key)).await?;
        Ok(Decision::<()>::Commit(Transaction::of([Command::new("SET").key(key).arg("v")])?))
    });
    let block = Command::new("BLPOP").key(key).arg("0.1");
    let _ = in_time("a call", client.call(get(), Repeat::Idempotent)).await;
    let _ = in_time("a call, once", client.call(set(), Repeat::Never)).await;
    let _ = in_time("a call of whole keys", client.call_whole(get())).await;
    let _ = in_time("a transaction", client.transaction(both(), Repeat::Never)).await;
    let _ = in_time("an optimistic lock", watch).await;
    let blocking = client.call_blocking(block, Duration::from_millis(100), Repeat::Idempotent);
    let _ = in_time("a blocking call", blocking).await;
    let _ = in_time("a confirmed write", client.call_confirmed(set(), Repeat::Never, confirm)).await;
    let confirmed = client.transaction_confirmed(both(), Repeat::Idempotent, confirm);
    let _ = in_time("a confirmed transaction", confirmed).await;
    let _ = in_time("a replica's read", client.read_replica(get())).await;
    let _ = in_time("a scattered read", client.scatter_mget(&[key, "elsewhere"])).await.values();
    let answers = client.pipeline(vec![get(), set(), get()], Repeat::Idempotent);
    assert_eq!(in_time("a pipeline", answers).await.len(), 3);
    if let Some(node) = client.primaries().first() {
        let _ = in_time("a node's answer", client.call_node(node, &raw("PING"))).await;
    }
}

async fn in_time<T>(what: &str, asked: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, asked).await.unwrap_or_else(|_| panic!("{what} has no end"))
}

/// The same for each of the answers, side by side; a panic of one is told with its answer.
async fn for_all<F: Future<Output = ()> + Send + 'static>(of_one: impl Fn(Vec<u8>) -> F) {
    let tasks: Vec<_> =
        nonsense().into_iter().map(|said| (said.clone(), tokio::spawn(of_one(said)))).collect();
    for (said, task) in tasks {
        let shown = String::from_utf8_lossy(&said[..said.len().min(40)]).into_owned();
        task.await.unwrap_or_else(|panic| panic!("{shown:?}: {panic}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_server_says_every_call_ends_and_nothing_panics() {
    for_all(|said| async move {
        let liar = Liar::new(move |words, port| honest(words, port).or_else(|| Some(said.clone()))).await;
        let client = Client::connect(&liar.url()).await.unwrap().with_deadline(DEADLINE);
        ask_in_every_way(&client).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_server_says_while_connecting_the_connector_has_an_end() {
    for place in ["HELLO", "CLIENT", "CLUSTER"] {
        for_all(|said| async move {
            let lie = move |words: &Words, port| match words[0].eq_ignore_ascii_case(place.as_bytes()) {
                true => Some(said.clone()),
                false => honest(words, port).or_else(|| Some(b"+OK\r\n".to_vec())),
            };
            let liar = Liar::new(lie).await;
            if let Ok(client) = in_time(place, Client::connect(&liar.url())).await {
                ask_in_every_way(&client.with_deadline(DEADLINE)).await;
            }
        })
        .await;
    }
}

/// What goes to and fro is followed with pauses, not as fast as the wire can carry it.
#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_without_end_costs_few_requests_and_ends_at_the_deadline() {
    for word in ["ASK", "MOVED"] {
        let slot = Slot::of(b"k");
        let lie = move |words: &Words, port: u16| {
            honest(words, port).or_else(|| Some(format!("-{word} {slot} 127.0.0.1:{port}\r\n").into_bytes()))
        };
        let liar = Liar::new(lie).await;
        let client = Client::connect(&liar.url()).await.unwrap().with_deadline(Duration::from_secs(1));
        let error = client.call(Command::new("GET").key("k"), Repeat::Never).await.unwrap_err();
        assert!(error.is_slot_moving(), "{word}: {error}");
        assert!(liar.heard() < 200, "{word}: {} requests", liar.heard());
    }
}
