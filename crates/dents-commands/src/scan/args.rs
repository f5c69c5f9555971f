//! The options of `dents scan`.

use super::format;
use super::output::Output;
use crate::filter::kinds::Kinds;
use crate::filter::{self, Depths, Filter};
use crate::source::Source;
use crate::walk::Walk;
use crate::{number, time};
use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// List a tree
#[derive(clap::Args)]
#[command(after_help = after_help())]
pub struct Args {
    #[command(flatten)]
    pub(super) walk: Walk,
    #[command(flatten)]
    pub(super) source: Source,
    /// Only directories
    #[arg(short = 'd', long, conflicts_with = "files", help_heading = "Which entries")]
    pub(super) directories: bool,
    /// Only entries that are not directories
    #[arg(short = 'f', long, help_heading = "Which entries")]
    pub(super) files: bool,
    #[command(flatten)]
    pub(super) filter: filter::Args,
    #[command(flatten)]
    pub(super) depths: Depths,
    #[command(flatten)]
    pub(super) output: Output,
    #[command(flatten)]
    pub(super) part: Part,
}

fn after_help() -> String {
    format!("{}\n\n{EXAMPLES}", format::HELP)
}

const EXAMPLES: &str = "\
Examples:
  dents scan                               all paths below the current directory
  dents scan -0 -f -g '\\.core$' / | xargs -0 rm
  dents scan --type f --size +1G --older 365d /home
  dents scan --printf '%s %T+ %p\\n' /var    sizes, times and paths
  dents scan -o scratch.parquet /scratch   all metadata of all entries, for DuckDB and other programs
  dents scan --journal /var/tmp/j -o scratch.parquet /scratch   the same; resumes after it was killed
  dents scan -qs /scratch                  only statistics

Complete scans: a scan is complete if every PATH could be opened and the walk reached its end; a directory below a PATH that \
cannot be read has a row with the error. Only a complete scan replaces FILE. Any other leaves FILE unchanged and writes \
FILE.partial, or resumes from its journal when it is run again.

Exit status: 0; 1 if something could not be read or written, or the scan is not complete; 2 for a wrong command line; 128 \
and the number of the signal that stopped it, 130 for Ctrl-C.";

impl Args {
    /// Whether the output goes to a file.
    pub(crate) fn writes_file(&self) -> bool {
        self.output.path() != Path::new("-") || self.is_task()
    }

    /// What is wrong with options that the parser accepts, if the rows go to another program.
    pub(crate) fn check_rows(&self) -> Result<(), String> {
        let about_files = self.output.about_files();
        about_files.map_or(Ok(()), |option| Err(format!("{option} is for output to a file")))
    }

    /// Whether this is a task of a scan in parts.
    pub(crate) fn is_task(&self) -> bool {
        self.part.is_given()
    }

    /// The PATHs as they were given.
    pub(crate) fn paths(&self) -> &[OsString] {
        self.walk.given()
    }

    pub(super) fn filter(&self) -> Filter<'_> {
        let only = match (self.directories, self.files) {
            (true, _) => Some((Kinds::DIRECTORIES, "--directories")),
            (_, true) => Some((Kinds::OTHERS, "--files")),
            _ => None,
        };
        Filter::new(&self.filter, self.depths, only)
    }
}

/// The options of a task.
#[derive(clap::Args)]
#[command(next_help_heading = "In parts")]
#[group(skip)]
pub(crate) struct Part {
    /// Do one task of the scan in parts in this directory (dents parts): write its rows there, and the directories left over
    #[arg(long = "part", value_name = "DIR", requires = "task")]
    pub(super) part: Option<PathBuf>,
    /// The task: its ID as dents parts claim gives it; a new ID claims directories that wait
    #[arg(long, value_name = "ID", requires = "part", value_parser = id)]
    pub(super) task: Option<String>,
    /// End the task after so many entries; directories not opened until then are left over
    #[arg(long, value_name = "N", requires = "part", default_value = "2000000", value_parser = number::positive::<NonZeroU64>)]
    pub(super) budget: NonZeroU64,
    /// End the task after this time; directories not opened until then are left over: 90s, 5m
    #[arg(long, value_name = "DURATION", requires = "part", value_parser = time::duration)]
    pub(super) time_budget: Option<Duration>,
}

fn id(text: &str) -> Result<String, String> {
    match dents_sink::parts::is_id(text) {
        true => Ok(text.to_owned()),
        false => Err("up to 100 letters, digits, - and _".to_owned()),
    }
}

impl Part {
    pub(super) fn is_given(&self) -> bool {
        self.part.is_some()
    }
}
