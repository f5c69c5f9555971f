//! Rows in the order of their paths, of any number, in bounded memory.
//!
//! ```text
//! Row ─► Worker ─► frames ─┐                      ┌─► range ─► rows in order
//! Row ─► Worker ─► frames ─┼─► Sorter ─► runs ─► Sorted ─► range ─► rows in order
//! Row ─► Worker ─► frames ─┘   16 MiB    sorted   └─► range ─► rows in order
//! ```
//!
//! Paths are compared bytewise. So all entries below a directory `P` are together, from `P/` on and before `P0`.
//!
//! - Each [`Worker`](block::Worker) encodes rows as a journal does (`coding.rs`), sorts those of a directory by name (`block.rs`), and passes them on
//!   as frames (`frame.rs`).
//! - The [`Sorter`] collects the frames of all workers. When they have [`RUN`] bytes, the worker that added the last frame sorts them
//!   (`merge.rs`) and writes them to a temporary file as a run (`run.rs`), while the other workers continue. With more workers, each has
//!   a smaller share of [`SHARES`], so neither the number of runs nor the memory grows with the number of workers. A small scan never
//!   writes a file.
//! - [`Sorted`] divides the paths into ranges with about equally many rows. Threads take ranges; each merges its range from all runs.
//!
//! The merge works on frames, not on rows: usually all rows of a directory came at once, and are together in one run. So a row costs one
//! comparison of names, or none.
//!
//! Where paths are long, a run has no marks and [`Sorted`] no ranges: then one thread merges all rows (`windows.rs`).
//!
//! The temporary file has no name: it is removed directly after it was created, so its space is free when the process ends in any way.

mod block;
mod frame;
mod merge;
mod run;
#[cfg(test)]
mod tests;
mod windows;

use crate::output::{Scratch, Temporary};
use crate::row::Row;
use frame::{Frame, damaged};
use merge::{Receive, Source, merge};
use run::{Mark, Run, Storage, Writer};
use std::borrow::Cow;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use windows::merge_all;

/// Bytes of frames that are sorted at once. While a run is written, the next one is collected.
const RUN: usize = 16 << 20;
/// Bytes that all workers together keep before they pass them on. Each worker may keep at least [`LEAST`].
const SHARES: usize = 2 << 20;
const LEAST: usize = 4 << 10;
const MOST: usize = 128 << 10;
/// Runs that are merged at once. If there are more, several are merged into one first.
const RUNS: usize = 256;

/// [`RUN`] and [`RUNS`], which tests make smaller.
#[derive(Clone, Copy)]
struct Limits {
    run: usize,
    runs: usize,
}

/// Collects rows, and sorts them.
pub(crate) struct Sorter {
    scratch: Scratch,
    limits: Limits,
    workers: AtomicUsize,
    frames: Mutex<Vec<u8>>,
    /// Held while a run is written.
    spilled: Mutex<Spilled>,
}

/// The runs in the temporary file.
#[derive(Default)]
struct Spilled {
    file: Option<Temporary>,
    runs: Vec<Run>,
    /// The buffer of the previous run, for the next one. If one thread freed it and another allocated it, it would stay in the memory of
    /// both (glibc keeps blocks of this size in an arena for each thread).
    spare: Vec<u8>,
}

impl Spilled {
    fn end(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.end)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sorter {
    pub(crate) fn new(scratch: Scratch) -> Self {
        Sorter::within(Limits { run: RUN, runs: RUNS }, scratch)
    }

    fn within(limits: Limits, scratch: Scratch) -> Self {
        let (workers, frames, spilled) = (AtomicUsize::new(0), Mutex::default(), Mutex::default());
        Sorter { scratch, limits, workers, frames, spilled }
    }

    /// Bytes that a worker may keep.
    fn share(&self) -> usize {
        (SHARES / self.workers.load(Relaxed).max(1)).clamp(LEAST, MOST)
    }

    /// Takes frames from a worker. If they fill a run, the worker writes it.
    fn take(&self, frames: &mut Vec<u8>) -> io::Result<()> {
        let is_full = |all: &[u8]| all.len() >= self.limits.run;
        let mut all = lock(&self.frames);
        if all.capacity() == 0 {
            // Memory that is not used yet costs nothing. To grow the buffer would copy it.
            all.reserve_exact(self.limits.run + self.limits.run / 8);
        }
        all.append(frames);
        if !is_full(&all) {
            return Ok(());
        }
        drop(all);
        // One run at a time: the other workers wait here when the next one is full too.
        let mut spilled = lock(&self.spilled);
        let mut all = lock(&self.frames);
        if !is_full(&all) {
            return Ok(());
        }
        let mut run = std::mem::replace(&mut *all, std::mem::take(&mut spilled.spare));
        drop(all);
        self.spill(&run, &mut spilled)?;
        run.clear();
        spilled.spare = run;
        Ok(())
    }

    fn spill(&self, frames: &[u8], spilled: &mut Spilled) -> io::Result<()> {
        let end = spilled.end();
        let file = match &mut spilled.file {
            Some(file) => file,
            none => none.insert(self.scratch.create()?),
        };
        let (run, _) = sort(frames, Writer::new(Some(file), end))?;
        spilled.runs.push(run);
        Ok(())
    }

    /// Ends the collection, after all workers were flushed.
    pub(crate) fn finish(self) -> io::Result<Sorted> {
        let frames = std::mem::take(&mut *lock(&self.frames));
        let mut spilled = std::mem::take(&mut *lock(&self.spilled));
        if spilled.runs.is_empty() {
            let (run, memory) = sort(&frames, Writer::new(None, 0))?;
            return Ok(Sorted { runs: vec![run], storage: Storage::Memory(memory) });
        }
        self.spill(&frames, &mut spilled)?;
        drop(frames);
        let Spilled { file, mut runs, spare } = spilled;
        drop(spare);
        let mut storage = file.map_or(Storage::Memory(Vec::new()), Storage::File);
        while runs.len() > self.limits.runs {
            (runs, storage) = self.fewer(&runs, &storage)?;
        }
        Ok(Sorted { runs, storage })
    }

    /// Merges each [`RUNS`] runs into one, in another file.
    fn fewer(&self, runs: &[Run], storage: &Storage) -> io::Result<(Vec<Run>, Storage)> {
        let file = self.scratch.create()?;
        let mut fewer: Vec<Run> = Vec::new();
        for some in runs.chunks(self.limits.runs) {
            let mut writer = Writer::new(Some(&file), fewer.last().map_or(0, |run| run.end));
            merge_all(some, storage, &mut writer)?;
            fewer.push(writer.finish()?.0);
        }
        Ok((fewer, Storage::File(file)))
    }
}

/// Sorts frames, each of which is sorted.
fn sort(frames: &[u8], mut writer: Writer<'_>) -> io::Result<(Run, Vec<u8>)> {
    merge::sort(frames, &mut writer)?;
    writer.finish()
}

/// All rows, in sorted runs.
pub(crate) struct Sorted {
    runs: Vec<Run>,
    storage: Storage,
}

/// The rows from a path on and before another.
pub(crate) struct Range {
    from: Option<Box<[u8]>>,
    to: Option<Box<[u8]>>,
}

impl Range {
    fn bounds(&self) -> (Option<&[u8]>, Option<&[u8]>) {
        (self.from.as_deref(), self.to.as_deref())
    }
}

impl Sorted {
    /// Consecutive ranges that have all rows together. All have about the same number of rows, which is at most about `rows`. `None` if
    /// paths are so long that only [`Self::all`] takes bounded memory.
    pub(crate) fn ranges(&self, rows: u64) -> Option<Vec<Range>> {
        ranges(&self.runs, rows)
    }

    /// Passes all rows on in order.
    pub(crate) fn all(&self, give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>) -> io::Result<()> {
        merge_all(&self.runs, &self.storage, &mut Give { give })
    }

    /// Passes the rows of a range on in order. Its rows are in memory meanwhile, and up to 64 KiB around them from each run.
    pub(crate) fn each(
        &self,
        range: &Range,
        give: &mut dyn FnMut(&Row<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        merge_range(&self.runs, &self.storage, range, &mut Give { give })
    }
}

/// Divides the rows by the marks of all runs, which are about 600 rows apart.
fn ranges(runs: &[Run], rows: u64) -> Option<Vec<Range>> {
    let marks: Vec<&Vec<Mark>> = runs.iter().map(|run| run.marks.as_ref()).collect::<Option<_>>()?;
    let mut marks: Vec<&Mark> = marks.into_iter().flatten().collect();
    marks.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let total: u64 = marks.iter().map(|mark| mark.rows).sum();
    let count = total.div_ceil(rows);
    let mut ranges = Vec::new();
    let (mut before, mut from) = (0, None);
    for mark in marks {
        let begin = u128::from(total) * (ranges.len() as u128 + 1) / u128::from(count.max(1));
        if u128::from(before) >= begin && from.as_ref() != Some(&mark.path) {
            let to = Some(mark.path.clone());
            ranges.push(Range { from: std::mem::replace(&mut from, to.clone()), to });
        }
        before += mark.rows;
    }
    if total > 0 {
        ranges.push(Range { from, to: None });
    }
    Some(ranges)
}

fn merge_range(runs: &[Run], storage: &Storage, range: &Range, out: &mut dyn Receive) -> io::Result<()> {
    let parts = runs.iter().map(|run| run.part(range.bounds()));
    let parts: Vec<Cow<'_, [u8]>> = parts.map(|part| storage.read(part)).collect::<io::Result<_>>()?;
    let sources = parts.iter().enumerate().map(|(number, part)| Source::new(part, b"", number));
    let sources: Vec<Option<Source<'_>>> = sources.collect::<io::Result<_>>()?;
    merge(sources.into_iter().flatten().collect(), range.bounds(), out)
}

/// Passes the rows of frames on one by one.
struct Give<'g> {
    give: &'g mut dyn FnMut(&Row<'_>) -> io::Result<()>,
}

impl Receive for Give<'_> {
    fn frame(&mut self, frame: &Frame<'_>, path: &[u8]) -> io::Result<()> {
        let mut rows = frame.rows.clone();
        (0..frame.count).try_for_each(|_| {
            let row = rows.row().ok_or_else(damaged)?;
            (self.give)(&Row { parent: path, ..row })
        })
    }

    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        (self.give)(row)
    }
}
