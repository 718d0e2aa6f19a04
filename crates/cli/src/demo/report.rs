//! What the demo came to, and what to try next.

use std::io::{self, Write};

use echomq_load::Percentiles;
use echomq_load::demo::{QueueReport, Report as Demo, Stretch};
use serde::{Serialize, Serializer};

use super::text::{grouped, ms, program};
use crate::screen::{BAD, DIM, GOOD, HEAD, MARK, Report};

/// The demo's report for people; as JSON it is the report itself.
pub(super) struct Shown<'a>(pub(super) &'a Demo);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Report for Shown<'_> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Shown(demo) = self;
        counts(out, demo)?;
        stretches(out, demo)?;
        queues(out, &demo.queues)?;
        verdict(out, demo)?;
        try_next(out)
    }
}

fn counts(out: &mut dyn Write, demo: &Demo) -> io::Result<()> {
    let audit = &demo.audit;
    writeln!(
        out,
        "\n{HEAD}What became of the orders{HEAD:#}, by a list that was kept outside the servers\n"
    )?;
    let good = |is_good| if is_good { GOOD } else { BAD };
    for (label, count, style, meaning) in [
        ("in", audit.acknowledged, HEAD, "acknowledged by a queue"),
        (
            "done",
            audit.done,
            good(audit.done == audit.acknowledged),
            "a handler read the order and added it up",
        ),
        ("retried", demo.retried, HEAD, "failed in their first run by design, and were tried again"),
        ("dead", audit.dead, good(audit.dead == 0), "failed in every run"),
        ("waiting", audit.waiting, good(audit.waiting == 0), "still in a queue"),
        ("lost", audit.lost, good(audit.lost == 0), "neither done nor in a queue"),
        ("doubled", audit.doubled, HEAD, "done more than once: at least once is the promise"),
    ] {
        writeln!(out, "  {style}{:>8}{style:#}  {label:9}{DIM}{meaning}{DIM:#}", grouped(count))?;
    }
    Ok(())
}

fn stretches(out: &mut dyn Write, demo: &Demo) -> io::Result<()> {
    let us = |us: u64| ms(us as f64 / 1_000.0);
    writeln!(
        out,
        "\n{HEAD}From enqueue to done{:23}{:>8} {:>8} {:>8} {:>8}{HEAD:#}",
        "", "p50", "p90", "p99", "max"
    )?;
    for (name, stretch) in [("steady", &demo.steady), ("at once", &demo.burst)] {
        let Some(Stretch { jobs, per_second, latency, .. }) = stretch else { continue };
        let Percentiles { p50_us, p90_us, p99_us, max_us } = *latency;
        let [p50, p90, p99, max] = [p50_us, p90_us, p99_us, max_us].map(us);
        let (jobs, per_second) = (grouped(*jobs), grouped(*per_second as u64));
        writeln!(
            out,
            "  {name:8} {jobs:>6} orders, {per_second:>6} a second  {p50:>8} {p90:>8} {p99:>8} {max:>8}"
        )?;
    }
    writeln!(
        out,
        "  {DIM}The longest waited for their second run, or until the lease of a claim had run{DIM:#}\n  \
         {DIM}out whose answer was cut off.{DIM:#}"
    )
}

fn queues(out: &mut dyn Write, queues: &[QueueReport]) -> io::Result<()> {
    writeln!(
        out,
        "\n  {HEAD}{:9} {:>5}  {:16} {:16} {:>7} {:>8}{HEAD:#}",
        "QUEUE", "SLOT", "NODE BEFORE", "NODE AFTER", "DONE", "RETRIED"
    )?;
    for queue in queues {
        let moved = if queue.node_before == queue.node_after { anstyle::Style::new() } else { MARK };
        writeln!(
            out,
            "  {:9} {:>5}  {:16} {moved}{:16}{moved:#} {:>7} {:>8}",
            queue.name,
            queue.slot,
            queue.node_before,
            queue.node_after,
            grouped(queue.done),
            grouped(queue.retried)
        )?;
    }
    Ok(())
}

fn verdict(out: &mut dyn Write, demo: &Demo) -> io::Result<()> {
    let (done, lost) = (grouped(demo.audit.done), grouped(demo.audit.lost));
    let seconds = demo.took_ms / 1_000.0;
    let style = if demo.is_good() { GOOD } else { BAD };
    writeln!(out, "\n{style}{done} done, {lost} lost{style:#} in {seconds:.1} s on {}", demo.engine)?;
    for (is_so, what) in [
        (!demo.in_time, "It did not end in time: what is missing was still on its way."),
        (demo.altered > 0, "Some payloads were not what was enqueued."),
        (demo.audit.twins > 0, "Two runs shared a fencing token, which must never happen."),
    ] {
        if is_so {
            writeln!(out, "{BAD}{what}{BAD:#}")?;
        }
    }
    Ok(())
}

fn try_next(out: &mut dyn Write) -> io::Result<()> {
    let program = program();
    writeln!(out, "\n{HEAD}Try next{HEAD:#}\n")?;
    for (command, what) in [
        ("key trace 'emq:{orders}:pending'", "why a key is on its slot"),
        ("job add mail 'hello'", "a job of your own, on a private server"),
        ("work mail --drain --exec sh -c 'cat; echo'", "and a command that works it off"),
    ] {
        writeln!(out, "  {DIM}# {what}{DIM:#}\n  {program} {command}")?;
    }
    Ok(())
}
