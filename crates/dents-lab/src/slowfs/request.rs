//! The requests of the kernel, and their counts.

use std::fmt;

use fuser::Errno as FuseErrno;
use rustix::io::Errno;

/// A request, under FUSE's name for it.
///
/// Not among them, since `fuser` answers them itself: `FUSE_STATX` (with `ENOSYS`, so that the kernel asks
/// once and from then on sends [`Getattr`](Request::Getattr)), `FUSE_INTERRUPT`, `FUSE_INIT`, `FUSE_DESTROY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Request {
    /// A name in a directory: its inode and its attributes.
    Lookup,
    /// The attributes of an inode that the kernel knows.
    Getattr,
    /// The target of a link.
    Readlink,
    /// A directory is opened.
    Opendir,
    /// A piece of a directory: names, types, inode numbers.
    Readdir,
    /// The same with all attributes.
    Readdirplus,
    /// One extended attribute, or its size.
    Getxattr,
    /// The names of all extended attributes, or their size.
    Listxattr,
    /// `access(2)` and `chdir(2)`.
    Access,
    /// The file system itself.
    Statfs,
    /// A file is opened.
    Open,
    /// A piece of a file.
    Read,
    /// A file was closed. No thread waits for the answer.
    Release,
    /// A directory was closed. No thread waits for the answer.
    Releasedir,
    /// The kernel drops inodes. No thread waits, and there is no answer.
    Forget,
}

impl Request {
    /// Every kind, in the order of the enumeration.
    pub const ALL: [Request; 15] = [
        Request::Lookup,
        Request::Getattr,
        Request::Readlink,
        Request::Opendir,
        Request::Readdir,
        Request::Readdirplus,
        Request::Getxattr,
        Request::Listxattr,
        Request::Access,
        Request::Statfs,
        Request::Open,
        Request::Read,
        Request::Release,
        Request::Releasedir,
        Request::Forget,
    ];
    /// The requests of `stat`.
    pub const STAT: &[Request] = &[Request::Lookup, Request::Getattr];
    /// The requests of listing a directory.
    pub const DIRECTORY: &[Request] = &[Request::Opendir, Request::Readdir, Request::Readdirplus];
    /// The requests for extended attributes.
    pub const XATTR: &[Request] = &[Request::Getxattr, Request::Listxattr];

    /// Its name in lower case: `lookup`.
    pub fn name(self) -> &'static str {
        match self {
            Request::Lookup => "lookup",
            Request::Getattr => "getattr",
            Request::Readlink => "readlink",
            Request::Opendir => "opendir",
            Request::Readdir => "readdir",
            Request::Readdirplus => "readdirplus",
            Request::Getxattr => "getxattr",
            Request::Listxattr => "listxattr",
            Request::Access => "access",
            Request::Statfs => "statfs",
            Request::Open => "open",
            Request::Read => "read",
            Request::Release => "release",
            Request::Releasedir => "releasedir",
            Request::Forget => "forget",
        }
    }

    /// The kinds that `word` names: one of them, or a group: `stat`, `dir`, `xattr`, `all`.
    pub fn parse(word: &str) -> Option<Vec<Request>> {
        match word {
            "stat" => Some(Request::STAT.to_vec()),
            "dir" => Some(Request::DIRECTORY.to_vec()),
            "xattr" => Some(Request::XATTR.to_vec()),
            "all" => Some(Request::ALL.to_vec()),
            _ => Request::ALL.iter().find(|request| request.name() == word).map(|request| vec![*request]),
        }
    }

    /// Whether a process waits for the answer. The others come at a time of the kernel's choosing.
    pub fn is_awaited(self) -> bool {
        !matches!(self, Request::Release | Request::Releasedir | Request::Forget)
    }
}

/// How many requests of each kind there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; Request::ALL.len()]);

impl Counts {
    /// Of one kind.
    pub fn of(&self, request: Request) -> u64 {
        self.0[request as usize]
    }

    /// Of several kinds together.
    pub fn sum(&self, requests: &[Request]) -> u64 {
        requests.iter().map(|request| self.of(*request)).sum()
    }

    /// All requests that a process waited for: without `release`, `releasedir` and `forget`, which come late or never.
    pub fn total(&self) -> u64 {
        Request::ALL.iter().filter(|request| request.is_awaited()).map(|request| self.of(*request)).sum()
    }

    pub(super) fn add(&mut self, request: Request) {
        self.0[request as usize] += 1;
    }
}

/// `lookup 1000, getattr 1001, opendir 1: 2002 in all`; kinds that did not come are left out.
impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for request in Request::ALL.into_iter().filter(|kind| kind.is_awaited() && self.of(*kind) > 0) {
            let comma = if first { "" } else { ", " };
            write!(out, "{comma}{} {}", request.name(), self.of(request))?;
            first = false;
        }
        match first {
            true => write!(out, "no requests"),
            false => write!(out, ": {} in all", self.total()),
        }
    }
}

pub(super) fn to_fuse(error: Errno) -> FuseErrno {
    FuseErrno::from_i32(error.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_at_their_own_place() {
        for (place, request) in Request::ALL.into_iter().enumerate() {
            assert_eq!(request as usize, place, "{}", request.name());
            assert_eq!(Request::parse(request.name()), Some(vec![request]));
        }
        assert_eq!(Request::parse("stat").as_deref(), Some(Request::STAT));
        assert_eq!(Request::parse("rename"), None);
    }

    #[test]
    fn what_nobody_waits_for_is_not_in_the_total() {
        let mut counts = Counts::default();
        assert_eq!(counts.to_string(), "no requests");
        for request in [Request::Lookup, Request::Lookup, Request::Readdir, Request::Releasedir] {
            counts.add(request);
        }
        assert_eq!((counts.total(), counts.of(Request::Releasedir)), (3, 1));
        assert_eq!(counts.sum(Request::STAT), 2);
        assert_eq!(counts.to_string(), "lookup 2, readdir 1: 3 in all");
    }
}
