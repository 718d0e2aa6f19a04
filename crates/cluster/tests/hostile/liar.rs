//! A server whose answers are made up: its handshake is that of a cluster of one node, all else says what it is told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub(crate) type Words = Vec<Vec<u8>>;

/// What it says to a command; `None` hangs up.
pub(crate) type Say = dyn Fn(&Words, u16) -> Option<Vec<u8>> + Send + Sync;

/// Ends with this value.
pub(crate) struct Liar {
    pub(crate) port: u16,
    heard: Arc<AtomicU64>,
    listening: JoinHandle<()>,
}

impl Liar {
    pub(crate) async fn new(say: impl Fn(&Words, u16) -> Option<Vec<u8>> + Send + Sync + 'static) -> Liar {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (say, heard): (Arc<Say>, _) = (Arc::new(say), Arc::<AtomicU64>::default());
        let count = heard.clone();
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, port, say.clone(), count.clone()));
            }
        });
        Liar { port, heard, listening }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// How many commands it got.
    pub(crate) fn heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// What an honest server says while a client connects and asks for the topology.
pub(crate) fn honest(words: &Words, port: u16) -> Option<Vec<u8>> {
    let first = words[0].to_ascii_uppercase();
    match first.as_slice() {
        b"HELLO" => Some(b"%1\r\n+proto\r\n:3\r\n".to_vec()),
        b"CLIENT" | b"READONLY" | b"ASKING" => Some(b"+OK\r\n".to_vec()),
        b"CLUSTER" => {
            Some(format!("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:{port}\r\n").into_bytes())
        }
        _ => None,
    }
}

async fn serve(mut stream: TcpStream, port: u16, say: Arc<Say>, heard: Arc<AtomicU64>) {
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    while let Ok(more @ 1..) = stream.read(&mut chunk).await {
        bytes.extend_from_slice(&chunk[..more]);
        while let Some((words, rest)) = command(&bytes) {
            bytes = rest;
            heard.fetch_add(1, Ordering::Relaxed);
            let Some(said) = say(&words, port) else { return };
            if stream.write_all(&said).await.is_err() {
                return;
            }
        }
    }
}

/// The first command, and what comes after it.
fn command(bytes: &[u8]) -> Option<(Words, Vec<u8>)> {
    let (mut words, mut rest) = (Vec::new(), bytes);
    let number = |rest: &mut &[u8]| {
        let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
        let number = std::str::from_utf8(&rest[1..end]).ok()?.parse::<usize>().ok()?;
        *rest = &rest[end + 2..];
        Some(number)
    };
    for _ in 0..number(&mut rest)? {
        let length = number(&mut rest)?;
        words.push(rest.get(..length)?.to_vec());
        rest = rest.get(length + 2..)?;
    }
    Some((words, rest.to_vec()))
}
