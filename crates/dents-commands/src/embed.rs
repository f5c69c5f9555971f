//! Commands inside another program.

use crate::command::{Cli, Command, command};
use crate::rows::Records;
use crate::session::{Host, Message, Session, Status};
use crate::{scan, time};
use clap::{ArgMatches, FromArgMatches};
use dents_sink::Sink;
use dents_sink::read::Columns;
use std::ffi::OsString;

/// Runs a command that writes a file: `scan -o FILE`, `report -o FILE`, `scan --part DIR`, `parts start`, `parts merge` or
/// `parts verify`. `words` are those of the command line, without the name of the program. The command writes
/// nothing to standard output, which belongs to the other program.
pub fn run(words: &[OsString], session: &Session) -> Status {
    match parsed(words, session) {
        Ok((Cli { command }, matches)) if command.writes_file() => command.run(&matches, session),
        Ok(_) => session.wrong("only scan writes a file: name it with -o FILE"),
        Err(status) => status,
    }
}

/// Runs `du`, `top`, `count`, `stats`, `diff`, `parts status` or `parts claim`, and returns the rows of its `--csv`. There is no table if the options are
/// wrong, or if a file cannot be read.
pub fn table(words: &[OsString], session: &Session) -> (Option<Records>, Status) {
    let status = match parsed(words, session) {
        Ok((Cli { command: Command::Scan(_) }, _)) => {
            session.wrong("scan gives a stream of rows, not a table")
        }
        Ok((Cli { command: Command::Report(_) }, _)) => {
            session.wrong("report writes a file, and gives no table")
        }
        Ok((Cli { command }, matches)) => command.run(&matches, session),
        Err(status) => status,
    };
    (session.table().and_then(|mut table| table.take()), status)
}

impl Command {
    fn writes_file(&self) -> bool {
        match self {
            Command::Scan(args) => args.writes_file(),
            Command::Parts(args) => args.writes_file(),
            Command::Report(_) => true,
            _ => false,
        }
    }
}

/// Whether [`run`] understands these words. Executes nothing.
#[must_use]
pub fn is_run(words: &[OsString]) -> bool {
    let ignored = Session::inside(Ignored);
    parsed(words, &ignored).is_ok_and(|(Cli { command }, _)| command.writes_file())
}

struct Ignored;

impl Host for Ignored {
    fn message(&self, _: &Message<'_>) {}
}

/// A `scan` with parsed options.
pub struct Scan(Box<scan::Args>);

impl Scan {
    /// Parses and checks the options. Durations count from now.
    ///
    /// # Errors
    /// Wrong options, or another command.
    pub fn new(words: &[OsString], session: &Session) -> Result<Scan, Status> {
        match parsed(words, session)?.0.command {
            Command::Scan(args) => match args.check_rows() {
                Ok(()) => Ok(Scan(args)),
                Err(error) => Err(session.wrong(&error)),
            },
            _ => Err(session.wrong("only scan gives a stream of rows")),
        }
    }

    /// Runs the scan, and passes its rows to a sink, with these columns; other columns have neutral values. It does not finish the sink.
    ///
    /// # Errors
    /// Wrong options, a scan file that cannot be read, an error of the sink, or the run was stopped. Entries that cannot be read have rows.
    pub fn give(&self, session: &Session, columns: Columns, sink: &dyn Sink) -> Result<Status, Status> {
        scan::give(&self.0, session, columns, sink)
    }
}

fn parsed(words: &[OsString], session: &Session) -> Result<(Cli, ArgMatches), Status> {
    time::restart();
    let words = [OsString::from("dents")].into_iter().chain(words.iter().cloned());
    let matches = command().try_get_matches_from(words);
    let parsed = matches.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    parsed.map_err(|error| {
        let text = error.to_string();
        // The text after the first paragraph is about the command line.
        let first = text.split("\n\n").next().unwrap_or_default();
        session.wrong(first.strip_prefix("error: ").unwrap_or(first))
    })
}
