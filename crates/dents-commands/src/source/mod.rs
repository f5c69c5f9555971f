//! The sources of entries: a tree, or a scan file instead. The filters apply to both.
//!
//! ```text
//! tree ─► walk ─► Live ─┐   names and types, then statx of entries that passed, then facts
//!                       ├─► Consumer, one a worker
//! file ─► read ─► Rows ─┘   the directories above, names and types, facts
//! ```

mod bulk;
mod changed;
mod directory_facts;
mod live;
mod root;
mod rows;

use crate::consumer::Consumer;
use crate::filter::Filter;
use crate::message::counted;
use crate::output::Diagnostics;
use crate::session::{Session, Status};
use crate::walk::Walk;
pub(crate) use changed::subvolumes;
use dents::Threads;
use dents_core::bulk::{Subvolume, Usage, When};
use dents_core::needs::{Kind, NeedsByKind};
use dents_core::read::{Filter as Names, Hidden};
use dents_core::tree::{self, End, Failure, Options, Order, StartPoint, Tally};
use dents_render::quantity::grouped;
use dents_render::record::words::of_kind;
use dents_sink::Extent;
use dents_sink::journal::Journal;
use dents_sink::read::{self, Columns, Reader, RowGroups, Span, Wanted};
use dents_sys::host;
use directory_facts::DirectoryFacts;
use live::Live;
use rows::Rows;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// The options of the source.
#[derive(clap::Args)]
#[group(skip)]
pub struct Source {
    /// Read a file that `dents scan -o` wrote, instead of a tree; PATHs are then parts of the scan
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "The walk",
        conflicts_with_all = ["follow", "follow_paths", "rate", "timeout", "bulk", "gitignore"]
    )]
    from: Option<OsString>,
    /// Accept a FILE of an incomplete scan without a warning, with exit status 0
    #[arg(long, requires = "from", help_heading = "The walk")]
    partial: bool,
    /// Show on standard error the order of the tests, and their cost
    #[arg(long, help_heading = "The walk")]
    explain: bool,
}

/// The work of a command, for all workers together.
pub struct Job<'j> {
    /// The options of the walk.
    pub walk: &'j Walk,
    /// The options of a scan file.
    pub source: &'j Source,
    /// The filters.
    pub filter: &'j Filter<'j>,
    /// Messages and progress.
    pub diagnostics: &'j Diagnostics<'j>,
    /// The needs of the command for entries that pass.
    pub needs: NeedsByKind,
    /// Its needs for entries that do not pass.
    pub must: NeedsByKind,
}

/// What a walk leaves over, for another one. All workers share it.
pub trait Budget: Sync {
    /// Counts the entries of a batch.
    fn met(&self, entries: usize);

    /// Whether this directory is left over.
    fn leaves(&self, parent: &[u8], name: &CStr, depth: u32) -> bool;

    /// Whether a directory that could not be opened is left over.
    fn leaves_failed(&self, failure: &Failure<'_>) -> bool;

    /// Whether the walk ends, because of this failure.
    fn gives_up(&self, failure: &Failure<'_>) -> bool;
}

/// Options of a walk that a command sets beside its [`Job`].
pub struct Special<'s> {
    /// The operands; those of the command line by default.
    pub(crate) paths: Option<&'s [CString]>,
    /// Resumes from a journal.
    pub(crate) journal: Option<&'s Journal>,
    /// Begins at these directories too.
    pub(crate) start_points: &'s [StartPoint],
    /// Leaves directories over.
    pub(crate) budget: Option<&'s dyn Budget>,
    /// Whether device and times are read.
    pub(crate) extra: bool,
    pub(crate) workers: Option<usize>,
    /// Whether types are counted.
    pub(crate) counts: bool,
    /// Whether links to a directory above, and links in a circle, are left out, and loops of mounts reported.
    pub(crate) leaves_out_loops: bool,
    /// Whether the command shows nothing but the sums of all files.
    pub(crate) usage_suffices: bool,
    pub(crate) must_stop: &'s (dyn Fn() -> bool + Sync),
}

impl Default for Special<'_> {
    fn default() -> Self {
        Special {
            paths: None,
            journal: None,
            start_points: &[],
            budget: None,
            extra: true,
            workers: None,
            counts: false,
            leaves_out_loops: false,
            usage_suffices: false,
            must_stop: &|| false,
        }
    }
}

impl<'s> Special<'s> {
    /// These operands, in the place of those of the command line.
    pub fn of_paths(paths: &'s [CString]) -> Special<'s> {
        Special { paths: Some(paths), ..Special::default() }
    }
}

/// The result, with the consumers after they have finished.
pub struct Gathered<C> {
    /// One of each worker.
    pub consumers: Vec<C>,
    /// How the work ended.
    pub end: End,
    /// The counts of a walk.
    pub tally: Tally,
    /// Entries by type, if they were counted.
    pub kinds: [u64; 16],
    /// Whether a PATH could not be opened, or not read to its end.
    pub root_failed: bool,
    /// The sums of all files, if they suffice and were read in bulk: consumers got some entries or none.
    pub usage: Option<Usage>,
    /// Whether the file has the whole scan; `None` if it does not say.
    pub extent: Option<Extent>,
}

impl Job<'_> {
    /// Passes the entries of a tree to consumers.
    pub fn walk<C: Consumer>(&self, special: &Special<'_>, make: impl Fn() -> C + Sync) -> Gathered<C> {
        let (filter, follows) = (self.filter, self.walk.follows());
        let mut options = self.options(special);
        self.explain(options.needs);
        let plan = live::Plan {
            filter,
            diagnostics: self.diagnostics,
            must: self.must,
            follows,
            mounts_loop: options.mounts_loop,
            leaves_out_loops: special.leaves_out_loops,
            counts: special.counts,
            must_stop: special.must_stop,
            own: self.diagnostics.session().own(),
            budget: special.budget,
            root_failed: AtomicBool::new(false),
        };
        let of_command_line = self.walk.paths();
        let paths = special.paths.unwrap_or(&of_command_line);
        let mut operands: Vec<&CStr> = paths.iter().map(CString::as_c_str).collect();
        let mut start_points = special.start_points;
        if let Some(journal) = special.journal {
            operands = journal.operands(&operands);
            start_points = journal.start_points();
        }
        let changed = self.changed(&operands, special);
        options.only = changed.as_ref();
        // Other file systems have other inode numbers.
        options.one_file_system |= changed.is_some();
        let make = |_| Live::new(&plan, make());
        let outcome = tree::walk_on(&operands, start_points, &options, &Threads, make);
        let (mut tally, mut kinds) = (outcome.tally, [0; 16]);
        let mut consumers = Vec::with_capacity(outcome.visitors.len());
        for mut one in outcome.visitors {
            one.consumer.finish();
            kinds.iter_mut().zip(one.kinds).for_each(|(all, some)| *all += some);
            tally.faults += one.faults;
            consumers.push(one.consumer);
        }
        if self.source.explain {
            let Tally { entries, stats, directories, joined, .. } = tally;
            let session = self.diagnostics.session();
            session.say(format!("bulk: {}", bulk::report(outcome.bulk, joined)).as_bytes());
            if outcome.order == Order::Inode {
                session.say(b"order: one worker, as the directories are on the disk, because it rotates");
            }
            let entries = counted(entries, "entry", "entries");
            let directories = counted(directories, "directory", "directories");
            let cost = format!("cost: {} statx for {entries}; {directories} read", grouped(stats));
            session.say(cost.as_bytes());
        }
        let root_failed = plan.root_failed.load(Relaxed);
        Gathered {
            consumers,
            end: outcome.end,
            tally,
            kinds,
            root_failed,
            usage: outcome.usage,
            extent: None,
        }
    }

    fn options(&self, special: &Special<'_>) -> Options<'_> {
        let needs = self.filter.needs(self.needs, self.walk.follows()) | self.must;
        let mut options = self.walk.options(needs, self.diagnostics.session());
        options.max_depth = self.filter.max_depth();
        options.extra = special.extra || self.filter.reads_extra();
        options.workers = special.workers.or(options.workers);
        let takes_all = self.filter.wants_all(0) && options.max_depth == u32::MAX;
        options.usage_suffices = special.usage_suffices && takes_all;
        if options.bulk == When::Auto && !self.suits_bulk(&options) {
            options.bulk = When::Never;
        }
        if self.filter.hides() {
            options.filter = Names { hidden: Hidden::Skip, ..Names::default() };
        }
        if needs.any().is_empty() {
            // The visitor checks the same flag before each directory. Without a flag the walk may use link counts to find directories
            // where `readdir` gives no types.
            options.cancel = None;
        }
        options
    }

    /// Whether most entries below a directory need metadata, and the user may read it in bulk.
    fn suits_bulk(&self, options: &Options<'_>) -> bool {
        let reads_most = !self.filter.selects() && options.max_depth == u32::MAX;
        options.needs.asks(Kind::Reg) && reads_most && host::effective_user_at_start() == 0
    }

    fn explain(&self, needs: NeedsByKind) {
        if self.source.explain {
            self.filter.explain().iter().for_each(|line| self.diagnostics.session().say(line.as_bytes()));
            let needs = Kind::KNOWN.into_iter().filter(|kind| needs.asks(*kind));
            let kinds: Vec<&str> = needs.map(of_kind).collect();
            let kinds = if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") };
            let line = format!(
                "types whose entries cost a statx, if they pass the tests of names and types: {kinds}"
            );
            self.diagnostics.session().say(line.as_bytes());
        }
    }

    /// Passes the entries of a scan file to consumers. At the end one line reports the number of entries that the scan could not read, and
    /// another that the file is partial. An error of the file itself ends the command.
    pub fn read<C: Consumer>(
        &self,
        opened: Opened<'_>,
        way: &Way<'_>,
        make: impl Fn() -> C + Sync,
    ) -> Result<Gathered<C>, Status> {
        self.explain(self.needs);
        let Opened { file, reader } = opened;
        let directory_facts = DirectoryFacts::of(self, file)?;
        let plan = rows::Plan::new(self, &directory_facts, way, file.may_be_partial);
        let below = plan.paths();
        let wanted = Wanted { columns: self.columns(way), below: &below };
        if self.source.explain {
            let RowGroups { read, skipped } = reader.row_groups(&wanted);
            self.diagnostics
                .session()
                .say(format!("cost: {read} row groups read, {skipped} skipped").as_bytes());
        }
        let workers = if way.in_order { 1 } else { self.walk.workers() };
        let mut consumers: Vec<C> = (0..workers).map(|_| make()).collect();
        let unchecked = reader.unchecked();
        // The consumers are borrowed, so that an interrupted command can show its results so far.
        let mut lent = consumers.iter_mut();
        let taker = |_| Rows::new(&plan, lent.next().expect("no more takers than workers"));
        let outcome = reader.read(&wanted, workers, taker).map(|(_, extent)| extent);
        let (extent, end) = match outcome {
            Ok(extent) => (extent, End::Complete),
            Err(_) if self.diagnostics.session().is_stopped() => (None, End::Cancelled),
            Err(_) if (way.must_stop)() => (None, End::Stopped),
            Err(error) => {
                self.diagnostics.session().say(error.to_string().as_bytes());
                return Err(Status::FAILURE);
            }
        };
        consumers.iter_mut().for_each(C::finish);
        if end == End::Complete {
            plan.report(file.path);
            if unchecked.is_some_and(|unchecked| unchecked.load(Relaxed)) {
                self.diagnostics.unchecked(file.path);
            }
            if extent != Some(Extent::Complete) {
                self.diagnostics.partial(file.path, extent, file.may_be_partial);
            }
        }
        let (tally, kinds) = (Tally::default(), [0; 16]);
        Ok(Gathered { consumers, end, tally, kinds, root_failed: false, usage: None, extent })
    }

    /// The columns that the command and the filters read.
    fn columns(&self, way: &Way<'_>) -> Columns {
        let columns = way.columns | Columns::of(self.needs.any() | self.filter.facts());
        let by_path =
            self.filter.reads_names() || self.walk.one_file_system() || !self.walk.given().is_empty();
        if by_path { columns | Columns::PATH } else { columns }
    }
}

/// How a scan file is read.
pub struct Way<'w> {
    /// The columns that the command reads beside those of its needs: names.
    pub(crate) columns: Columns,
    /// Under which of several PATHs an entry counts.
    pub(crate) below: Below,
    /// Whether rows must come in the order of the file; then there is one worker.
    pub(crate) in_order: bool,
    pub(crate) must_stop: &'w (dyn Fn() -> bool + Sync),
}

/// Under which PATHs an entry counts that is below several of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    /// Under each of them, as with `find`.
    Every,
    /// Under the nearest, as in a walk that begins at all of them.
    Nearest,
    /// Under the farthest, so that all entries of a directory count under the same PATH.
    Farthest,
    /// Under the PATH at this position only.
    Only(usize),
    /// Under the PATH at this position, unless it is below an earlier PATH too.
    First(usize),
}

impl Way<'_> {
    /// In any order, each entry once.
    pub fn once(columns: Columns) -> Way<'static> {
        Way { columns, below: Below::Nearest, in_order: false, must_stop: &|| false }
    }
}

/// The scan file that was named.
#[derive(Clone, Copy)]
pub struct File<'a> {
    path: &'a OsStr,
    may_be_partial: bool,
}

impl Source {
    /// A scan file or a tree, for a command that has no option `--from`.
    pub(crate) fn new(from: Option<OsString>, partial: bool) -> Source {
        Source { from, partial, explain: false }
    }

    /// The path of the file, if there is one.
    pub fn path(&self) -> Option<&OsStr> {
        self.from.as_deref()
    }

    /// Whether incomplete scans are accepted.
    pub(crate) fn is_partial(&self) -> bool {
        self.partial
    }

    /// The file, if there is one.
    pub fn file(&self) -> Option<File<'_>> {
        self.from.as_deref().map(|path| File { path, may_be_partial: self.partial })
    }
}

/// A scan file, opened.
pub struct Opened<'a> {
    file: File<'a>,
    reader: Reader,
}

impl<'a> File<'a> {
    /// Opens the file, and reports errors.
    pub fn open(self, session: &Session) -> Result<Opened<'a>, Status> {
        Ok(Opened { file: self, reader: self.reader(session)? })
    }

    fn reader(self, session: &Session) -> Result<Reader, Status> {
        read::open_until(Path::new(self.path), session.stop_flag()).map_err(|error| {
            session.say(error.to_string().as_bytes());
            Status::FAILURE
        })
    }

    /// Whether it can be read twice.
    pub(crate) fn is_stream(self) -> bool {
        use std::os::unix::fs::FileTypeExt;
        let fifo = || std::fs::metadata(self.path).is_ok_and(|there| there.file_type().is_fifo());
        self.path == "-" || fifo()
    }
}

impl Opened<'_> {
    /// The details that the file has.
    pub(crate) fn details(&mut self) -> Columns {
        self.reader.details()
    }

    /// The subvolumes where the scan began, if the file has them.
    pub(crate) fn subvolumes(&self) -> Vec<Subvolume> {
        self.reader.subvolumes()
    }

    /// Start and end of the scan, as far as the file has them.
    pub(crate) fn span(&self) -> Span {
        self.reader.span()
    }
}
