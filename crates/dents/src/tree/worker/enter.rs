//! From a subdirectory that waits to a directory that is open.

use super::{Fault, Reading, Worker, place_of};
use crate::tree::frontier::Frontier;
use crate::tree::kin::{About, Kin, Lineage};
use crate::tree::visitor::{Piece, Place, Problem, Step};
use crate::tree::{Follow, open};
use alloc::sync::Arc;
use core::sync::atomic::AtomicU32;
use dents_sys::stat::{self, Mask};
use dents_sys::{AsFd, BorrowedFd, Errno, OwnedFd, Result, futex};

/// Where descriptors run out, a worker gives up its own and tries again so often, a millisecond apart.
const PATIENCE: u32 = 2000;
const NAP_NS: u64 = 1_000_000;

/// So many subdirectories still to be opened make it worth to open a directory again.
const WORTH_OPENING: usize = 3;

/// What to do next.
pub(super) enum Next<S> {
    /// To open one of these; whether they are on one's own way down.
    Subdirectory(Arc<Kin<S>>, usize, bool),
    /// To read on in the directory that was paused, and is open.
    Resumed,
}

/// What came of entering a directory.
pub(super) enum Entered {
    Reading,
    Skipped,
    Failed(Fault),
}

impl<S: Clone + Default + Send + Sync> Worker<S> {
    /// What comes next: of one's own, deepest first; else by inode.
    pub(super) fn claim(&mut self, frontier: &Frontier<'_, S>) -> Option<Next<S>> {
        while let Some(kin) = self.descent.deepest() {
            if let Some(index) = kin.claim() {
                return Some(Next::Subdirectory(Arc::clone(kin), index, true));
            }
            if let Some((kin, mut reading)) = self.descent.resume() {
                self.path.clear();
                self.path.extend_from_slice(&kin.path);
                reading.level = self.descent.levels();
                self.reading = Some(reading);
                return Some(Next::Resumed);
            }
            self.let_go(frontier);
        }
        let (kin, index) = frontier.next_by_inode()?;
        Some(Next::Subdirectory(kin, index, false))
    }

    /// Removes what is used up.
    fn let_go(&mut self, frontier: &Frontier<'_, S>) {
        if let Some(offered) = self.descent.pop() {
            frontier.withdraw(self.index, &offered);
        }
    }

    /// Takes over from another worker.
    pub(super) fn steal(&mut self, frontier: &Frontier<'_, S>) -> bool {
        if frontier.pace.stopped() {
            return false;
        }
        let Some(kin) = frontier.steal(self.index) else { return false };
        self.tally.stolen += 1;
        self.descent.push(kin, None, false);
        true
    }

    /// Opens a subdirectory.
    pub(super) fn enter(
        &mut self,
        kin: &Kin<S>,
        index: usize,
        mine: bool,
        frontier: &Frontier<'_, S>,
        opened: &mut impl FnMut(&Place<'_>, &mut S) -> Step,
    ) -> Entered {
        self.set_path(&kin.path, kin.name(index).to_bytes());
        let result = self.show(frontier, |worker| worker.open(kin, index, mine, frontier));
        if mine && kin.remaining() == 0 {
            // Or a chain of directories with one subdirectory each would hold them all.
            self.let_go(frontier);
        }
        let above = &kin.about;
        let mut about = About {
            id: kin.id(index),
            parent: above.id,
            depth: above.depth + 1,
            state: above.state.clone(),
            lineage: None,
            device: above.device,
        };
        let mut made = 0;
        let identified = |dir: OwnedFd| match self.identify(&dir, kin, &mut about, frontier, &mut made) {
            Ok(()) => Ok(dir),
            Err(Errno::LOOP) => Err((Problem::Loop, Errno::LOOP)),
            Err(errno) => Err((Problem::Open, errno)),
        };
        let result = result.map_err(|errno| (Problem::Open, errno)).and_then(identified);
        self.tally.requests += made;
        let dir = match result {
            Ok(dir) => dir,
            Err((Problem::Open, errno)) if is_no_failure(errno, kin.perhaps(index), frontier) => {
                return Entered::Skipped;
            }
            Err((problem, errno)) => {
                self.tally.faults += 1;
                let About { id, parent, depth, .. } = about;
                return Entered::Failed(Fault { id, parent, depth, problem, errno });
            }
        };
        self.tally.directories += 1;
        let piece = Piece { index: 0, last: false };
        let level = self.descent.levels();
        let mut reading = Reading { dir, about, ended: false, piece, pieces: 0, home: None, level };
        let mut state = core::mem::take(&mut reading.about.state);
        let step = opened(&place_of(&self.path, &reading), &mut state);
        reading.about.state = state;
        match step {
            Step::Enter => {
                self.reading = Some(reading);
                return Entered::Reading;
            }
            Step::Skip => {}
            Step::Stop => frontier.stop(),
        }
        Entered::Skipped
    }

    /// Device and lineage, where they matter.
    fn identify(
        &self,
        dir: &OwnedFd,
        kin: &Kin<S>,
        about: &mut About<S>,
        frontier: &Frontier<'_, S>,
        made: &mut u64,
    ) -> Result<()> {
        if frontier.options.one_file_system && about.device.is_none() {
            about.device = Some(frontier.border.found(dir.as_fd(), made)?);
        }
        if frontier.options.follow == Follow::Always {
            *made += 1;
            let statx = stat::fstat(dir.as_fd(), Mask::INO)?;
            let lineage = Lineage::child(kin.about.lineage.as_ref(), statx.dev(), statx.ino());
            about.lineage = Some(lineage.ok_or(Errno::LOOP)?);
        }
        Ok(())
    }

    /// Opens it relative to its parent, or by `self.path`.
    fn open(
        &mut self,
        kin: &Kin<S>,
        index: usize,
        mine: bool,
        frontier: &Frontier<'_, S>,
    ) -> Result<OwnedFd> {
        let mut tries = 0;
        loop {
            if !frontier.pace.ask(&mut self.watch, self.tally.requests) {
                return Err(Errno::CANCELED);
            }
            if mine {
                self.reopen(kin, frontier);
            }
            let mut made = 0;
            let parent = if mine { self.descent.directory() } else { None };
            let (name, follow) = (kin.name(index), kin.follow);
            let result = match (parent, kin.about.device) {
                (Some(parent), None) => {
                    made += 1;
                    open::child(parent, name, follow)
                }
                (Some(parent), Some(device)) => {
                    frontier.border.child(parent, name, follow, device, &mut made)
                }
                (None, device) => {
                    let (at, path) = self.way(mine, &self.path, frontier);
                    let dir = open::by_path(at, path, follow, &mut made);
                    match device {
                        Some(device) => dir.and_then(|dir| open::Border::check(dir, device, &mut made)),
                        None => dir,
                    }
                }
            };
            self.tally.requests += made;
            match result {
                Err(Errno::MFILE | Errno::NFILE) if tries < PATIENCE => {
                    self.descent.close_all();
                    if tries > 0 {
                        let _ = futex::wait(&AtomicU32::new(0), 0, Some(NAP_NS));
                    }
                    tries += 1;
                }
                result => return result,
            }
        }
    }

    /// Opens the parent of several subdirectories that came without: by path, once for all of them.
    fn reopen(&mut self, kin: &Kin<S>, frontier: &Frontier<'_, S>) {
        let worth = !kin.path.is_empty() && kin.remaining() + 1 >= WORTH_OPENING;
        if worth && self.descent.may_reopen() {
            let mut made = 0;
            let (at, path) = self.way(true, &kin.path, frontier);
            let place = open::place(at, path, &mut made);
            self.tally.requests += made;
            if let Ok(dir) = place {
                self.descent.reopened(dir);
            }
        }
    }

    /// Where to begin and how to go on, to what lies on one's own way down or anywhere.
    fn way<'w>(
        &'w self,
        mine: bool,
        path: &'w [u8],
        frontier: &Frontier<'w, S>,
    ) -> (BorrowedFd<'w>, &'w [u8]) {
        let shortest = if mine { self.descent.shortest(path) } else { None };
        shortest.unwrap_or((frontier.options.at, path))
    }

    fn set_path(&mut self, parent: &[u8], name: &[u8]) {
        self.path.clear();
        self.path.extend_from_slice(parent);
        if !parent.is_empty() && !parent.ends_with(b"/") {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
    }
}

/// Whether a directory stays closed without anything being wrong: it lies on another file system and that is not to be
/// entered; a link leads to no directory; the walk ends.
fn is_no_failure<S>(errno: Errno, perhaps: bool, frontier: &Frontier<'_, S>) -> bool {
    match errno {
        Errno::XDEV => frontier.options.one_file_system,
        Errno::NOTDIR | Errno::NOENT | Errno::LOOP => perhaps,
        Errno::CANCELED => frontier.pace.stopped(),
        _ => false,
    }
}
