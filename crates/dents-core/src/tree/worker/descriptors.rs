//! The open directories of a worker, as many as its share allows: one for each level whose subdirectories can be opened
//! relative to it.

use alloc::vec::Vec;
use dents_sys::{AsFd, BorrowedFd, OwnedFd};

pub(super) struct Descriptors {
    /// By level, deepest last.
    open: Vec<(usize, OwnedFd)>,
    /// The worker's share: the most that may be open, paused directories among them.
    most: usize,
    /// Paused directories. Each keeps a descriptor of the share.
    paused: usize,
    /// When the share is used up, only every `stride`th level keeps its descriptor.
    stride: usize,
}

/// Descriptors that pausing a directory must leave in the share.
const LEAST_SHARE: usize = 4;

impl Descriptors {
    pub(super) fn new(share: usize, paused: usize) -> Self {
        Descriptors { open: Vec::new(), most: share, paused, stride: 1 }
    }

    pub(super) fn set_share(&mut self, share: usize) {
        self.most = share;
    }

    /// The most that may be open beside paused directories.
    fn share(&self) -> usize {
        self.most.saturating_sub(self.paused)
    }

    /// The directory of this level, if it is open and the deepest.
    pub(super) fn at(&self, level: usize) -> Option<BorrowedFd<'_>> {
        self.open.last().filter(|(at, _)| *at == level).map(|(_, dir)| dir.as_fd())
    }

    /// The open directories and their levels, highest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, BorrowedFd<'_>)> {
        self.open.iter().map(|(level, dir)| (*level, dir.as_fd()))
    }

    /// Whether another directory may be open.
    pub(super) fn has_share(&self) -> bool {
        self.share() > 0
    }

    /// Keeps the directory of this level open, if there is a share. No deeper directory is open; `levels` is the depth
    /// of the stack.
    pub(super) fn keep(&mut self, level: usize, dir: OwnedFd, levels: usize) {
        if self.has_share() {
            self.make_room(levels);
            self.open.push((level, dir));
        }
    }

    /// Closes all directories below this many levels.
    pub(super) fn truncate(&mut self, levels: usize) {
        while self.open.pop_if(|(level, _)| *level >= levels).is_some() {}
        if levels == 0 {
            self.stride = 1;
        }
    }

    /// Pauses a directory at `level`, if the share allows it. The directory keeps a descriptor of the share.
    pub(super) fn pause(&mut self, level: usize, levels: usize) -> bool {
        if self.share() <= LEAST_SHARE {
            return false;
        }
        self.paused += 1;
        self.make_room(levels);
        self.open.iter_mut().filter(|(at, _)| *at >= level).for_each(|(at, _)| *at += 1);
        true
    }

    /// A paused directory is read further.
    pub(super) fn resume(&mut self) {
        self.paused -= 1;
    }

    /// Closes a directory if there is no room: the highest whose level is no multiple of `stride`. The levels between
    /// are opened relative to those that stay. If only multiples are left, doubles `stride`.
    fn make_room(&mut self, levels: usize) {
        while self.open.len() >= self.share().max(1) {
            if let Some(at) = self.open.iter().position(|(level, _)| !level.is_multiple_of(self.stride)) {
                self.open.remove(at);
                continue;
            }
            self.stride *= 2;
            if self.stride > 2 * levels {
                return self.close_all();
            }
        }
    }

    pub(super) fn close_all(&mut self) {
        self.open.clear();
        self.stride = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dents_sys::{CWD, dir};

    fn deep(share: usize, levels: usize) -> Descriptors {
        let mut descriptors = Descriptors::new(share, 0);
        for level in 0..levels {
            descriptors.keep(level, dir::open(CWD, c"/").expect("opens"), level);
        }
        descriptors
    }

    #[test]
    fn no_more_descriptors_stay_open_than_the_share() {
        for share in [0, 1, 2, 7, 64] {
            for levels in [1, 2, 63, 200] {
                let mut descriptors = deep(share, levels);
                assert!(descriptors.open.len() <= share, "{share} of {levels}");
                assert_eq!(descriptors.at(levels - 1).is_some(), share > 0, "the deepest stays");
                for level in (0..levels).rev() {
                    descriptors.truncate(level);
                    assert!(descriptors.iter().all(|(at, _)| at < level) && descriptors.at(level).is_none());
                }
                assert_eq!((descriptors.open.len(), descriptors.stride), (0, 1));
            }
        }
    }

    #[test]
    fn the_open_levels_are_spread_out() {
        let descriptors = deep(16, 1000);
        let open: Vec<usize> = descriptors.iter().map(|(level, _)| level).collect();
        let widest = open.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(open[0] == 0 && widest < Some(400), "{open:?}");
    }

    #[test]
    fn a_paused_directory_takes_a_descriptor_of_the_share() {
        let mut descriptors = deep(6, 5);
        assert!(descriptors.pause(2, 5));
        let levels =
            |descriptors: &Descriptors| descriptors.iter().map(|(level, _)| level).collect::<Vec<_>>();
        // One of five had to be closed.
        assert_eq!((levels(&descriptors), descriptors.share()), (std::vec![0, 3, 4, 5], 5));
        descriptors.set_share(5);
        assert!(!descriptors.pause(2, 5), "too few descriptors are left");
        descriptors.resume();
        assert_eq!((descriptors.share(), descriptors.paused), (5, 0));
    }
}
