//! Runs: sorted frames in a file or in memory, with marks for finding a range of paths.

use super::frame::{Builder, Frame, put_frame};
use super::merge::Receive;
use crate::bytes::in_common;
use crate::output::Temporary;
use crate::row::Row;
use std::borrow::Cow;
use std::io;

/// Bytes of frames from one mark to the next.
const MARK: u64 = 32 << 10;
/// The part of a run that the paths of its marks may take, beside 64 KiB.
const SHARE: u64 = 64;
/// The least length of a path that is encoded as a difference. Shorter ones are left as they are, which takes less time.
const LONG: usize = 256;
/// Bytes of one write.
const WRITE: usize = 256 << 10;

/// A sorted run.
pub(super) struct Run {
    /// Its start.
    pub(super) begin: u64,
    /// None if its paths are so long that marks would take more than a [`SHARE`] of the run in memory.
    pub(super) marks: Option<Vec<Mark>>,
    /// The end of the run.
    pub(super) end: u64,
}

/// The start of a frame of a run.
pub(super) struct Mark {
    /// The path of the first row.
    pub(super) path: Box<[u8]>,
    pub(super) at: u64,
    /// Rows up to the next mark.
    pub(super) rows: u64,
}

impl Run {
    /// The part of the run that has all rows from a path on and before another.
    pub(super) fn part(&self, (from, to): (Option<&[u8]>, Option<&[u8]>)) -> (u64, u64) {
        let marks = self.marks.as_deref().unwrap_or_default();
        let at = |mark: usize| marks.get(mark).map_or(self.end, |mark| mark.at);
        let begin = from.map_or(0, |from| marks.partition_point(|mark| *mark.path < *from));
        let end = to.map_or(marks.len(), |to| marks.partition_point(|mark| *mark.path < *to));
        (at(begin.saturating_sub(1)), at(end))
    }
}

/// Writes a run: to a file, or only to memory.
pub(super) struct Writer<'w> {
    file: Option<&'w Temporary>,
    /// The bytes that were not written yet, and their offset.
    out: Vec<u8>,
    at: u64,
    begin: u64,
    marks: Option<Vec<Mark>>,
    /// Bytes of the paths of all marks.
    paths: u64,
    /// The path of the last frame; empty if the next one shares nothing with it.
    last: Vec<u8>,
    /// The directory of the rows in the builder.
    path: Vec<u8>,
    builder: Builder,
}

impl<'w> Writer<'w> {
    pub(super) fn new(file: Option<&'w Temporary>, at: u64) -> Self {
        let (out, marks, builder) = (Vec::new(), Some(Vec::new()), Builder::default());
        Writer { file, out, at, begin: at, marks, paths: 0, last: Vec::new(), path: Vec::new(), builder }
    }

    /// The run, and its bytes if there is no file.
    pub(super) fn finish(mut self) -> io::Result<(Run, Vec<u8>)> {
        self.end_frame()?;
        self.write()?;
        let end = self.at + self.out.len() as u64;
        Ok((Run { begin: self.begin, marks: self.marks, end }, self.out))
    }

    /// Adds a mark at this position, if the last mark is far enough. A reader may begin there, so the frame has its whole path.
    fn mark(&mut self, row: &Row<'_>) {
        let at = self.at + self.out.len() as u64;
        let Some(marks) = &mut self.marks else { return };
        if marks.last().is_none_or(|last| at - last.at >= MARK) {
            let mut path = Vec::new();
            row.path(&mut path);
            self.paths += path.len() as u64;
            self.last.clear();
            marks.push(Mark { path: path.into(), at, rows: 0 });
            if self.paths > (64 << 10) + (at - self.begin) / SHARE {
                self.marks = None;
            }
        }
    }

    fn count(&mut self, rows: u64) -> io::Result<()> {
        if let Some(mark) = self.marks.as_mut().and_then(|marks| marks.last_mut()) {
            mark.rows += rows;
        }
        if self.out.len() >= WRITE { self.write() } else { Ok(()) }
    }

    fn end_frame(&mut self) -> io::Result<()> {
        if self.builder.is_empty() {
            return Ok(());
        }
        let path = std::mem::take(&mut self.path);
        let shared = self.share(&path);
        let rows = self.builder.end((&path, shared), &mut self.out);
        self.path = path;
        self.count(rows)
    }

    /// The number of bytes that the path of the next frame shares with that of the last one, which it becomes.
    fn share(&mut self, path: &[u8]) -> usize {
        let shared = if path.len() < LONG { 0 } else { in_common(&self.last, path) };
        self.last.truncate(shared);
        self.last.extend_from_slice(&path[shared..]);
        shared
    }

    fn write(&mut self) -> io::Result<()> {
        let Some(file) = self.file else { return Ok(()) };
        file.write_all_at(&self.out, self.at)?;
        self.at += self.out.len() as u64;
        self.out.clear();
        Ok(())
    }
}

impl Receive for Writer<'_> {
    fn frame(&mut self, frame: &Frame<'_>, path: &[u8]) -> io::Result<()> {
        self.end_frame()?;
        if let Some(first) = frame.rows.clone().row() {
            self.mark(&Row { parent: path, ..first });
        }
        let shared = self.share(path);
        put_frame(&mut self.out, (path, shared), frame.depth, frame.count, frame.rows.bytes.0);
        self.count(frame.count)
    }

    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        if self.builder.is_empty() || self.builder.is_full() || self.path != row.parent {
            self.end_frame()?;
            self.mark(row);
            self.path.clear();
            self.path.extend_from_slice(row.parent);
            self.builder.begin(row.depth);
        }
        self.builder.row(row);
        Ok(())
    }
}

/// The storage of the bytes of runs.
pub(super) enum Storage {
    Memory(Vec<u8>),
    File(Temporary),
}

impl Storage {
    pub(super) fn read(&self, (start, end): (u64, u64)) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Storage::Memory(bytes) => Ok(bytes[start as usize..end as usize].into()),
            Storage::File(file) => {
                let mut bytes = vec![0; (end - start) as usize];
                file.read_exact_at(&mut bytes, start)?;
                Ok(bytes.into())
            }
        }
    }
}
