//! The options of `dents scan` as words: those that all tasks of a scan in parts share, and those of one run.

use crate::scan::args::Args as ScanArgs;
use crate::time;
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, FromArgMatches};
use std::ffi::OsString;

/// Options of one run, which do not change which rows there are.
const OF_A_RUN: [&str; 7] = ["threads", "rate", "bulk", "sync", "statistics", "progress", "explain"];
/// Options of the task.
const OF_A_TASK: [&str; 4] = ["part", "task", "budget", "time_budget"];
/// Options that make no sense in parts.
const REFUSED: [(&str, &str); 12] = [
    ("file", "dents parts merge -o FILE writes one file"),
    ("format", "shards are Parquet; dents parts merge -o FILE writes other formats"),
    ("journal", "a task that was killed is run again"),
    ("printf", "tasks write rows"),
    ("null", "tasks write rows"),
    ("quiet", "tasks write rows"),
    ("index", "dents parts merge -o FILE, and then make the indexes"),
    ("changed_since", "a task does not have SCAN"),
    ("from", "tasks walk a tree"),
    ("partial", "tasks walk a tree"),
    ("timeout", "--time-budget ends a task and keeps its rows"),
    ("gitignore", "a task does not know the ignore files above its directories"),
];

/// The command `parts start`, without the options that it refuses.
pub(crate) fn of_start(start: clap::Command) -> clap::Command {
    let others = OF_A_RUN.into_iter().chain(OF_A_TASK).chain(REFUSED.map(|(id, _)| id));
    let start = others.fold(start, |start, id| start.mut_arg(id, |arg| arg.hide(true)));
    let paths = "The directory of the scan, and where the scan begins";
    start.mut_arg("paths", |arg| arg.value_name("DIR ROOT").help(paths))
}

/// Which options.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Those that decide which rows there are.
    Plan,
    /// Those of one run.
    Run,
}

/// The options that were given, in the order in which they are declared. So the same options are the same words.
pub(crate) fn words(matches: &ArgMatches, which: Which) -> Vec<OsString> {
    let scan = scan();
    let mut words = Vec::new();
    for arg in scan.get_arguments() {
        let id = arg.get_id().as_str();
        let wanted = match which {
            Which::Run => OF_A_RUN.contains(&id),
            Which::Plan => !OF_A_RUN.contains(&id) && !OF_A_TASK.contains(&id),
        };
        let Some(long) = arg.get_long().filter(|_| wanted && is_given(matches, id)) else { continue };
        if matches!(arg.get_action(), ArgAction::SetTrue) {
            words.push(format!("--{long}").into());
            continue;
        }
        for value in matches.try_get_raw(id).ok().flatten().into_iter().flatten() {
            let mut word = OsString::from(format!("--{long}="));
            match time::of_file(value).filter(|_| ["newer", "older"].contains(&id)) {
                // The file may change, or be another one on another machine.
                Some(time) => word.push(time::since_epoch(time)),
                None => word.push(value),
            }
            words.push(word);
        }
    }
    words
}

/// The error for an option that makes no sense in parts.
pub(crate) fn refuse(matches: &ArgMatches) -> Result<(), String> {
    let given = REFUSED.iter().find(|(id, _)| is_given(matches, id));
    given.map_or(Ok(()), |(id, way_out)| {
        let scan = scan();
        let arg = scan.get_arguments().find(|arg| arg.get_id() == *id);
        let long = arg.and_then(clap::Arg::get_long).unwrap_or(id);
        Err(format!("--{long} is not for a scan in parts: {way_out}"))
    })
}

fn is_given(matches: &ArgMatches, id: &str) -> bool {
    let known = matches.try_contains_id(id).is_ok();
    known && matches.value_source(id) == Some(ValueSource::CommandLine)
}

/// The command line of `dents scan`, alone.
fn scan() -> clap::Command {
    ScanArgs::augment_args(clap::Command::new("scan"))
}

/// A scan with these words.
pub(crate) fn parse(
    words: impl IntoIterator<Item = OsString>,
) -> Result<(Box<ScanArgs>, ArgMatches), String> {
    let begin = ["dents", "scan"].map(OsString::from);
    let program = clap::Command::new("dents").subcommand(scan()).subcommand_required(true);
    let parsed = program.try_get_matches_from(begin.into_iter().chain(words)).and_then(|matches| {
        let of_scan = matches.subcommand_matches("scan").cloned().unwrap_or_default();
        Ok((Box::new(ScanArgs::from_arg_matches(&of_scan)?), matches))
    });
    parsed.map_err(|error| error.to_string().trim_start_matches("error: ").trim_end().to_owned())
}
