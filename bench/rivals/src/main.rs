//! Tests of cluster clients while slots move: each client of the table goes through the same trials on real servers.

#[cfg(feature = "redis")]
mod chaos;
mod child;
mod client;
mod counter;
mod findings;
mod ground;
mod table;
#[cfg(feature = "redis")]
mod throughput;
mod trial;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::client::Name;
use crate::table::Table;
use crate::trial::Trial;

/// Runs the trials and prints one table: rows are figures, columns are clients.
#[derive(Parser)]
#[command(name = "rivals")]
struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// Only these clients
    #[arg(long, value_enum)]
    client: Vec<Name>,
    /// Only these trials
    #[arg(long, value_enum)]
    test: Vec<Trial>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum What {
    /// Compares throughput without faults, taking turns
    #[cfg(feature = "redis")]
    Throughput(throughput::Args),
    /// Runs the chaos workload of `echomq-load` on the cluster client of `redis`, or on the connector
    #[cfg(feature = "redis")]
    Chaos(chaos::Args),
    /// Runs one trial of one client in this process
    #[command(hide = true)]
    Alone { client: Name, trial: Trial },
}

/// Exits with 0 if the connector of this repository came through whole, 1 if not, 2 if nothing could be measured.
fn main() -> ExitCode {
    let args = Args::parse();
    let ended = match args.what {
        None => trials(&args),
        #[cfg(feature = "redis")]
        Some(What::Throughput(ref wanted)) => throughput::run(wanted, args.json),
        #[cfg(feature = "redis")]
        Some(What::Chaos(ref wanted)) => chaos::run(wanted),
        Some(What::Alone { client, trial }) => child::run_here(client, trial),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn trials(args: &Args) -> Result<bool, String> {
    let clients = or_all(&args.client);
    let mut table = Table::new(&clients);
    for trial in or_all(&args.test) {
        for &client in &clients {
            eprintln!("{} {}", name_of(&trial), name_of(&client));
            table.add(trial, client, child::run_apart(client, trial)?);
        }
    }
    println!("{}", if args.json { table.json() } else { table.text() });
    Ok(table.is_sound(Name::Echomq))
}

fn or_all<T: ValueEnum + Copy>(named: &[T]) -> Vec<T> {
    if named.is_empty() { T::value_variants().to_vec() } else { named.to_vec() }
}

/// The word by which the command line names it.
fn name_of<T: ValueEnum>(value: &T) -> String {
    value.to_possible_value().map_or_else(String::new, |word| word.get_name().to_owned())
}
