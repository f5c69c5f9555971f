//! Opens the subdirectories that wait.

use super::{Reading, Worker, place_of};
use crate::tree::ancestors::Ancestors;
use crate::tree::open::{self, Border};
use crate::tree::shared::Shared;
use crate::tree::subdirectories::{About, Subdirectories};
use crate::tree::visitor::{Failure, Piece, Problem, Step, Visitor};
use alloc::sync::Arc;
use core::ffi::CStr;
use core::sync::atomic::Ordering::Relaxed;
use dents_engine::limit::policy::Lists;
use dents_engine::order::steal::Group;
use dents_engine::wait;
use dents_sys::extent;
use dents_sys::stat::{self, Mask};
use dents_sys::{AsFd, BorrowedFd, Errno, OwnedFd, Result};

/// Retries of a worker without descriptors, a millisecond apart, after it has closed its own. The workers of a walk have descriptors
/// enough for each, so the rest of the process holds the others, an unread walk perhaps for ever. So the workers of a walk wait once for
/// this long, and not again until one of them has opened a directory.
const PATIENCE: u32 = 100;
const NAP_NS: u64 = 1_000_000;

/// Unclaimed subdirectories from which it pays off to open their parent again.
const WORTH_OPENING: usize = 3;

impl<S: Clone + Default + Send + Sync> Worker<S> {
    /// Opens a subdirectory; with `own`, one of the topmost group on the worker's stack. It is then the directory being
    /// read, unless the visitor skips it or opening fails.
    pub(super) fn enter<V: Visitor<State = S>>(
        &mut self,
        group: &Group<Subdirectories<S>>,
        index: usize,
        own: bool,
        shared: &Shared<'_, S>,
        visitor: &mut V,
    ) -> Option<Failure<'static>> {
        let siblings = &group.common;
        let mut about = siblings.about(index);
        let is_left = visitor.leaves(&siblings.path, siblings.name(index), about.depth);
        self.set_path(&siblings.path, siblings.name(index).to_bytes());
        let dir = (!is_left).then(|| self.show(shared, |worker| worker.open(group, index, own, shared)));
        if own {
            // Otherwise a chain of directories with one subdirectory each would keep all these groups.
            shared.tasks.release(&mut self.stack);
            self.descriptors.truncate(self.stack.levels());
        }
        let dir = dir?;
        let identified = dir
            .map_err(|errno| (Problem::Open, errno))
            .and_then(|dir| self.identify(&dir, siblings, &mut about, shared).map(|()| dir));
        let dir = match identified {
            Ok(dir) => dir,
            Err((Problem::Open, errno)) if is_expected_error(errno, siblings.may_be_link(index), shared) => {
                return None;
            }
            Err((problem, errno)) => return Some(self.failed(&about, problem, errno)),
        };
        self.tally.directories += 1;
        let piece = Piece { index: 0, last: false };
        let mut state = core::mem::take(&mut about.state);
        let step = visitor.opened(&place_of(&about, &self.path, piece, Some(dir.as_fd())), &mut state);
        about.state = state;
        match step {
            Step::Enter => {
                let level = self.stack.levels();
                self.reading = Some(Reading {
                    dir,
                    about,
                    ended: false,
                    piece,
                    pieces: 0,
                    directory: None,
                    interleaves: false,
                    lists: Lists::default(),
                    level,
                });
            }
            Step::Skip => {}
            Step::Stop => shared.stop(),
        }
        None
    }

    /// Finds out where a subdirectory is on the disk, and publishes it again in the order of that. To open it reads its inode; XFS then
    /// begins to read the directory, too. A directory whose place is unknown keeps its turn; if opening fails, so it will when it is
    /// entered.
    pub(super) fn locate(
        &mut self,
        group: Arc<Group<Subdirectories<S>>>,
        index: usize,
        shared: &Shared<'_, S>,
    ) {
        self.set_path(&group.common.path, group.common.name(index).to_bytes());
        let dir = self.show(shared, |worker| worker.open(&group, index, false, shared));
        let place = dir.and_then(|dir| {
            self.tally.requests += 1;
            extent::first_block(dir.as_fd())
        });
        shared.tasks.place(group, index, place.unwrap_or(0));
    }

    /// The device and the ancestors, where they are needed.
    fn identify(
        &mut self,
        dir: &OwnedFd,
        siblings: &Subdirectories<S>,
        about: &mut About<S>,
        shared: &Shared<'_, S>,
    ) -> core::result::Result<(), (Problem, Errno)> {
        let unopened = |errno| (Problem::Open, errno);
        if shared.options.one_file_system && about.device.is_none() {
            let found = shared.border.found(dir.as_fd(), &mut self.tally.requests);
            about.device = Some(found.map_err(unopened)?);
        }
        if shared.finds_loops() {
            self.tally.requests += 1;
            let statx = stat::fstat(dir.as_fd(), Mask::INO).map_err(unopened)?;
            let ancestors = Ancestors::child(siblings.about.ancestors.as_ref(), statx.dev(), statx.ino());
            about.ancestors = Some(ancestors.ok_or((Problem::Loop, Errno::LOOP))?);
        }
        Ok(())
    }

    /// Opens the subdirectory. If no descriptor is left, closes the worker's own and tries again.
    fn open(
        &mut self,
        group: &Group<Subdirectories<S>>,
        index: usize,
        own: bool,
        shared: &Shared<'_, S>,
    ) -> Result<OwnedFd> {
        let mut tries = 0;
        loop {
            if !shared.bounds.may_ask(&mut self.clock, self.tally.requests) {
                return Err(Errno::CANCELED);
            }
            if own {
                self.reopen(group, shared);
            }
            let mut made = 0;
            let result = self.try_open(&group.common, group.common.name(index), own, shared, &mut made);
            self.tally.requests += made;
            match result {
                Err(Errno::MFILE | Errno::NFILE) if tries == 0 || !shared.starves.load(Relaxed) => {
                    self.descriptors.close_all();
                    if tries > 0 {
                        wait::sleep(NAP_NS);
                    }
                    tries += 1;
                    if tries > PATIENCE {
                        shared.starves.store(true, Relaxed);
                    }
                }
                result => {
                    if result.is_ok() && shared.starves.load(Relaxed) {
                        shared.starves.store(false, Relaxed);
                    }
                    return result;
                }
            }
        }
    }

    /// Opens the subdirectory relative to its parent, or by `self.path`.
    fn try_open(
        &self,
        siblings: &Subdirectories<S>,
        name: &CStr,
        own: bool,
        shared: &Shared<'_, S>,
        made: &mut u64,
    ) -> Result<OwnedFd> {
        let (follow, device) = (siblings.follow, siblings.about.device);
        let top = self.stack.levels().wrapping_sub(1);
        if let Some(parent) = self.descriptors.at(top).filter(|_| own) {
            if let Some(device) = device {
                return shared.border.child(parent, name, follow, device, made);
            }
            *made += 1;
            return open::child(parent, name, follow);
        }
        let (at, path) = self.way(own, &self.path, shared);
        let dir = open::by_path(at, path, follow, made)?;
        device.map_or(Ok(()), |device| Border::check(&dir, device, made)).map(|()| dir)
    }

    /// Opens the parent of a group whose parent is not open: by path, once for the group.
    fn reopen(&mut self, group: &Group<Subdirectories<S>>, shared: &Shared<'_, S>) {
        let (path, levels) = (&group.common.path, self.stack.levels());
        let worth = !path.is_empty() && group.unclaimed() + 1 >= WORTH_OPENING;
        if worth && self.descriptors.has_share() && self.descriptors.at(levels - 1).is_none() {
            let mut made = 0;
            let (at, path) = self.way(true, path, shared);
            let place = open::for_lookup(at, path, &mut made);
            self.tally.requests += made;
            place.into_iter().for_each(|dir| self.descriptors.keep(levels - 1, dir, levels));
        }
    }

    /// A directory to start from and the path relative to it. For the worker's `own` path, the start is the deepest
    /// ancestor that is still open.
    fn way<'w>(&'w self, own: bool, path: &'w [u8], shared: &Shared<'w, S>) -> (BorrowedFd<'w>, &'w [u8]) {
        let above = |(level, dir)| {
            let above = &self.stack.group(level)?.common.path;
            let rest = path.strip_prefix(&**above)?.strip_prefix(b"/")?;
            (!above.is_empty() && !rest.starts_with(b"/")).then_some((dir, rest))
        };
        let shortest = if own { self.descriptors.iter().rev().find_map(above) } else { None };
        shortest.unwrap_or((shared.options.at, path))
    }

    fn set_path(&mut self, parent: &[u8], name: &[u8]) {
        self.path.clear();
        crate::path::push(parent, name, &mut self.path);
    }
}

/// Whether a directory that was not opened is no failure: it is on another file system and must not be entered, a link
/// leads to no directory, or the walk ends.
fn is_expected_error<S>(errno: Errno, may_be_link: bool, shared: &Shared<'_, S>) -> bool {
    match errno {
        Errno::XDEV => shared.options.one_file_system,
        Errno::NOTDIR | Errno::NOENT | Errno::LOOP => may_be_link,
        Errno::CANCELED => shared.bounds.stopped(),
        _ => false,
    }
}
