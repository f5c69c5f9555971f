//! Which entries count, and how many bytes.

use super::row::Row;
use super::{Args, What};
use crate::overlap::Overlap;
use dents_core::bulk::Usage;
use dents_core::facts::Facts;
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::tree::Follow;
use std::ffi::{CStr, CString};

/// The rules for all operands, made before the walk.
pub(super) struct Rules {
    /// Directories down to this depth have a row of their own.
    pub(super) depth: u32,
    /// Files down to that depth have one too.
    pub(super) all: bool,
    pub(super) one_file_system: bool,
    /// Whether only entries that pass a test count.
    pub(super) has_tests: bool,
    what: What,
    separate: bool,
    pub(super) count_links: bool,
    follow: Follow,
    /// Files to which several paths may lead: by links, or from another operand.
    pub(super) overlap: Overlap,
}

impl Rules {
    /// Makes the rules. Costs one `statx` for each operand if there are several.
    pub(super) fn new(args: &Args, paths: &[CString], has_tests: bool) -> Rules {
        let (follow, one_file_system) = (args.walk.follow(), args.walk.one_file_system());
        let overlap = match args.count_links {
            true => Overlap::new(&[], Follow::Never),
            false => Overlap::new(paths, follow),
        };
        Rules {
            depth: args.depth(),
            all: args.all,
            one_file_system,
            has_tests,
            what: args.what(),
            separate: args.separate_dirs,
            count_links: args.count_links,
            follow,
            overlap,
        }
    }

    /// Whether all symbolic links are followed.
    pub(super) fn follows(&self) -> bool {
        self.follow == Follow::Always
    }

    /// The needs of entries that count. The apparent size of a directory is 0, so its inode number is needed only if the walk may find the directory
    /// twice, or if it may be on another file system.
    pub(super) fn needs(&self) -> NeedsByKind {
        let identity = Needs::TYPE | Needs::INODE;
        let size = match self.what {
            What::Allocated => Needs::BLOCKS,
            What::Apparent => Needs::SIZE,
            What::Inodes => Needs::empty(),
        };
        let mut needs = NeedsByKind::all(Needs::TYPE);
        for kind in Kind::KNOWN.into_iter().filter(|kind| self.identifies(*kind)) {
            needs |= NeedsByKind::of(kind, identity | Needs::NLINK | size);
        }
        needs
    }

    /// The needs of directories that are entered, even if they do not count.
    pub(super) fn must(&self) -> NeedsByKind {
        match self.overlap.has_directories() || self.follows() || self.one_file_system {
            true => NeedsByKind::of(Kind::Dir, Needs::TYPE | Needs::INODE),
            false => NeedsByKind::default(),
        }
    }

    /// Whether device and inode number of entries of this type must be known.
    pub(super) fn identifies(&self, kind: Kind) -> bool {
        self.what != What::Apparent
            || self.overlap.has_directories()
            || self.follows()
            || self.one_file_system
            || kind.has_length()
    }

    /// The bytes that an entry takes, or 1. The apparent size of an entry that has no [length](Kind::has_length) is 0.
    pub(super) fn bytes(&self, kind: Kind, facts: &Facts<'_>) -> u64 {
        match self.what {
            What::Allocated => facts.allocated,
            What::Apparent if kind.has_length() => facts.size,
            What::Apparent => 0,
            What::Inodes => 1,
        }
    }

    /// The number of names of a file that the walk may find. The file is not a directory.
    pub(super) fn names(&self, facts: &Facts<'_>) -> u32 {
        if self.count_links { 1 } else { self.overlap.names(facts.inode(), facts.nlink) }
    }

    /// Whether only the sum of an operand is shown, in which each file counts once.
    pub(super) fn sum_suffices(&self) -> bool {
        self.depth == 0 && !self.separate && !self.count_links
    }

    /// The row of a whole file system.
    pub(super) fn row(&self, path: &CStr, usage: Usage) -> Row {
        let bytes = match self.what {
            What::Allocated => usage.blocks * 512,
            What::Apparent => usage.bytes,
            What::Inodes => usage.inodes.into(),
        };
        Row { path: path.to_bytes().into(), depth: 0, bytes, is_directory: true }
    }

    /// Directories down to this depth have a node. If sums do not include subdirectories, all have one.
    pub(super) fn nodes_to(&self) -> u32 {
        if self.separate { u32::MAX } else { self.depth }
    }
}
