//! Facts about an entry that its metadata do not have: its state in git, and the size of all that is below it.
//!
//! The caller collects them and puts them into the frame ([`crate::Frame::notes`]). An entry without a note is drawn
//! as unknown.

pub use dents_core::tree::total::Total;

/// The facts about one entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Its state in git.
    pub git: Git,
    /// The total of the entry and all that is below it, if it was added up.
    pub total: Option<Total>,
}

/// The state of an entry in git.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Git {
    /// Git was not run, or the entry is in no repository.
    #[default]
    Outside,
    /// Git has not answered in time.
    Late,
    /// The differences between the last commit and the index, and between the index and the file.
    Status {
        /// Last commit to index.
        staged: Change,
        /// Index to file.
        unstaged: Change,
    },
}

/// A difference. The variants are ordered from the least to the most serious: a directory shows the most serious one
/// of the files below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// No difference.
    #[default]
    None,
    /// It is ignored.
    Ignored,
    /// It is not tracked, or newly added.
    New,
    /// The mode or type has changed.
    Typechange,
    /// It was renamed.
    Renamed,
    /// The content has changed.
    Modified,
    /// It was deleted.
    Deleted,
    /// Two merged changes contradict each other.
    Conflicted,
}
