//! What a caller may choose: the tricks of a scan, the order of names.

use crate::stat::Workers;

bitflags::bitflags! {
    /// Tricks that save requests. All by default.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Tricks: u8 {
        /// Trust the types of `readdir`. Without this every type counts as unknown, which shows the effect of the other
        /// tricks on any file system.
        const D_TYPE = 1 << 0;
        /// Stop once `link count − 2` subdirectories are found.
        const NLINK = 1 << 1;
        /// Try likely directories first.
        const LIKELY_FIRST = 1 << 2;
        /// Try names in the order of inode numbers (among equally likely ones).
        const INODE_ORDER = 1 << 3;
        /// Try `name/.` before `name`.
        const DOT = 1 << 4;
    }
}

bitflags::bitflags! {
    /// Options of [`readdirx`](super::readdirx()), and its result flag.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Readdir: u8 {
        /// Keep types and inode numbers. Without it all types are unknown and all numbers zero.
        const DENTS = 1 << 0;
        /// Likely directories first: known ones, then names that begin with a dot, then names without a dot, shorter
        /// ones first. These are in inode order, the others in reading order.
        const DIRS_FIRST = 1 << 1;
        /// In the best order for `statx` of all names: that of inode numbers, which is close to that of inodes on the
        /// disk. With [`Readdir::DIRS_FIRST`], likely directories still come first.
        const STAT_ORDER = 1 << 2;
        /// Only in the result: some type was unknown. Without it, `readdir` returned all types.
        const FOUND_UNKNOWN = 1 << 7;
    }
}

/// How to scan.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The tricks to use.
    pub tricks: Tricks,
    /// Most requests in flight; 4 by default. More than one needs `workers`.
    pub max_requests: usize,
    /// Starts the threads for that; without it, requests are made one by one.
    pub workers: Option<&'a dyn Workers>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { tricks: Tricks::all(), max_requests: 4, workers: None }
    }
}

impl Options<'_> {
    /// Treats all types of `readdir` as unknown, as on a file system without `d_type`.
    #[must_use]
    pub fn distrust_d_type(mut self) -> Self {
        self.tricks.remove(Tricks::D_TYPE);
        self
    }
}
