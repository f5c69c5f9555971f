//! `dents report`: one HTML file that shows a tree, a scan, or what changed since another scan.
//!
//! ```text
//! tree or file ─► Worker ─► tables, lists ──────────────────────┐
//!                     └───► records by path ─► sort ─► Tree ────┼─► data as JSON ─► page ─► FILE
//! OLD ─► dents diff ─────────────────────────► changes ─────────┤
//! SCANs ─► sums of each scan ────────────────► series ──────────┘
//! ```
//!
//! The page asks for nothing over the network: style, scripts and data are in the file. Its size has limits: the treemap has the directories
//! with the largest shares ([`tree`]), and tables have a limited number of rows. Memory is that of `dents stats`, and 64 MB for each of two
//! sorts, which write further records to temporary files.

mod changes;
mod data;
mod files;
mod gather;
mod html;
mod json;
mod series;
mod sum;
mod tree;

use crate::diff::Stop;
use crate::filter::{self, Depths, Filter};
use crate::message;
use crate::output::{Completion, Diagnostics};
use crate::overlap::Overlap;
use crate::session::{Session, Status};
use crate::source::{Gathered, Job, Opened, Source, Special, Way};
use crate::stats::{By, Links, Now, Summer, Sums, Tally};
use crate::top::{Best, Ranked};
use crate::walk::Walk;
use changes::Changes;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::tree::{End, Follow};
use dents_sink::read::{Columns, Span};
use dents_sink::{Extent, Output};
use gather::{Records, Worker};
use series::Series;
use std::ffi::{OsStr, OsString};
use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tree::{Limits, Tree};

/// Write a report as one HTML file: totals, a treemap, tables
///
/// The page shows a treemap of the directories (by allocated space, size or number of entries; coloured by age or user), tables by user,
/// group, extension, age and size, the largest and the oldest files and directories, and with --since what changed. It needs a
/// browser, and no network. A file with several links counts once. Small directories and small files are shown as one, so that the page
/// stays below 6 MB; all sums are exact.
///
/// If all PATHs are scans of one tree at different times, the report is about the newest of them, and shows how the tree grew, by user
/// and by directory.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(flatten)]
    walk: Walk,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    filter: filter::Args,
    #[command(flatten)]
    depths: Depths,
    /// Write the page to FILE; a page that is not complete is written to FILE.partial; `-` is standard output
    #[arg(short, long, value_name = "FILE", required = true, help_heading = "Output")]
    output: PathBuf,
    /// Show also what changed since the scan OLD, a file that `dents scan -o` wrote. A tree is walked a second time for this
    #[arg(long, value_name = "OLD", help_heading = "Output")]
    since: Option<OsString>,
}

const AFTER_HELP: &str = "\
Examples:
  dents report -o home.html /home                           a page about a tree
  dents report -o home.html --from home.parquet             the same from a scan
  dents report -o home.html --from new.parquet --since old.parquet
                                                            with what changed between two scans
  dents report -o growth.html kept/home-*.parquet           growth over time, from all scans of a tree

Exit status: 0; 1 if something could not be read or written, or a scan is not complete; 2 for a wrong command line; 128 and the number of the \
signal that stopped it, 130 for Ctrl-C.";

/// The limits of the page: less than 6 MB, even if names have many characters that must be escaped.
const LIMITS: Limits = Limits { directories: 16_000, names: 1 << 20, files: 10_000, file_names: 1 << 19 };
/// The number of files in each list.
const FILES: usize = 500;
/// The tables by these keys.
const TABLES: &str = "user,group,extension,age,size";

/// The page, before it is written.
struct Page {
    span: Span,
    tables: Vec<Tally>,
    largest: Vec<Ranked>,
    oldest: Vec<Ranked>,
    tree: Tree,
    changes: Option<Changes>,
    series: Option<Series>,
}

pub(crate) fn run(args: &Args, session: &Session) -> Status {
    if let Err(error) = args.check() {
        return session.wrong(&error);
    }
    let filter = Filter::new(&args.filter, args.depths, None);
    // Created before the work, which may take hours.
    let output = match Output::create(&args.output) {
        Ok(output) => output,
        Err(error) => return failed(&error, session),
    };
    session.leave_out(output.own());
    let diagnostics = Diagnostics::begin(session);
    let (page, end, root_failed) = match args.page(&filter, &diagnostics) {
        Ok(page) => page,
        Err(status) => return status,
    };
    let completion = Completion::new(end, diagnostics);
    let is_whole = completion.is_whole() && !root_failed;
    completion.finish(|_| {
        let _hold = session.hold_for(&args.output);
        let mut out = BufWriter::with_capacity(1 << 16, output);
        html::write(&data::of(args, &page, &completion, is_whole), &mut out)?;
        out.flush()?;
        let output = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        let extent = if is_whole { Extent::Complete } else { Extent::Partial };
        if let Some(renamed) = output.commit(extent)?.filter(|_| !is_whole) {
            let quoted = message::quoted(renamed.as_os_str().as_bytes());
            session.say(&[b"the report is not complete; it is in ", &quoted[..]].concat());
        }
        Ok(())
    })
}

fn failed(error: &std::io::Error, session: &Session) -> Status {
    session.say(message::plain(error).as_bytes());
    Status::FAILURE
}

impl Args {
    /// Refuses options that exclude each other, and a report in place of a scan.
    fn check(&self) -> Result<(), String> {
        let given = self.walk.given();
        if self.since.is_some() {
            match (self.source.path(), given) {
                (None, _) if self.is_series() => {
                    return Err(
                        "--since compares two scans, and several PATHs are a series: use one of both".into(),
                    );
                }
                (Some(_), []) | (None, [] | [_]) => {}
                (Some(_), _) => return Err("--since compares whole scans: name no PATH beside --from".into()),
                (None, _) => return Err("--since compares a scan with one PATH".into()),
            }
        }
        let is_same = |one: &OsStr| {
            let real = |path: &Path| path.canonicalize().ok();
            real(Path::new(one)).is_some_and(|one| real(&self.output) == Some(one))
        };
        let series = if self.is_series() { given } else { &[] };
        let scans = [self.source.path(), self.since.as_deref()].into_iter().flatten();
        match scans.chain(series.iter().map(OsString::as_os_str)).find(|scan| is_same(scan)) {
            Some(scan) => {
                let name = message::quoted_text(scan.as_bytes());
                Err(format!("{name} is a scan, which the report would replace; name another file with -o"))
            }
            None => Ok(()),
        }
    }

    fn is_series(&self) -> bool {
        self.source.path().is_none() && series::is_series(self.walk.given())
    }

    /// Also returns how the work ended, and whether a PATH could not be read.
    fn page(&self, filter: &Filter<'_>, diagnostics: &Diagnostics<'_>) -> Result<(Page, End, bool), Status> {
        let needs = [Needs::TYPE, Needs::INODE, Needs::NLINK, Needs::SIZE, Needs::BLOCKS, Needs::UID];
        let needs = needs.into_iter().fold(Needs::GID | Needs::MTIME, |all, need| all | need);
        let (needs, must) = (NeedsByKind::all(needs), NeedsByKind::default());
        let (walk, source) = (&self.walk, &self.source);
        let job = Job { walk, source, filter, diagnostics, needs, must };
        let session = diagnostics.session();
        let (mut page, end, root_failed) = match source.file() {
            Some(file) => from_file(&job, file.open(session)?)?,
            None if self.is_series() => from_series(&job)?,
            None => from_tree(&job)?,
        };
        if let Some(old) = self.since.as_deref().filter(|_| end == End::Complete) {
            let new = self.source.path().or(self.walk.given().first().map(OsString::as_os_str));
            let scans = [old, new.unwrap_or(OsStr::new("."))];
            let changes = changes::between(scans, walk, source.is_partial(), filter, diagnostics);
            page.changes = Some(changes.map_err(|stop: Stop| match stop.report(session) {
                Status(signal) if signal >= 128 => Status(signal),
                _ => Status::FAILURE,
            })?);
        }
        Ok((page, end, root_failed))
    }
}

fn from_tree(job: &Job<'_>) -> Result<(Page, End, bool), Status> {
    let tables = tables();
    let overlap = Overlap::new(&job.walk.paths(), job.walk.follow());
    let links = Links::new(&tables, job.diagnostics.session().mounts_overlap());
    let mut must = job.must;
    if overlap.has_directories() {
        must |= NeedsByKind::of(dents_core::needs::Kind::Dir, Needs::TYPE | Needs::INODE);
    }
    let now = Now::live();
    let records = Records::new(now);
    let make =
        || Worker::new(Summer::new(Sums::new(&tables, now), &overlap, &links), FILES, &overlap, &records);
    let must_stop = || job.diagnostics.session().is_stopped() || records.have_failed();
    let special = Special { must_stop: &must_stop, ..Special::default() };
    let begun = Some(crate::time::start());
    let Gathered { consumers, end, root_failed, .. } = Job { must, ..*job }.walk(&special, make);
    let parts = parts(consumers, Sums::new(&tables, now));
    let span = Span { begun, ended: Some(dents_sink::time::now()) };
    Ok((page(job, span, parts, links, records)?, end, root_failed))
}

/// As for `dents stats`, files with several links are remembered to the end.
fn from_file(job: &Job<'_>, opened: Opened<'_>) -> Result<(Page, End, bool), Status> {
    let (tables, span) = (tables(), opened.span());
    let now = Now::recorded(opened.span());
    let (overlap, links) = (Overlap::new(&[], Follow::Never), Links::new(&tables, true));
    let records = Records::new(now);
    let must_stop = || records.have_failed();
    let columns = Columns::PATH | Columns::NAME | Columns::USER | Columns::GROUP;
    let way = Way { must_stop: &must_stop, ..Way::once(columns) };
    let make =
        || Worker::new(Summer::new(Sums::new(&tables, now), &overlap, &links), FILES, &overlap, &records);
    let Gathered { consumers, end, .. } = job.read(opened, &way, make)?;
    let parts = parts(consumers, Sums::new(&tables, now));
    Ok((page(job, span, parts, links, records)?, end, false))
}

/// The newest scan, with the sums of all.
fn from_series(job: &Job<'_>) -> Result<(Page, End, bool), Status> {
    if job.filter.reads_ignore_files() {
        let problem = "--gitignore needs the files that a scan does not have; use --exclude";
        return Err(job.diagnostics.session().wrong(problem));
    }
    // The PATHs beside a scan are parts of it.
    let (walk, paths) = (&job.walk.elsewhere(), job.walk.given());
    let job = Job { walk, ..*job };
    let series = series::of(&job, paths)?;
    let newest = series.scans.last().map(|scan| scan.path.clone());
    let source = &Source::new(newest, job.source.is_partial());
    let Some(file) = source.file() else { return Err(Status::FAILURE) };
    let (mut page, end, root_failed) =
        from_file(&Job { source, ..job }, file.open(job.diagnostics.session())?)?;
    page.series = Some(series);
    Ok((page, end, root_failed))
}

fn tables() -> Vec<By> {
    By::parse(TABLES).unwrap_or_default()
}

/// What the workers have found: the sums, the largest and the oldest files.
type Parts = (Sums, [Best; 2]);

fn parts(workers: Vec<Worker<'_>>, mut sums: Sums) -> Parts {
    let [mut largest, mut oldest] = [FILES; 2].map(Best::new);
    for worker in workers {
        sums.merge(worker.summer.sums);
        largest.merge(worker.largest.best);
        oldest.merge(worker.oldest.best);
    }
    (sums, [largest, oldest])
}

fn page(job: &Job<'_>, span: Span, parts: Parts, links: Links, records: Records) -> Result<Page, Status> {
    let (sums, [largest, oldest]) = parts;
    let tree = records.into_tree(LIMITS).map_err(|error| failed(&error, job.diagnostics.session()))?;
    let [largest, oldest] = [largest, oldest].map(Best::into_sorted);
    Ok(Page { span, tables: sums.into_tables(links), largest, oldest, tree, changes: None, series: None })
}
