//! One worker's writer: collects the rows of one piece of a directory, and appends them as a frame.

use super::segment::{Segment, at};
use super::{Journal, frame};
use crate::bytes::{put_bytes, put_number};
use crate::coding::{Before, put_row};
use crate::dir::{Named, PRIVATE};
use crate::row::Row;
use crate::sink::Part;
use dents_core::tree::{Failure, Place, Problem};
use std::fs::File;
use std::io::{self, Write};
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// When the last write is longer ago than this, the end of a piece writes all frames in memory.
const LATEST: Duration = Duration::from_secs(1);

/// Writes the rows of one worker. For each batch, call [`Writer::directory`], then [`Part::row`] for each row, then
/// [`Writer::enters`] for each subdirectory. For each failure, call [`Writer::failed`] and pass its row. In the end, call
/// [`Part::flush`].
///
/// A piece ends when the next begins, and counts only then. So a visitor that stops the walk in the middle of a piece, in
/// `Visitor::entries` or `Visitor::descend`, must drop the writer without flushing it; the next run walks that directory again.
/// After an error the writer writes nothing more.
pub struct Writer<'j> {
    journal: &'j Journal,
    number: u32,
    /// Created with the first write, because many workers may have nothing to write.
    file: Option<File>,
    /// Frames that were not written yet.
    out: Vec<u8>,
    written: Instant,
    /// Bytes of the file.
    bytes: u64,
    open: Option<Open>,
    before: Before,
    /// The open piece: its directory, the subdirectories that are entered, its rows.
    head: Vec<u8>,
    entered: Vec<u8>,
    rows: Vec<u8>,
    broken: bool,
}

/// The open piece.
struct Open {
    path: Vec<u8>,
    depth: u32,
    entered: u64,
    rows: u64,
}

impl Journal {
    /// A writer, for one worker. Its file is created with its first write.
    #[must_use]
    pub fn writer(&self) -> Writer<'_> {
        Writer::new(self, self.writers.fetch_add(1, Relaxed))
    }
}

impl<'j> Writer<'j> {
    fn new(journal: &'j Journal, number: u32) -> Self {
        Writer {
            journal,
            number,
            file: None,
            out: Vec::new(),
            written: Instant::now(),
            bytes: 0,
            open: None,
            before: Before::default(),
            head: Vec::new(),
            entered: Vec::new(),
            rows: Vec::new(),
            broken: false,
        }
    }

    /// Begins a piece: the rows that follow belong to this batch.
    ///
    /// # Errors
    /// An error of writing the previous piece.
    pub fn directory(&mut self, place: &Place<'_>) -> io::Result<()> {
        self.begin(place.path, place.depth, place.piece.index, place.piece.last)
    }

    /// Records that the walk enters a subdirectory of the last batch. Returns false if the directory is complete in the journal, so
    /// that the walk need not enter it. Call it only if all other conditions hold.
    pub fn enters(&mut self, name: &[u8]) -> bool {
        let Some(open) = &mut self.open else { return true };
        open.entered += 1;
        put_bytes(&mut self.entered, name);
        !self.journal.has(&open.path, name, open.depth + 1)
    }

    /// Records a directory that failed; a row with the error follows. A directory that cannot be opened is complete with that row.
    ///
    /// # Errors
    /// An error of writing the previous piece.
    pub fn failed(&mut self, failure: &Failure<'_>) -> io::Result<()> {
        let same = |open: &Open| open.path == failure.path && open.depth == failure.depth;
        // A failure of reading comes after the entries, to the same visitor.
        if failure.problem == Problem::Read && self.open.as_ref().is_some_and(same) {
            return Ok(());
        }
        self.begin(failure.path, failure.depth, 0, true)
    }

    fn begin(&mut self, path: &[u8], depth: u32, piece: u32, last: bool) -> io::Result<()> {
        self.end()?;
        self.head.clear();
        frame::About { path, depth, piece, last }.put(&mut self.head);
        self.entered.clear();
        self.rows.clear();
        self.before.forget();
        let mut kept = self.open.take().map_or_else(Vec::new, |open| open.path);
        kept.clear();
        kept.extend_from_slice(path);
        self.open = Some(Open { path: kept, depth, entered: 0, rows: 0 });
        Ok(())
    }

    /// Ends the open piece.
    fn end(&mut self) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        put_number(&mut self.head, open.entered);
        // The number of rows comes after the names.
        put_number(&mut self.entered, open.rows);
        open.entered = 0;
        let now = Instant::now();
        let time = now.duration_since(self.journal.opened).as_millis();
        let time = u32::try_from(time).unwrap_or(u32::MAX);
        if !frame::put(&mut self.out, time, &[&self.head, &self.entered, &self.rows]) {
            let path = String::from_utf8_lossy(&open.path).into_owned();
            return Err(io::Error::other(format!("{path}: more than 4 GiB in one piece of a directory")));
        }
        let full = self.out.len() >= self.journal.options.buffer;
        if full || now.duration_since(self.written) >= LATEST { self.write(now) } else { Ok(()) }
    }

    /// One `write`; the first time also `openat`; with [`Options::sync`](super::Options::sync) also `fdatasync`.
    fn write(&mut self, now: Instant) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("the journal could not be written before"));
        }
        let segment = Segment { run: self.journal.run, writer: self.number };
        let file = segment.file(&self.journal.directory.dir)?;
        let sync = self.journal.options.sync;
        let result = self.append(&file, sync);
        self.broken = result.is_err();
        self.out.clear();
        self.written = now;
        result.map_err(|error| at(&file.path(), error))
    }

    fn append(&mut self, named: &Named, sync: bool) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let file = named.create(PRIVATE)?;
                if sync {
                    named.dir().sync()?;
                }
                none.insert(file)
            }
        };
        file.write_all(&self.out)?;
        self.bytes += self.out.len() as u64;
        if sync { file.sync_data() } else { Ok(()) }
    }
}

impl Part for Writer<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        let Some(open) = &mut self.open else {
            return Err(io::Error::other("a row for the journal without a directory"));
        };
        open.rows += 1;
        put_row(&mut self.rows, row, &open.path, open.depth, &mut self.before);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end()?;
        self.open = None;
        if self.out.is_empty() { Ok(()) } else { self.write(Instant::now()) }
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if self.open.is_some() || !self.out.is_empty() || self.broken {
            self.journal.lossy.store(true, Relaxed);
        }
        let mut written = self.journal.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.push((self.number, self.bytes));
    }
}
