//! The way down of one worker: a stack of subdirectories that wait, deepest last, and the descriptors of the directories
//! they are in as long as the worker's share lasts.
//!
//! Below the subdirectories of a very wide directory may lie that directory itself, *paused*: it is read on when they are
//! done. So however many subdirectories it has, only some thousands of them wait.

use super::Reading;
use crate::tree::frontier::Frontier;
use crate::tree::kin::Kin;
use alloc::sync::Arc;
use alloc::vec::Vec;
use dents_sys::{AsFd, BorrowedFd, OwnedFd};

pub(super) struct Descent<S> {
    stack: Vec<Held<S>>,
    /// Descriptors in the stack, and how many may be.
    held: usize,
    share: usize,
    /// How many are paused. Each holds a descriptor of the share.
    paused: usize,
    /// Of those below `closed`, only every `stride`th still has its descriptor.
    closed: usize,
    stride: usize,
}

/// Subdirectories, and their directory as long as it may stay open.
struct Held<S> {
    kin: Arc<Kin<S>>,
    dir: Option<OwnedFd>,
    /// Whether other workers were told.
    offered: bool,
    /// To be read on when this is reached.
    paused: Option<Reading<S>>,
}

/// What a worker's share must leave for others when a directory is paused.
const LEAST_SHARE: usize = 4;

impl<S> Descent<S> {
    pub(super) fn new(share: usize) -> Self {
        Descent { stack: Vec::new(), held: 0, share, paused: 0, closed: 0, stride: 1 }
    }

    pub(super) fn set_share(&mut self, share: usize) {
        self.share = share.saturating_sub(self.paused);
    }

    /// How many levels there are.
    pub(super) fn levels(&self) -> usize {
        self.stack.len()
    }

    /// Subdirectories that wait above this level.
    pub(super) fn waiting(&self, level: usize) -> usize {
        self.stack.iter().skip(level).map(|held| held.kin.remaining()).sum()
    }

    /// The deepest subdirectories.
    pub(super) fn deepest(&self) -> Option<&Arc<Kin<S>>> {
        self.stack.last().map(|held| &held.kin)
    }

    /// The directory they are in, if it is open.
    pub(super) fn directory(&self) -> Option<BorrowedFd<'_>> {
        self.stack.last()?.dir.as_ref().map(AsFd::as_fd)
    }

    /// Goes a level down, with the directory if it may be kept.
    pub(super) fn push(&mut self, kin: Arc<Kin<S>>, dir: Option<OwnedFd>, offered: bool) {
        let dir = dir.filter(|_| self.share > 0);
        if dir.is_some() {
            self.make_room();
            self.held += 1;
        }
        self.stack.push(Held { kin, dir, offered, paused: None });
    }

    /// Puts a directory below all from this level on, to be read on when they are done; `none` are no subdirectories of
    /// it. Gives it back if it is one too many to stay open.
    pub(super) fn pause(
        &mut self,
        level: usize,
        none: Arc<Kin<S>>,
        reading: Reading<S>,
    ) -> Option<Reading<S>> {
        if self.share <= LEAST_SHARE || level > self.stack.len() {
            return Some(reading);
        }
        self.share -= 1;
        self.paused += 1;
        self.make_room();
        self.stack.insert(level, Held { kin: none, dir: None, offered: true, paused: Some(reading) });
        None
    }

    /// The directory to be read on now, if that is what comes next.
    pub(super) fn resume(&mut self) -> Option<(Arc<Kin<S>>, Reading<S>)> {
        let held = self.stack.last_mut()?;
        let reading = held.paused.take()?;
        let kin = Arc::clone(&held.kin);
        self.share += 1;
        self.paused -= 1;
        self.pop();
        Some((kin, reading))
    }

    /// Goes a level up. What was offered must be withdrawn.
    pub(super) fn pop(&mut self) -> Option<Arc<Kin<S>>> {
        let held = self.stack.pop()?;
        self.held -= usize::from(held.dir.is_some());
        self.closed = self.closed.min(self.stack.len());
        if self.stack.is_empty() {
            self.stride = 1;
        }
        held.offered.then_some(held.kin)
    }

    /// Whether the deepest directory was closed and may be opened again.
    pub(super) fn may_reopen(&self) -> bool {
        self.share > 0 && self.stack.last().is_some_and(|held| held.dir.is_none())
    }

    /// The deepest directory, opened again.
    pub(super) fn reopened(&mut self, dir: OwnedFd) {
        self.make_room();
        self.closed = self.closed.min(self.stack.len().saturating_sub(1));
        if let Some(last) = self.stack.last_mut() {
            last.dir = Some(dir);
            self.held += 1;
        }
    }

    /// Offers all of it that was not.
    pub(super) fn offer(&mut self, worker: usize, frontier: &Frontier<'_, S>) {
        for held in self.stack.iter_mut().filter(|held| !held.offered) {
            held.offered = true;
            frontier.offer(worker, &held.kin);
        }
    }

    /// The shortest way to a path: from the deepest directory above it that is still open.
    pub(super) fn shortest<'w>(&'w self, path: &'w [u8]) -> Option<(BorrowedFd<'w>, &'w [u8])> {
        self.stack.iter().rev().find_map(|held| {
            let dir = held.dir.as_ref()?;
            let rest = path.strip_prefix(&*held.kin.path)?.strip_prefix(b"/")?;
            (!held.kin.path.is_empty() && !rest.starts_with(b"/")).then_some((dir.as_fd(), rest))
        })
    }

    /// Closes a directory if there is no room for another: the highest first, but for every `stride`th of them, from
    /// which those between are found again without the whole path; and every other of those when only they are left.
    fn make_room(&mut self) {
        while self.held >= self.share.max(1) {
            if self.closed >= self.stack.len() {
                self.closed = 0;
                self.stride *= 2;
                if self.stride > 2 * self.stack.len() {
                    return self.close_all();
                }
            }
            if !self.closed.is_multiple_of(self.stride) && self.stack[self.closed].dir.take().is_some() {
                self.held -= 1;
            }
            self.closed += 1;
        }
    }

    pub(super) fn close_all(&mut self) {
        self.stack.iter_mut().for_each(|held| held.dir = None);
        self.held = 0;
        self.closed = 0;
        self.stride = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::kin::{About, Gathering};
    use dents_sys::{CWD, dir};

    fn kin(path: &[u8]) -> Arc<Kin<()>> {
        let mut gathering = Gathering::default();
        gathering.push(c"x", false, 0);
        gathering.kin(path, About::operands(), false, 1)
    }

    fn deep(share: usize, levels: usize) -> Descent<()> {
        let mut descent = Descent::new(share);
        let mut path = b"r".to_vec();
        for _ in 0..levels {
            descent.push(kin(&path), dir::open(CWD, c"/").ok(), false);
            path.extend_from_slice(b"/d");
        }
        descent
    }

    #[test]
    fn no_more_stay_open_than_may() {
        for share in [0, 1, 2, 7, 64] {
            for levels in [1, 2, 63, 200] {
                let mut descent = deep(share, levels);
                let open =
                    |descent: &Descent<()>| descent.stack.iter().filter(|held| held.dir.is_some()).count();
                assert!(open(&descent) <= share, "{share} of {levels}");
                assert_eq!(descent.directory().is_some(), share > 0, "the deepest stays");
                while descent.deepest().is_some() {
                    assert_eq!(open(&descent), descent.held);
                    descent.pop();
                }
                assert_eq!((descent.held, descent.closed), (0, 0));
            }
        }
    }

    #[test]
    fn those_that_stay_lie_scattered() {
        let descent = deep(16, 1000);
        let open: Vec<usize> = (0..1000).filter(|level| descent.stack[*level].dir.is_some()).collect();
        let widest = open.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(open[0] == 0 && widest < Some(400), "{open:?}");
        let path = descent.stack[999].kin.path.to_vec();
        let (_, rest) =
            descent.shortest(&[&path[..], b"/x"].concat()).map(|(_, rest)| ((), rest.to_vec())).unwrap();
        assert_eq!(rest, b"x");
    }
}
