//! What a walk shows its findings to.

use super::lineage::Lineage;
use crate::batch::{Batch, Entry};
use dents_sys::{BorrowedFd, Errno};

/// Receives what one worker finds. All methods but [`Visitor::entries`] have a default.
pub trait Visitor {
    /// What a directory hands down to its subdirectories: the rules of an ignore file, a sum to add to. `()` for nothing.
    /// Cloned for each directory that is opened.
    type State: Clone + Default + Send + Sync;

    /// A directory was opened and not yet read; `state` is that of its parent and becomes its own. [`Step::Skip`] closes
    /// it again.
    fn opened(&mut self, place: &Place<'_>, state: &mut Self::State) -> Step {
        let _ = (place, state);
        Step::Enter
    }

    /// Selects the entries that the walk asks about, by their names and types: true or false for each, or `None` for all. The
    /// visitor gets the others too, and [`Entry::is_known`] is false for them. An entry of unknown type, and a link that is
    /// followed, is asked about in any case: it may be a directory. Not called for operands, nor where nothing needs to be asked.
    fn select(&mut self, place: &Place<'_>, batch: &Batch, state: &Self::State) -> Option<&[bool]> {
        let _ = (place, batch, state);
        None
    }

    /// Entries of a directory: all of them, or a piece if there are many. An empty directory gives one empty batch.
    /// [`Step::Skip`] enters none of the directories among them.
    fn entries(&mut self, place: &Place<'_>, batch: &Batch, state: &Self::State) -> Step;

    /// Whether to enter a subdirectory (or, where links are followed, perhaps a link to one) of the entries given last.
    fn descend(&mut self, place: &Place<'_>, entry: &Entry<'_>, state: &Self::State) -> Step {
        let _ = (place, entry, state);
        Step::Enter
    }

    /// The directories for which [`Visitor::descend`] has just been asked, and that are entered, have numbers from `first`
    /// on, in the order of asking. Not told if there are none.
    fn numbered(&mut self, first: u64) {
        let _ = first;
    }

    /// A directory that could not be opened, or not read to its end.
    fn failed(&mut self, failure: &Failure<'_>) -> Step {
        let _ = failure;
        Step::Enter
    }
}

/// How to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Go on, and down.
    Enter,
    /// Go on, but not down here.
    Skip,
    /// End the walk, on all workers.
    Stop,
}

/// The directory that a batch is of.
///
/// Operands come in a batch of their own, of no directory: number 0, depth 0, an empty path.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The directory's number in this walk; that of the operands is 0.
    pub id: u64,
    /// The number of the directory it is in.
    pub parent: u64,
    /// The depth of its *entries*: 0 for operands, 1 for what is in them.
    pub depth: u32,
    /// The path, beginning with the operand. See [`Place::join`].
    pub path: &'a [u8],
    /// Which part of it this is.
    pub piece: Piece,
    /// The directory, to ask more about its entries (not to read it: it may be open as a place only, `O_PATH`); where
    /// the operands begin for the operands. `None` if it could not be opened another time for a piece that was dealt out.
    pub dir: Option<BorrowedFd<'a>>,
    /// The directory and those above it; only where links are followed.
    pub(super) lineage: Option<&'a Lineage>,
}

impl Place<'_> {
    /// Whether a directory is this one or one above it. A link that leads there is given as an entry, and then not entered but
    /// told of as [`Problem::Loop`]. Always false but with [`Follow::Always`](super::Follow).
    #[must_use]
    pub fn is_within(&self, device: (u32, u32), ino: u64) -> bool {
        self.lineage.is_some_and(|lineage| lineage.has(device, ino))
    }

    /// The path of an entry, written over what is in `path`.
    pub fn join(&self, name: &[u8], path: &mut alloc::vec::Vec<u8>) {
        path.clear();
        path.extend_from_slice(self.path);
        if !self.path.is_empty() && !self.path.ends_with(b"/") {
            path.push(b'/');
        }
        path.extend_from_slice(name);
    }
}

/// A part of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Counted from 0. Pieces may come in any order, and to several workers.
    pub index: u32,
    /// Whether this is the one with the greatest index: nothing is known of others' having come.
    pub last: bool,
}

/// What went wrong with a directory. (What goes wrong with an entry is in its batch.)
#[derive(Clone, Copy, Debug)]
pub struct Failure<'a> {
    /// The directory's number.
    pub id: u64,
    /// The number of the directory it is in.
    pub parent: u64,
    /// The depth that its entries would have.
    pub depth: u32,
    /// Its path.
    pub path: &'a [u8],
    /// What was tried.
    pub problem: Problem,
    /// What the kernel said; `ELOOP` for a loop.
    pub errno: Errno,
}

/// What was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// To open it.
    Open,
    /// To read it. What was read before was given.
    Read,
    /// To enter a directory that is one of those above: a loop of links.
    Loop,
}
