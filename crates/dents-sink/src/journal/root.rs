//! The file to which a path led when the scan began. A journal must not be resumed on another tree with the same name.

use crate::coding::{Bytes, put_number, put_time};
use dents_core::batch::Time;
use std::ffi::{CStr, OsStr};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// The identity of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Root {
    dev: u64,
    ino: u64,
    /// Birth, if the file system keeps it: a directory that was removed and created again often has the same inode number.
    born: Option<Time>,
}

impl Root {
    /// The file of a path; `None` if there is none. Costs one `statx` that follows links, and a second one for a dangling link.
    pub(super) fn of(path: &CStr) -> Option<Root> {
        let path = Path::new(OsStr::from_bytes(path.to_bytes()));
        let there = fs::metadata(path).or_else(|_| fs::symlink_metadata(path)).ok()?;
        Some(Root { dev: there.dev(), ino: there.ino(), born: born(&there) })
    }
}

fn born(there: &Metadata) -> Option<Time> {
    let since = there.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Time { sec: i64::try_from(since.as_secs()).ok()?, nsec: since.subsec_nanos() })
}

/// The difference, for a message; `None` if it is the same file. A birth is compared only if both runs know it, because another
/// kernel may report more.
pub(super) fn change(then: Option<&Root>, now: Option<&Root>) -> Option<&'static str> {
    match (then, now) {
        (Some(_), None) => Some("it has gone"),
        (None, Some(_)) => Some("it was not there"),
        (Some(then), Some(now)) if then.dev != now.dev => Some("it is on another device"),
        (Some(then), Some(now)) if then.ino != now.ino => Some("it has another inode"),
        (Some(Root { born: Some(then), .. }), Some(Root { born: Some(now), .. })) if then != now => {
            Some("it was removed and made anew")
        }
        _ => None,
    }
}

pub(super) fn put(out: &mut Vec<u8>, root: Option<&Root>) {
    out.push(u8::from(root.is_some()));
    let Some(root) = root else { return };
    put_number(out, root.dev);
    put_number(out, root.ino);
    out.push(u8::from(root.born.is_some()));
    root.born.into_iter().for_each(|born| put_time(out, born));
}

/// Decodes a root; `None` if the bytes are invalid.
pub(super) fn take(bytes: &mut Bytes<'_>) -> Option<Option<Root>> {
    if bytes.byte()? == 0 {
        return Some(None);
    }
    let (dev, ino) = (bytes.number()?, bytes.number()?);
    let born = if bytes.byte()? == 0 { None } else { Some(bytes.time()?) };
    Some(Some(Root { dev, ino, born }))
}
