//! The slot functions as a Markdown table: nanoseconds per key, and how many times ours is faster than the `redis` crate and
//! than the best of the others.
//!
//! The contenders take turns in short runs, and both the times and the ratios of a turn are reduced to their medians. So
//! whatever else the machine does falls on all alike, which the criterion bench, one contender after the other, can not have.

#![allow(clippy::print_stdout, reason = "a table for the terminal is all it is for")]

use echomq_bench::{
    Contender, Crc16, CrcFast, CrcTable16, EchoMq, Redis, RedisProtocol, assert_agrees, rows,
};
use std::hint::black_box;
use std::time::Instant;

const NAMES: [&str; 6] =
    [EchoMq::NAME, Redis::NAME, RedisProtocol::NAME, Crc16::NAME, CrcTable16::NAME, CrcFast::NAME];

/// How many turns each contender has per row; odd, so that there is a middle one.
const TURNS: usize = 501;

fn main() {
    println!("| ns per key | {} | x redis | x best other |", NAMES.join(" | "));
    println!("|---|{}", "---|".repeat(NAMES.len() + 2));
    for row in rows() {
        let keys = row.keys();
        assert_all_agree(&keys);
        let turns: Vec<_> = (0..TURNS).map(|_| turn(&keys)).collect();
        let times: Vec<_> = (0..NAMES.len()).map(|i| median(turns.iter().map(|turn| turn[i]))).collect();
        let shown: Vec<_> = times.iter().map(|ns| format!("{ns:.1}")).collect();
        let best = (1..NAMES.len()).min_by(|a, b| times[*a].total_cmp(&times[*b])).unwrap_or(1);
        let ratio = |other: usize| median(turns.iter().map(|turn| turn[other] / turn[0]));
        println!("| {} | {} | {:.2} | {:.2} |", row.name(), shown.join(" | "), ratio(1), ratio(best));
    }
}

fn assert_all_agree(keys: &[Vec<u8>]) {
    assert_agrees::<Redis>(keys);
    assert_agrees::<RedisProtocol>(keys);
    assert_agrees::<Crc16>(keys);
    assert_agrees::<CrcTable16>(keys);
    assert_agrees::<CrcFast>(keys);
}

/// One turn of each contender, in nanoseconds per key.
fn turn(keys: &[Vec<u8>]) -> [f64; NAMES.len()] {
    [
        time::<EchoMq>(keys),
        time::<Redis>(keys),
        time::<RedisProtocol>(keys),
        time::<Crc16>(keys),
        time::<CrcTable16>(keys),
        time::<CrcFast>(keys),
    ]
}

fn time<C: Contender>(keys: &[Vec<u8>]) -> f64 {
    const ROUNDS: usize = 20;
    let start = Instant::now();
    for _ in 0..ROUNDS {
        for key in keys {
            black_box(C::slot(black_box(key)));
        }
    }
    start.elapsed().as_nanos() as f64 / (ROUNDS * keys.len()) as f64
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
