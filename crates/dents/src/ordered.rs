//! A walk on the calling thread, in a fixed order: each directory comes directly before or directly after its contents.

use crate::entry::{Block, join};
use crate::filter::State;
use crate::read_dir::read;
use crate::{Entry, Error, Walk};
use dents_core::batch::Batch as Core;
use dents_core::needs::Kind;
use dents_core::read::Reader;
use dents_core::stat::{self, Mode, Resources, Threads as Count};
use dents_core::tree::End;
use dents_sys::stat::{self as sys, Mask};
use dents_sys::{AsFd, BorrowedFd, CWD, Errno, OwnedFd, clock};
use std::ffi::{CStr, CString};
use std::sync::Arc;

/// Open directories, so that entries are opened relative to them, not by the whole path.
const OPEN: usize = 10;

pub(crate) struct Ordered {
    walk: Walk,
    deadline_ns: Option<u64>,
    next_request_ns: u64,
    levels: Vec<Level>,
    /// Yielded before the next entry: the errors of the directory just entered.
    pending: Vec<Error>,
    /// The device of the current root, if the walk must stay on its file system.
    device: Option<(u32, u32)>,
    begun: bool,
    /// Whether the last level is the directory that [`Ordered::skip_current_dir`] means.
    can_skip: bool,
}

/// A directory on the path to the current entry.
struct Level {
    block: Arc<Block>,
    order: Vec<u32>,
    next: usize,
    dir: Option<OwnedFd>,
    identity: Option<((u32, u32), u64)>,
    state: State,
}

impl Ordered {
    pub(crate) fn new(walk: Walk) -> Ordered {
        let deadline_ns = walk.options().deadline_ns;
        Ordered {
            walk,
            deadline_ns,
            next_request_ns: 0,
            levels: Vec::new(),
            pending: Vec::new(),
            device: None,
            begun: false,
            can_skip: false,
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
                let was_walking = !std::mem::take(&mut self.levels).is_empty();
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
            if self.enters(&block, index) {
                self.enter(&block, index);
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
        self.level(block, None, State::default())
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

    /// A level with its entries sorted and filtered.
    fn level(&self, mut block: Block, dir: Option<OwnedFd>, state: State) -> Level {
        block.kept = state.kept(&self.walk, &block.path, block.depth, &block.batch);
        let block = Arc::new(block);
        let mut order: Vec<u32> =
            (0..block.batch.len()).filter(|index| block.keeps(*index)).map(|index| index as u32).collect();
        if let Some(compare) = self.walk.compare.as_ref().filter(|_| block.depth > 0) {
            order.sort_by(|one, other| compare(&block.view(*one as usize), &block.view(*other as usize)));
        }
        Level { block, order, next: 0, dir, identity: None, state }
    }

    fn push(&mut self, level: Level) {
        // Beside these the directory that is read next is open.
        let kept = self.walk.max_open.unwrap_or(OPEN) - 1;
        if let Some(oldest) = self.levels.len().checked_sub(kept) {
            self.levels[oldest].dir = None;
        }
        self.levels.push(level);
    }

    fn enters(&self, block: &Block, index: usize) -> bool {
        let entry = block.batch.entry(index);
        // A followed link without a `statx` may lead to a directory. The attempt to open it shows that.
        let maybe = self.walk.follow && entry.kind() == Kind::Link && !entry.is_known();
        block.depth < self.walk.max_depth && (entry.kind() == Kind::Dir || maybe)
    }

    /// Opens and reads a subdirectory. An error is yielded before the next entry.
    fn enter(&mut self, block: &Arc<Block>, index: usize) {
        let path = join(&block.path, block.batch.entry(index).name());
        match self.read(block, index, &path) {
            Ok(Some(level)) => self.push(level),
            Ok(None) => {}
            Err(error) => self.pending.push(error),
        }
    }

    fn read(&mut self, block: &Arc<Block>, index: usize, path: &[u8]) -> Result<Option<Level>, Error> {
        let failed = |errno| Error::new(path, block.depth, errno);
        if !self.may_ask() {
            return Ok(None);
        }
        let entry = block.batch.entry(index);
        let follow = self.walk.follow || block.depth == 0;
        let parent = self.levels.last().and_then(|level| level.dir.as_ref());
        let open = |parent: Option<&OwnedFd>| match parent {
            Some(parent) => Reader::open(parent.as_fd(), entry.c_name(), follow),
            None => open_by_path(path, follow),
        };
        let mut opened = open(parent);
        if matches!(opened, Err(Errno::MFILE | Errno::NFILE)) {
            // Ancestors are open for speed alone.
            self.levels.iter_mut().for_each(|level| level.dir = None);
            opened = open(None);
        }
        let mut reader = match opened {
            Err(Errno::NOTDIR | Errno::NOENT) if entry.kind() == Kind::Link => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        let identity = self.identify(reader.dir()).map_err(failed)?;
        if block.depth == 0 {
            self.device = identity.map(|(device, _)| device);
        } else if self.walk.same_file_system && identity.map(|(device, _)| device) != self.device {
            return Ok(None);
        }
        let loops = |level: &Level| level.identity.is_some() && level.identity == identity;
        if self.walk.follow && self.levels.iter().any(loops) {
            return Err(failed(Errno::LOOP).of_loop());
        }
        let above = self.levels.last().map(|level| level.state.clone()).unwrap_or_default();
        let state = above.enter(&self.walk, path, block.depth == 0, reader.dir());
        let (batch, ended) = self.entries(&mut reader);
        if let Err(errno) = ended {
            self.pending.push(failed(errno));
        }
        let (path, depth) = (path.to_vec(), block.depth + 1);
        let block = Block { path, depth, follow: self.walk.follow, batch, kept: None };
        let mut level = self.level(block, Some(reader.into_parts().0), state);
        level.identity = identity;
        Ok(Some(level))
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

    fn identify(&self, dir: BorrowedFd<'_>) -> dents_sys::Result<Option<((u32, u32), u64)>> {
        if !self.walk.follow && !self.walk.same_file_system {
            return Ok(None);
        }
        let statx = sys::fstat(dir, Mask::INO)?;
        Ok(Some((statx.dev(), statx.ino())))
    }
}

/// Opens a directory by a path of any length: in several steps if it exceeds `PATH_MAX`.
fn open_by_path(path: &[u8], follow: bool) -> dents_sys::Result<Reader> {
    let c_path = |path: &[u8]| CString::new(path).map_err(|_| Errno::INVAL);
    let (mut at, mut rest): (Option<OwnedFd>, &[u8]) = (None, path);
    while rest.len() >= 4096 {
        let slash = rest[..4096].iter().rposition(|byte| *byte == b'/').filter(|slash| *slash > 0);
        let slash = slash.ok_or(Errno::NAMETOOLONG)?;
        let from = at.as_ref().map_or(CWD, AsFd::as_fd);
        at = Some(dents_sys::dir::open_place(from, &c_path(&rest[..slash])?)?);
        rest = &rest[slash + 1..];
    }
    let from: BorrowedFd<'_> = at.as_ref().map_or(CWD, AsFd::as_fd);
    let name: &CStr = &c_path(rest)?;
    Reader::open(from, name, follow)
}
