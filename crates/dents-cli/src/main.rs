//! `dents`: scans of whole trees. Each command is a module. They share the walk ([`walk`]), progress and messages ([`progress`],
//! [`message`]) and signals ([`interrupt`]).

mod count;
#[cfg(test)]
mod docs;
mod du;
mod entry;
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

use clap::{Parser, Subcommand};
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
    Du(du::Args),
    Top(top::Args),
    Count(count::Args),
    Stats(stats::Args),
}

fn main() -> ExitCode {
    time::start();
    dents_sink::parquet::on_panic(|message| {
        message::say(message.as_bytes());
        std::process::exit(1);
    });
    match Cli::parse().command {
        Command::Scan(args) => scan::run(&args),
        Command::Du(args) => du::run(&args),
        Command::Top(args) => top::run(&args),
        Command::Count(args) => count::run(&args),
        Command::Stats(args) => stats::run(&args),
    }
}
