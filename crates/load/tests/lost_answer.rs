//! An enqueue whose answer never comes, while some of its jobs are worked off already.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use echomq::{EchoMq, Enqueued, JobId, JobSpec};
use echomq_load::enqueue_surely;

/// Stands between clients and a server. When told so, it swallows the next answer, does what it was given to do, and
/// cuts that connection.
struct Thief {
    port: u16,
    armed: Arc<AtomicBool>,
}

impl Thief {
    fn before(server: String, act: impl Fn() + Send + Sync + 'static) -> Thief {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, armed) = (listener.local_addr().unwrap().port(), Arc::new(AtomicBool::new(false)));
        let (thief, act) = (Thief { port, armed: armed.clone() }, Arc::new(act));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                let (asks, asked) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || pass(asks, asked, || false));
                let (armed, act) = (armed.clone(), act.clone());
                let steal = move || {
                    let now = armed.swap(false, SeqCst);
                    if now {
                        act();
                    }
                    now
                };
                std::thread::spawn(move || pass(server, client, steal));
            }
        });
        thief
    }
}

/// Passes bytes on until either side has gone, or until they are stolen.
fn pass(mut from: TcpStream, mut to: TcpStream, steal: impl Fn() -> bool) {
    let mut bytes = [0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if steal() || to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_were_in_all_along_count_as_added_and_one_that_was_done_meanwhile_is_added_again() {
    let server = Arc::new(tokio::task::spawn_blocking(testkit::standalone).await.unwrap());
    let worked_off = {
        let server = server.clone();
        move || {
            server.raw(&["ZREM", "emq:{thief}:pending", "0"]).unwrap();
            server.raw(&["DEL", "emq:{thief}:job:0"]).unwrap();
        }
    };
    let thief = Thief::before(server.address(), worked_off);
    let mq = EchoMq::connect(&format!("redis://127.0.0.1:{}", thief.port)).await.unwrap();
    let queue = mq.queue("thief").unwrap();
    queue.enqueue(JobSpec::new("first")).await.unwrap();

    let jobs = (0..20).map(|n| JobSpec::new("x").id(JobId::parse(n.to_string()).unwrap())).collect();
    thief.armed.store(true, SeqCst);
    let results = enqueue_surely(&queue, jobs, Duration::from_secs(20)).await.unwrap();
    assert!(!thief.armed.load(SeqCst), "nothing was stolen");
    assert!(results.len() == 20 && results.iter().all(Enqueued::is_added), "{results:?}");
    assert_eq!(queue.counts().await.unwrap().pending, 21);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_patience_the_error_names_the_ids_whose_fate_is_unknown() {
    let server = Arc::new(tokio::task::spawn_blocking(testkit::standalone).await.unwrap());
    let gone = {
        let server = server.clone();
        move || drop(server.raw(&["DEL", "emq:{thief}:job:0"]).unwrap())
    };
    let thief = Thief::before(server.address(), gone);
    let mq = EchoMq::connect(&format!("redis://127.0.0.1:{}", thief.port)).await.unwrap();
    let queue = mq.queue("thief").unwrap();
    queue.enqueue(JobSpec::new("first")).await.unwrap();
    thief.armed.store(true, SeqCst);
    let job = JobSpec::new("x").id(JobId::parse("0").unwrap());
    let error = enqueue_surely(&queue, vec![job], Duration::ZERO).await.unwrap_err();
    assert_eq!(error.unknown_ids(), [JobId::parse("0").unwrap()], "{error}");
}
