//! The mounts on the entries of a batch, for `--mounts`.

use super::session::Session;
use alloc::vec::Vec;
use dents_core::batch::{Batch, Extra};
use dents_core::mounts::Mounted;

/// The list of mounts is read, once, only if an entry is a mount point.
#[cold]
#[inline(never)]
pub(super) fn mounted(batch: &Batch, session: &Session<'_>) -> Vec<(u32, Mounted)> {
    let mut mounted = Vec::new();
    for entry in batch.iter() {
        if let Some(extra) = entry.extra().filter(|extra| extra.attributes & Extra::MOUNT_ROOT != 0) {
            let unknown = || Mounted { fs_type: b"?".to_vec(), source: b"?".to_vec() };
            let found = session.mounts.at(extra.dev, entry.name()).unwrap_or_else(unknown);
            mounted.push((entry.index() as u32, found));
        }
    }
    mounted
}
