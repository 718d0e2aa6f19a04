//! How long a job waits from the call that enqueues it to its handler, with a worker that was idle.

use std::time::{Duration, Instant};

use echomq::{JobSpec, Queue};
use tokio::sync::mpsc;

/// So many waits, shortest first.
pub(crate) async fn measure(queue: &Queue, pickups: usize) -> Vec<Duration> {
    let (begun, mut begins) = mpsc::unbounded_channel();
    let handler = move |_| {
        let _ = begun.send(Instant::now());
        async { Ok::<(), String>(()) }
    };
    let worker = queue.worker(handler).start().await.unwrap();
    let mut waits = Vec::with_capacity(pickups);
    for n in 0..pickups {
        // Time to settle, to find that there is nothing more, and to fall idle.
        tokio::time::sleep(Duration::from_millis(10)).await;
        let enqueued = Instant::now();
        queue.enqueue(JobSpec::new(n.to_string())).await.unwrap();
        waits.push(begins.recv().await.unwrap() - enqueued);
    }
    worker.stop(Duration::from_secs(5)).await;
    waits.sort();
    waits
}
