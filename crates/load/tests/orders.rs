//! The order file is what its generator makes.

#[allow(dead_code, unreachable_pub)]
#[path = "../examples/make_orders.rs"]
mod make_orders;

#[test]
fn the_order_file_is_what_the_generator_makes() {
    let file = include_bytes!("../../../testdata/orders.ndjson");
    assert!(
        make_orders::orders().as_bytes() == file,
        "make it anew: see crates/load/examples/make_orders.rs"
    );
}
