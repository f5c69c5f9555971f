//! The file to which a path led when the scan began. A journal must not be resumed on another tree with the same name, and a task of a scan in
//! parts must not run on a machine where the tree is not mounted.

use crate::bytes::{Bytes, put_number, put_time};
use dents_core::batch::Time;
use dents_sys::statfs;
use std::ffi::{CStr, OsStr};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// The identity of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    dev: u64,
    ino: u64,
    /// Birth, if the file system keeps it: a directory that was removed and created again often has the same inode number.
    born: Option<Time>,
    /// The type of the file system (`f_type` of statfs); `None` if it was not recorded.
    kind: Option<u64>,
}

/// Which machine compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    /// That of the first run.
    Same,
    /// Possibly another one, where the same file system has another device number.
    Any,
}

impl Root {
    /// The file of a path; `None` if there is none. Costs one `statx` that follows links, and a second one for a dangling link.
    pub(crate) fn of(path: &CStr) -> Option<Root> {
        let path = Path::new(OsStr::from_bytes(path.to_bytes()));
        let there = fs::metadata(path).or_else(|_| fs::symlink_metadata(path)).ok()?;
        Some(Root { dev: there.dev(), ino: there.ino(), born: born(&there), kind: None })
    }

    /// The same with the type of its file system. `statfs` comes first, because it mounts what is mounted on demand.
    pub(crate) fn with_kind(path: &CStr) -> Option<Root> {
        let kind = statfs::statfs(path).ok().map(|kind| kind.0);
        Root::of(path).map(|root| Root { kind, ..root })
    }
}

fn born(there: &Metadata) -> Option<Time> {
    let since = there.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Time { sec: i64::try_from(since.as_secs()).ok()?, nsec: since.subsec_nanos() })
}

/// The difference, for a message; `None` if it is the same file. A birth is compared only if both runs know it, because another
/// kernel may report more.
pub(crate) fn change(then: Option<&Root>, now: Option<&Root>, machine: Machine) -> Option<&'static str> {
    match (then, now) {
        (Some(_), None) => Some("it has gone"),
        (None, Some(_)) => Some("it was not there"),
        (Some(then), Some(now)) if machine == Machine::Same && then.dev != now.dev => {
            Some("it is on another device")
        }
        (Some(then), Some(now)) if then.ino != now.ino => Some("it has another inode"),
        (Some(Root { born: Some(then), .. }), Some(Root { born: Some(now), .. })) if then != now => {
            Some("it was removed and made anew")
        }
        (Some(Root { kind: Some(then), .. }), Some(Root { kind: Some(now), .. })) if then != now => {
            Some("it is on a file system of another type")
        }
        _ => None,
    }
}

pub(crate) fn put(out: &mut Vec<u8>, root: Option<&Root>) {
    out.push(u8::from(root.is_some()));
    let Some(root) = root else { return };
    put_number(out, root.dev);
    put_number(out, root.ino);
    out.push(u8::from(root.born.is_some()));
    root.born.into_iter().for_each(|born| put_time(out, born));
}

/// The same with the type of the file system.
pub(crate) fn put_with_kind(out: &mut Vec<u8>, root: Option<&Root>) {
    put(out, root);
    put_number(out, root.and_then(|root| root.kind).unwrap_or(0));
}

/// Decodes what [`put_with_kind`] wrote.
pub(crate) fn take_with_kind(bytes: &mut Bytes<'_>) -> Option<Option<Root>> {
    let root = take(bytes)?;
    let kind = Some(bytes.number()?).filter(|kind| *kind != 0);
    Some(root.map(|root| Root { kind, ..root }))
}

/// Decodes a root; `None` if the bytes are invalid.
pub(crate) fn take(bytes: &mut Bytes<'_>) -> Option<Option<Root>> {
    if bytes.byte()? == 0 {
        return Some(None);
    }
    let (dev, ino) = (bytes.number()?, bytes.number()?);
    let born = if bytes.byte()? == 0 { None } else { Some(bytes.time()?) };
    Some(Some(Root { dev, ino, born, kind: None }))
}
