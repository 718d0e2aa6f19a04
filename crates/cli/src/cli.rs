//! What can be typed.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::prose;

/// A job queue on Valkey Cluster whose keys are co-located by construction, and the tools that such a design needs.
///
/// Without --url, commands that need a server start a private one on this machine, or join it where it runs; its
/// data stays in your data folder (XDG_DATA_HOME, or ~/.local/share/echomq).
///
/// Exit codes: 0 fine, 1 something was found or refused, 2 trouble.
#[derive(Parser)]
#[command(name = "echomq", version, disable_help_subcommand = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What holds for every verb.
#[derive(Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The server: `redis://[user[:password]@]host[:port][,host[:port]…][/database]`, `rediss://…` for an encrypted connection, or
    /// `unix:/path`. All forms: the manual, Connections.
    #[arg(long, global = true, env = "ECHOMQ_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Text before `emq:` in every key.
    #[arg(long, global = true, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) prefix: OsString,
    /// Print JSON: one object a line.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to colour; NO_COLOR is heeded.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    pub(crate) color: clap::ColorChoice,
}

/// What can be done. A verb that is not described here is described at its arguments.
#[derive(Subcommand)]
pub(crate) enum Verb {
    /// See it work: 10,000 orders through a private cluster that is hurt meanwhile.
    ///
    /// Starts a cluster of three nodes, enqueues 10,000 orders over four queues and works them, cuts all connections
    /// of a node and moves a slot to another node meanwhile, and accounts for every order at the end. It takes about
    /// ten seconds and leaves nothing behind. Exit code 0 only when nothing was lost.
    Demo,
    /// Explain and check keys: which slot, and why. Needs no server.
    #[command(subcommand)]
    Key(crate::key::Verb),
    /// Prove key families that a file declares, make constructors from it, and hold real keys against it.
    #[command(subcommand)]
    Contract(crate::contract::Verb),
    Local(crate::local::Args),
    /// Add jobs and look at them.
    #[command(subcommand)]
    Job(crate::job::Verb),
    /// Look at queues, pause and resume them.
    #[command(subcommand)]
    Queue(crate::queue::Verb),
    Work(crate::work::Args),
    Completions(crate::commands::CompletionsArgs),
    Man(crate::commands::ManArgs),
}

/// Every `--json` shape, by verb.
const SHAPES: &str = include_str!("../json.md");

impl Cli {
    pub(crate) fn read() -> Result<Cli, clap::Error> {
        let typed: ArgMatches = command().try_get_matches().map_err(with_hint)?;
        refuse_url(&typed)?;
        Cli::from_arg_matches(&typed)
    }
}

/// A verb that starts servers of its own and uses no other would pass over a `--url` in silence. One in the
/// environment is meant for the other verbs.
fn refuse_url(typed: &ArgMatches) -> Result<(), clap::Error> {
    match typed.subcommand_name() {
        Some(verb @ ("demo" | "local")) if typed.value_source("url") == Some(ValueSource::CommandLine) => {
            let why = format!("{verb} starts servers of its own and uses no other: leave --url out");
            Err(Cli::command().error(ErrorKind::ArgumentConflict, why))
        }
        _ => Ok(()),
    }
}

/// Who meant a payload, where an option was read that there is not, is told how to give it.
fn with_hint(mut usage: clap::Error) -> clap::Error {
    let takes_payload =
        usage.get(ContextKind::Usage).is_some_and(|usage| usage.to_string().contains("[PAYLOAD]"));
    if usage.kind() == ErrorKind::UnknownArgument && takes_payload {
        let hint = "a payload that begins with \"-\" goes behind --, after all options";
        usage.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    }
    usage
}

/// The command tree, each verb's long help with the shape of its JSON.
pub(crate) fn command() -> Command {
    with_shapes(Cli::command(), "")
}

fn with_shapes(command: Command, path: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let command = names.into_iter().fold(command, |command, name| {
        let path = format!("{path} {name}");
        command.mut_subcommand(&name, |verb| with_shapes(verb, path.trim()))
    });
    match shape(path) {
        Some(shape) => command.after_long_help(format!("JSON:\n{shape}")),
        None => command,
    }
}

/// The section of the document under the heading that is the verb's path.
fn shape(path: &str) -> Option<String> {
    let section = SHAPES.split("\n## ").find_map(|section| section.strip_prefix(path)?.strip_prefix('\n'))?;
    let mut in_example = false;
    let lines = section.lines().filter_map(|line| {
        in_example ^= line.starts_with("```");
        match (line.starts_with("```"), in_example) {
            (true, _) => None,
            (_, true) => Some(format!("  {line}")),
            (_, false) => Some(line.to_owned()),
        }
    });
    // Paragraphs in one line each: the help is set to the width of the terminal.
    let text = prose::set(lines.collect::<Vec<_>>().join("\n").trim(), usize::MAX);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        command().debug_assert();
    }

    #[test]
    fn every_verb_that_answers_says_the_shape_of_its_json() {
        let silent = ["completions", "man"];
        let mut open = vec![(String::new(), Cli::command())];
        while let Some((path, command)) = open.pop() {
            let verbs: Vec<_> = command.get_subcommands().collect();
            if verbs.is_empty() && !silent.contains(&path.as_str()) {
                assert!(shape(&path).is_some(), "json.md has no section {path:?}");
            }
            open.extend(
                verbs
                    .into_iter()
                    .map(|verb| (format!("{path} {}", verb.get_name()).trim().to_owned(), verb.clone())),
            );
        }
    }
}
