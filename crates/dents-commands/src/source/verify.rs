//! `--verify`: entries of a scan file that are still the same.
//!
//! A program that acts on the paths of a scan acts on what has these paths now. So each path is looked up again before it is shown: one `statx`,
//! which follows no link at its end. A link in place of a directory above leads to another file, whose inode number or time of change differ.

use dents_core::batch::Time;
use dents_core::needs::Needs;
use dents_core::tree::open_by_path;
use dents_sink::Row;
use dents_sys::stat::{Flags, Mask, Statx, Timestamp, statx};
use dents_sys::{AsFd, CWD, Errno, Result};
use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Looks entries up again.
#[derive(Default)]
pub(super) struct Verifier {
    left_out: AtomicU64,
}

impl Verifier {
    /// Whether an entry has the inode number and the time of change that it had in the scan. Another one is counted, and so is one of which the
    /// scan does not know them.
    pub(super) fn holds(&self, row: &Row<'_>, scratch: &mut Vec<u8>) -> bool {
        scratch.clear();
        row.path(scratch);
        let is_same = row.facts.is_some_and(|facts| {
            look_up(row, scratch).is_ok_and(|now| {
                now.ino() == facts.ino
                    && facts.time(Needs::CTIME).is_some_and(|then| is_same_time(then, now.ctime()))
            })
        });
        if !is_same {
            self.left_out.fetch_add(1, Relaxed);
        }
        is_same
    }

    /// The number of entries that are not the same.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out.load(Relaxed)
    }
}

/// A path of any length.
fn look_up(row: &Row<'_>, path: &[u8]) -> Result<Statx> {
    let ask = |dir, path: &[u8]| {
        let path = CString::new(path).map_err(|_| Errno::INVAL)?;
        statx(dir, &path, Flags::NOFOLLOW | Flags::NO_AUTOMOUNT, Mask::INO | Mask::CTIME)
    };
    match ask(CWD, path) {
        Err(Errno::NAMETOOLONG) => ask(open_by_path(row.parent, true)?.as_fd(), row.name),
        answer => answer,
    }
}

/// A file may have its times in microseconds.
fn is_same_time(then: Time, now: Timestamp) -> bool {
    then.sec == now.sec && (then.nsec == now.nsec || then.nsec == now.nsec / 1000 * 1000)
}
