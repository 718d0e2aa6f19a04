//! Nanoseconds per key of each slot function. `cargo bench --bench slots`.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use echomq_bench::{
    Contender, Crc16, CrcFast, CrcTable16, EchoMq, KEYS_PER_ROW, Redis, RedisProtocol, assert_agrees, rows,
};
use std::hint::black_box;
use std::time::Duration;

fn slots(criterion: &mut Criterion) {
    for row in rows() {
        let keys = row.keys();
        let mut group = criterion.benchmark_group(row.name());
        group.throughput(Throughput::Elements(KEYS_PER_ROW as u64));
        measure::<EchoMq>(&mut group, &keys);
        measure::<Redis>(&mut group, &keys);
        measure::<RedisProtocol>(&mut group, &keys);
        measure::<Crc16>(&mut group, &keys);
        measure::<CrcTable16>(&mut group, &keys);
        measure::<CrcFast>(&mut group, &keys);
        group.finish();
    }
}

fn measure<C: Contender>(group: &mut BenchmarkGroup<'_, WallTime>, keys: &[Vec<u8>]) {
    assert_agrees::<C>(keys);
    group.bench_function(C::NAME, |bencher| {
        bencher.iter(|| {
            for key in keys {
                black_box(C::slot(black_box(key)));
            }
        });
    });
}

fn short_runs() -> Criterion {
    Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
}

criterion_group!(name = benches; config = short_runs(); targets = slots);
criterion_main!(benches);
