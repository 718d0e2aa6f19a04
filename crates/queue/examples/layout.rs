//! Measures what the queue's transitions cost the server, against the floor N: the same work by native
//! commands with no atomicity, no token, no lease, no refusal of duplicates.
//!
//! ```text
//! cargo run --release -p echomq --features testing --example layout -- [--depth 1000000] [--payload 100] [--reps 15] [--modes 50x10,200x1]
//! ```
//!
//! Two servers of the same kind, one each; in every repetition both do the same jobs in turn, so that a
//! machine that slows down slows both. Cost is CPU time of the server's main thread per job. A mode `50x10` is
//! calls of 50 jobs, ten calls in flight at once on one connection.

#![allow(clippy::print_stdout)]

use std::error::Error;

use echomq::testing::{Claim, Transitions};
use echomq::{EchoMq, JobId, Kind};
use futures_util::future::try_join_all;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, Value, cmd};

type Any = Box<dyn Error>;

/// Jobs per turn; a repetition is three turns of each design.
const TURN: usize = 4_000;
const TURNS: usize = 3;

struct Options {
    depth: usize,
    payload: usize,
    reps: usize,
    modes: Vec<(usize, usize)>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Any> {
    let options = options()?;
    let (floor_server, queue_server) = (testkit::standalone(), testkit::standalone());
    pin(&[pid(&floor_server)?, pid(&queue_server)?]);
    let payload: Vec<u8> = (0..options.payload).map(|_| fastrand::alphanumeric() as u8).collect();
    let mut floor = Floor::new(&floor_server.url(), payload.clone()).await?;
    let queue = EchoMq::connect(&queue_server.url()).await?.queue("q")?;
    queue.set_limit(Some(100_000_000)).await?;
    let mut ours =
        Ours { transitions: Transitions::of(&queue), payload, serial: 1 << 40, claims: Vec::new() };

    let before = (used_memory(&floor_server)?, used_memory(&queue_server)?);
    fill(&mut floor, &mut ours, options.depth).await?;
    if options.depth > 0 {
        let per_job = |server: &testkit::Standalone, before: f64| {
            Ok::<f64, Any>((used_memory(server)? - before) / options.depth as f64)
        };
        let (n, q) = (per_job(&floor_server, before.0)?, per_job(&queue_server, before.1)?);
        println!(
            "memory per waiting job of {} bytes: N {n:.0}, queue {q:.0} bytes (used_memory)",
            options.payload
        );
    }
    for &(call, pipe) in &options.modes {
        let mut ratios: [Vec<f64>; 4] = Default::default();
        let mut costs: [Vec<f64>; 2] = Default::default();
        for rep in 0..=options.reps {
            let mut cost = [[0.0; 3]; 2];
            for turn in 0..TURNS {
                for which in [(rep + turn) % 2, (rep + turn + 1) % 2] {
                    let spent = if which == 0 {
                        one_turn(&mut floor, &floor_server, call, pipe).await?
                    } else {
                        one_turn(&mut ours, &queue_server, call, pipe).await?
                    };
                    (0..3).for_each(|phase| cost[which][phase] += spent[phase]);
                }
            }
            if rep == 0 {
                continue; // a warm-up
            }
            let total = cost.map(|phases| phases.iter().sum::<f64>());
            (0..3).for_each(|phase| ratios[phase].push(cost[1][phase] / cost[0][phase]));
            ratios[3].push(total[1] / total[0]);
            (0..2).for_each(|which| costs[which].push(total[which] / (TURN * TURNS) as f64));
        }
        let [enqueue, claim, complete, life] = ratios.map(spread);
        let [n, q] = costs.map(spread);
        println!(
            "{call}x{pipe}, depth {}, {} B, {} repetitions: lifecycle {life} x N (N {n} us, queue {q} us of server CPU per job); enqueue {enqueue}, claim {claim}, complete {complete}",
            options.depth, options.payload, options.reps
        );
    }
    Ok(())
}

/// Enqueue, claim with bodies, complete: three phases, each followed by a look at the server's clock.
trait Design {
    async fn enqueue(&mut self, call: usize, pipe: usize) -> Result<(), Any>;
    async fn claim(&mut self, call: usize, pipe: usize) -> Result<(), Any>;
    async fn complete(&mut self, pipe: usize) -> Result<(), Any>;
}

async fn one_turn(
    design: &mut impl Design,
    server: &testkit::Standalone,
    call: usize,
    pipe: usize,
) -> Result<[f64; 3], Any> {
    let start = cpu_us(server)?;
    design.enqueue(call, pipe).await?;
    let enqueued = cpu_us(server)?;
    design.claim(call, pipe).await?;
    let claimed = cpu_us(server)?;
    design.complete(pipe).await?;
    Ok([enqueued - start, claimed - enqueued, cpu_us(server)? - claimed])
}

/// Sizes of the calls of one turn, in groups that are in flight together.
fn groups(call: usize, pipe: usize) -> Vec<Vec<usize>> {
    let mut calls: Vec<usize> = vec![call; TURN / call];
    let rest = TURN % call;
    calls.extend((rest > 0).then_some(rest));
    calls.chunks(pipe).map(<[usize]>::to_vec).collect()
}

fn ids(serial: &mut u64, count: usize) -> Vec<JobId> {
    let kind = Kind::parse("JOB").expect("three capitals");
    let first = *serial;
    *serial += count as u64;
    (first..*serial).map(|serial| JobId::from_serial(kind, serial)).collect()
}

struct Ours {
    transitions: Transitions,
    payload: Vec<u8>,
    serial: u64,
    claims: Vec<Claim>,
}

impl Design for Ours {
    async fn enqueue(&mut self, call: usize, pipe: usize) -> Result<(), Any> {
        for group in groups(call, pipe) {
            let batches: Vec<Vec<JobId>> = group.iter().map(|&count| ids(&mut self.serial, count)).collect();
            let added =
                try_join_all(batches.iter().map(|ids| self.transitions.enqueue(ids, &self.payload))).await?;
            assert!(added.iter().all(|&added| added), "an enqueue was refused");
        }
        Ok(())
    }

    async fn claim(&mut self, call: usize, pipe: usize) -> Result<(), Any> {
        for group in groups(call, pipe) {
            let claims =
                try_join_all(group.iter().map(|&count| self.transitions.claim(count, 30_000, "w1"))).await?;
            let claims: Vec<Claim> = claims.into_iter().flatten().collect();
            let bodies = try_join_all(claims.iter().map(|claim| self.transitions.bodies(claim))).await?;
            assert_eq!(bodies.iter().sum::<usize>(), group.iter().sum::<usize>(), "a body is missing");
            self.claims.extend(claims);
        }
        Ok(())
    }

    async fn complete(&mut self, pipe: usize) -> Result<(), Any> {
        let claims = std::mem::take(&mut self.claims);
        for group in claims.chunks(pipe) {
            let lost = try_join_all(group.iter().map(|claim| self.transitions.complete(claim))).await?;
            assert!(lost.iter().all(Vec::is_empty), "a lease was lost");
        }
        Ok(())
    }
}

/// N, on keys of the same names, over a plain connection in RESP2: in RESP3 a ZPOPMIN costs the server more.
struct Floor {
    connection: MultiplexedConnection,
    payload: Vec<u8>,
    serial: u64,
    claims: Vec<Vec<JobId>>,
}

impl Floor {
    async fn new(url: &str, payload: Vec<u8>) -> Result<Floor, Any> {
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let client = redis::Client::open(url)?;
        let connection = client.get_multiplexed_async_connection_with_config(&config).await?;
        Ok(Floor { connection, payload, serial: 1 << 40, claims: Vec::new() })
    }

    async fn call(&self, cmd: Cmd) -> Result<Value, Any> {
        Ok(self.connection.clone().send_packed_command(&cmd).await?)
    }

    async fn both(&self, first: Cmd, second: Cmd) -> Result<(Value, Value), Any> {
        tokio::try_join!(self.call(first), self.call(second))
    }
}

fn row(id: &JobId) -> Vec<u8> {
    [b"emq:{q}:job:".as_slice(), id.as_bytes()].concat()
}

impl Design for Floor {
    async fn enqueue(&mut self, call: usize, pipe: usize) -> Result<(), Any> {
        for group in groups(call, pipe) {
            let batches: Vec<Vec<JobId>> = group.iter().map(|&count| ids(&mut self.serial, count)).collect();
            try_join_all(batches.iter().map(|ids| {
                let (mut rows, mut list) = (cmd("MSET"), cmd("ZADD"));
                list.arg("emq:{q}:pending");
                for id in ids {
                    rows.arg(row(id)).arg(&self.payload);
                    list.arg(0).arg(id.as_bytes());
                }
                self.both(rows, list)
            }))
            .await?;
        }
        Ok(())
    }

    async fn claim(&mut self, call: usize, pipe: usize) -> Result<(), Any> {
        for group in groups(call, pipe) {
            let pops = group.iter().map(|&count| {
                let mut pop = cmd("ZPOPMIN");
                pop.arg("emq:{q}:pending").arg(count);
                self.call(pop)
            });
            let claims: Vec<Vec<JobId>> = try_join_all(pops).await?.iter().map(popped_ids).collect();
            assert_eq!(claims.iter().map(Vec::len).sum::<usize>(), group.iter().sum::<usize>());
            try_join_all(claims.iter().map(|ids| {
                let (mut active, mut rows) = (cmd("ZADD"), cmd("MGET"));
                active.arg("emq:{q}:active");
                for id in ids {
                    active.arg(1_796_058_445_343u64).arg(id.as_bytes());
                    rows.arg(row(id));
                }
                self.both(active, rows)
            }))
            .await?;
            self.claims.extend(claims);
        }
        Ok(())
    }

    async fn complete(&mut self, pipe: usize) -> Result<(), Any> {
        let claims = std::mem::take(&mut self.claims);
        for group in claims.chunks(pipe) {
            try_join_all(group.iter().map(|ids| {
                let (mut gone, mut rows) = (cmd("ZREM"), cmd("UNLINK"));
                gone.arg("emq:{q}:active");
                for id in ids {
                    gone.arg(id.as_bytes());
                    rows.arg(row(id));
                }
                self.both(gone, rows)
            }))
            .await?;
        }
        Ok(())
    }
}

fn popped_ids(reply: &Value) -> Vec<JobId> {
    let Value::Array(items) = reply else { panic!("ZPOPMIN answered {reply:?}") };
    let id = |item: &Value| match item {
        Value::BulkString(id) => JobId::parse(id).expect("an id that was put there"),
        other => panic!("ZPOPMIN holds {other:?}"),
    };
    items.iter().step_by(2).map(id).collect()
}

async fn fill(floor: &mut Floor, ours: &mut Ours, depth: usize) -> Result<(), Any> {
    for _ in 0..depth.div_ceil(TURN) {
        floor.enqueue(200, 10).await?;
        ours.enqueue(200, 10).await?;
    }
    Ok(())
}

fn info(server: &testkit::Standalone, section: &str, field: &str) -> Result<f64, Any> {
    let Value::BulkString(text) = server.raw(&["INFO", section])? else {
        return Err("INFO answered no text".into());
    };
    let text = String::from_utf8(text)?;
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    Ok(line.ok_or_else(|| format!("INFO {section} has no {field}"))?.trim().parse()?)
}

fn cpu_us(server: &testkit::Standalone) -> Result<f64, Any> {
    let user = info(server, "cpu", "used_cpu_user_main_thread")?;
    Ok((user + info(server, "cpu", "used_cpu_sys_main_thread")?) * 1e6)
}

fn used_memory(server: &testkit::Standalone) -> Result<f64, Any> {
    info(server, "memory", "used_memory")
}

fn pid(server: &testkit::Standalone) -> Result<u32, Any> {
    Ok(info(server, "server", "process_id")? as u32)
}

/// Median, least and most.
fn spread(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share) as usize];
    format!("{:.2} [{:.2} {:.2}]", at(0.5), at(0.0), at(1.0))
}

/// Servers on one core and the driver on another, where `taskset` is at hand.
fn pin(servers: &[u32]) {
    let own = std::process::id();
    for (pid, core) in servers.iter().map(|&pid| (pid, "0")).chain([(own, "1")]) {
        let _ =
            std::process::Command::new("taskset").args(["-a", "-p", "-c", core, &pid.to_string()]).output();
    }
}

fn options() -> Result<Options, Any> {
    let mut options = Options { depth: 0, payload: 100, reps: 15, modes: vec![(50, 10), (200, 1)] };
    let mut args = std::env::args().skip(1);
    while let Some(flag) = args.next() {
        let value = args.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--depth" => options.depth = value.parse()?,
            "--payload" => options.payload = value.parse()?,
            "--reps" => options.reps = value.parse()?,
            "--modes" => {
                let mode = |mode: &str| -> Result<(usize, usize), Any> {
                    let (call, pipe) =
                        mode.split_once('x').ok_or("a mode is CALLxPIPE, for instance 50x10")?;
                    Ok((call.parse()?, pipe.parse()?))
                };
                options.modes = value.split(',').map(mode).collect::<Result<_, _>>()?;
            }
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    Ok(options)
}
