//! One thread's part in reading ahead.

use super::{Ahead, Directory, SMALL, SMALL_AND_FAR, Small};
use crate::batch::Batch;
use crate::mounts::Mounts;
use crate::needs::NeedsByKind;
use crate::read::{Filter, Reader};
use crate::sort::{Collate, Order};
use crate::stat::{self, Asking, Means, Mode, Report, Threads, Workers};
use crate::team::Team;
use crate::watchdog::Watch;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::mem;
use dents_sys::stat::Mask;
use dents_sys::{CWD, Errno};

/// What is wanted of each directory.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Which entries.
    pub filter: &'a Filter,
    /// What must be known of them.
    pub needs: &'a NeedsByKind,
    /// Whether links are followed.
    pub follow: bool,
    /// In which order, unless that is found out elsewhere.
    pub order: Option<&'a Order>,
    /// Whether what is below them will be listed. Only with an order.
    pub recursive: bool,
}

/// Nobody: a helper asks alone. It must not be overtaken by others either, who would look for its directory by the number of
/// a descriptor that is its own.
struct Nobody;

impl Workers for Nobody {
    fn run(&self, _: usize, job: &(dyn Fn(usize) + Sync)) {
        job(0);
    }
}

/// What all threads have of the means.
#[derive(Clone, Copy)]
pub(super) struct Common<'a> {
    pub(super) workers: &'a dyn Workers,
    lazy: bool,
    watch: Option<&'static Watch>,
    far: bool,
}

impl<'a> Common<'a> {
    pub(super) fn of(means: &Means<'a>, far: bool) -> Common<'a> {
        Common { workers: means.workers, lazy: means.lazy, watch: means.threads.watching(), far }
    }
}

/// A thread that reads ahead, and what it needs for that.
pub struct Hand<'r> {
    wanted: Wanted<'r>,
    common: Common<'r>,
    collate: Option<Box<dyn Collate + 'r>>,
    alone: Threads,
    mounts: Mounts,
    buffer: Vec<u8>,
    desk: usize,
}

impl<'r> Hand<'r> {
    pub(super) fn new(
        wanted: Wanted<'r>,
        common: Common<'r>,
        collate: Option<Box<dyn Collate + 'r>>,
        worker: usize,
    ) -> Hand<'r> {
        let (alone, mounts) = (Threads::new(Some(1)), Mounts::default());
        // The first desk is the lister's.
        Hand { wanted, common, collate, alone, mounts, buffer: Vec::new(), desk: 1 + worker }
    }

    /// Whether each answer is a round trip.
    pub(super) fn is_far(&self) -> bool {
        self.common.far
    }

    /// Reads a directory, with the memory of one that has been shown.
    ///
    /// Costs what it costs anyhow: `openat`, `statx`, `getdents64` twice, `close`, and the questions of its entries.
    pub(super) fn read(&mut self, directory: &Directory, spare: Option<Box<Small>>) -> Ahead {
        let seat = self.common.watch.map(|watch| Seat::take(watch, self.desk, directory.path()));
        let ahead = self.open_and_read(directory, spare);
        if let Some(seat) = seat {
            seat.leave(&ahead);
        }
        ahead
    }

    fn open_and_read(&mut self, directory: &Directory, spare: Option<Box<Small>>) -> Ahead {
        let reader = match Reader::open(CWD, directory.path(), true) {
            Ok(reader) => reader,
            Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => return Ahead::Later,
            Err(errno) => return Ahead::Closed(errno),
        };
        let mut reader = reader.with_buffer(mem::take(&mut self.buffer));
        let small = spare.unwrap_or_else(|| {
            let batch = Batch::new(*self.wanted.needs);
            let (identity, report, ended) = (Err(Errno::NOENT), Report::default(), Ok(()));
            Box::new(Small { identity, batch, report, ended, order: None, below: None, kept: None })
        });
        let small = self.read_all(&mut reader, directory, small);
        self.buffer = reader.into_parts().1;
        small.map_or(Ahead::Later, Ahead::Small)
    }

    /// All of it, if it is small.
    fn read_all(
        &mut self,
        reader: &mut Reader,
        directory: &Directory,
        mut small: Box<Small>,
    ) -> Option<Box<Small>> {
        let Small { identity, batch, report, ended, order, below, .. } = &mut *small;
        *identity = dents_sys::stat::fstat(reader.dir(), Mask::INO).map(|statx| (statx.dev(), statx.ino()));
        batch.clear();
        let most = if self.common.far && self.wanted.needs.asks_any() { SMALL_AND_FAR } else { SMALL };
        *ended = loop {
            match reader.read(self.wanted.filter, batch) {
                Ok(true) if batch.len() > most => return None,
                Ok(true) => {}
                ended => break ended.map(drop),
            }
        };
        *report = self.fill(batch, reader);
        let mut places = order.take().unwrap_or_default();
        *order = self.wanted.order.map(|order| {
            let collate = self.collate.as_mut().map(|collate| &mut **collate as &mut dyn Collate);
            order.sort_into(&mut places, batch, collate, &Team::ALONE);
            places
        });
        let order = order.as_ref().filter(|_| self.wanted.recursive);
        *below = order.map(|order| Directory::all_below(directory.path(), batch, order));
        Some(small)
    }

    fn fill(&self, batch: &mut Batch, reader: &Reader) -> Report {
        let (Wanted { needs, follow, .. }, lazy) = (self.wanted, self.common.lazy);
        let (mode, threads, mounts) = (Mode::Auto, &self.alone, Some(&self.mounts));
        let means = Means { mode, threads, workers: &Nobody, mounts, rings: None, lazy, ledger: None };
        let asking = Asking { needs, follow, means: &means };
        stat::fill(batch, reader.dir(), &asking)
    }
}

/// Where somebody who looks on sees what is being read.
struct Seat(&'static Watch, usize);

impl Seat {
    fn take(watch: &'static Watch, desk: usize, path: &CStr) -> Seat {
        watch.begin(desk, path.to_bytes());
        Seat(watch, desk)
    }

    fn leave(self, ahead: &Ahead) {
        let entries = if let Ahead::Small(small) = ahead { small.batch.len() } else { 0 };
        self.0.add_read(entries);
        self.0.end(self.1, entries as u64);
    }
}
