//! `dents stats`: sums by user, group, extension, age, size and depth.
//!
//! ```text
//! tree or file ─► Found ─► Sums, one a worker ─► Sums ─► tables
//!                          a sum for each value, or pair of values, of each table
//! ```
//!
//! Memory grows with the numbers of owners, extensions and levels, not with the number of files. A file with several links is
//! remembered until all its names were found ([`hardlinks`]): 33 to 37 bytes each. Sums have 128 bits.

mod class;
mod draw;
mod hardlinks;
mod key;
pub(crate) mod owners;
mod sums;

use crate::consumer::Consumer;
use crate::details::Asker;
use crate::entry::{Found, Origin};
use crate::filter::{self, Depths, Filter};
use crate::output::{Completion, Diagnostics, Units};
use crate::overlap::Overlap;
use crate::session::{Session, Status};
use crate::source::{Gathered, Job, Opened, Source, Special, Way};
use crate::walk::Walk;
use crate::words::offered;
pub(crate) use class::{AGES, Now};
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::tree::{End, Follow, Step};
use dents_sink::read::Columns;
pub(crate) use hardlinks::Links;
pub(crate) use key::By;
pub(crate) use sums::{Row, Sums, Tally};

/// Sum up a tree by user, group, extension, age, size and depth
///
/// A file with several links counts once, and so does an entry below several PATHs. The tables by extension, age and size count
/// regular files, the others all entries. Age is the time from the last modification to the start of the scan. Rows of ages, sizes and
/// depths are in ascending order; other rows are in the order of allocated space, the largest first.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    #[command(flatten)]
    walk: Walk,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    filter: filter::Args,
    #[command(flatten)]
    depths: Depths,
    /// A table by user, group, extension, age, size, depth, project or directory:N (the directory at depth N); by two of them, as in
    /// user,age: a row for each pair; by more of them: a table for each. Several --by are several tables
    #[arg(
        long,
        value_name = "KEY,…",
        value_parser = offered(By::parse, key::WORDS),
        hide_possible_values = true,
        default_value = "user,extension,age,size",
        help_heading = "What is shown"
    )]
    by: Vec<Vec<By>>,
    /// Show at most N rows of each table, and one for all `others`
    #[arg(short, long, value_name = "N", value_parser = crate::number::whole::<usize>, default_value_t = 10, help_heading = "What is shown")]
    number: usize,
    /// Compute order and shares from the bytes in files, not from allocated space
    #[arg(long, help_heading = "What is shown")]
    apparent_size: bool,
    /// One JSON object, sizes in bytes
    #[arg(long, help_heading = "What is shown")]
    json: bool,
    /// All rows of all tables as CSV, with a line of titles: sizes in bytes
    #[arg(long, help_heading = "What is shown", conflicts_with = "json")]
    csv: bool,
    #[command(flatten)]
    units: Units,
}

impl Args {
    fn tables(&self) -> Vec<By> {
        self.by.concat()
    }
}

pub(crate) fn run(args: &Args, session: &Session) -> Status {
    let filter = Filter::new(&args.filter, args.depths, None);
    let diagnostics = Diagnostics::begin(session);
    let all = Needs::TYPE | Needs::INODE | Needs::NLINK | Needs::SIZE | Needs::BLOCKS;
    let needs = args.tables().iter().flat_map(By::keys).fold(all, |all, key| all | key.needs());
    let (needs, must) = (NeedsByKind::all(needs), NeedsByKind::default());
    let job = Job {
        walk: &args.walk,
        source: &args.source,
        filter: &filter,
        diagnostics: &diagnostics,
        needs,
        must,
    };
    let gathered = match args.source.file() {
        Some(file) => file.open(job.diagnostics.session()).and_then(|opened| from_file(args, &job, opened)),
        None => Ok(from_tree(args, &job)),
    };
    let ((sums, links), end) = match gathered {
        Ok(gathered) => gathered,
        Err(code) => return code,
    };
    let tables = sums.into_tables(links);
    let completion = Completion::new(end, diagnostics);
    completion.finish(|destination| draw::draw(args, &tables, &completion, destination))
}

type Sorted = (Sums, Links);

fn from_tree(args: &Args, job: &Job<'_>) -> (Sorted, End) {
    let overlap = Overlap::new(&job.walk.paths(), job.walk.follow());
    let links = Links::new(&args.tables(), job.diagnostics.session().mounts_overlap());
    let mut must = job.must;
    if overlap.has_directories() {
        must |= NeedsByKind::of(Kind::Dir, Needs::TYPE | Needs::INODE);
    }
    let now = Now::live();
    let new = || Sums::new(&args.tables(), now);
    let make =
        || Summer { sums: new(), overlap: &overlap, links: &links, details: Asker::new(columns(args)) };
    let Gathered { consumers, end, .. } = Job { must, ..*job }.walk(&Special::default(), make);
    let sums = merged(consumers, new());
    ((sums, links), end)
}

/// Rows do not show whether the roots of the scan overlap, so files with several links are remembered to the end.
fn from_file(args: &Args, job: &Job<'_>, mut opened: Opened<'_>) -> Result<(Sorted, End), Status> {
    let now = Now::recorded(opened.span());
    let (overlap, links) = (Overlap::new(&[], Follow::Never), Links::new(&args.tables(), true));
    let columns = columns(args);
    if columns.contains(Columns::PROJECT) && !opened.details().contains(Columns::PROJECT) {
        let problem = "the scan has no project ids: make it with --columns=project";
        return Err(job.diagnostics.session().wrong(problem));
    }
    let new = || Sums::new(&args.tables(), now);
    let make = || Summer { sums: new(), overlap: &overlap, links: &links, details: Asker::default() };
    let Gathered { consumers, end, .. } = job.read(opened, &Way::once(columns), make)?;
    let sums = merged(consumers, new());
    Ok(((sums, links), end))
}

/// The columns of a scan file that the keys read.
fn columns(args: &Args) -> Columns {
    args.tables().iter().flat_map(By::keys).fold(Columns::empty(), |all, key| all | key.columns())
}

fn merged(summers: Vec<Summer<'_>>, mut sums: Sums) -> Sums {
    summers.into_iter().for_each(|one| sums.merge(one.sums));
    sums
}

/// One worker's sums.
pub(crate) struct Summer<'t> {
    pub(crate) sums: Sums,
    overlap: &'t Overlap,
    links: &'t Links,
    details: Asker,
}

impl<'t> Summer<'t> {
    /// For tables whose keys need no details.
    pub(crate) fn new(sums: Sums, overlap: &'t Overlap, links: &'t Links) -> Summer<'t> {
        Summer { sums, overlap, links, details: Asker::default() }
    }
}

impl Consumer for Summer<'_> {
    type State = ();

    fn entry(&mut self, found: &Found<'_>, (): &()) -> Step {
        let Some(facts) = found.facts() else { return Step::Enter };
        if found.kind == Kind::Dir && !self.overlap.is_new(facts.inode()) {
            return Step::Skip;
        }
        let details = match found.origin {
            Origin::Live(place, entry) => self.details.ask(place, entry),
            Origin::Row(row) => row.details,
        };
        let names = self.overlap.names(facts.inode(), facts.nlink);
        self.sums.see(&Found { details, ..*found }, &facts, names, self.links);
        Step::Enter
    }

    fn requests(&mut self) -> u64 {
        self.details.requests()
    }

    fn passed_over(&mut self, found: &Found<'_>) -> Step {
        match found.facts().filter(|_| self.overlap.has_directories()) {
            Some(facts) if !self.overlap.is_new(facts.inode()) => Step::Skip,
            _ => Step::Enter,
        }
    }
}
