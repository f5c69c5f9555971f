//! Reads an open directory into batches.

use super::{Reading, Source, Worker, place_of};
use crate::batch::Batch;
use crate::needs::Kind;
use crate::read::fills;
use crate::scandir::{self, Distrust};
use crate::stat::alone;
use crate::tree::shared::{Part, PartDirectory, Shared};
use crate::tree::visitor::{Piece, Visitor};
use crate::tree::{PIECE, open};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;
use dents_engine::limit::choose;
use dents_engine::limit::policy::{FIRST_REPLY, Lists};
use dents_sys::dir::{self, Dirents};
use dents_sys::stat::{self, Mask};
use dents_sys::{AsFd, BorrowedFd, Errno, clock};

/// Size of the buffer for `getdents64`.
const BUFFER: usize = 64 * 1024;

/// The number of entries whose answers are timed.
const FIRST: usize = 16;

/// Fewer entries than this are not joined to metadata read in bulk: to find out whether they may be costs a request, too.
const WORTH_JOINING: usize = 3;

/// Entries that are read at once where the link count may save their `statx`.
const MOST_BY_LINK_COUNT: usize = 1 << 18;

impl<S: Clone + Default + Send + Sync> Worker<S> {
    /// Reads the next piece of the open directory, and requests its metadata. Returns false if the walk ended
    /// meanwhile.
    pub(super) fn read<V: Visitor<State = S>>(&mut self, shared: &Shared<'_, S>, visitor: &mut V) -> bool {
        let Some(mut reading) = self.reading.take() else { return false };
        self.source = Source::Own;
        self.may_have_subdirectories = false;
        let unknown = self.show(shared, |worker| {
            let unknown = worker.read_names(&mut reading, PIECE, shared);
            let by_link_count = unknown && reading.pieces == 0 && shared.by_link_count.load(Relaxed);
            if by_link_count { worker.find_directories(&mut reading, shared) } else { unknown }
        });
        shared.options.watch.iter().for_each(|watch| watch.add_read(self.batch.len()));
        reading.piece = Piece { index: reading.pieces, last: reading.ended };
        reading.pieces += 1;
        let mut whole = true;
        if shared.asks || unknown || shared.follows() {
            let is_timed = shared.wants_latency() || reading.interleaves;
            whole = if is_timed && self.batch.len() > 2 * FIRST {
                self.ask_first(&mut reading, shared, visitor)
            } else {
                if !reading.interleaves {
                    self.publish_parts(&mut reading, shared);
                }
                self.ask(&reading, shared, visitor)
            };
        } else {
            // Only names and types are needed.
            shared.options.watch.iter().for_each(|watch| watch.add_answered(self.batch.len()));
        }
        self.reading = Some(reading);
        self.tally.entries += self.batch.len() as u64;
        whole
    }

    /// Requests the metadata of the batch.
    fn ask<V: Visitor<State = S>>(
        &mut self,
        reading: &Reading<S>,
        shared: &Shared<'_, S>,
        visitor: &mut V,
    ) -> bool {
        let dir = reading.dir.as_fd();
        self.sort(None, shared);
        let place = place_of(&reading.about, &self.path, reading.piece, Some(dir));
        let selected = visitor.select(&place, &self.batch, &reading.about.state);
        self.fill(None, (dir, reading.lists), (shared.follows(), selected), shared)
    }

    /// Measures the latency: requests the metadata of the first entries of a large batch. If each answer is a round trip, it leaves the other entries
    /// to all workers, else it continues with them.
    fn ask_first<V: Visitor<State = S>>(
        &mut self,
        reading: &mut Reading<S>,
        shared: &Shared<'_, S>,
        visitor: &mut V,
    ) -> bool {
        let rest = self.batch.split_off(FIRST);
        let (started, before) = (clock::monotonic_ns(), self.tally.requests);
        if !self.ask(reading, shared, visitor) {
            return false;
        }
        let latency_ns = (clock::monotonic_ns() - started) / (self.tally.requests - before).max(1);
        let first = core::mem::replace(&mut self.batch, rest);
        if choose::is_round_trip(latency_ns) {
            reading.interleaves = false;
            shared.set_latency(latency_ns);
            if self.deal(0, reading, shared) {
                self.batch = first;
                return true;
            }
        }
        if !shared.probing {
            shared.set_latency(latency_ns);
        }
        let whole = self.ask(reading, shared, visitor);
        let rest = core::mem::replace(&mut self.batch, first);
        self.batch.absorb(&rest, &(0..rest.len() as u32).collect::<Vec<u32>>());
        // The visitor selects from the whole batch.
        let place = place_of(&reading.about, &self.path, reading.piece, Some(reading.dir.as_fd()));
        visitor.select(&place, &self.batch, &reading.about.state);
        whole
    }

    /// Finds the directories among entries of unknown type by the link count, if it can be trusted. Reads the names
    /// again, because the link count must be older than the names. Returns whether some types are still unknown.
    fn find_directories(&mut self, reading: &mut Reading<S>, shared: &Shared<'_, S>) -> bool {
        // `fstatfs` and `statx`. The whole directory may be stat'ed at once, so this is not used under a rate.
        self.tally.requests += 2;
        let before = match scandir::link_count(reading.dir.as_fd()) {
            Ok(before) => before,
            Err(distrust) => {
                if distrust == Distrust::FileSystem {
                    shared.by_link_count.store(false, Relaxed);
                }
                return true;
            }
        };
        if dir::rewind(reading.dir.as_fd()).is_err() {
            return true;
        }
        reading.ended = false;
        let unknown = self.read_names(reading, MOST_BY_LINK_COUNT, shared);
        if !unknown || !reading.ended {
            return unknown;
        }
        let Some(savings) = scandir::find_directories(reading.dir.as_fd(), &mut self.batch, &before) else {
            return true;
        };
        self.tally.stats += savings.stats;
        self.tally.requests += savings.stats + savings.directory_stats;
        self.tally.avoided += savings.by_nlink;
        false
    }

    /// Reads to the end, or until the batch has `most` entries; one buffer, if reading and requests take turns. Returns whether a type is unknown.
    fn read_names(&mut self, reading: &mut Reading<S>, most: usize, shared: &Shared<'_, S>) -> bool {
        let options = &shared.options;
        let follow = shared.follows();
        let may_ask = |worker: &mut Self| shared.bounds.may_ask(&mut worker.clock, worker.tally.requests);
        let mut unknown = false;
        if self.buffer.is_empty() {
            self.buffer = vec![0; BUFFER];
        }
        self.batch.clear();
        while self.batch.len() < most && !reading.ended && may_ask(self) {
            self.tally.reads += 1;
            self.tally.requests += 1;
            let filled = match dir::getdents64(reading.dir.as_fd(), &mut self.buffer) {
                // The directory was removed while it was open: it has no entries.
                Err(Errno::NOENT) => 0,
                Ok(filled) => filled,
                Err(errno) => {
                    self.read_error = Some(errno);
                    0
                }
            };
            let mut records = Dirents::new(&self.buffer[..filled]);
            let (mut position, mut count) = (0, 0);
            for record in records.by_ref() {
                (position, count) = (record.off, count + 1);
                let kind = Kind::from_d_type(record.d_type);
                let kind = if options.distrust_d_type { Kind::Unknown } else { kind };
                let is_other = options.only.is_some_and(|only| !only.leads_to(record.ino));
                if is_other || !options.filter.wants(record.name.to_bytes(), kind) {
                    continue;
                }
                unknown |= kind == Kind::Unknown;
                self.may_have_subdirectories |= kind == Kind::Dir || (follow && kind == Kind::Link);
                self.batch.push(record.name, kind, record.ino);
            }
            if records.malformed() {
                self.read_error = Some(Errno::IO);
            }
            // A partly filled buffer does not mark the end: some file systems return fewer entries than fit. After the
            // greatest position there can be no further entry; ext4 uses it for the end (fs/ext4/dir.c,
            // EXT4_HTREE_EOF_64BIT).
            reading.ended = filled == 0 || position == i64::MAX || self.read_error.is_some();
            let is_full = fills(filled, self.buffer.len());
            if shared.asks && reading.pieces == 0 && (is_full || FIRST_REPLY.contains(&count)) {
                // A `statx`; `statmount` asks no file system.
                self.tally.requests += 1;
                let policy = shared.policy_of(reading.dir.as_fd());
                (reading.interleaves, reading.lists) = (policy.interleave, policy.lists);
            }
            if reading.interleaves {
                break;
            }
        }
        self.may_have_subdirectories |= unknown;
        unknown
    }

    /// Publishes parts of the batch, if other workers are idle or the directory has more entries.
    fn publish_parts(&mut self, reading: &mut Reading<S>, shared: &Shared<'_, S>) {
        let part = shared.part.load(Relaxed);
        let tasks = &shared.tasks;
        // Where each answer is a round trip, this worker would otherwise still make requests when all others have finished.
        let is_slow = choose::is_round_trip(shared.latency_ns.load(Relaxed));
        let wanted = tasks.workers() > 1 && (!reading.ended || is_slow || tasks.crew.has_idle());
        if wanted && self.batch.len() > part {
            self.deal(part, reading, shared);
        }
    }

    /// Publishes the entries of the batch from `keep` on as parts. Returns false if the directory cannot be identified.
    fn deal(&mut self, keep: usize, reading: &mut Reading<S>, shared: &Shared<'_, S>) -> bool {
        let part = shared.part.load(Relaxed);
        if reading.directory.is_none() {
            self.tally.requests += 1;
            let Ok(statx) = stat::fstat(reading.dir.as_fd(), Mask::INO) else { return false };
            let (path, about) = (self.path.as_slice().into(), reading.about.clone());
            let identity = (statx.dev(), statx.ino());
            reading.directory = Some(Arc::new(PartDirectory { path, about, identity, lists: reading.lists }));
        }
        let Some(directory) = &reading.directory else { return false };
        let ended = core::mem::replace(&mut reading.piece.last, false);
        let parts = (self.batch.len() - keep).div_ceil(part);
        for nth in (0..parts).rev() {
            let batch = self.batch.split_off(keep + nth * part);
            let piece = Piece { index: reading.pieces + nth as u32, last: ended && nth + 1 == parts };
            self.tally.dealt += 1;
            shared.tasks.push_part(Box::new(Part {
                directory: Arc::clone(directory),
                batch,
                piece,
                dir: None,
            }));
        }
        reading.pieces += parts as u32;
        true
    }

    /// Requests the metadata of a part. Returns false if the walk ended meanwhile.
    pub(super) fn fill_part<V: Visitor<State = S>>(
        &mut self,
        mut part: Box<Part<S>>,
        shared: &Shared<'_, S>,
        visitor: &mut V,
    ) -> bool {
        let mut made = 1;
        let opened = open::for_lookup(shared.options.at, &part.directory.path, &mut made).and_then(|dir| {
            let statx = stat::fstat(dir.as_fd(), Mask::INO)?;
            // Another directory replaced it.
            if (statx.dev(), statx.ino()) == part.directory.identity { Ok(dir) } else { Err(Errno::NOENT) }
        });
        self.tally.requests += made;
        let whole = match &opened {
            Ok(dir) => {
                let (dir, directory) = (dir.as_fd(), &part.directory);
                self.sort(Some(&mut part.batch), shared);
                let place = place_of(&directory.about, &directory.path, part.piece, Some(dir));
                let selected = visitor.select(&place, &part.batch, &directory.about.state);
                self.fill(Some(&mut part.batch), (dir, directory.lists), (shared.follows(), selected), shared)
            }
            Err(errno) => {
                part.batch.fail_all(*errno);
                self.tally.faults += part.batch.len() as u64;
                shared.options.watch.iter().for_each(|watch| watch.add_answered(part.batch.len()));
                true
            }
        };
        self.tally.entries += part.batch.len() as u64;
        self.may_have_subdirectories = true;
        part.dir = opened.ok();
        self.source = Source::Part(part);
        whole
    }

    /// Sorts a batch into the order of its requests.
    fn sort(&mut self, batch: Option<&mut Batch>, shared: &Shared<'_, S>) {
        if shared.by_inode {
            batch.unwrap_or(&mut self.batch).sort_by_inode();
        }
    }

    /// Requests the metadata of `batch`, or of the worker's own, that names and types do not answer. `which` tells
    /// whether links are followed, and which entries are selected.
    pub(super) fn fill(
        &mut self,
        batch: Option<&mut Batch>,
        (dir, lists): (BorrowedFd<'_>, Lists),
        which: (bool, Option<&[bool]>),
        shared: &Shared<'_, S>,
    ) -> bool {
        let shown = shared.options.watch.map(|watch| (watch, self.seat()));
        let batch = batch.unwrap_or(&mut self.batch);
        let bulk = shared.bulk.as_ref().filter(|_| batch.len() >= WORTH_JOINING);
        self.tally.requests += u64::from(bulk.is_some());
        let bulk = bulk.filter(|bulk| bulk.covers(dir));
        let (clock, before) = (&mut self.clock, self.tally.requests);
        let go_on = |made: u64| shared.bounds.may_ask(clock, before + made);
        let (tally, whole) = alone::fill(
            batch,
            (dir, lists),
            &shared.needs,
            which,
            (shared.options.counter, shown),
            bulk,
            go_on,
        );
        shown.iter().for_each(|(watch, _)| watch.add_answered((tally.avoided + tally.joined) as usize));
        self.tally.requests += tally.stats + tally.links + tally.xattrs;
        self.tally.stats += tally.stats;
        self.tally.avoided += tally.avoided;
        self.tally.joined += tally.joined;
        self.tally.faults += tally.faults;
        whole
    }
}
