//! S5: a pipeline of which one command can not be carried out before the move ends.

use std::time::{Duration, Instant};

use testkit::Cluster;

use super::connect;
use crate::client::Client;
use crate::findings::Findings;
use crate::ground::{self, put};

/// So long the caller waits.
const PATIENCE: Duration = Duration::from_secs(12);

/// Where the keys of `[INCR n; MGET a b]` stand; `a` has gone ahead to the target.
struct Place {
    name: &'static str,
    tag: &'static str,
    counter_moved: bool,
    b_exists: bool,
}

const PLACES: [Place; 3] = [
    // The source itself says TRYAGAIN.
    Place { name: "n and b at the source", tag: "s5", counter_moved: false, b_exists: true },
    // The source says ASK, the target TRYAGAIN.
    Place { name: "n at the source, b nowhere", tag: "s5b", counter_moved: false, b_exists: false },
    Place { name: "n at the target, b nowhere", tag: "s5c", counter_moved: true, b_exists: false },
];

pub(super) async fn run<C: Client>(cluster: &Cluster) -> Result<Findings, String> {
    let mut findings = Findings::default();
    for place in &PLACES {
        // A client that hangs in one place shall not fail in the next for it.
        let client: C = connect(cluster).await?;
        meet(&client, cluster, place, &mut findings).await;
    }
    Ok(findings)
}

async fn meet<C: Client>(client: &C, cluster: &Cluster, place: &Place, findings: &mut Findings) {
    let [counter, a, b] = ["n", "a", "b"].map(|name| format!("{{{}}}:{name}", place.tag));
    let way = ground::way(cluster, &counter);
    tokio::task::block_in_place(|| {
        [&counter, &a]
            .into_iter()
            .chain(place.b_exists.then_some(&b))
            .for_each(|key| put(cluster, way.from, key, 0));
        cluster.begin_move(way.slot, way.from, way.to);
        let gone: &[&str] = if place.counter_moved { &[&a, &counter] } else { &[&a] };
        cluster.move_keys(way.from, way.to, gone);
    });
    let before = ground::calls(cluster, "incr");
    let sent = Instant::now();
    let both = [a, b];
    let told = tokio::time::timeout(PATIENCE, client.incr_and_read(&counter, &both)).await;
    let took = sent.elapsed().as_secs_f64();
    let ran = ground::calls(cluster, "incr") - before;
    let name = place.name;
    findings.set(&format!("{name}: INCR ran"), ran);
    let got = match &told {
        Ok(Ok(answers)) => answers.join("; "),
        Ok(Err(error)) => format!("one error for both: {error}"),
        Err(_) => "nothing".to_owned(),
    };
    findings.set(&format!("{name}: seconds"), (took * 10.0).round() / 10.0);
    findings.set(&format!("{name}: the caller got"), got);
    findings.expect(ran == 1, || format!("{name}: INCR ran {ran} times"));
    let first = told.ok().and_then(Result::ok).and_then(|answers| answers.into_iter().next());
    let got_it = first.as_ref().is_some_and(|told| told.contains('1') && !told.contains("error"));
    findings.expect(got_it, || format!("{name}: the caller did not get the 1 of INCR"));
}
