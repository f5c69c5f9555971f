//! What is to be read, and how: the values that a command passes to its source.

use crate::filter::Filter;
use crate::output::Diagnostics;
use crate::session::{Session, Status};
use crate::walk::Walk;
use dents_core::bulk::{Subvolume, Usage};
use dents_core::needs::NeedsByKind;
use dents_core::tree::{End, Failure, StartPoint, Tally};
use dents_sink::Extent;
use dents_sink::journal::Journal;
use dents_sink::read::{self, Columns, Reader, Span};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::path::Path;

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
    pub(super) from: Option<OsString>,
    /// Accept a FILE of an incomplete scan without a warning, with exit status 0
    #[arg(long, requires = "from", help_heading = "The walk")]
    pub(super) partial: bool,
    /// Look each entry up again, and leave out what has another inode or was changed since the scan, with a message that counts it. Paths are
    /// looked up as they are in FILE
    #[arg(long, requires = "from", help_heading = "The walk")]
    pub(super) verify: bool,
    /// Show on standard error the order of the tests, and their cost
    #[arg(long, help_heading = "The walk")]
    pub(super) explain: bool,
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
    pub(super) path: &'a OsStr,
    pub(super) may_be_partial: bool,
}

impl Source {
    /// A scan file or a tree, for a command that has no option `--from`.
    pub(crate) fn new(from: Option<OsString>, partial: bool) -> Source {
        Source { from, partial, verify: false, explain: false }
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
    pub(super) file: File<'a>,
    pub(super) reader: Reader,
}

impl<'a> File<'a> {
    /// Opens the file, and reports errors.
    pub fn open(self, session: &Session) -> Result<Opened<'a>, Status> {
        Ok(Opened { file: self, reader: self.reader(session)? })
    }

    pub(super) fn reader(self, session: &Session) -> Result<Reader, Status> {
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
