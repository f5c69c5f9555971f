//! The identity of a file, independent of its names: a file with several names is counted once.

use dents_core::batch::Entry;
use dents_core::tree::Place;
use dents_sys::Errno;
use dents_sys::stat::{self, Flags, Mask};

pub use dents_core::facts::Inode;
pub use dents_core::tree::sums::path_order;

/// The target of a link, or the error of a dangling link: one `statx`.
pub(crate) fn target(place: &Place<'_>, entry: &Entry<'_>) -> Result<Inode, Errno> {
    let dir = place.dir.ok_or(Errno::NOENT)?;
    let statx = stat::statx(dir, entry.c_name(), Flags::NO_AUTOMOUNT, Mask::TYPE | Mask::INO)?;
    Ok(Inode { dev: statx.dev(), ino: statx.ino() })
}
