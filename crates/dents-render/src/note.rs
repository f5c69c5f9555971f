//! What is known of an entry from elsewhere than its own metadata: its state in git, the size of what is below it.
//!
//! The caller finds it out and puts it into the frame ([`crate::Frame::notes`]); without a note an entry is drawn as unknown, not
//! as if there were nothing.

use dents_core::batch::Entry;
use dents_core::needs::{Kind, Needs, NeedsByKind};

/// What is known of one entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// What git says of it.
    pub git: Git,
    /// It and all that is below it, if that was added up.
    pub total: Option<Total>,
}

/// What git says of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Git {
    /// Git was not asked, or the entry is in no repository.
    #[default]
    Outside,
    /// Git has not answered in time.
    Late,
    /// What differs between the last commit and the index, and between the index and the file.
    Status {
        /// Last commit to index.
        staged: Change,
        /// Index to file.
        unstaged: Change,
    },
}

/// How something differs. Of what is in a directory, the gravest: the order is by that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It does not.
    #[default]
    None,
    /// It is ignored.
    Ignored,
    /// It is not tracked, or newly added.
    New,
    /// Another mode or type.
    Typechange,
    /// Another name.
    Renamed,
    /// Another content.
    Modified,
    /// It is gone.
    Deleted,
    /// Two merged changes contradict each other.
    Conflicted,
}

/// What an entry and all below it come to. Hard links count once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Sizes, in bytes.
    pub bytes: u128,
    /// Allocated blocks of 512 bytes.
    pub blocks: u128,
    /// Whether nothing is missing: all could be read, and in time.
    pub whole: bool,
}

impl Total {
    /// What a file comes to that is no directory: itself. Of one that is unknown to `statx` nothing may be asked.
    #[must_use]
    pub fn of_file(entry: &Entry<'_>) -> Option<Total> {
        let is_file = entry.kind() != Kind::Dir;
        is_file.then(|| Total { bytes: entry.size().into(), blocks: entry.blocks().into(), whole: true })
    }

    /// What must be known for that. Directories are added up by a walk of its own.
    #[must_use]
    pub fn needs() -> NeedsByKind {
        let files = Kind::KNOWN.into_iter().filter(|kind| *kind != Kind::Dir);
        let needs = files.map(|kind| NeedsByKind::of(kind, Needs::SIZE | Needs::BLOCKS));
        needs.fold(NeedsByKind::all(Needs::TYPE), |all, one| all | one)
    }
}
