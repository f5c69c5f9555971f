//! A row: the metadata of one entry, which all formats write and read.

use crate::details::Details;
use crate::read::Columns;
use crate::words;
use dents_core::batch::Time;
use dents_core::needs::Kind;
use dents_core::path;

/// One entry, or one directory that could not be entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The path of its directory, beginning with the operand; empty for an operand itself.
    pub parent: &'a [u8],
    /// Its name; for an operand, the whole argument.
    pub name: &'a [u8],
    /// 0 for operands, 1 for their entries.
    pub depth: u32,
    /// Its type; unknown if neither `readdir` nor `statx` returned it.
    pub kind: Kind,
    /// The result of `statx`; `None` if it was not called, or failed.
    pub facts: Option<Facts<'a>>,
    /// The target of a symbolic link, as `readlink` returns it.
    pub target: Option<&'a [u8]>,
    /// The facts that the scan has on request.
    pub details: Details<'a>,
    /// The request that failed. A directory that could not be opened or read to its end has a second row for that,
    /// see [`Fault::is_of_directory`]; every other row is an entry.
    pub fault: Option<Fault>,
}

impl<'a> Row<'a> {
    /// Appends the path: parent and name with a slash between them, unless there is no parent or it ends with one.
    pub fn path(&self, path: &mut Vec<u8>) {
        path::push(self.parent, self.name, path);
    }

    /// Whether this is a root that could not be opened or read to its end: then the scan is not complete.
    #[must_use]
    pub fn is_failed_root(&self) -> bool {
        self.depth == 0
            && self.fault.is_some_and(|fault| fault.asked == Asked::Stat || fault.is_of_directory())
    }

    /// The row without its texts and details, for a caller that keeps these elsewhere.
    #[must_use]
    pub fn without_texts(&self) -> Row<'static> {
        let facts = self.facts.map(|facts| Facts { user: None, group: None, ..facts });
        Row { parent: b"", name: b"", facts, target: None, details: Details::default(), ..*self }
    }

    /// The row with these texts: parent and name, the names of owner and group, the target, and the details.
    #[must_use]
    pub fn with_texts<'t>(
        &self,
        path: [&'t [u8]; 2],
        others: [Option<&'t [u8]>; 3],
        details: Details<'t>,
    ) -> Row<'t> {
        let ([parent, name], [user, group, target]) = (path, others);
        let facts = self.facts.map(|facts| Facts { user, group, ..facts });
        Row { parent, name, facts, target, details, ..*self }
    }

    /// The name with which this parent makes this path; `None` if there is none.
    #[must_use]
    pub fn name_in(parent: &[u8], path: &'a [u8]) -> Option<&'a [u8]> {
        path.strip_prefix(parent)?.strip_prefix(path::separator(parent))
    }
}

/// The metadata that `statx` returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Major and minor number of the device that holds it.
    pub dev: (u32, u32),
    /// Inode number.
    pub ino: u64,
    /// Type and permission bits.
    pub mode: u16,
    /// Hard links.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// The owner's name, if it has one.
    pub user: Option<&'a [u8]>,
    /// The group's name, if it has one.
    pub group: Option<&'a [u8]>,
    /// Bytes.
    pub size: u64,
    /// Bytes that are allocated.
    pub allocated: u64,
    /// Last access.
    pub atime: Time,
    /// Birth; `None` where the file system keeps none.
    pub btime: Option<Time>,
    /// Last change of the inode.
    pub ctime: Time,
    /// Last change of the contents.
    pub mtime: Time,
    /// Whether the values are from the cache of a network client (`AT_STATX_DONT_SYNC`), and may be out of date.
    pub lazy: bool,
    /// The columns of [`Facts::UNKNOWABLE`] that the file does not know, for example the export of another program. All formats have null for them.
    /// Here they have neutral values: no user (2³² − 1), the type alone, 1970.
    pub unknown: Columns,
}

impl Facts<'_> {
    /// The facts that may be unknown although others are known.
    pub const UNKNOWABLE: Columns = {
        let (mut all, mut nth) = (Columns::empty(), 0);
        while nth < Facts::EACH_UNKNOWABLE.len() {
            all = all.union(Facts::EACH_UNKNOWABLE[nth]);
            nth += 1;
        }
        all
    };

    /// The same, one by one.
    pub(crate) const EACH_UNKNOWABLE: [Columns; 6] =
        [Columns::MODE, Columns::UID, Columns::GID, Columns::ATIME, Columns::CTIME, Columns::MTIME];

    /// The owner and the group where they are not known. The kernel assigns this id to no user and no group.
    pub const NOBODY: u32 = u32::MAX;

    /// Whether it is known.
    #[must_use]
    pub fn knows(&self, column: Columns) -> bool {
        !self.unknown.contains(column)
    }

    /// The value of a fact, if it is known.
    #[must_use]
    pub fn known<T>(&self, column: Columns, value: T) -> Option<T> {
        self.knows(column).then_some(value)
    }

    /// The same facts of an entry of this type, of which these are not known.
    pub(crate) fn without(mut self, unknown: Columns, kind: Kind) -> Self {
        self.unknown = unknown & Facts::UNKNOWABLE;
        for column in self.unknown.iter() {
            match column {
                Columns::MODE => self.mode = (kind as u16) << 12,
                Columns::UID => self.uid = Facts::NOBODY,
                Columns::GID => self.gid = Facts::NOBODY,
                Columns::ATIME => self.atime = Time::default(),
                Columns::CTIME => self.ctime = Time::default(),
                _ => self.mtime = Time::default(),
            }
        }
        self
    }
}

/// A request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which request.
    pub asked: Asked,
    /// The error number of the kernel.
    pub errno: i32,
}

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// `statx` of the entry.
    Stat,
    /// `readlinkat` of a link.
    Link,
    /// To open a directory.
    Open,
    /// To read a directory to its end.
    Read,
    /// To enter a directory that is one of its own ancestors (`ELOOP`).
    Loop,
}

impl Asked {
    /// Its word in all formats.
    #[must_use]
    pub fn word(self) -> &'static str {
        words::of_asked(self)
    }
}

impl Fault {
    /// Whether it is about the contents of a directory, not about the entry.
    #[must_use]
    pub fn is_of_directory(&self) -> bool {
        matches!(self.asked, Asked::Open | Asked::Read | Asked::Loop)
    }
}
