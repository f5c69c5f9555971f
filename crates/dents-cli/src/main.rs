//! `dents`: scans of whole trees. Each command is a module. They share the walk ([`walk`]), progress and messages ([`progress`],
//! [`message`]) and signals ([`interrupt`]).

mod consumer;
mod count;
mod diff;
#[cfg(test)]
mod docs;
mod du;
mod entry;
mod filter;
mod inode;
mod interrupt;
mod locale;
mod message;
mod overlap;
mod owners;
mod progress;
mod report;
mod scan;
mod source;
mod stats;
mod time;
mod top;
mod walk;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// Scan, measure and summarise file trees of any size
#[derive(Parser)]
#[command(name = "dents", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Scan(Box<scan::Args>),
    Du(Box<du::Args>),
    Top(Box<top::Args>),
    Count(Box<count::Args>),
    Stats(Box<stats::Args>),
    Diff(Box<diff::Args>),
}

/// The command line. `du -t` is `--threshold`, as for du(1); for the other commands it is `--type`.
pub(crate) fn command() -> clap::Command {
    Cli::command().mut_subcommand("du", |du| {
        du.mut_arg("kinds", |kinds| kinds.short(None)).mut_arg("threshold", |threshold| threshold.short('t'))
    })
}

fn main() -> ExitCode {
    time::start();
    dents_sink::parquet::on_panic(|message| {
        message::say(message.as_bytes());
        std::process::exit(1);
    });
    let cli = Cli::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit());
    match cli.command {
        Command::Scan(args) => scan::run(&args),
        Command::Du(args) => du::run(&args),
        Command::Top(args) => top::run(&args),
        Command::Count(args) => count::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Diff(args) => diff::run(&args),
    }
}
