//! A scan that survives `kill -9`: each worker writes its rows to a file of its own first, and they go into the output only when
//! the walk is complete. When a killed scan is run again, it keeps the complete directories of that file and walks the rest.
//!
//! ```text
//! walk ─► Writer ─► segment ─┐                    run 1, killed
//! walk ─► Writer ─► segment ─┤
//!                            ├─► recover ─► walk from where it stopped ─► segments     run 2
//!                            └─────────────── replay ◄──────────────────────┘
//!                                                └─► Sink, renamed when whole ─► the journal is removed
//! ```
//!
//! The result is that of an undisturbed scan: each directory once. A killed scan loses the rows that its workers had not written yet: up
//! to 256 KiB for each worker, or the directories of a second. The next run walks these directories again.
//!
//! **What is written** (`frame.rs`, `../coding.rs`): one frame for each piece of a directory that a visitor received, with a length and a
//! CRC-32. A frame says which piece of which directory it is, and has the rows and the names of the subdirectories that the walk enters.
//! These names record the decision (depth, file system, filters), even if no row shows those directories. An incomplete frame is
//! dropped, with all frames after it in its segment. No run appends to a segment of an earlier run. So the pieces of one directory are
//! always from one run.
//!
//! **What it costs.** A journal takes 50 to 100 bytes for each entry on disk, and one `write` for each 256 KiB. It makes no `fsync`, because
//! data that the kernel received by `write` survives `kill`; [`Options::sync`] is for power failures. Measured on /usr (157,518 entries with
//! all facts but owners, two workers, a busy machine): 52 bytes for each entry; the walk took 1.13 s instead of 1.07 s (medians of 5), opening
//! the journal again 0.03 s, replaying it 0.04 s. While it scans, a worker has 256 KiB and one piece of a directory in memory. To resume a scan
//! takes one pass over the journal, with 60 bytes for each directory of the frontier (`recover.rs`), then the paths of the directories where
//! the walk resumes. Memory does not grow with the number of entries or of complete directories.
//!
//! Directories are identified by keys of 128 bits (`key.rs`).
//!
//! ```no_run
//! use dents_sink::journal::{Journal, Options, Scan};
//! use dents_sink::{About, Extent, Format, create};
//! use std::path::Path;
//! # fn walk(_: &[&std::ffi::CStr], _: &[dents_core::tree::StartPoint], _: &Journal) -> std::io::Result<bool> { Ok(true) }
//! # fn main() -> std::io::Result<()> {
//! let scan = Scan { options: "-x", paths: &[c"/data"], subvolumes: &[] };
//! let journal = Journal::open(Path::new("/var/tmp/scan-of-data"), &scan, Options::default())?;
//! // With a `Writer` for each visitor: `journal.writer()`.
//! let complete = walk(&journal.operands(scan.paths), journal.start_points(), &journal)?;
//! if complete {
//!     let about = About {
//!         program: "example",
//!         begun: journal.started(),
//!         ended: None,
//!         timestamps: Default::default(),
//!         index: false,
//!         details: Default::default(),
//!         subvolumes: journal.subvolumes(),
//!     };
//!     let sink = create(Path::new("data.parquet"), Format::Parquet, &about)?;
//!     let mut part = sink.part();
//!     journal.replay(&mut *part)?;
//!     part.flush()?;
//!     drop(part);
//!     sink.finish(Extent::Complete)?;
//!     journal.finish()?;
//! }
//! # Ok(())
//! # }
//! ```

mod directory;
mod error;
pub(crate) mod frame;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod key;
mod recover;
pub(crate) mod segment;
mod writer;

pub use directory::Scan;
pub use error::Error;
pub use writer::Writer;

use crate::row::Row;
use crate::sink::Part;
use dents_core::batch::Time;
use dents_core::bulk::Subvolume;
use dents_core::tree::StartPoint;
use directory::{Directory, Header, without_slash};
use recover::Found;
use segment::Segment;
use std::ffi::CStr;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// Options of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Wait until the data is on the disk, to survive power failures: one `fdatasync` for each `write`.
    pub sync: bool,
    /// Bytes that a worker collects before it writes them.
    pub buffer: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { sync: false, buffer: 256 * 1024 }
    }
}

/// A scan's journal, in a directory that this process has locked.
pub struct Journal {
    directory: Directory,
    header: Header,
    options: Options,
    /// The number of this run, counted from 1.
    run: u32,
    opened: Instant,
    found: Found,
    writers: AtomicU32,
    /// Whether a writer was dropped with rows that it had not written.
    lossy: AtomicBool,
    /// The number of each writer of this run and the bytes that it wrote, once it was dropped.
    written: Mutex<Vec<(u32, u64)>>,
    /// The segments that are replayed, and the number of those that were taken.
    segments: OnceLock<Vec<Segment>>,
    dealt: AtomicUsize,
}

impl Journal {
    /// Opens the journal in `dir`, which is made if it does not exist, and reads it in one pass.
    ///
    /// # Errors
    /// Each names a remedy: the journal is in use, or belongs to another scan, another tree of the same name, another format; the
    /// directory contains other files; a path was given twice; a file could not be read or written.
    pub fn open(dir: &Path, scan: &Scan<'_>, options: Options) -> Result<Journal, Error> {
        for (index, path) in scan.paths.iter().enumerate() {
            if scan.paths[..index].iter().any(|other| without_slash(other) == without_slash(path)) {
                return Err(Error::Twice { path: (*path).to_owned() });
            }
        }
        let directory = Directory::lock(dir)?;
        let header = directory.header(scan)?;
        let segments = directory.segments()?;
        let found = recover::recover(&directory.dir, &segments, &header.keys)?;
        Ok(Journal {
            run: segments.last().map_or(0, |segment| segment.run) + 1,
            directory,
            header,
            options,
            opened: Instant::now(),
            found,
            writers: AtomicU32::new(0),
            lossy: AtomicBool::new(false),
            written: Mutex::default(),
            segments: OnceLock::new(),
            dealt: AtomicUsize::new(0),
        })
    }

    /// The paths that the walk must begin with: all, or none if an earlier run has walked them.
    #[must_use]
    pub fn operands<'a>(&self, paths: &[&'a CStr]) -> Vec<&'a CStr> {
        if self.found.operands { Vec::new() } else { paths.to_vec() }
    }

    /// The directories where the walk must resume, for [`dents_core::tree::walk_on`].
    #[must_use]
    pub fn start_points(&self) -> &[StartPoint] {
        &self.found.start_points
    }

    /// The number of directories that were complete when the journal was opened: 0 for a new scan.
    #[must_use]
    pub fn directories(&self) -> u64 {
        self.found.directories
    }

    /// Bytes at the ends of segments that were dropped when it was opened: incomplete frames of a scan that was killed.
    #[must_use]
    pub fn torn(&self) -> u64 {
        self.found.torn
    }

    /// The start of the scan, by the clock of that time.
    #[must_use]
    pub fn started(&self) -> Time {
        self.header.started
    }

    /// The subvolumes of btrfs where the scan began, as they were before its start.
    #[must_use]
    pub fn subvolumes(&self) -> &[Subvolume] {
        &self.header.subvolumes
    }

    /// Whether an earlier run began the scan.
    #[must_use]
    pub fn resumed(&self) -> bool {
        self.header.resumed
    }

    /// Whether a directory was complete before this run.
    fn has(&self, parent: &[u8], name: &[u8], depth: u32) -> bool {
        !self.found.early.is_empty()
            && self.found.early.contains(&self.header.keys.child(parent, name, depth))
    }

    /// Passes the rows of all directories to an output. Call it after the end of the walk, when all writers are flushed and dropped.
    /// Several threads may call it at once, each with a part of its own; they share the segments. Returns the number of rows that this
    /// call passed on. It does not flush the part.
    ///
    /// # Errors
    /// An error of reading the journal, or of the output; or a writer was not flushed; or a file of this run has lost bytes. A client
    /// of a server sends what was written later, so a full disk there is no error of `write`.
    pub fn replay(&self, part: &mut dyn Part) -> io::Result<u64> {
        if self.lossy.load(Relaxed) {
            let why = "the journal does not contain the whole scan: run it again to resume";
            return Err(io::Error::other(format!("{}: {why}", self.directory.dir.path().display())));
        }
        let segments = match self.segments.get() {
            Some(segments) => segments,
            None => {
                let segments = self.directory.segments()?;
                self.segments.get_or_init(|| segments)
            }
        };
        let mut rows = 0;
        while let Some(segment) = segments.get(self.dealt.fetch_add(1, Relaxed)) {
            let Journal { directory, header, found, .. } = self;
            let (written, mut row) = (self.written(segment), |row: &Row<'_>| part.row(row));
            rows += recover::replay(&directory.dir, (segment, written), &header.keys, &found.void, &mut row)?;
        }
        Ok(rows)
    }

    /// The bytes that this run wrote to a segment.
    fn written(&self, segment: &Segment) -> u64 {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own =
            written.iter().filter(|(writer, _)| (self.run, *writer) == (segment.run, segment.writer));
        own.next().map_or(0, |(_, bytes)| *bytes)
    }

    /// Removes the journal, when the output is complete. If the process is killed meanwhile, the scan is either done or can be resumed.
    ///
    /// # Errors
    /// A file that could not be removed.
    pub fn finish(self) -> io::Result<()> {
        self.directory.clear().map_err(io::Error::from)
    }
}
