//! Details of entries (`--columns`): requested only for entries that passed all tests.
//!
//! | column | costs for each entry |
//! |---|---|
//! | project | `file_getattr`; before Linux 6.17 `openat`, `ioctl`, `close`, for regular files and directories alone |
//! | flags, filesystem | nothing beside the `statx`; the list of mounts once for each worker |
//! | acl, xattrs | one `listxattrat` for both |
//! | stripes, pool | on Lustre one `getxattrat` for both |
//! | hsm | on Lustre one `getxattrat` |
//!
//! A detail that cannot be read is unknown, which is not an error.

use crate::entry::reach;
use dents_core::batch::{Entry, Extra};
use dents_core::lustre;
use dents_core::mounts::Mounts;
use dents_core::needs::Kind;
use dents_core::tree::Place;
use dents_sink::read::Columns;
use dents_sink::{Detail, Details, Draft, Value};
use dents_sys::statfs::{self, FsType};
use dents_sys::{AsRawFd, BorrowedFd, CWD, Errno, fileattr, xattr};
use std::collections::HashMap;
use std::ffi::CStr;
use std::fmt::Write;

/// Columns that only entries on Lustre have.
pub(crate) const LUSTRE: Columns = Columns::STRIPES.union(Columns::POOL).union(Columns::HSM);

/// Requests the details of one worker's entries.
#[derive(Default)]
pub(crate) struct Asker {
    wanted: Columns,
    draft: Draft,
    types: FileSystems,
    /// A list of names, or the value of an attribute.
    bytes: Vec<u8>,
    text: String,
    requests: u64,
}

/// Room for the attribute names of one file, and for the value of an attribute. 64 KiB are always enough.
const USUAL: usize = 1024;
const LARGEST: usize = 64 << 10;

impl Asker {
    pub(crate) fn new(wanted: Columns) -> Asker {
        Asker { wanted: wanted & Columns::DETAILS, ..Asker::default() }
    }

    /// Requests made since the last call.
    pub(crate) fn requests(&mut self) -> u64 {
        std::mem::take(&mut self.requests)
    }

    /// The details of an entry.
    pub(crate) fn ask(&mut self, place: &Place<'_>, entry: &Entry<'_>) -> Details<'_> {
        self.draft.clear();
        let has_failed = entry.fault().is_some() && !entry.is_known();
        if self.wanted.is_empty() || has_failed {
            return Details::default();
        }
        reach(place, entry, |dir, name| self.ask_at(dir, name, entry.kind(), entry.extra()));
        self.draft.details()
    }

    fn ask_at(&mut self, dir: BorrowedFd<'_>, name: &CStr, kind: Kind, extra: Option<&Extra>) {
        if self.wanted.contains(Columns::PROJECT) {
            self.requests += 1;
            let project = fileattr::project(dir, name, matches!(kind, Kind::Reg | Kind::Dir)).ok();
            self.draft.push(Detail::Project, project.map(|number| Value::Number(number.into())));
        }
        if self.wanted.contains(Columns::FLAGS)
            && let Some(extra) = extra
        {
            let letters = dents_render::inode_flags(extra.attributes, extra.attributes_mask);
            self.draft.push(Detail::Flags, letters.as_deref().map(Value::Text));
        }
        if self.wanted.intersects(Columns::ACL | Columns::XATTRS) {
            self.xattrs(dir, name);
        }
        if self.wanted.intersects(Columns::FILESYSTEM | LUSTRE)
            && let Some(extra) = extra
        {
            let is_lustre = self.filesystem(dir, extra.dev);
            if is_lustre && self.wanted.intersects(LUSTRE) {
                self.lustre(dir, name, kind);
            }
        }
        for (detail, getter) in Detail::of(self.wanted).filter_map(|one| Some((one, one.getter()?))) {
            self.draft.push(detail, extra.and_then(getter).map(Value::Number));
        }
    }

    /// The names of attributes, and the ACLs among them.
    fn xattrs(&mut self, dir: BorrowedFd<'_>, name: &CStr) {
        let Asker { wanted, draft, bytes, text, requests, .. } = self;
        let list =
            into(bytes, requests, |buffer| xattr::listxattrat(dir, name, false, buffer).map(<[u8]>::len));
        let list = match list {
            Ok(list) => list,
            // A file system without attributes.
            Err(Errno::OPNOTSUPP) => b"",
            Err(_) => return,
        };
        let mut names: Vec<&[u8]> = xattr::names(list).collect();
        names.sort_unstable();
        if wanted.contains(Columns::ACL) {
            text.clear();
            let words = ACLS.iter().filter(|(attribute, _)| names.contains(&attribute.as_bytes()));
            words.for_each(|(_, word)| push_word(text, word));
            draft.push(Detail::Acl, Some(Value::Text(text)));
        }
        if wanted.contains(Columns::XATTRS) {
            text.clear();
            let mut escaped = String::new();
            for name in names {
                escaped.clear();
                push_name(&mut escaped, name);
                push_word(text, &escaped);
            }
            draft.push(Detail::Xattrs, Some(Value::Text(text)));
        }
    }

    /// Adds the type of the file system. Returns whether it is Lustre.
    fn filesystem(&mut self, dir: BorrowedFd<'_>, device: (u32, u32)) -> bool {
        let Asker { wanted, draft, types, requests, .. } = self;
        *requests += u64::from(!types.0.contains_key(&device));
        let found = types.of(Some(dir), device);
        if wanted.contains(Columns::FILESYSTEM) {
            draft.push(Detail::Filesystem, found.map(Value::Text));
        }
        found == Some("lustre")
    }

    fn lustre(&mut self, dir: BorrowedFd<'_>, name: &CStr, kind: Kind) {
        if !matches!(kind, Kind::Reg | Kind::Dir) {
            return;
        }
        let Asker { wanted, draft, bytes, text, requests, .. } = self;
        let mut get = |attribute: &CStr, bytes: &mut Vec<u8>| {
            into(bytes, requests, |buffer| {
                xattr::getxattrat(dir, name, false, attribute, buffer).map(<[u8]>::len)
            })
            .map(<[u8]>::to_vec)
        };
        if wanted.intersects(Columns::STRIPES | Columns::POOL)
            && let Ok(value) = get(c"lustre.lov", bytes)
            && let Some(striping) = lustre::striping(&value)
        {
            if wanted.contains(Columns::STRIPES) {
                draft.push(Detail::Stripes, striping.stripes.map(|number| Value::Number(number.into())));
            }
            if wanted.contains(Columns::POOL) {
                text.clear();
                push_name(text, striping.pool);
                draft.push(Detail::Pool, Some(Value::Text(text)));
            }
        }
        if wanted.contains(Columns::HSM) && kind == Kind::Reg {
            let state = match get(c"lustre.hsm", bytes) {
                Ok(value) => lustre::hsm(&value),
                Err(Errno::NODATA) => Some(String::new()),
                Err(_) => None,
            };
            draft.push(Detail::Hsm, state.as_deref().map(Value::Text));
        }
    }
}

/// The attributes that are ACLs, and the words for them.
const ACLS: [(&str, &str); 3] = [
    ("system.posix_acl_access", "access"),
    ("system.posix_acl_default", "default"),
    ("system.nfs4_acl", "nfs4"),
];

/// Calls `ask` with a small buffer, and again with the largest one if that is too small. Returns the bytes that it wrote.
fn into<'b>(
    bytes: &'b mut Vec<u8>,
    requests: &mut u64,
    mut ask: impl FnMut(&mut [u8]) -> Result<usize, Errno>,
) -> Result<&'b [u8], Errno> {
    bytes.resize(USUAL.max(bytes.len()), 0);
    *requests += 1;
    let mut length = ask(&mut bytes[..USUAL]);
    if length == Err(Errno::RANGE) {
        bytes.resize(LARGEST, 0);
        *requests += 1;
        length = ask(bytes);
    }
    length.map(|length| &bytes[..length])
}

fn push_word(text: &mut String, word: &str) {
    if !text.is_empty() {
        text.push(',');
    }
    text.push_str(word);
}

/// A name as text, without bytes that could end it or control a terminal.
fn push_name(text: &mut String, name: &[u8]) {
    for byte in name {
        match byte {
            b',' | b'\\' | 0..=b' ' | 0x7f.. => write!(text, "\\x{byte:02x}").expect("a String takes all"),
            _ => text.push(char::from(*byte)),
        }
    }
}

/// The types of file systems by device number; `None` for an unknown one.
#[derive(Default)]
pub(crate) struct FileSystems(HashMap<(u32, u32), Option<String>>);

impl FileSystems {
    /// The type of the file system with this device number, which an entry of this directory has. The first time, four calls for the list of
    /// mounts. The subvolumes of btrfs have numbers that the list does not have; for these the file system of the directory is looked up.
    pub(crate) fn of(&mut self, dir: Option<BorrowedFd<'_>>, device: (u32, u32)) -> Option<&str> {
        let found = self.0.entry(device).or_insert_with(|| {
            let listed = Mounts::default().types().find(|(one, _)| *one == device);
            let listed = listed.map(|(_, name)| String::from_utf8_lossy(&name).into_owned());
            listed.or_else(|| dir.is_some_and(dir_is_btrfs).then(|| "btrfs".to_owned()))
        });
        found.as_deref()
    }
}

fn dir_is_btrfs(dir: BorrowedFd<'_>) -> bool {
    let there = if dir.as_raw_fd() == CWD.as_raw_fd() { statfs::statfs(c".") } else { statfs::of_mount(dir) };
    there.is_ok_and(|there| there == FsType::BTRFS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_of_a_name_is_lost_or_harmful() {
        let mut text = String::new();
        push_name(&mut text, b"user.a b,c\\d\n\xff\x7f!~");
        assert_eq!(text, "user.a\\x20b\\x2cc\\x5cd\\x0a\\xff\\x7f!~");
    }
}
