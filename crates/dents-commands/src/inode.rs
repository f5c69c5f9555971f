//! The identity of a file, independent of its names: a file with several names is counted once.

use dents_core::batch::Entry;
use dents_core::tree::Place;
use dents_core::tree::hardlinks::file_key;
use dents_sys::Errno;
use dents_sys::stat::{self, Flags, Mask};

pub use dents_core::tree::sums::path_order;

/// A file, by its device and inode number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inode {
    /// The major and the minor number of the device.
    pub dev: (u32, u32),
    /// The inode number.
    pub ino: u64,
}

impl Inode {
    /// The key of the file in a [`HardLinks`](dents_core::tree::hardlinks::HardLinks).
    pub fn key(self) -> [u32; 3] {
        file_key(self.dev, self.ino)
    }
}

/// Bytes that are allocated for an entry. The product saturates, because a file system may report any number of blocks.
pub(crate) fn allocated(entry: &Entry<'_>) -> u64 {
    entry.blocks().saturating_mul(512)
}

/// The target of a link, or the error of a dangling link: one `statx`.
pub(crate) fn target(place: &Place<'_>, entry: &Entry<'_>) -> Result<Inode, Errno> {
    let dir = place.dir.ok_or(Errno::NOENT)?;
    let statx = stat::statx(dir, entry.c_name(), Flags::NO_AUTOMOUNT, Mask::TYPE | Mask::INO)?;
    Ok(Inode { dev: statx.dev(), ino: statx.ino() })
}
