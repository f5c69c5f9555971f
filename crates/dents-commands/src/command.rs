//! The commands, and the words of their command lines.

use crate::session::{Session, Status};
use crate::{count, diff, du, io500, report, scan, stats, top};
use clap::{ArgMatches, CommandFactory, Parser, Subcommand};

/// The commands and their options.
#[derive(Subcommand)]
#[allow(missing_docs)]
pub enum Command {
    Scan(Box<scan::Args>),
    Du(Box<du::Args>),
    Top(Box<top::Args>),
    Count(Box<count::Args>),
    Stats(Box<stats::Args>),
    Diff(Box<diff::Args>),
    Report(Box<report::Args>),
    Parts(scan::parts::Args),
    #[command(name = "io500-find")]
    Io500(Box<io500::Args>),
}

/// A command line in another program.
#[derive(Parser)]
#[command(name = "dents")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The command line of all commands.
pub(crate) fn command() -> clap::Command {
    with_short_options(Cli::command())
}

/// Gives the short options of a command line that has these commands. `du -t` is `--threshold`, as for du(1); for the other commands it is
/// `--type`. `parts start` takes the options of `scan`.
#[must_use]
pub fn with_short_options(command: clap::Command) -> clap::Command {
    let command = command.mut_subcommand("du", |du| {
        du.mut_arg("kinds", |kinds| kinds.short(None)).mut_arg("threshold", |threshold| threshold.short('t'))
    });
    command.mut_subcommand("parts", |parts| parts.mut_subcommand("start", scan::parts::words::of_start))
}

impl Command {
    /// Runs the command. `matches` are those that it was made from.
    pub fn run(&self, matches: &ArgMatches, session: &Session) -> Status {
        match self {
            Command::Scan(args) => scan::run(args, matches, session),
            Command::Du(args) => du::run(args, session),
            Command::Top(args) => top::run(args, session),
            Command::Count(args) => count::run(args, session),
            Command::Stats(args) => stats::run(args, session),
            Command::Diff(args) => diff::run(args, session),
            Command::Report(args) => report::run(args, session),
            Command::Parts(args) => scan::parts::run(args, matches, session),
            Command::Io500(args) => io500::run(args, session),
        }
    }
}
