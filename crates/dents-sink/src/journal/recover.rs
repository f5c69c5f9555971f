//! Reads a journal: which directories are complete, and where the scan must resume.
//!
//! A directory is complete when one run has written all of its pieces: 0 to the last. If pieces are missing, the directory is *void* in
//! that run: it is read again, and its rows are never replayed. Two sets decide the rest:
//!
//! - *waiting*: directories that were entered from a complete directory and are not complete. The walk resumes at these.
//! - *early*: complete directories whose parent is not complete (another worker had taken them and wrote them first). The parent is
//!   read again, and must not lead into them a second time.
//!
//! The frames are read in the order in which they were written, over all segments of a run. So a directory enters *waiting*
//! with the frame of its parent, and leaves it with its own: the memory at any time is the frontier of that time, about 60
//! bytes for each directory.

use super::Error;
use super::frame::Frame;
use super::key::{Key, KeyMap, KeySet, Keys};
use super::segment::{Frames, Segment};
use crate::dir::Dir;
use dents_core::tree::StartPoint;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::CString;
use std::io;
use std::path::Path;

/// The result.
#[derive(Default)]
pub(super) struct Found {
    /// Whether the operands are complete.
    pub(super) operands: bool,
    /// The number of complete directories, without the batch of operands.
    pub(super) directories: u64,
    pub(super) start_points: Vec<StartPoint>,
    pub(super) early: KeySet,
    /// Directories of which pieces are missing, and the run that wrote the others.
    pub(super) void: Void,
    /// Bytes of incomplete frames.
    pub(super) torn: u64,
}

pub(super) type Void = std::collections::HashSet<(u32, Key)>;

/// The position of the frame that names a directory: segment and offset.
type Spot = (u32, u64);

/// A directory that is written in pieces.
#[derive(Default)]
struct Partial {
    pieces: u32,
    /// The number of pieces, if the last one was read.
    all: Option<u32>,
    entered: Vec<(Key, Spot)>,
}

struct Balance<'k> {
    keys: &'k Keys,
    waiting: KeyMap<Spot>,
    partial: KeyMap<Partial>,
    found: Found,
}

/// Reads all segments.
pub(super) fn recover(dir: &Dir, segments: &[Segment], keys: &Keys) -> Result<Found, Error> {
    let mut balance =
        Balance { keys, waiting: KeyMap::default(), partial: KeyMap::default(), found: Found::default() };
    for run in segments.chunk_by(|one, other| one.run == other.run) {
        let first = segments.partition_point(|segment| segment.run < run[0].run);
        balance.run(dir, run, first as u32)?;
    }
    let Balance { waiting, mut found, .. } = balance;
    found.start_points = start_points(dir, segments, keys, waiting)?;
    Ok(found)
}

impl Balance<'_> {
    /// Reads the segments of one run, with the frames of all segments in the order of time. `first` is the number of the first segment.
    fn run(&mut self, dir: &Dir, segments: &[Segment], first: u32) -> Result<(), Error> {
        let mut sources = Vec::with_capacity(segments.len());
        let mut next = BinaryHeap::new();
        for (index, segment) in segments.iter().enumerate() {
            let mut frames = segment.frames(dir).map_err(Error::Io)?;
            next.extend(frames.peek().map_err(Error::Io)?.map(|time| Reverse((time, index))));
            sources.push(frames);
        }
        while let Some(Reverse((_, index))) = next.pop() {
            let frames = &mut sources[index];
            let file = frames.path();
            if let Some(found) = frames.next().map_err(Error::Io)? {
                let frame = Frame::parse(found.payload).ok_or(Error::Damaged { file })?;
                self.frame(&frame, (first + index as u32, found.offset));
                next.extend(frames.peek().map_err(Error::Io)?.map(|time| Reverse((time, index))));
            }
        }
        self.found.torn += sources.iter().map(Frames::torn).sum::<u64>();
        // Directories that are not complete at the end of a run are read again by the next run.
        let run = segments[0].run;
        self.found.void.extend(self.partial.drain().map(|(key, _)| (run, key)));
        Ok(())
    }

    fn frame(&mut self, frame: &Frame<'_>, spot: Spot) {
        let about = &frame.about;
        let key = self.keys.of(about.path, about.depth);
        let child = |name: &&[u8]| (self.keys.child(about.path, name, about.depth + 1), spot);
        if about.piece == 0 && about.last {
            let entered: Vec<_> = frame.entered.iter().map(child).collect();
            return self.complete(key, about.depth, &entered);
        }
        let partial = self.partial.entry(key).or_default();
        partial.pieces += 1;
        partial.entered.extend(frame.entered.iter().map(child));
        if about.last {
            partial.all = Some(about.piece + 1);
        }
        if partial.all == Some(partial.pieces) {
            let partial = self.partial.remove(&key).unwrap_or_default();
            self.complete(key, about.depth, &partial.entered);
        }
    }

    fn complete(&mut self, key: Key, depth: u32, entered: &[(Key, Spot)]) {
        if depth == 0 {
            self.found.operands = true;
        } else {
            self.found.directories += 1;
            if self.waiting.remove(&key).is_none() {
                self.found.early.insert(key);
            }
        }
        for (child, spot) in entered {
            if !self.found.early.remove(child) {
                self.waiting.insert(*child, *spot);
            }
        }
    }
}

/// The paths of waiting directories: reads the frames that name them again.
fn start_points(
    dir: &Dir,
    segments: &[Segment],
    keys: &Keys,
    waiting: KeyMap<Spot>,
) -> Result<Vec<StartPoint>, Error> {
    let mut spots: Vec<Spot> = waiting.values().copied().collect();
    spots.sort_unstable();
    spots.dedup();
    let mut start_points = Vec::with_capacity(waiting.len());
    let mut open: Option<(u32, Frames)> = None;
    for (number, offset) in spots {
        let segment = &segments[number as usize];
        let mut frames = match open.take() {
            Some((same, frames)) if same == number => frames,
            _ => segment.frames(dir).map_err(Error::Io)?,
        };
        frames.go_to(offset);
        let file = frames.path();
        let damaged = || Error::Damaged { file: file.clone() };
        let found = frames.next().map_err(Error::Io)?.ok_or_else(damaged)?;
        let frame = Frame::parse(found.payload).ok_or_else(damaged)?;
        let depth = frame.about.depth + 1;
        for name in &frame.entered {
            if waiting.contains_key(&keys.child(frame.about.path, name, depth)) {
                let name = CString::new(*name).map_err(|_| damaged())?;
                start_points.push(StartPoint { parent: frame.about.path.to_vec(), name, depth });
            }
        }
        open = Some((number, frames));
    }
    Ok(start_points)
}

/// Passes the rows of all complete directories of a segment to `row`. Returns their number. The segment has at least as many bytes of
/// complete frames as `written` says.
pub(super) fn replay(
    dir: &Dir,
    (segment, written): (&Segment, u64),
    keys: &Keys,
    void: &Void,
    row: &mut dyn FnMut(&crate::Row<'_>) -> io::Result<()>,
) -> io::Result<u64> {
    let mut frames = segment.frames(dir)?;
    let file = frames.path();
    let damaged = || io::Error::from(Error::Damaged { file: file.clone() });
    let mut given = 0;
    while let Some(found) = frames.next().map_err(|error| of_reading(&file, error))? {
        let frame = Frame::parse(found.payload).ok_or_else(damaged)?;
        let about = &frame.about;
        let whole = about.piece == 0 && about.last;
        if !whole && void.contains(&(segment.run, keys.of(about.path, about.depth))) {
            continue;
        }
        let (mut rows, count) = frame.rows();
        for _ in 0..count {
            row(&rows.row().ok_or_else(damaged)?)?;
        }
        given += count;
    }
    if frames.offset() < written { Err(lost(&file)) } else { Ok(given) }
}

/// An error of reading what was written before. The client of a server may believe that a file is longer than the server's.
fn of_reading(file: &Path, error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::UnexpectedEof { lost(file) } else { error }
}

/// Bytes that `write` took are not there.
fn lost(file: &Path) -> io::Error {
    let why = "the disk has lost rows that were written to it, and may be full: free some space, then run the scan again to resume";
    io::Error::new(io::ErrorKind::StorageFull, format!("{}: {why}", file.display()))
}
