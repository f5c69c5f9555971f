//! The visitor of a walk: receives batches and failures.

use super::ancestors::Ancestors;
use crate::batch::{Batch, Entry};
use core::ffi::CStr;
use dents_sys::{BorrowedFd, Errno};

/// Receives the results of one worker. All methods except [`Visitor::entries`] have a default.
pub trait Visitor {
    /// The state that a directory passes to its subdirectories: the rules of an ignore file, a sum to add to. `()` for
    /// none. Cloned for each directory that is opened.
    type State: Clone + Default + Send + Sync;

    /// A directory is about to be opened: its parent, its name, and the depth of its entries, as in
    /// [`StartPoint`](super::StartPoint). If this returns true, the walk leaves it out without a request, for another walk
    /// that begins there.
    fn leaves(&mut self, parent: &[u8], name: &CStr, depth: u32) -> bool {
        let _ = (parent, name, depth);
        false
    }

    /// A directory was opened and is not read yet; `state` is that of its parent and becomes its own. [`Step::Skip`]
    /// closes the directory.
    fn opened(&mut self, place: &Place<'_>, state: &mut Self::State) -> Step {
        let _ = (place, state);
        Step::Enter
    }

    /// Selects the entries whose metadata the walk requests: true or false for each, or `None` for all. Only names and
    /// types are known at this point. The visitor gets the other entries too; their [`Entry::is_known`] is false.
    /// Entries of unknown type and followed links are always stat'ed, because they may be directories. Not called for
    /// operands, nor if nothing needs a request.
    fn select(&mut self, place: &Place<'_>, batch: &Batch, state: &Self::State) -> Option<&[bool]> {
        let _ = (place, batch, state);
        None
    }

    /// Entries of a directory: all of them, or a piece of a large directory. An empty directory gives one empty batch.
    /// [`Step::Skip`] enters none of the directories in the batch.
    fn entries(&mut self, place: &Place<'_>, batch: &Batch, state: &Self::State) -> Step;

    /// Whether to enter a subdirectory of the last batch; where links are followed, this may be a link to something
    /// else.
    fn descend(&mut self, place: &Place<'_>, entry: &Entry<'_>, state: &Self::State) -> Step {
        let _ = (place, entry, state);
        Step::Enter
    }

    /// The directories that the last calls of [`Visitor::descend`] entered have numbers from `first` on, in the order
    /// of the calls. Not called if there are none.
    fn numbered(&mut self, first: u64) {
        let _ = first;
    }

    /// The number of requests that the visitor itself has made since the last call. They count as requests of the walk, and because of
    /// [`Options::rate`](super::Options::rate) the worker may have to wait for them before its next request.
    fn requests(&mut self) -> u64 {
        0
    }

    /// Whether all workers should leave the walk now; another turn continues it. Called after each batch and failure; only for a
    /// [`Pausable`](super::Pausable) walk.
    fn pauses(&mut self) -> bool {
        false
    }

    /// A directory could not be opened, or not be read to its end.
    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        let _ = failure;
        Step::Enter
    }
}

/// How to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Continue, and enter.
    Enter,
    /// Continue without entering.
    Skip,
    /// End the walk on all workers.
    Stop,
}

/// The directory of a batch.
///
/// Operands come in a batch of their own, without a directory: number 0, depth 0, an empty path.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The directory's number in this walk; 0 for the operands.
    pub id: u64,
    /// The number of the parent directory.
    pub parent: u64,
    /// The depth of its *entries*: 0 for operands, 1 for entries of an operand.
    pub depth: u32,
    /// The [position](Place::position) of the directory in its parent; 0 for the operands and their entries.
    pub nth: u64,
    /// The path; it begins with the operand. See [`Place::join`].
    pub path: &'a [u8],
    /// Which piece of the directory this batch is.
    pub piece: Piece,
    /// The directory, for further requests about its entries (not to read it: it may be open with `O_PATH`). For the
    /// operands, the directory that they are relative to. `None` if a piece went to another worker, which could not
    /// open the directory again.
    pub dir: Option<BorrowedFd<'a>>,
    /// The directory and its ancestors; only where loops are found.
    pub(super) ancestors: Option<&'a Ancestors>,
}

impl Place<'_> {
    /// Whether a directory is this one or one of its ancestors. A link or a mount that leads there is yielded as an
    /// entry; it is not entered but reported as [`Problem::Loop`]. Always false except with [`Follow::Always`](super::Follow) and
    /// [`Options::mounts_loop`](super::Options::mounts_loop).
    #[must_use]
    pub fn is_within(&self, device: (u32, u32), ino: u64) -> bool {
        self.ancestors.is_some_and(|ancestors| ancestors.has(device, ino))
    }

    /// The position of an entry of this batch in the directory: greater for entries that were read later. With
    /// [`Order::Inode`](super::Order::Inode) the entries of a piece are in that order instead.
    #[must_use]
    pub fn position(&self, entry: &Entry<'_>) -> u64 {
        u64::from(self.piece.index) << 32 | entry.index() as u64
    }

    /// Writes the path of an entry into `path`, replacing its contents.
    pub fn join(&self, name: &[u8], path: &mut alloc::vec::Vec<u8>) {
        path.clear();
        crate::path::push(self.path, name, path);
    }
}

/// Identifies a piece of a directory: the entries of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Counted from 0. Pieces may come in any order, and to several workers.
    pub index: u32,
    /// Whether this is the last index. Other pieces may still follow.
    pub last: bool,
}

/// The error of a directory. (The error of an entry is in its batch.)
#[derive(Clone, Copy, Debug)]
pub struct Failure<'a> {
    /// The directory's number.
    pub id: u64,
    /// The number of the parent directory.
    pub parent: u64,
    /// The depth that its entries would have.
    pub depth: u32,
    /// Its path.
    pub path: &'a [u8],
    /// What failed.
    pub problem: Problem,
    /// The kernel's error; `ELOOP` for a loop.
    pub errno: Errno,
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Opening the directory.
    Open,
    /// Reading it. Entries read before were passed to the visitor.
    Read,
    /// Entering it: it is one of its own ancestors, through a link or a mount.
    Loop,
}
