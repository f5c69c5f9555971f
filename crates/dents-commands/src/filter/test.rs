//! One test of an entry: the facts that it reads, and their cost.

use super::count::Count;
use super::globs::Globs;
use super::kinds::Kinds;
use super::permissions::Permissions;
use super::size::Size;
use crate::entry::{Found, Origin};
use dents_core::batch::Time;
use dents_core::facts::Facts;
use dents_core::needs::{Kind, Needs};
use regex::bytes::Regex;

/// The cost of a test, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cost {
    /// Nothing: `readdir` returns the facts.
    Free,
    /// One `statx` of each entry that passed the tests of names and types; it requests the facts of all tests and of the output.
    Statx,
    /// Opens and reads a directory.
    Open,
}

/// A test.
#[derive(Clone)]
pub(super) enum Test<'a> {
    Kinds(Kinds, &'static str),
    Inum(u64),
    Include(Globs),
    Grep(&'a Regex),
    Name(&'a Regex),
    Size(Size),
    Newer(Time, Needs),
    Older(Time, Needs),
    /// The inode changed at this time or later.
    Changed(Time),
    User(u32),
    Group(u32),
    Permissions(Permissions),
    Links(Count),
    Empty,
}

impl Test<'_> {
    /// The option that it belongs to.
    pub(super) fn option(&self) -> &'static str {
        match self {
            Test::Kinds(_, option) => option,
            Test::Inum(_) => "--inum",
            Test::Include(_) => "--include",
            Test::Grep(_) => "--grep",
            Test::Name(_) => "-name",
            Test::Size(_) => "--size",
            Test::Newer(..) => "--newer",
            Test::Older(..) => "--older",
            Test::Changed(_) => "--changed-since",
            Test::User(_) => "--user",
            Test::Group(_) => "--group",
            Test::Permissions(_) => "--perm",
            Test::Links(_) => "--links",
            Test::Empty => "--empty",
        }
    }

    /// The usual cost; for some entries a test may cost more.
    pub(super) fn cost(&self) -> Cost {
        match self {
            Test::Kinds(..) | Test::Include(_) | Test::Grep(_) | Test::Name(_) => Cost::Free,
            Test::Empty => Cost::Open,
            _ => Cost::Statx,
        }
    }

    /// The facts that it reads for entries of this type.
    pub(super) fn needs(&self, kind: Kind) -> Needs {
        match self {
            Test::Kinds(..) => Needs::TYPE,
            Test::Include(_) | Test::Grep(_) | Test::Name(_) => Needs::empty(),
            Test::Inum(_) => Needs::INODE,
            Test::Size(_) => Needs::SIZE,
            Test::Newer(_, which) | Test::Older(_, which) => *which,
            Test::Changed(_) => Needs::CTIME,
            Test::User(_) => Needs::UID,
            Test::Group(_) => Needs::GID,
            Test::Permissions(_) => Needs::MODE,
            Test::Links(_) => Needs::NLINK,
            Test::Empty if kind == Kind::Reg => Needs::SIZE,
            Test::Empty => Needs::empty(),
        }
    }

    /// Whether an entry may pass, by its name and the facts of `readdir`. `any_type`: the file may have another type than `readdir` returned.
    /// `scratch` is overwritten.
    pub(super) fn may_pass(&self, found: &Found<'_>, any_type: bool, scratch: &mut Vec<u8>) -> bool {
        match self {
            Test::Kinds(kinds, _) => any_type || kinds.has(found.kind),
            // For a mount point, which is a directory, `readdir` returns the number of the covered directory.
            Test::Inum(number) => match found.origin {
                Origin::Live(_, entry) => any_type || found.kind == Kind::Dir || entry.d_ino() == *number,
                Origin::Row(_) => true,
            },
            Test::Include(globs) => {
                globs.match_name(found.name)
                    || globs.have_paths() && {
                        found.path(scratch);
                        globs.match_path(scratch, found.below(scratch))
                    }
            }
            Test::Name(expression) => expression.is_match(found.name),
            Test::Grep(pattern) => {
                found.path(scratch);
                pattern.is_match(scratch)
            }
            _ => true,
        }
    }

    /// Whether an entry passes by its metadata. An entry with unknown facts does not pass.
    pub(super) fn passes(&self, found: &Found<'_>, facts: Option<&Facts<'_>>) -> bool {
        let facts = facts.filter(|facts| !facts.lacks(self.needs(found.kind)));
        let fits = |fit: &dyn Fn(&Facts<'_>) -> bool| facts.is_some_and(fit);
        match self {
            Test::Kinds(kinds, _) => kinds.has(found.kind),
            Test::Include(_) | Test::Grep(_) | Test::Name(_) => true,
            Test::Inum(number) => fits(&|facts| facts.ino == *number),
            Test::Size(size) => fits(&|facts| size.fits(facts.size)),
            Test::Newer(time, which) => fits(&|facts| facts.time(*which) > Some(*time)),
            Test::Older(time, which) => fits(&|facts| facts.time(*which).is_some_and(|at| at < *time)),
            Test::Changed(time) => fits(&|facts| facts.ctime >= *time),
            Test::User(uid) => fits(&|facts| facts.uid == *uid),
            Test::Group(gid) => fits(&|facts| facts.gid == *gid),
            Test::Permissions(permissions) => fits(&|facts| permissions.fit(facts.mode)),
            Test::Links(links) => fits(&|facts| links.fits(facts.nlink.into())),
            Test::Empty => found.kind == Kind::Dir || fits(&|facts| facts.size == 0),
        }
    }
}
