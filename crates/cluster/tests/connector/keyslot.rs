//! The slot of a key, computed here and by a server.

use echomq_keyspace::{Escaped, Slot};

/// Bytes at random, with braces far more often than chance would have them.
fn random_key(rng: &mut fastrand::Rng) -> Vec<u8> {
    let byte = |rng: &mut fastrand::Rng| match rng.u8(..12) {
        0 => b'{',
        1 => b'}',
        _ => rng.u8(..),
    };
    let longest = if rng.bool() { 8 } else { 90 };
    let length = rng.usize(..=longest);
    (0..length).map(|_| byte(rng)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_random_keys_are_on_the_slots_that_the_server_says() {
    let cluster = testkit::cluster();
    let client = redis::Client::open(format!("redis://{}", cluster.addresses()[0])).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut rng = fastrand::Rng::with_seed(12_739);
    for _ in 0..20 {
        let keys: Vec<Vec<u8>> = (0..5_000).map(|_| random_key(&mut rng)).collect();
        let mut pipeline = redis::pipe();
        for key in &keys {
            pipeline.cmd("CLUSTER").arg("KEYSLOT").arg(key);
        }
        let said: Vec<u16> = pipeline.query_async(&mut connection).await.unwrap();
        for (key, said) in keys.iter().zip(said) {
            assert_eq!(Slot::of(key).get(), said, "\"{}\"", Escaped(key));
        }
    }
}
