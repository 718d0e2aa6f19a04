//! Readers, writers and relocations at once, some of them killed: a task that is dropped has sent what it has sent, as a
//! process that dies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use echomq_cluster::dual::{Dual, Held, Relocated, Renamed, Stage};
use echomq_cluster::{Command, Repeat, Value};
use futures_util::future::join_all;

use crate::scene::{Scene, get, set, some, string, try_get};

fn number(value: Option<String>) -> u64 {
    value.expect("a value that was always there").parse().unwrap()
}

/// Reads all keys over and over: none is ever gone, and none goes back.
async fn watch(dual: Dual, keys: Arc<Vec<Renamed>>, over: Arc<AtomicBool>) -> usize {
    let mut last = vec![0; keys.len()];
    let mut reads = 0;
    while !over.load(Ordering::SeqCst) {
        for (key, last) in keys.iter().zip(&mut last) {
            let answer = try_get(&dual, key).await.unwrap();
            assert_ne!(answer.held, Held::Nowhere, "{key:?} was gone for a moment");
            let value = number(string(&answer.reply));
            assert!(value >= *last, "{key:?} went from {last} back to {value}");
            *last = value;
            reads += 1;
        }
    }
    reads
}

#[tokio::test(flavor = "multi_thread")]
async fn no_reader_misses_a_value_that_is_written_and_relocated_meanwhile() {
    const KEYS: usize = 300;
    let scene = Scene::new("race").await;
    let keys: Arc<Vec<Renamed>> = Arc::new((0..KEYS).map(|n| scene.key(n)).collect());
    for key in keys.iter() {
        scene.set_old(key, "1").await;
    }
    let over = Arc::new(AtomicBool::new(false));
    let mut readers = Vec::new();
    for _ in 0..4 {
        readers.push(tokio::spawn(watch(scene.process(Stage::Lead).await, keys.clone(), over.clone())));
    }
    let relocating = (0..2).map(|from| {
        let (dual, keys) = (scene.lead.clone(), keys.clone());
        tokio::spawn(async move {
            for n in 0..KEYS {
                dual.relocate(&keys[(n + from * KEYS / 2) % KEYS]).await.unwrap();
            }
        })
    });
    let writing = {
        let (dual, keys) = (scene.process(Stage::Lead).await, keys.clone());
        tokio::spawn(async move {
            for value in 2..5 {
                for key in keys.iter().rev() {
                    assert!(set(&dual, key, &value.to_string()).await.left.is_none());
                }
            }
        })
    };
    for task in relocating.chain([writing]) {
        task.await.unwrap();
    }
    over.store(true, Ordering::SeqCst);
    for reader in readers {
        assert!(reader.await.unwrap() >= KEYS);
    }
    for key in keys.iter() {
        assert_eq!(scene.stored(key).await, [some("4"), None]);
    }
}

/// The last look at the new name: without it a reader that was between its two looks while the value went from one to the
/// other would say that there is no such key.
#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_goes_from_one_name_to_the_other_between_two_looks_is_found() {
    let scene = Scene::new("looks").await;
    let readers = [scene.process(Stage::Lead).await, scene.process(Stage::Lead).await];
    for n in 0..400 {
        let key = scene.key(n);
        scene.set_old(&key, "1").await;
        let looks = (0..12).map(|i| {
            let (dual, key) = (&readers[i % 2], &key);
            async move {
                tokio::time::sleep(Duration::from_micros(60 * i as u64)).await;
                get(dual, key).await.0
            }
        });
        let (relocated, seen) = tokio::join!(scene.lead.relocate(&key), join_all(looks));
        assert_eq!(relocated.unwrap(), Relocated::Moved);
        assert!(seen.iter().all(Option::is_some), "key {n} was nowhere: {seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_update_is_lost_or_doubled_while_the_value_is_brought_over() {
    let scene = Scene::new("updates").await;
    for n in 0..60 {
        let key = scene.key(n);
        scene.set_old(&key, "100").await;
        let incr = |name: &[u8]| Command::new("INCR").key(name);
        let updates = (0..16).map(|_| scene.lead.update(&key, incr, Repeat::Never));
        let relocations = (0..2).map(|_| scene.lead.relocate(&key));
        let (replies, relocated) = tokio::join!(join_all(updates), join_all(relocations));
        let mut counts: Vec<i64> = replies
            .into_iter()
            .map(|reply| match reply.unwrap() {
                Value::Int(count) => count,
                other => panic!("{other:?}"),
            })
            .collect();
        counts.sort_unstable();
        assert_eq!(counts, (101..=116).collect::<Vec<_>>());
        assert!(relocated.iter().all(Result::is_ok), "{relocated:?}");
        assert_eq!(scene.stored(&key).await, [some("116"), None]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_while_it_is_relocated_does_not_come_back() {
    let scene = Scene::new("deletes").await;
    let mut overtaken = 0;
    for n in 0..400 {
        let key = scene.key(n);
        scene.set_old(&key, "1").await;
        let (first, deleted, second) =
            tokio::join!(scene.lead.relocate(&key), scene.lead.delete(&key), scene.lead.relocate(&key));
        deleted.unwrap();
        overtaken += [first, second].iter().filter(|of| matches!(of, Ok(Relocated::Overtaken))).count();
        assert_eq!(scene.stored(&key).await, [None, None], "key {n} came back");
    }
    assert!(overtaken > 0, "no relocation met a deletion: the test has tried nothing");
}

/// The same value again is told from the copy by the mark alone.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_while_it_is_relocated_is_not_taken_back_though_it_is_the_same_value() {
    let scene = Scene::new("same").await;
    for n in 0..400 {
        let key = scene.key(n);
        scene.set_old(&key, "1").await;
        let (first, written, second) =
            tokio::join!(scene.lead.relocate(&key), set(&scene.lead, &key, "1"), scene.lead.relocate(&key));
        assert!(written.left.is_none() && first.is_ok() && second.is_ok());
        assert_eq!(scene.stored(&key).await, [some("1"), None], "key {n}");
    }
}

/// Each task is dropped at some moment of its way; then the next process finds what it left.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_killed_on_the_way_leaves_the_value_or_its_successor_and_the_next_one_ends_it() {
    let scene = Scene::new("killed").await;
    let hasty = Dual::new(&scene.client.with_deadline(Duration::from_millis(400)), Stage::Lead);
    let (mut both, mut half, mut found) = (0, 0, Vec::new());
    for n in 0..300 {
        let key = scene.key(n);
        scene.set_old(&key, "1").await;
        if n % 3 == 2 {
            // A remnant, which must not come to life again.
            scene.set_new(&key, "2").await;
        }
        let delay = Duration::from_micros(n as u64 * 7 % 1_400);
        let dual = hasty.clone();
        let victim = {
            let key = key.clone();
            tokio::spawn(async move {
                match n % 3 {
                    0 => drop(dual.relocate(&key).await),
                    1 => drop(set(&dual, &key, "2").await),
                    _ => drop(dual.delete(&key).await),
                }
            })
        };
        tokio::time::sleep(delay).await;
        victim.abort();
        let _ = victim.await;
        // What it had sent is carried out before anything that is sent from here on by the same client.
        let left = scene.stored(&key).await;
        let seen = get(&scene.lead, &key).await.0;
        match (n % 3, &left) {
            (0, [new, old]) => {
                assert!(
                    seen == some("1") && [new, old].into_iter().flatten().all(|value| value == "1"),
                    "{left:?}"
                );
            }
            (1, _) => assert!(seen == some("2") || left == [None, some("1")], "{left:?}"),
            _ => assert_ne!(left, [None, some("1")], "what was written over is read again"),
        }
        both += usize::from(left.iter().all(Option::is_some));
        half += usize::from(left[1].is_none());
        found.push((key, seen));
    }
    for (key, seen) in found {
        // The mark of one who died holds for a while.
        let limit = tokio::time::Instant::now() + testkit::LIMIT;
        while hasty.relocate(&key).await.unwrap() == Relocated::Busy {
            assert!(tokio::time::Instant::now() < limit);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(scene.stored(&key).await, [seen, None], "the next one decides as the reader saw it");
    }
    assert!(both > 0 && half > 0, "killed between the steps {both} times, after them {half} times");
}
