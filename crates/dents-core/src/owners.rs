//! Owners: each distinct uid and gid is mapped to a name once, after `stat` and before rendering.
//!
//! `/etc/passwd` and `/etc/group` are read at most once each, and only if a name is needed. Other ids are looked up by
//! `getent` (which loads the NSS modules that the machine uses: LDAP, SSSD, systemd), all in one child process per
//! database, and only if `/etc/nsswitch.conf` names a source other than files. An id is looked up once; a failed lookup
//! is remembered.

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;

use crate::batch::{Batch, Entry};
use crate::needs::Needs;
use crate::ring::Rings;
use alloc::vec::Vec;
use core::ffi::CStr;
use dents_sys::file;

/// Runs `getent DATABASE ID…` and returns its output; `None` if it cannot be run.
pub trait Getent {
    /// Starts one child process for all ids.
    fn getent(&self, database: &CStr, ids: &[u32]) -> Option<Vec<u8>>;
}

/// Names of users and groups seen so far.
#[derive(Default)]
pub struct Owners {
    users: Names,
    groups: Names,
}

impl Owners {
    /// The files that [`learn`](Self::learn) may read, for a caller that prefetches them.
    pub const FILES: [&CStr; 2] = [USERS.file, GROUPS.file];

    /// Largest such file in bytes: some four million users.
    pub const MOST: usize = 256 << 20;

    /// Takes the prefetched [`FILES`](Self::FILES), if there are any. Costs nothing.
    pub fn take_files(&mut self, rings: &Rings) {
        for (names, source) in [(&mut self.users, &USERS), (&mut self.groups, &GROUPS)] {
            if let Some(file) = rings.take(source.file) {
                names.file = Some(file.unwrap_or_default());
            }
        }
    }

    /// Looks up the owners of a batch. `names` tells whether [`Needs::UID`] and [`Needs::GID`] are wanted as names.
    pub fn learn(&mut self, batch: &Batch, names: Needs, getent: &dyn Getent) {
        let [users, groups] = [Needs::UID, Needs::GID].map(|need| names.contains(need));
        let (mut user, mut group) = (None, None);
        for entry in batch.iter().filter(Entry::is_known) {
            if users && user.replace(entry.uid()) != Some(entry.uid()) {
                self.users.note(entry.uid());
            }
            if groups && group.replace(entry.gid()) != Some(entry.gid()) {
                self.groups.note(entry.gid());
            }
        }
        self.users.resolve(&USERS, getent);
        self.groups.resolve(&GROUPS, getent);
    }

    /// Looks up these owners.
    pub fn learn_ids(&mut self, users: &[u32], groups: &[u32], getent: &dyn Getent) {
        users.iter().for_each(|uid| self.users.note(*uid));
        groups.iter().for_each(|gid| self.groups.note(*gid));
        self.users.resolve(&USERS, getent);
        self.groups.resolve(&GROUPS, getent);
    }

    /// The user's name, if it has one.
    #[must_use]
    pub fn user(&self, uid: u32) -> Option<&[u8]> {
        self.users.get(uid)
    }

    /// The group's name, if it has one.
    #[must_use]
    pub fn group(&self, gid: u32) -> Option<&[u8]> {
        self.groups.get(gid)
    }
}

/// The sources of the names of users, or of groups.
struct Source {
    file: &'static CStr,
    database: &'static CStr,
    /// How many numbers a line has; the id is the first.
    numbers: usize,
}

const USERS: Source = Source { file: c"/etc/passwd", database: c"passwd", numbers: 2 };
const GROUPS: Source = Source { file: c"/etc/group", database: c"group", numbers: 1 };

/// A table from ids to names, sorted by id: few distinct ids, millions of lookups.
#[derive(Default)]
struct Names {
    known: Vec<(u32, Option<Vec<u8>>)>,
    pending: Vec<u32>,
    file: Option<Vec<u8>>,
    beyond_files: Option<bool>,
}

impl Names {
    fn get(&self, id: u32) -> Option<&[u8]> {
        let at = self.known.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.known[at].1.as_deref()
    }

    /// Adds an id to the pending ones, if it is new.
    fn note(&mut self, id: u32) {
        if self.known.binary_search_by_key(&id, |(id, _)| *id).is_err()
            && let Err(at) = self.pending.binary_search(&id)
        {
            self.pending.insert(at, id);
        }
    }

    fn resolve(&mut self, source: &Source, getent: &dyn Getent) {
        if self.pending.is_empty() {
            return;
        }
        let file = self
            .file
            .take()
            .unwrap_or_else(|| file::read_to_end(source.file, Owners::MOST).unwrap_or_default());
        self.take_from(&file, source);
        self.file = Some(file);
        if !self.pending.is_empty() && self.looks_beyond_files(source.database) {
            let printed = getent.getent(source.database, &self.pending);
            self.take_from(&printed.unwrap_or_default(), source);
        }
        for id in core::mem::take(&mut self.pending) {
            self.learn(id, None);
        }
    }

    /// Resolves the pending ids that these lines name; the first line of an id counts.
    fn take_from(&mut self, lines: &[u8], source: &Source) {
        for line in lines.split(|byte| *byte == b'\n') {
            if self.pending.is_empty() {
                break;
            }
            if let Some((name, id)) = parse(line, source.numbers)
                && let Ok(at) = self.pending.binary_search(&id)
            {
                self.pending.remove(at);
                self.learn(id, Some(name.to_vec()));
            }
        }
    }

    fn learn(&mut self, id: u32, name: Option<Vec<u8>>) {
        if let Err(at) = self.known.binary_search_by_key(&id, |(id, _)| *id) {
            self.known.insert(at, (id, name));
        }
    }

    fn looks_beyond_files(&mut self, database: &CStr) -> bool {
        *self.beyond_files.get_or_insert_with(|| {
            file::read_to_end(c"/etc/nsswitch.conf", Owners::MOST)
                .is_ok_and(|conf| beyond_files(&conf, database.to_bytes()))
        })
    }
}

/// Name and id of a line of passwd(5) or group(5), `name:password:id:…`, parsed as glibc does (tested with lines of
/// every kind in these files). Blanks before the line and before a number are ignored. An invalid, too large or
/// negative number ends the line; that is true for the group of a user as for its id. Comments, and the `+` and `-`
/// lines of NIS, have no id.
fn parse(line: &[u8], numbers: usize) -> Option<(&[u8], u32)> {
    let mut fields = line.trim_ascii_start().split(|byte| *byte == b':');
    let name = fields.next()?;
    if matches!(name.first()?, b'#' | b'+' | b'-') {
        return None;
    }
    let number = |field: &[u8]| core::str::from_utf8(field.trim_ascii_start()).ok()?.parse::<u32>().ok();
    let id = number(fields.nth(1)?)?;
    (1..numbers).all(|_| fields.next().and_then(number).is_some()).then_some((name, id))
}

/// Whether nsswitch.conf(5) names a source other than `files` for a database. Without a line, glibc uses `files`.
fn beyond_files(conf: &[u8], database: &[u8]) -> bool {
    conf.split(|byte| *byte == b'\n')
        .filter_map(|line| {
            line.trim_ascii_start().strip_prefix(database)?.trim_ascii_start().strip_prefix(b":")
        })
        .flat_map(|sources| {
            let end = sources.iter().position(|byte| *byte == b'#').unwrap_or(sources.len());
            sources[..end].split(u8::is_ascii_whitespace)
        })
        .any(|source| !source.is_empty() && !source.starts_with(b"[") && source != b"files")
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::RefCell;
    use std::prelude::v1::*;
    use std::vec;

    /// Returns a fixed text and records the ids.
    struct Fake(&'static [u8], RefCell<Vec<Vec<u32>>>);

    impl Getent for Fake {
        fn getent(&self, _: &CStr, ids: &[u32]) -> Option<Vec<u8>> {
            self.1.borrow_mut().push(ids.to_vec());
            Some(self.0.to_vec())
        }
    }

    fn names(file: &[u8], beyond: bool) -> Names {
        Names { file: Some(file.to_vec()), beyond_files: Some(beyond), ..Names::default() }
    }

    #[test]
    fn files_first_then_one_child_for_all_the_rest() {
        let mut names = names(b"#x:x:1:\nroot:x:0:0:\ndup:x:0:0:\nann:x:7:7:", true);
        let getent = Fake(b"bob:*:9:9::/:/bin/sh\n", RefCell::default());
        for id in [9, 0, 0, 7, 9, 11] {
            names.note(id);
        }
        names.resolve(&USERS, &getent);
        assert_eq!(names.get(0), Some(&b"root"[..]));
        assert_eq!(names.get(7), Some(&b"ann"[..]));
        assert_eq!(names.get(9), Some(&b"bob"[..]));
        assert_eq!(names.get(11), None);
        for id in [11, 9, 0] {
            names.note(id);
        }
        names.resolve(&USERS, &getent);
        assert_eq!(*getent.1.borrow(), vec![vec![9, 11]], "failed lookups are not repeated");
    }

    #[test]
    fn no_child_where_only_files_are_configured() {
        let mut names = names(b"root:x:0:0:", false);
        let getent = Fake(b"", RefCell::default());
        for id in [1, 2] {
            names.note(id);
        }
        names.resolve(&USERS, &getent);
        assert!(getent.1.borrow().is_empty());
    }

    #[test]
    fn nsswitch() {
        let conf =
            b"# passwd: ldap\npasswd:\tfiles systemd\n group: files [NOTFOUND=return] # sss\nshadow: x";
        assert!(beyond_files(conf, b"passwd"));
        assert!(!beyond_files(conf, b"group"));
        assert!(!beyond_files(conf, b"gshadow"));
    }

    /// GNU `ls` showed numbers for these lines in /etc/passwd and /etc/group (glibc 2.36).
    #[test]
    fn lines_without_an_owner() {
        let both =
            ["", ":", "::", "a:x:", "a:x:-1:1:", "a:x:4294967296:1:", "+:::", "+a:x:1:1:", "-a:x:1:1:"];
        for line in both.into_iter().chain([
            ":x:1:1:",
            "#a:x:1:1:",
            " #a:x:1:1:",
            "a:x:1x:1:",
            "a:x:1 :1:",
            "a:x:0x1:1:",
        ]) {
            assert_eq!((parse(line.as_bytes(), 1), parse(line.as_bytes(), 2)), (None, None), "{line:?}");
        }
        for line in ["a:x:1", "a:x:1:", "a:x:1:y:", "a:x:1:-1:", "a:x:1:4294967296:", "a:x:1:1x:"] {
            assert_eq!(parse(line.as_bytes(), 1), Some((&b"a"[..], 1)), "{line:?}");
            assert_eq!(parse(line.as_bytes(), 2), None, "{line:?}");
        }
        assert_eq!(parse(b"\xff", 1), None);
    }

    #[test]
    fn lines_that_glibc_takes() {
        for line in [" a:x:1:1", "\ta:x: 1: 1:", "a:x:+1:1", "a::01:1:::::more"] {
            assert_eq!(parse(line.as_bytes(), 1), Some((&b"a"[..], 1)), "{line:?}");
            assert_eq!(parse(line.as_bytes(), 2), Some((&b"a"[..], 1)), "{line:?}");
        }
        assert_eq!(parse(b"\xff:x:4294967295", 1), Some((&b"\xff"[..], u32::MAX)));
    }
}
