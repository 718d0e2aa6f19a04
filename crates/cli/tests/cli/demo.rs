use serde_json::Value;

use crate::json::assert_documented;
use crate::run::echomq;

#[test]
fn the_demo_ends_with_ten_thousand_done_and_none_lost_whatever_is_done_to_the_cluster() {
    let ran = echomq(["demo"]).run();
    let text = ran.text();
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{text}");
    let moves = if testkit::engine().has_atomic_migration() {
        "Slot 8507 moves"
    } else {
        "ECHOMQ_SERVER_BIN=$(cargo run --release -- local --fetch) cargo run --release -- demo\n"
    };
    let next = "  cargo run --release -- work mail --drain --exec sh -c 'cat; echo'\n";
    for part in ["10,000 done, 0 lost", "connections of node", moves, " of 10,000 done\n", "Try next", next] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    assert!(!text.contains('\x1b'), "there is no terminal here");
}

#[test]
fn a_server_of_somebody_else_is_not_hurt_by_the_demo() {
    for arguments in [["demo", "--url", "redis://127.0.0.1:1"], ["--url", "redis://127.0.0.1:1", "demo"]] {
        echomq(arguments).run().said(2, "demo starts servers of its own and uses no other: leave --url out");
    }
    echomq(["local", "--url", "redis://127.0.0.1:1"]).run().said(2, "leave --url out");
}

#[test]
fn the_demo_reports_in_json_too() {
    let report: Value = echomq(["demo", "--json"]).object();
    assert_documented("demo", 0, &report);
    for (field, count) in [("acknowledged", 10_000), ("done", 10_000), ("dead", 0), ("lost", 0), ("twins", 0)]
    {
        assert_eq!(report[field], count, "{field}: {report}");
    }
    let queues = report["queues"].as_array().unwrap();
    let nodes: std::collections::BTreeSet<_> =
        queues.iter().map(|queue| queue["node_before"].as_str()).collect();
    assert_eq!(nodes.len(), 3, "the queues do not stand on every node: {report}");
    assert_eq!(report["moved"].is_null(), !testkit::engine().has_atomic_migration());
    if !report["moved"].is_null() {
        let payments = queues.iter().find(|queue| queue["name"] == "payments").unwrap();
        assert_ne!(payments["node_before"], payments["node_after"]);
        assert_eq!(report["moved"]["to"], payments["node_after"]);
    }
}
