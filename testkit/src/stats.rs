//! What a node has done so far.

use std::collections::BTreeMap;

use crate::Cluster;

/// What a node has done of one command since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommandStat {
    /// How often it was called, in scripts too.
    pub calls: u64,
    /// The time in it, in microseconds.
    pub usec: u64,
}

impl Cluster {
    /// What node `i` has done, by command; a subcommand is named as `client|kill`. Asking counts as well.
    #[track_caller]
    pub fn commandstats(&self, i: usize) -> BTreeMap<String, CommandStat> {
        let text: String = self.must(i, &["INFO", "commandstats"]);
        text.lines().filter_map(command_stat).collect()
    }

    /// The clients that are connected to node `i`, the one that asks included.
    #[track_caller]
    pub fn connected_clients(&self, i: usize) -> u64 {
        self.number(i, "clients", "connected_clients")
    }

    /// The processor time of node `i`'s main thread since its start, in microseconds: what its commands cost,
    /// without background threads.
    #[track_caller]
    pub fn main_thread_cpu_us(&self, i: usize) -> u64 {
        let seconds = |field| self.number::<f64>(i, "cpu", field);
        let total = seconds("used_cpu_user_main_thread") + seconds("used_cpu_sys_main_thread");
        (total * 1e6).round() as u64
    }

    /// One field of a section of `INFO`.
    #[track_caller]
    pub fn info(&self, i: usize, section: &str, field: &str) -> Option<String> {
        let text: String = self.must(i, &["INFO", section]);
        let value = |line: &str| Some(line.strip_prefix(field)?.strip_prefix(':')?.to_owned());
        text.lines().find_map(value)
    }

    #[track_caller]
    fn number<T: std::str::FromStr>(&self, i: usize, section: &str, field: &str) -> T {
        let number = self.info(i, section, field).and_then(|text| text.parse().ok());
        number.unwrap_or_else(|| panic!("INFO {section} of node {i} has no number {field}"))
    }
}

/// Reads a line such as `cmdstat_client|kill:calls=2,usec=31,…`.
fn command_stat(line: &str) -> Option<(String, CommandStat)> {
    let (name, fields) = line.strip_prefix("cmdstat_")?.split_once(':')?;
    let number = |wanted: &str| {
        fields.split(',').find_map(|field| field.strip_prefix(wanted)?.strip_prefix('=')?.parse().ok())
    };
    Some((name.to_owned(), CommandStat { calls: number("calls")?, usec: number("usec")? }))
}
