//! `dents diff`: what changed between two scans, or since a scan.
//!
//! ```text
//! OLD ─► gather ─► rows by path ─┐                 in one scan,    ┌─► files ──┐
//!        a scan file             ├─► join ─────────or linked───────┘  by inode │
//! NEW ─► gather ─► rows by path ─┘   the same path,                   moved?   ├─► sums  ─► text, CSV, JSON
//!        or a walk                   compared ─────────────────────────────────┴─► lists ─►
//!                                    (`changes`)                                   by path
//! ```
//!
//! There are three sorts: rows by path, names by the inode number of their file, and the lists by path. A [`sorter`](crate::sorter) keeps up to 64 MB
//! in memory, and writes further records to a temporary file, which it merges. So memory grows with the numbers of users and of
//! directories that are shown, could not be read or moved, not with the number of entries.
//!
//! A file with several links is counted once in each scan ([`files`]). Entries below a directory that one of the scans could not read
//! are not compared: they are neither new nor deleted, and count as unknown.

mod changes;
mod csv;
mod draw;
mod files;
mod gather;
mod growth;
mod join;
mod json;
mod largest;
mod lists;
mod names;
mod roots;
mod source;

use crate::filter::{self, Depths, Filter};
use crate::message;
use crate::output::{Completion, Csv, Destination, Diagnostics, Units};
use crate::session::{Session, Status};
use crate::stats::owners::Names;
use crate::walk::Walk;
use dents_core::needs::Kind;
use dents_core::tree::End;
use dents_sink::Row;
pub(crate) use growth::{Growth, Sums};
use join::Join;
pub(crate) use largest::largest;
use lists::Lists;
pub(crate) use lists::{Difference, List, Listed};
pub(crate) use roots::shown;
pub(crate) use source::Stop;
use std::ffi::OsStr;
use std::hash::RandomState;
use std::io;

/// Show what is new, deleted, changed and moved between two scans
///
/// OLD and NEW are files that `dents scan -o` wrote; `-` is NDJSON on standard input. NEW may also be a directory, which is scanned now.
/// Paths are relative to the roots. If a scan has several roots, roots of the same name are compared, and paths begin with that name.
///
/// An entry has changed if its type, permissions, owner, group, size, modification time, target or allocated space differs, or if its name
/// leads to another file. For directories only type, permissions, owner and group count. A moved entry has another path, and the same device, inode
/// number and time of birth; if that time is not known, the same size and modification time. A file with several links is counted once
/// in all sums. Filters leave entries out of both scans.
#[derive(clap::Args)]
#[command(disable_help_flag = true, after_help = AFTER_HELP, override_usage = "dents diff [OPTIONS] <OLD> <NEW>")]
#[command(mut_arg("paths", |arg| arg.value_names(["OLD", "NEW"]).num_args(2).required(true).help(PATHS)))]
pub struct Args {
    #[command(flatten)]
    walk: Walk,
    #[command(flatten)]
    filter: filter::Args,
    #[command(flatten)]
    depths: Depths,
    /// Accept incomplete scans: entries that they lack are shown as new or deleted
    #[arg(long, help_heading = "What is compared")]
    partial: bool,
    /// Show the growth of directories down to this depth; deeper ones are counted but not shown
    #[arg(short, long, value_name = "N", value_parser = crate::number::whole::<u32>, default_value_t = 1, help_heading = "What is shown")]
    depth: u32,
    /// Show at most N entries, directories and users, the largest first [default: 10, and as many entries as the terminal has lines for; all
    /// in JSON]
    #[arg(short = 'n', long, value_name = "N", value_parser = crate::number::whole::<usize>, help_heading = "What is shown")]
    top: Option<usize>,
    /// The figure that decides which growth comes first
    #[arg(long, value_enum, default_value = "allocated", help_heading = "What is shown")]
    by: By,
    /// Show only how many entries are new, deleted, changed and moved, and their sizes
    #[arg(short, long, help_heading = "What is shown")]
    summary: bool,
    /// Only the names, of all entries: a line with new, deleted, changed or moved, a tab and the path; for a moved entry the old path, a tab and
    /// the new one
    #[arg(long, help_heading = "What is shown", conflicts_with_all = ["summary", "csv", "json"])]
    names: bool,
    /// With --names, end each word and each path with a NUL instead of a tab or a newline
    #[arg(short = '0', long, help_heading = "What is shown", requires = "names")]
    null: bool,
    /// A line for each entry that is new, deleted, changed or moved, as comma-separated values
    #[arg(long, help_heading = "What is shown", conflicts_with = "json")]
    csv: bool,
    /// One JSON object: names byte-exact, sizes in bytes
    #[arg(long, help_heading = "What is shown")]
    json: bool,
    #[command(flatten)]
    units: Units,
}

const PATHS: &str = "The scan files to compare; NEW may be a directory";

const AFTER_HELP: &str = "\
Examples:
  dents diff monday.parquet tuesday.parquet      what is new, deleted, changed and moved; growth by directory and user
  dents diff monday.parquet /home                what changed since Monday
  dents diff --names monday.parquet /home        the names of all that changed
  dents diff --depth 3 -n 20 old.parquet /home   directories down to the third level
  dents diff --csv old.parquet new.parquet       every entry that differs

Exit status: 0 if there is no difference, 1 if there is one, 2 for trouble: a scan that is not complete (without --partial), something that \
could not be read in one of the scans, a wrong command line, or output that cannot be written; 128 and the number of the signal that stopped it, 130 for \
Ctrl-C.";

/// A figure of growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum By {
    /// Bytes in files
    Size,
    Allocated,
    Entries,
}

/// The exit status for trouble.
const TROUBLE: u8 = 2;

/// The differences that were found so far.
struct Known<'s> {
    session: &'s Session,
    sums: Sums,
    lists: Lists,
    /// Entries that could not be compared.
    unknown: u64,
}

/// The differences.
pub(crate) struct Outcome {
    pub(crate) sums: Sums,
    pub(crate) listed: Listed,
    pub(crate) unknown: u64,
    pub(crate) users: Names,
}

pub(crate) fn run(args: &Args, session: &Session) -> Status {
    let filter = Filter::new(&args.filter, args.depths, None);
    let diagnostics = Diagnostics::begin(session);
    let [old, new] = args.walk.given() else { return session.wrong("name two scans") };
    let (walk, partial, depth, lists) = (&args.walk, args.partial, args.depth, !args.summary);
    let pair = Pair { scans: [old, new], walk, partial, filter: &filter, depth, lists };
    let (outcome, end) = match pair.compare(&diagnostics) {
        Ok(done) => done,
        Err(stop) => return stop.report(session),
    };
    let is_different = outcome.listed.is_different();
    let completion = Completion::new(end, diagnostics);
    let status = completion.finish(|destination| match destination {
        Destination::Rows(writer) => csv::write(args, outcome, writer),
        Destination::Text(out) if args.json => json::write(args, outcome, &completion, out),
        Destination::Text(out) if args.csv => csv::write(args, outcome, &mut Csv::new(out)),
        Destination::Text(out) if args.names => names::write(args, outcome, out),
        Destination::Text(out) => draw::draw(args, outcome, out),
    });
    match status {
        Status::SUCCESS => Status(u8::from(is_different)),
        Status::FAILURE => Status(TROUBLE),
        signal => signal,
    }
}

/// Two scans, and how they are compared.
pub(crate) struct Pair<'p> {
    /// OLD and NEW.
    pub(crate) scans: [&'p OsStr; 2],
    /// The options of a walk.
    pub(crate) walk: &'p Walk,
    pub(crate) partial: bool,
    pub(crate) filter: &'p Filter<'p>,
    /// Directories down to this depth have a sum.
    pub(crate) depth: u32,
    /// Whether entries are kept, and not only counted.
    pub(crate) lists: bool,
}

impl Pair<'_> {
    pub(crate) fn compare(&self, diagnostics: &Diagnostics<'_>) -> Result<(Outcome, End), Stop> {
        let hasher = RandomState::new();
        let ([old, new], mut users, end) = source::both(self, &hasher, diagnostics)?;
        let session = diagnostics.session();
        let (sums, lists) = (Sums::new(self.depth), Lists::new(self.lists));
        let mut known = Known { session, sums, lists, unknown: 0 };
        let files = Join::run([old, new], &hasher, &mut known)?;
        files.count(&mut known)?;
        let Known { sums, lists, unknown, .. } = known;
        if unknown > 0 {
            let entries = message::counted(unknown, "entry was", "entries were");
            session
                .say(format!("{entries} not compared, as one of the scans could not read them").as_bytes());
        }
        users.resolve(sums.users.keys(), [].iter());
        Ok((Outcome { sums, listed: lists.finish()?, unknown, users }, end))
    }
}

impl Known<'_> {
    /// Fails if the run was stopped. Half of a comparison would show wrong differences, so such a run ends without output.
    fn go_on(&self) -> io::Result<()> {
        if self.session.is_stopped() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
}

/// Whether a file has several links, so that it must be counted once.
fn is_linked(row: &Row<'_>) -> bool {
    row.kind != Kind::Dir && row.facts.is_some_and(|facts| facts.nlink > 1)
}
