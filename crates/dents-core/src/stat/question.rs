//! What is requested about entries, and what comes back: the values that all strategies share.

use super::request_counts::RequestCounter;
use crate::batch::{Dent, Names, Texts};
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::watchdog::Watch;
use alloc::vec::Vec;
use core::cell::OnceCell;
use dents_engine::limit::choose::Choice;
use dents_engine::limit::policy::{Lists, Policy};
use dents_sys::statfs::{self, FsType};
use dents_sys::{AsRawFd, BorrowedFd, CWD, Errno};

/// The facts to request about entries, and the directory that names are relative to.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The directory the names are relative to.
    pub dir: BorrowedFd<'a>,
    /// The needs of each type.
    pub needs: &'a NeedsByKind,
    /// Whether symbolic links are followed.
    pub follow: bool,
    /// Whether a link's target is looked up by the link's text instead of following the link. On /proc the two differ: `fd/3 ->
    /// pipe:[41]` can be followed although that name does not exist.
    pub by_text: bool,
    /// What a list of attribute names costs and tells, as far as it is known.
    pub lists: Lists,
    /// Where the worker shows its requests.
    pub watch: Option<&'static Watch>,
    /// Whether stale cached values suffice (`AT_STATX_DONT_SYNC`).
    pub lazy: bool,
    /// Where to count requests.
    pub counter: Option<&'a RequestCounter>,
}

/// The result of a fill.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// System calls by kind.
    pub tally: Tally,
    /// The strategy and its reason. `None` if there was nothing to request.
    pub choice: Option<Choice>,
    /// The error of io_uring, if it was requested.
    pub refused: Option<Errno>,
}

/// System calls made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Entries of the batch.
    pub entries: u64,
    /// Entries with a failed request.
    pub faults: u64,
    /// `statx` of entries and of the targets of links.
    pub stats: u64,
    /// Entries without a request: name and `d_type` sufficed.
    pub avoided: u64,
    /// `readlinkat`.
    pub links: u64,
    /// Entries whose metadata was read in bulk.
    pub joined: u64,
    /// `listxattrat` and `getxattrat`; an entry whose attributes were requested through a ring counts as one.
    pub xattrs: u64,
}

impl core::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.entries += other.entries;
        self.faults += other.faults;
        self.stats += other.stats;
        self.avoided += other.avoided;
        self.links += other.links;
        self.joined += other.joined;
        self.xattrs += other.xattrs;
    }
}

/// A directory and its file system, which is looked up when first needed: two system calls, no request to a server.
pub(crate) struct ListedDir<'a> {
    pub(super) dir: BorrowedFd<'a>,
    fs: OnceCell<Option<FsType>>,
}

impl<'a> ListedDir<'a> {
    /// `fs` is the file system, if it is known.
    pub(crate) fn new(dir: BorrowedFd<'a>, fs: Option<Option<FsType>>) -> Self {
        ListedDir { dir, fs: fs.map_or_else(OnceCell::new, OnceCell::from) }
    }

    pub(super) fn fs(&self) -> Option<FsType> {
        *self.fs.get_or_init(|| statfs::of_mount(self.dir).ok())
    }

    /// [`Question::lists`], as far as it is known without a system call.
    pub(crate) fn lists(&self) -> Lists {
        self.fs.get().map(|fs| Policy::of(*fs).lists).unwrap_or_default()
    }

    pub(super) fn policy(&self) -> &'static Policy {
        // Operands may be on any file system.
        if dir_is_cwd(self.dir) { Policy::of(None) } else { Policy::of(self.fs()) }
    }
}

/// The entries that need requests.
pub(crate) struct Todo<'a> {
    pub(super) question: Question<'a>,
    pub(super) dents: &'a [Dent],
    pub(super) names: Names<'a>,
}

/// The results of a strategy beside the slots.
#[derive(Default)]
pub(crate) struct Harvest {
    /// The texts of each asker; slots hold their index.
    pub(super) texts: Vec<Texts>,
    pub(super) tally: Tally,
}

pub(crate) fn asks(needs: &NeedsByKind, follow: bool, kind: Kind) -> bool {
    needs.asks(kind) || (follow && kind == Kind::Link && !needs.get(kind).is_empty())
}

pub(super) fn trusts_readdir(needs: &NeedsByKind, follow: bool) -> bool {
    !follow && needs.any() == Needs::INODE | (needs.any() & Needs::TYPE)
}

/// Whether links are followed by their text: if the text is needed anyway, because then it costs nothing; and on a
/// file system with magic links, where it is the only way. The file system is looked up only if there is a link to
/// follow, or if not all names are known yet.
pub(crate) fn resolve_by_text(dents: Option<&[Dent]>, needs: &NeedsByKind, listed: &ListedDir<'_>) -> bool {
    let link = needs.get(Kind::Link);
    if !link.contains(Needs::TARGET) || link.contains(Needs::LINK) {
        return true;
    }
    let may_be_link = |dent: &Dent| matches!(dent.kind(), Kind::Link | Kind::Unknown);
    if dents.is_some_and(|dents| !dents.iter().any(may_be_link)) {
        return true;
    }
    // Operands may be on any file system.
    if dir_is_cwd(listed.dir) {
        return true;
    }
    listed.fs().is_none_or(|fs| fs == FsType::PROC)
}

pub(super) fn dir_is_cwd(dir: BorrowedFd<'_>) -> bool {
    dir.as_raw_fd() == CWD.as_raw_fd()
}
