//! A walk in a fixed order: each directory comes directly before or directly after its contents.
//!
//! The calling thread enters one directory after the other. In a tree that is worth it, threads of a pool read the next ones ahead
//! (`ahead.rs`).

use crate::ahead::{Ahead, Directory, Found, OFFERED, Place, WORTH};
use crate::entry::Block;
use crate::filter::State;
use crate::read_dir::read;
use crate::{Entry, Error, Walk};
use dents_core::batch::Batch as Core;
use dents_core::needs::Kind;
use dents_core::read::Reader;
use dents_core::stat::{self, Mode, Resources, Threads as Count};
use dents_core::tree::{self, End};
use dents_sys::stat::{self as sys, Mask};
use dents_sys::{AsFd, BorrowedFd, CWD, Errno, OwnedFd, clock};
use std::sync::Arc;

/// Open directories, so that entries are opened relative to them, not by the whole path.
const OPEN: usize = 10;

pub(crate) type Device = (u32, u32);

pub(crate) struct Ordered {
    walk: Arc<Walk>,
    deadline_ns: Option<u64>,
    next_request_ns: u64,
    levels: Vec<Level>,
    /// Yielded before the next entry: the errors of the directory just entered.
    pending: Vec<Error>,
    begun: bool,
    /// Whether the last level is the directory that [`Ordered::skip_current_dir`] means.
    can_skip: bool,
    /// Directories that were entered, until it is decided whether others are read ahead.
    entered: usize,
    ahead: Option<Arc<Ahead>>,
    /// Of directories that the caller reads ahead.
    buffer: Vec<u8>,
}

/// A directory on the path to the current entry, or one that was read ahead.
pub(crate) struct Level {
    block: Arc<Block>,
    order: Vec<u32>,
    next: usize,
    dir: Option<OwnedFd>,
    identity: Option<(Device, u64)>,
    /// The device of the root, if the walk must stay on its file system.
    device: Option<Device>,
    state: State,
    /// The error that ended the reading.
    ended: Option<Error>,
    /// Subdirectories that are read ahead, in order, how many of them the caller has taken, and where in `order` the next ones begin.
    pub(crate) offered: Vec<Arc<Directory>>,
    taken: usize,
    unoffered: usize,
}

impl Level {
    /// A level with its entries sorted and filtered.
    fn new(walk: &Walk, mut block: Block, state: State) -> Level {
        block.kept = state.kept(walk, &block.path, block.depth, &block.batch);
        let block = Arc::new(block);
        let mut order: Vec<u32> =
            (0..block.batch.len()).filter(|index| block.keeps(*index)).map(|index| index as u32).collect();
        if let Some(compare) = walk.compare.as_ref().filter(|_| block.depth > 0) {
            order.sort_by(|one, other| compare(&block.view(*one as usize), &block.view(*other as usize)));
        }
        Level {
            block,
            order,
            next: 0,
            dir: None,
            identity: None,
            device: None,
            state,
            ended: None,
            offered: Vec::new(),
            taken: 0,
            unoffered: 0,
        }
    }

    /// Reads a directory that was opened, on any thread. `entries` reads all entries, or returns `None` to leave that to the caller of the
    /// walk.
    pub(crate) fn read(
        walk: &Walk,
        place: &Place,
        reader: &mut Reader,
        is_loop: impl FnOnce((Device, u64)) -> bool,
        entries: impl FnOnce(&mut Reader) -> Option<(Core, dents_sys::Result<()>)>,
    ) -> Found {
        let failed = |errno| Found::Failed(Box::new(place.failed(errno)));
        let identity = match identify(walk, reader.dir()) {
            Ok(identity) => identity,
            Err(errno) => return failed(errno),
        };
        let (is_root, own) = (place.above.depth == 0, identity.map(|(device, _)| device));
        let device = if is_root { own } else { place.device };
        if walk.same_file_system && own != device {
            return Found::NotEntered;
        }
        if walk.follow && identity.is_some_and(is_loop) {
            return Found::Failed(Box::new(place.failed(Errno::LOOP).of_loop()));
        }
        let path = place.path();
        let state = place.state.enter(walk, &path, is_root, reader.dir());
        let Some((batch, ended)) = entries(reader) else { return Found::Later };
        let block = Block { path, depth: place.above.depth + 1, follow: walk.follow, batch, kept: None };
        let ended = ended.err().map(|errno| place.failed(errno));
        Found::Level(Box::new(Level { identity, device, ended, ..Level::new(walk, block, state) }))
    }

    /// Directories that were offered and not taken.
    pub(crate) fn left(&self) -> &[Arc<Directory>] {
        &self.offered[self.taken..]
    }

    /// The place of an entry.
    fn place(&self, index: usize) -> Place {
        Place { above: Arc::clone(&self.block), index, state: self.state.clone(), device: self.device }
    }

    /// Chooses the next subdirectories to read ahead, none before this place of the order. Not of roots, whose links are followed.
    pub(crate) fn choose(&mut self, walk: &Walk, next: usize) {
        let (mut at, mut offered) = (self.unoffered.max(next), Vec::new());
        while at < self.order.len() && offered.len() < OFFERED && self.block.depth > 0 {
            let index = self.order[at] as usize;
            if self.block.is_entered(walk, index) {
                offered.push(Directory::new(self.place(index)));
            }
            at += 1;
        }
        (self.offered, self.taken, self.unoffered) = (offered, 0, at);
    }
}

impl Ordered {
    pub(crate) fn new(walk: Walk) -> Ordered {
        let deadline_ns = walk.options().deadline_ns;
        Ordered {
            walk: Arc::new(walk),
            deadline_ns,
            next_request_ns: 0,
            levels: Vec::new(),
            pending: Vec::new(),
            begun: false,
            can_skip: false,
            entered: 0,
            ahead: None,
            buffer: Vec::new(),
        }
    }

    pub(crate) fn next(&mut self) -> Option<Result<Entry, Error>> {
        if !self.begun {
            self.begun = true;
            self.pending.extend(self.walk.invalid_roots());
            let roots = self.roots();
            self.push(roots);
        }
        loop {
            if let Some(error) = self.pending.pop() {
                return Some(Err(error));
            }
            if let Some(end) = self.ended() {
                // Once: there are no levels afterwards.
                let was_walking = !self.levels.is_empty();
                self.leave();
                return self.walk.error_of_end(end).filter(|_| was_walking).map(Err);
            }
            let level = self.levels.last_mut()?;
            let Some(index) = level.order.get(level.next).map(|index| *index as usize) else {
                self.levels.pop();
                self.can_skip = false;
                match self.came_from() {
                    Some(entry) if self.walk.contents_first => return Some(entry),
                    _ => continue,
                }
            };
            level.next += 1;
            let block = Arc::clone(&level.block);
            if block.is_entered(&self.walk, index) {
                self.enter(index);
            }
            let is_entered = !Arc::ptr_eq(&block, &self.levels.last()?.block);
            self.can_skip = is_entered || block.depth > 0 && block.batch.entry(index).kind() != Kind::Dir;
            // With `contents_first`, a directory that was entered is yielded after its contents.
            let later = is_entered && self.walk.contents_first;
            if block.depth >= self.walk.min_depth && !later {
                return Some(block.give(index));
            }
        }
    }

    /// See [`crate::IntoIter::skip_current_dir`].
    pub(crate) fn skip_current_dir(&mut self) {
        if std::mem::take(&mut self.can_skip)
            && let Some(level) = self.levels.last_mut()
        {
            level.next = level.order.len();
            if let Some(ahead) = &self.ahead {
                ahead.discard(level.left());
                level.taken = level.offered.len();
            }
        }
    }

    /// The directory whose contents were all yielded.
    fn came_from(&self) -> Option<Result<Entry, Error>> {
        let above = self.levels.last()?;
        let index = *above.order.get(above.next.checked_sub(1)?)?;
        (above.block.depth >= self.walk.min_depth).then(|| above.block.give(index as usize))
    }

    /// Why the walk must end now, if it must.
    fn ended(&self) -> Option<End> {
        let is_late = || self.deadline_ns.is_some_and(|end| clock::monotonic_ns() >= end);
        if self.walk.cancel.is_cancelled() {
            Some(End::Cancelled)
        } else {
            is_late().then_some(End::Deadline)
        }
    }

    /// Links among the roots are followed, as in other walks. A dangling link is yielded as a link.
    fn roots(&mut self) -> Level {
        let needs = self.walk.core_needs();
        let (roots, mut batch) = (self.walk.c_roots(), Core::new(needs));
        roots.iter().for_each(|root| batch.push(root, Kind::Unknown, 0));
        stat::fill_alone(&mut batch, CWD, &needs, true, |_| self.may_ask());
        let block = Block { depth: 0, follow: self.walk.follow, batch, ..Block::default() };
        Level::new(&self.walk, block, State::default())
    }

    fn with_resources<T>(&self, job: impl FnOnce(&Resources<'_>) -> T) -> T {
        let count = Count::new(self.walk.threads);
        job(&Resources {
            mode: Mode::Auto,
            threads: &count,
            workers: &crate::threads::Threads,
            mounts: None,
            rings: None,
            lazy: false,
            counter: None,
        })
    }

    fn push(&mut self, mut level: Level) {
        self.pending.extend(level.ended.take());
        // Beside these the directory that is read next is open, and one for each helper.
        let helpers = self.ahead.as_ref().map_or(0, |ahead| ahead.most);
        let kept = self.walk.max_open.unwrap_or(OPEN).saturating_sub(1 + helpers).max(1);
        if let Some(oldest) = self.levels.len().checked_sub(kept) {
            // More than one when helpers begin.
            let open = self.levels[..=oldest].iter_mut().rev().take_while(|level| level.dir.is_some());
            open.for_each(|level| level.dir = None);
        }
        self.levels.push(level);
    }

    /// Enters a subdirectory of the last level. An error is yielded before the next entry.
    fn enter(&mut self, index: usize) {
        if !self.may_ask() {
            return;
        }
        match self.take_ahead(index).unwrap_or_else(|| self.read(index)) {
            Found::Level(level) => self.push(*level),
            Found::Failed(error) => self.pending.push(*error),
            Found::NotEntered | Found::Later | Found::Panicked(_) => {}
        }
        if let (Some(ahead), Some(level)) = (&self.ahead, self.levels.last_mut()) {
            ahead.offer(level, level.next);
            ahead.call();
        }
    }

    /// What a helper has found, if one has read the directory.
    fn take_ahead(&mut self, index: usize) -> Option<Found> {
        let (ahead, level) = (self.ahead.as_ref()?, self.levels.last_mut()?);
        ahead.offer(level, level.next - 1);
        let directory =
            level.left().first().filter(|directory| directory.payload().index == index).cloned()?;
        // Counted first: after a panic nothing waits for it.
        level.taken += 1;
        ahead.take(&directory, &mut self.buffer)
    }

    /// Opens and reads a subdirectory of the last level on the calling thread.
    fn read(&mut self, index: usize) -> Found {
        let Some(level) = self.levels.last() else { return Found::NotEntered };
        let place = level.place(index);
        let mut reader = match self.open(&place) {
            // The attempt to open a link shows whether it leads to a directory.
            Err(Errno::NOTDIR | Errno::NOENT) if place.entry().kind() == Kind::Link => {
                return Found::NotEntered;
            }
            Err(errno) => return Found::Failed(Box::new(place.failed(errno))),
            Ok(reader) => reader,
        };
        self.entered += 1;
        if self.entered == WORTH {
            self.ahead = Ahead::new(&self.walk, || reader.fs());
        }
        let walk = Arc::clone(&self.walk);
        let above: Vec<_> = self.levels.iter().filter_map(|level| level.identity).collect();
        let is_loop = |identity| above.contains(&identity);
        let mut found = Level::read(&walk, &place, &mut reader, is_loop, |reader| Some(self.entries(reader)));
        if let Found::Level(level) = &mut found {
            level.dir = Some(reader.into_parts().0);
        }
        found
    }

    fn open(&mut self, place: &Place) -> dents_sys::Result<Reader> {
        let follow = self.walk.follow || place.above.depth == 0;
        let parent = self.levels.last().and_then(|level| level.dir.as_ref());
        let opened = match parent {
            Some(parent) => Reader::open(parent.as_fd(), place.entry().c_name(), follow),
            None => open_by_path(&place.path(), follow),
        };
        if !matches!(opened, Err(Errno::MFILE | Errno::NFILE)) {
            return opened;
        }
        // Ancestors are open for speed alone, and so are directories that helpers read.
        self.read_no_further_ahead();
        self.levels.iter_mut().for_each(|level| level.dir = None);
        open_by_path(&place.path(), follow)
    }

    /// There are no more entries.
    fn leave(&mut self) {
        self.read_no_further_ahead();
        self.levels.clear();
    }

    /// Waits until no helper is reading.
    fn read_no_further_ahead(&mut self) {
        let Some(ahead) = self.ahead.take() else { return };
        ahead.abandon();
        self.levels.iter().rev().for_each(|level| ahead.discard(level.left()));
    }

    /// All entries of a directory, and the error that ended the reading. Requests are made one by one if a rate is
    /// set or links are followed, after each buffer of names: a server may have sent the attributes with them.
    fn entries(&mut self, reader: &mut Reader) -> (Core, dents_sys::Result<()>) {
        let (needs, filter, follow) = (self.walk.core_needs(), self.walk.filter(), self.walk.follow);
        if !follow && self.walk.rate.is_none() {
            return self.with_resources(|resources| read(reader, &needs, &filter, resources));
        }
        let mut batch = Core::new(needs);
        loop {
            let mut part = Core::new(needs);
            let Some(answer) = self.may_ask().then(|| reader.read(&filter, &mut part)) else {
                return (batch, Ok(()));
            };
            stat::fill_alone(&mut part, reader.dir(), &needs, follow, |_| self.may_ask());
            batch.absorb(&part, &(0..part.len() as u32).collect::<Vec<u32>>());
            if answer != Ok(true) {
                return (batch, answer.map(drop));
            }
        }
    }

    /// Waits until the rate allows a request. Returns false when the walk must end.
    fn may_ask(&mut self) -> bool {
        if let Some(rate) = self.walk.rate {
            let now = clock::monotonic_ns();
            let turn = self.next_request_ns.max(now);
            std::thread::sleep(std::time::Duration::from_nanos(turn - now));
            self.next_request_ns = turn + 1_000_000_000 / u64::from(rate.get());
        }
        self.ended().is_none()
    }
}

impl Drop for Ordered {
    fn drop(&mut self) {
        self.leave();
    }
}

fn identify(walk: &Walk, dir: BorrowedFd<'_>) -> dents_sys::Result<Option<(Device, u64)>> {
    if !walk.follow && !walk.same_file_system {
        return Ok(None);
    }
    let statx = sys::fstat(dir, Mask::INO)?;
    Ok(Some((statx.dev(), statx.ino())))
}

/// Opens a directory by a path of any length.
pub(crate) fn open_by_path(path: &[u8], follow: bool) -> dents_sys::Result<Reader> {
    tree::open_by_path(path, follow).map(Reader::new)
}
