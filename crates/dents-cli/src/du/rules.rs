//! What counts, and how much.

use super::Args;
use crate::inode::Inode;
use dents::batch::Entry;
use dents::needs::{Kind, Needs, NeedsByKind};
use dents::tree::Follow;
use dents_sys::CWD;
use dents_sys::stat::{self, Flags, Mask};
use std::collections::HashSet;
use std::ffi::{CStr, CString};

/// Decided before the walk, the same for all operands.
pub(super) struct Rules {
    /// Directories down to here have a row of their own.
    pub(super) depth: u32,
    /// So have files.
    pub(super) all: bool,
    pub(super) one_file_system: bool,
    /// Whether directories are remembered: more than one way may lead to them, over links or from another operand.
    pub(super) directories_once: bool,
    apparent: bool,
    count_links: bool,
    follow: Follow,
    /// Files that are operands, and that another operand may hold.
    operands: HashSet<Inode>,
}

impl Rules {
    /// With several operands, `stat`s each.
    pub(super) fn new(args: &Args, paths: &[CString]) -> Rules {
        let options = args.walk.options(NeedsByKind::default());
        let (follow, one_file_system) = (options.follow, options.one_file_system);
        let mut operands = HashSet::new();
        if paths.len() > 1 {
            operands.extend(paths.iter().filter_map(|path| file(path, follow)));
        }
        Rules {
            depth: args.depth(),
            all: args.all,
            one_file_system,
            directories_once: !args.count_links && (paths.len() > 1 || follow == Follow::Always),
            apparent: args.apparent(),
            count_links: args.count_links,
            follow,
            operands,
        }
    }

    /// Whether links are followed wherever they are.
    pub(super) fn follows(&self) -> bool {
        self.follow == Follow::Always
    }

    /// What must be known. The apparent size of a directory is nothing, so its inode matters only if it may be met twice or
    /// lie elsewhere.
    pub(super) fn needs(&self) -> NeedsByKind {
        let identity = Needs::TYPE | Needs::INODE;
        let size = if self.apparent { Needs::SIZE } else { Needs::BLOCKS };
        let mut needs = NeedsByKind::all(Needs::TYPE);
        for kind in Kind::KNOWN.into_iter().filter(|kind| self.identifies(*kind)) {
            needs |= NeedsByKind::of(kind, identity | Needs::NLINK | size);
        }
        needs
    }

    /// Which file an entry of this type is must be known.
    pub(super) fn identifies(&self, kind: Kind) -> bool {
        !self.apparent || self.directories_once || self.one_file_system || has_apparent_size(kind)
    }

    /// What an entry takes, in bytes. Only regular files and links have an apparent size: of other types it says
    /// nothing that one could add (GNU du has counted so since 9.2).
    pub(super) fn bytes(&self, entry: &Entry<'_>) -> u64 {
        match self.apparent {
            false => entry.blocks() * 512,
            true if has_apparent_size(entry.kind()) => entry.size(),
            true => 0,
        }
    }

    /// Whether a file that is no directory may be met another time.
    pub(super) fn may_come_again(&self, entry: &Entry<'_>, inode: Inode) -> bool {
        !self.count_links && (self.follows() || entry.nlink() > 1 || self.operands.contains(&inode))
    }
}

fn has_apparent_size(kind: Kind) -> bool {
    matches!(kind, Kind::Reg | Kind::Link)
}

/// An operand that is no directory: one `statx`.
fn file(path: &CStr, follow: Follow) -> Option<Inode> {
    let flags = match follow {
        Follow::Never => Flags::NOFOLLOW,
        _ => Flags::empty(),
    };
    let statx = stat::statx(CWD, path, flags | Flags::NO_AUTOMOUNT, Mask::TYPE | Mask::INO).ok()?;
    let file = Kind::from_mode(statx.mode() as u16) != Kind::Dir;
    file.then(|| Inode { dev: statx.dev(), ino: statx.ino() })
}
