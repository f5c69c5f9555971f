//! The program `dents`: the command line, the signals, the line of progress, and the browser. Its other commands are those of the crate
//! `dents-commands`.

mod browse;
#[cfg(test)]
mod docs;
mod interrupt;
mod progress;
mod stderr;
mod terminal;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use dents_commands::{Status, message, output, time};
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
    #[command(flatten)]
    Common(dents_commands::Command),
    // After `report`.
    #[command(display_order = 7)]
    Browse(Box<browse::Args>),
}

/// The command line.
pub(crate) fn command() -> clap::Command {
    dents_commands::with_short_options(Cli::command())
}

/// The program: the command of its command line.
pub fn main() -> ExitCode {
    let status = program(std::env::args_os());
    match stdio::close_stdout() {
        Err(error) if status == Status::SUCCESS => {
            let reason = message::errno_text(error.raw_os_error());
            stderr::say(format!("cannot write to standard output: {reason}").as_bytes());
            Status::FAILURE.into()
        }
        _ => status.into(),
    }
}

/// The program, with the words of a command line: its own name first. It prints help and wrong options, and then ends the process.
pub fn program(words: impl IntoIterator<Item = OsString>) -> Status {
    time::start();
    dents_sink::parquet::on_panic(|message| {
        stderr::say(message.as_bytes());
        std::process::exit(1);
    });
    let words: Vec<OsString> = words.into_iter().collect();
    if words.len() < 2 {
        eprint!("{FIRST}");
        return Status::WRONG;
    }
    let matches = match command().try_get_matches_from(&words) {
        Ok(matches) => matches,
        Err(said) if said.use_stderr() => return wrong(&said, &words),
        Err(help) => return print_help(&help),
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(said) => return wrong(&said, &words),
    };
    match cli.command {
        Command::Browse(args) => {
            interrupt::leave_keys_to_programs();
            browse::run(&args, &terminal::session())
        }
        Command::Common(command) => command.run(&matches, &terminal::session()),
    }
}

/// Reports wrong options.
fn wrong(said: &clap::Error, words: &[OsString]) -> Status {
    stderr::say(usage_message(&said.render().to_string(), words).as_bytes());
    Status::WRONG
}

/// A message of clap in the form of all others: without its blank lines and its summary of options, and with the command whose help is meant.
fn usage_message(text: &str, words: &[OsString]) -> String {
    let (mut names, mut command) = (String::from("dents"), command());
    for word in words.iter().skip(1) {
        let Some(named) = command.find_subcommand(word) else { break };
        names.extend([" ", named.get_name()]);
        command = named.clone();
    }
    let is_said = |part: &&str| !part.starts_with("Usage: ") && !part.starts_with("For more information");
    let said = text.trim_end().split("\n\n").filter(is_said).collect::<Vec<_>>().join("\n");
    format!("{}\nTry '{names} --help' for more information.", said.strip_prefix("error: ").unwrap_or(&said))
}

/// Help or the version, which clap would count as printed where standard output is closed or full.
fn print_help(help: &clap::Error) -> Status {
    if std::io::stdout().is_terminal() {
        // In colours, where these are wanted.
        help.exit();
    }
    match output::Stdout::default().write_all(help.render().to_string().as_bytes()) {
        Ok(()) => Status::SUCCESS,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => terminal::session().closed_pipe(),
        Err(error) => {
            stderr::say(format!("cannot write to standard output: {}", message::plain(&error)).as_bytes());
            Status::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{OsString, command, usage_message};

    #[test]
    fn wrong_options_are_told_as_gnu_does() {
        for (words, expected) in [
            (
                &["scan", "--names"][..],
                "unexpected argument '--names' found\n  tip: to pass '--names' as a value, use '-- --names'\nTry 'dents scan --help' for more information.",
            ),
            (&["scan", "--size=x"], "invalid value 'x' for '--size <[+-]N[UNIT]>': "),
            (&["du", "--size"], "none was supplied\nTry 'dents du --help' for more information."),
            (
                &["diff"],
                "the following required arguments were not provided:\n  <OLD> <NEW>...\nTry 'dents diff --help' for more information.",
            ),
            (&["nothing"], "unrecognized subcommand 'nothing'\nTry 'dents --help' for more information."),
            (&["parts", "start", "--x"], "Try 'dents parts start --help' for more information."),
        ] {
            let words: Vec<OsString> = ["dents"].iter().chain(words).map(OsString::from).collect();
            let error = command().try_get_matches_from(&words).unwrap_err();
            let said = usage_message(&error.render().to_string(), &words);
            assert!(said.contains(expected), "{words:?}: {said}");
            assert!(!said.contains("\n\n") && !said.contains("Usage"), "{said}");
        }
    }
}
