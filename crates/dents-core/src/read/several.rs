//! One huge directory on all cores: several workers read it from different positions ([`dents_engine::order::spans`]).
//!
//! Each worker opens the directory again, because an open directory has one position. Inode locks are shared while a directory
//! is read, so two workers take half the time of one: measured on ext4, XFS and tmpfs of Linux 6.18.
//!
//! This needs file systems where an entry keeps its position, and where all readers meet entries that exist throughout in the same
//! order:
//!
//! - **ext4**: the position is the hash of the name (fs/ext4/dir.c, `hash2pos`), 63 bits. Names with equal hashes share it.
//!   Directories without an index have offsets instead; entries stay where they are.
//! - **XFS**: the offset of the entry in units of 8 bytes (fs/xfs/libxfs/xfs_dir2.h, `xfs_dir2_byte_to_dataptr`), cut to 31
//!   bits. Entries stay where they are.
//! - **tmpfs**, where it lists the newest entry first: a number that counts up (fs/libfs.c, `simple_offset_add`), so positions
//!   fall. A file that was renamed to an existing name has that name's position, at another place: positions identify entries, but
//!   are not quite in order. Kernels whose positions rise are left out: before 6.6 a position was the number of entries
//!   before, which changes.
//!
//! The position of an entry is the `d_off` of the record before. The entries come out in the order in which one worker reads them.
//!
//! Not on btrfs (the last position is not known), overlayfs, FUSE and network file systems (positions may change, or identify
//! nothing).
//!
//! A worker that cannot open the directory, or finds too few entries at its position, reads nothing: the others do its work.

#[cfg(test)]
mod tests;

use super::{Filter, Reader, getdents};
use crate::batch::Batch;
use crate::lock::Mutex;
use crate::watchdog::{READING, Watch};
use alloc::vec;
use alloc::vec::Vec;
use core::mem;
use dents_engine::crew::{Crew, Workers};
use dents_engine::limit::Limit;
use dents_engine::order::spans::{MARKS, Marks, Own, Spans, Task};
use dents_sys::dir::{self, Dirents};
use dents_sys::stat::{self, Flags, Mask};
use dents_sys::statfs::FsType;
use dents_sys::{AsFd, BorrowedFd, Errno, Result};

/// The threads that read.
pub(crate) struct Readers<'a> {
    pub(crate) workers: &'a dyn Workers,
    pub(crate) threads: usize,
    /// Shows the requests of the calling thread, and counts the names.
    pub(crate) watch: Option<&'static Watch>,
}

/// The positions of a directory.
#[derive(Clone, Copy)]
struct Positions {
    falling: bool,
    /// The highest that an entry can have, if they rise.
    last: i64,
}

impl Positions {
    /// Those of a directory that can be read from several positions.
    fn of(reader: &Reader) -> Option<Positions> {
        match reader.fs()? {
            FsType::EXT => Some(Positions { falling: false, last: i64::MAX }),
            FsType::TMPFS => Some(Positions { falling: true, last: 0 }),
            FsType::XFS => {
                let flags = Flags::EMPTY_PATH | Flags::DONT_SYNC;
                let size = stat::statx(reader.dir(), c"", flags, Mask::SIZE).ok()?.size();
                // In larger directories two entries can have the same position.
                let last = i32::try_from(size / 8).ok()?;
                Some(Positions { falling: false, last: last.into() })
            }
            _ => None,
        }
    }

    /// A number that rises.
    fn rising(self, off: i64) -> u64 {
        if self.falling { !(off as u64) } else { off as u64 }
    }

    fn off(self, rising: u64) -> i64 {
        (if self.falling { !rising } else { rising }) as i64
    }

    fn until(self) -> u64 {
        self.rising(self.last)
    }

    /// The positions behind the first and the last record read last, if nearly all of them rise.
    fn in_order(self, reader: &Reader) -> Option<(u64, u64)> {
        let mut rising = Dirents::new(reader.records()).map(|record| self.rising(record.off));
        let first = rising.next()?;
        let (mut last, mut all, mut falls) = (first, 1, 0);
        for position in rising {
            falls += usize::from(position < last);
            (last, all) = (position, all + 1);
        }
        (falls * 16 < all).then_some((first, last))
    }
}

/// The records of one buffer, each with the position of its entry. That of the first was in the buffer before.
struct Placed<'b> {
    records: Dirents<'b>,
    positions: Positions,
    next: u64,
}

impl<'b> Iterator for Placed<'b> {
    type Item = (u64, dir::Dirent<'b>);

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.records.next()?;
        Some((mem::replace(&mut self.next, self.positions.rising(record.off)), record))
    }
}

/// Reads a directory to its end, by several workers if its positions allow that. Costs beyond the reads: two system calls for the
/// file system and one for the size on XFS; each further worker opens the directory, and seeks for each split.
///
/// # Errors
/// Like [`Reader::read`].
pub(crate) fn read(
    reader: &mut Reader,
    filter: &Filter,
    batch: &mut Batch,
    readers: &Readers<'_>,
) -> Result<()> {
    let positions = if readers.threads > 1 { Positions::of(reader) } else { None };
    let Some((positions, (low, high))) = positions.and_then(|known| Some((known, known.in_order(reader)?)))
    else {
        while read_one(reader, filter, batch, readers.watch)? {}
        return Ok(());
    };
    let shared = Shared {
        positions,
        filter,
        spans: Spans::new((low, high), positions.until()),
        crew: Crew::new(Limit::fixed(), 1),
        done: Mutex::default(),
        watch: readers.watch,
    };
    let (dir, declared, room) = (reader.dir.as_fd(), batch.declared, reader.buffer.len());
    let own = Worker { shared: &shared, dir, seat: readers.watch, batch: mem::take(batch), next: high };
    let own = Mutex::new(Some((own, &mut reader.buffer)));
    readers.workers.run(readers.threads, &|number| {
        if number == 0 {
            let Some((worker, buffer)) = own.lock().take() else { return };
            worker.work(buffer, Some(0));
        } else if let Ok(again) = dir::open(dir, c".") {
            let batch = Batch::new(declared);
            let worker = Worker { shared: &shared, dir: again.as_fd(), seat: None, batch, next: 0 };
            worker.work(&mut vec![0; room], None);
        }
    });
    drop(own);
    shared.join(batch)
}

/// Reads one more buffer, like [`Reader::read`], and shows it at the lister's seat of a watch.
pub(crate) fn read_one(
    reader: &mut Reader,
    filter: &Filter,
    batch: &mut Batch,
    watch: Option<&'static Watch>,
) -> Result<bool> {
    let Some(watch) = watch else { return reader.read(filter, batch) };
    let before = batch.len();
    watch.begin(0, READING);
    let answer = reader.read(filter, batch);
    watch.end(0, 0);
    watch.add_read(batch.len() - before);
    answer
}

/// A directory that several workers read.
struct Shared<'s> {
    positions: Positions,
    filter: &'s Filter,
    spans: Spans,
    crew: Crew,
    done: Mutex<Vec<ReadSpan>>,
    watch: Option<&'static Watch>,
}

/// The entries of a span, and the error that ended it.
struct ReadSpan {
    span: usize,
    batch: Batch,
    ended: Result<()>,
}

impl Shared<'_> {
    /// Puts the entries together, up to the first error.
    fn join(self, batch: &mut Batch) -> Result<()> {
        let mut done = self.done.into_inner();
        for (nth, span) in self.spans.order().into_iter().enumerate() {
            let Some(part) = done.iter_mut().find(|part| part.span == span) else { continue };
            match nth {
                0 => *batch = mem::take(&mut part.batch),
                _ => batch.append_names(&mut part.batch),
            }
            part.ended?;
        }
        batch.whole()
    }
}

/// A worker, with an open directory of its own.
struct Worker<'w, 's> {
    shared: &'w Shared<'s>,
    dir: BorrowedFd<'w>,
    /// The lister's seat, if this is its thread.
    seat: Option<&'static Watch>,
    /// The entries of its span.
    batch: Batch,
    /// The position of the next record.
    next: u64,
}

impl Worker<'_, '_> {
    fn work(mut self, buffer: &mut [u8], mut own: Own) {
        let Shared { crew, spans, .. } = self.shared;
        let is_first = own.is_some();
        let execute = |own: &mut Own, task| match task {
            Task::Read(span) => match self.fill(buffer) {
                Ok([]) => self.finish(own, span, false, Ok(())),
                Ok(records) => self.take(own, span, records, 0),
                Err(errno) => self.finish(own, span, false, Err(errno)),
            },
            Task::Split { span, at } => self.split(own, span, at, buffer),
        };
        if is_first { crew.work_on(spans, &mut own, execute) } else { crew.work(spans, &mut own, execute) }
    }

    /// Reads one buffer of records: one `getdents64`.
    fn fill<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b [u8]> {
        self.seat.iter().for_each(|watch| watch.begin(0, READING));
        let answer = getdents(self.dir, buffer);
        self.seat.iter().for_each(|watch| watch.end(0, 0));
        answer.map(|filled| &buffer[..filled])
    }

    fn placed<'b>(&self, records: &'b [u8]) -> Placed<'b> {
        Placed { records: Dirents::new(records), positions: self.shared.positions, next: self.next }
    }

    /// Takes the records behind the first `skipped` into the span, up to a mark of the next span.
    fn take(&mut self, own: &mut Own, span: usize, records: &[u8], skipped: usize) {
        let Shared { spans, filter, watch, .. } = self.shared;
        let (before, mut low, mut high) = (self.batch.len(), u64::MAX, 0);
        self.batch.reserve(records.len());
        let mut placed = self.placed(records);
        for (position, record) in placed.by_ref().skip(skipped) {
            (low, high) = (low.min(position), high.max(position));
            filter.keep(&record, &mut self.batch);
        }
        let (next, is_malformed) = (placed.next, placed.records.malformed());
        let met = spans.advance(span, (low, high)).and_then(|marks| {
            let placed = self.placed(records).skip(skipped);
            let until = placed.enumerate().find(|(_, (position, _))| marks.binary_search(position).is_ok());
            until.map(|(nth, _)| nth)
        });
        self.next = next;
        if let Some(met) = met {
            let kept = |record: &dir::Dirent<'_>| filter.wants_record(record);
            let kept = Dirents::new(records).skip(skipped).take(met).filter(kept).count();
            self.batch.truncate(before + kept);
        }
        watch.iter().for_each(|watch| watch.add_read(self.batch.len() - before));
        match (met, is_malformed) {
            (Some(_), _) => self.finish(own, span, true, Ok(())),
            (None, true) => self.finish(own, span, false, Err(Errno::IO)),
            (None, false) => {}
        }
    }

    fn finish(&mut self, own: &mut Own, span: usize, has_met: bool, ended: Result<()>) {
        let declared = self.batch.declared;
        let batch = mem::replace(&mut self.batch, Batch::new(declared));
        self.shared.done.lock().push(ReadSpan { span, batch, ended });
        self.shared.spans.finish(own, has_met);
    }

    /// Reads one buffer at this position. If the split is refused, or the position cannot be read, nothing was read.
    fn split(&mut self, own: &mut Own, span: usize, at: u64, buffer: &mut [u8]) {
        let Shared { positions, spans, crew, .. } = self.shared;
        let records =
            dir::seek(self.dir, positions.off(at)).and_then(|()| self.fill(buffer)).unwrap_or_default();
        self.next = at;
        let marks = self.marks(records);
        if spans.split(own, span, at, marks.as_ref().map(|(_, marks)| marks), crew)
            && let (Some(span), Some((skipped, _))) = (*own, marks)
        {
            self.take(own, span, records, skipped);
        }
    }

    /// The marks in some records, and the number of records before the first of them. The first record is none, because its position
    /// is unknown. Of several entries with one position, only the first is one.
    fn marks(&self, records: &[u8]) -> Option<(usize, Marks)> {
        let (mut marks, mut skipped, mut found, mut highest) = ([0; MARKS], 0, 0, None);
        for (nth, (position, _)) in self.placed(records).enumerate().skip(1) {
            if highest.is_some_and(|highest| position > highest) {
                skipped = if found == 0 { nth } else { skipped };
                marks[found] = position;
                found += 1;
                if found == MARKS {
                    return Some((skipped, marks));
                }
            }
            highest = highest.max(Some(position));
        }
        None
    }
}
