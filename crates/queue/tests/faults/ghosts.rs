//! Claims that the server carried out though their answers got lost on the way.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use echomq::JobSpec;

use crate::scene::{Runs, again, until};

/// Stands before a server and cuts the connection instead of passing on an answer to a claim, so many times.
fn eater(server: String, appetite: usize) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, left) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(appetite)));
    let counter = left.clone();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
            let (asks, asked) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || pass(asks, asked, |_| false));
            let left = counter.clone();
            let eats = move |bytes: &[u8]| {
                let is_claim = bytes.windows(13).any(|part| part == b"$7\r\nclaimed\r\n");
                is_claim && left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
            };
            std::thread::spawn(move || pass(server, client, eats));
        }
    });
    (port, left)
}

fn pass(mut from: TcpStream, mut to: TcpStream, eats: impl Fn(&[u8]) -> bool) {
    let mut bytes = [0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if eats(&bytes[..read]) || to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// More often than leases may be lost: were it counted as a worker's death, the job would be buried unrun.
#[tokio::test(flavor = "multi_thread")]
async fn a_claim_whose_answer_got_lost_is_handed_back_and_counts_for_nothing() {
    const LEASE: Duration = Duration::from_secs(2);
    let server = tokio::task::spawn_blocking(testkit::standalone).await.unwrap();
    let (port, left) = eater(server.address(), 5);
    let queue = again(&format!("redis://127.0.0.1:{port}"), "ghosts").await;
    let runs = Runs::default();
    let noted = runs.clone();
    let handler = move |job| {
        noted.note(job);
        async { Ok::<(), String>(()) }
    };
    let worker = queue.worker(handler).lease(LEASE).lost_limit(1).start().await.unwrap();
    again(&server.url(), "ghosts").await.enqueue(JobSpec::new("x")).await.unwrap();
    until("the job has run", async || runs.count() == 1).await;
    assert_eq!(left.load(SeqCst), 0, "no answer was eaten");
    assert_eq!(runs.all()[0].attempt, 1);
    worker.stop(LEASE).await;
    let counts = queue.counts().await.unwrap();
    assert_eq!((counts.done, counts.lost, counts.dead, counts.held()), (1, 0, 0, 0));
    assert_eq!(runs.count(), 1);
}
