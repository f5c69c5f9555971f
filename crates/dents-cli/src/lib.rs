//! The commands of `dents`: scans of whole trees. Each command is a module. They share the walk (`walk`), where entries come from (`source`),
//! and what belongs to one run (`session`): messages, what stops it, its result.
//!
//! The program is [`main`]. Other programs run a command by its words ([`table`], [`Scan`]): so there is one parser of options, and
//! one text for each error. Only the bindings of this project may rely on these functions.

mod browse;
mod consumer;
mod count;
mod details;
mod diff;
#[cfg(test)]
mod docs;
mod du;
mod embed;
mod entry;
mod filter;
mod inode;
mod interrupt;
mod io500;
mod locale;
mod message;
mod number;
mod output;
mod overlap;
mod owners;
mod parts;
mod progress;
mod report;
mod scan;
mod session;
mod sorter;
mod source;
mod stats;
mod time;
mod top;
mod walk;

pub use embed::{Scan, is_run, run, table};
pub use output::{Cell, Records, Type, Values};
pub use session::{Host, Message, Session, Status};

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use dents_sys::stdio;
use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

/// Scan, measure and summarise file trees of any size
#[derive(Parser)]
#[command(name = "dents", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What the program prints without arguments: five commands, each with an example (`tests/first.rs` runs them).
const FIRST: &str = "\
dents: scan, measure and compare file trees of any size

  dents du -h .                   which directories take the most space
  dents top -h .                  which files are the largest
  dents stats --by user,age .     how much each user has, and how old it is
  dents scan -o today.parquet .   an inventory, for later: dents du --from today.parquet
  dents diff yesterday.parquet .  what is new, deleted, changed and moved

dents --help lists all commands, dents COMMAND --help the options of one.
";

#[derive(Subcommand)]
enum Command {
    Scan(Box<scan::Args>),
    Du(Box<du::Args>),
    Top(Box<top::Args>),
    Count(Box<count::Args>),
    Stats(Box<stats::Args>),
    Diff(Box<diff::Args>),
    Report(Box<report::Args>),
    Browse(Box<browse::Args>),
    Parts(parts::Args),
    #[command(name = "io500-find")]
    Io500(Box<io500::Args>),
}

/// The command line. `du -t` is `--threshold`, as for du(1); for the other commands it is `--type`.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command().mut_subcommand("du", |du| {
        du.mut_arg("kinds", |kinds| kinds.short(None)).mut_arg("threshold", |threshold| threshold.short('t'))
    });
    command.mut_subcommand("parts", |parts| parts.mut_subcommand("start", parts::words::of_start))
}

/// The program: the command of its command line.
pub fn main() -> ExitCode {
    let status = program(std::env::args_os());
    match stdio::close_stdout() {
        Err(error) if status == Status::SUCCESS => {
            let reason = message::errno_text(error.raw_os_error());
            message::say(format!("cannot write to standard output: {reason}").as_bytes());
            Status::FAILURE.into()
        }
        _ => status.into(),
    }
}

/// The program, with the words of a command line: its own name first. It prints help and wrong options, and then ends the process.
pub fn program(words: impl IntoIterator<Item = OsString>) -> Status {
    time::start();
    dents_sink::parquet::on_panic(|message| {
        message::say(message.as_bytes());
        std::process::exit(1);
    });
    let words: Vec<OsString> = words.into_iter().collect();
    if words.len() < 2 {
        eprint!("{FIRST}");
        return Status::WRONG;
    }
    let matches = match command().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(said) if said.use_stderr() => said.exit(),
        Err(help) => return print_help(&help),
    };
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if let Command::Browse(_) = cli.command {
        interrupt::leave_keys_to_programs();
    }
    cli.command.run(&matches, &Session::program())
}

/// Help or the version, which clap would count as printed where standard output is closed or full.
fn print_help(help: &clap::Error) -> Status {
    if std::io::stdout().is_terminal() {
        // In colours, where these are wanted.
        help.exit();
    }
    match output::Stdout::default().write_all(help.render().to_string().as_bytes()) {
        Ok(()) => Status::SUCCESS,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Session::program().closed_pipe(),
        Err(error) => {
            message::say(format!("cannot write to standard output: {}", message::plain(&error)).as_bytes());
            Status::FAILURE
        }
    }
}

impl Command {
    fn run(&self, matches: &ArgMatches, session: &Session) -> Status {
        match self {
            Command::Scan(args) => scan::run(args, matches, session),
            Command::Du(args) => du::run(args, session),
            Command::Top(args) => top::run(args, session),
            Command::Count(args) => count::run(args, session),
            Command::Stats(args) => stats::run(args, session),
            Command::Diff(args) => diff::run(args, session),
            Command::Report(args) => report::run(args, session),
            Command::Browse(args) => browse::run(args, session),
            Command::Parts(args) => parts::run(args, matches, session),
            Command::Io500(args) => io500::run(args, session),
        }
    }
}
