//! What no honest file system does: names, types, figures and directories that are not as they seem.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::time::{Duration, SystemTime};

use super::kind::Kind;

/// The first inode number of the directories below a bottomless one.
pub(super) const BOTTOM: u64 = 1 << 41;
/// The directory in each bottomless one.
pub(super) const DOWN: &str = "down";
/// The directory in the root that is the root.
pub(super) const MYSELF: &str = "myself";
/// The name that is repeated for ever.
pub(super) const AGAIN: &str = "again";

/// The tricks of a file system; by default none.
#[derive(Clone, Debug, Default)]
pub(super) struct Tricks {
    /// The types that a listing has for names, in place of the right ones.
    pub(super) lies: HashMap<OsString, Kind>,
    /// Sizes, and times in seconds since 1970, by name.
    pub(super) figures: HashMap<OsString, (u64, i64)>,
    /// An endless root has one name again and again.
    pub(super) repeats: bool,
    /// The root has a directory, which has a directory, and so on.
    pub(super) bottomless: bool,
    /// The root contains itself.
    pub(super) contains_itself: bool,
}

impl Tricks {
    /// The type that a listing has.
    pub(super) fn told(&self, name: &OsStr, kind: Kind) -> Kind {
        self.lies.get(name).copied().unwrap_or(kind)
    }

    /// The size and the time of a name.
    pub(super) fn figures(&self, name: &OsStr) -> Option<(u64, SystemTime)> {
        let (size, seconds) = *self.figures.get(name)?;
        let far = Duration::from_secs(seconds.unsigned_abs());
        let epoch = SystemTime::UNIX_EPOCH;
        Some((size, if seconds < 0 { epoch.checked_sub(far)? } else { epoch.checked_add(far)? }))
    }

    /// Whether this inode is a directory below a bottomless root.
    pub(super) fn is_below(&self, inode: u64) -> bool {
        self.bottomless && inode >= BOTTOM
    }
}
