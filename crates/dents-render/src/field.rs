//! What rows for programs hold: their syntax and their fields.

use crate::note::Total;
use crate::view::Column;
use alloc::vec::Vec;
use dents_core::needs::{Kind, Needs, NeedsByKind};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// One document (RFC 8259).
    Json,
    /// A JSON object a line.
    Ndjson,
    /// RFC 4180, with a header.
    Csv,
}

/// What rows hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// How they are written.
    pub syntax: Syntax,
    /// Their fields, in this order.
    pub fields: Vec<Field>,
    /// Whether what is known may be out of date.
    pub lazy: bool,
}

/// A field of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The directory as it was named on the command line, and what is below it; null for operands.
    Directory,
    /// The name; of an operand all of what was given.
    Name,
    /// The type, a word of [`crate::record::words::of_kind`].
    Type,
    /// `st_mode` as a number, with its type bits.
    Mode,
    /// The same as ten letters.
    Perm,
    /// Hard links.
    Nlink,
    /// The owner's number.
    Uid,
    /// The group's number.
    Gid,
    /// The owner's name; null if there is none.
    User,
    /// The group's name; null if there is none.
    Group,
    /// Bytes.
    Size,
    /// Allocated bytes.
    Allocated,
    /// Inode number.
    Ino,
    /// The device that holds the file, as `stat(2)` numbers it.
    Dev,
    /// The device that the file is; null for other files.
    Rdev,
    /// Last access.
    Atime,
    /// Birth; null if the file system keeps none.
    Btime,
    /// Last change of the inode.
    Ctime,
    /// Last change of the contents.
    Mtime,
    /// `STATX_ATTR_*` that are set, as words.
    Attributes,
    /// Where a symbolic link leads, as it is written in the link; null for other files.
    Target,
    /// Whether there is an ACL.
    Acl,
    /// Security context; null if there is none.
    Context,
    /// The names of all extended attributes with the sizes of their values.
    Xattrs,
    /// What differs between the last commit and the index; null if git did not tell.
    GitStaged,
    /// What differs between the index and the file; null if git did not tell.
    GitUnstaged,
    /// Bytes of the entry and all below it; null if they were not added up.
    Total,
    /// Allocated bytes of it all.
    TotalAllocated,
    /// Whether nothing is missing from the total.
    TotalWhole,
    /// Whether what is known may be out of date; null if nothing is known.
    Lazy,
    /// What could not be found out: `stat`, `link`, `xattr`.
    Asked,
    /// Why, as the kernel numbers it; null where the time was up.
    Errno,
    /// Why, as the kernel calls it (`ENOENT`); `TIMEOUT` where the time was up.
    Error,
}

/// How far the others can be trusted.
const STATE: [Field; 4] = [Field::Lazy, Field::Asked, Field::Errno, Field::Error];

impl Field {
    /// All that one `statx` tells of an entry, and where links lead.
    pub const USUAL: &'static [Field] = &[
        Field::Directory,
        Field::Name,
        Field::Type,
        Field::Mode,
        Field::Perm,
        Field::Nlink,
        Field::Uid,
        Field::Gid,
        Field::User,
        Field::Group,
        Field::Size,
        Field::Allocated,
        Field::Ino,
        Field::Dev,
        Field::Rdev,
        Field::Atime,
        Field::Btime,
        Field::Ctime,
        Field::Mtime,
        Field::Attributes,
        Field::Target,
    ];

    /// The fields that a column of the view, is for a program.
    #[must_use]
    pub fn of_column(column: Column) -> &'static [Field] {
        match column {
            Column::Mode => &[Field::Type, Field::Perm],
            Column::Octal => &[Field::Mode],
            Column::Links => &[Field::Nlink],
            Column::User => &[Field::User],
            Column::Group => &[Field::Group],
            Column::Uid => &[Field::Uid],
            Column::Gid => &[Field::Gid],
            Column::Size => &[Field::Size],
            Column::Blocks => &[Field::Allocated],
            Column::Inode => &[Field::Ino],
            Column::Device => &[Field::Dev],
            Column::Modified => &[Field::Mtime],
            Column::Changed => &[Field::Ctime],
            Column::Accessed => &[Field::Atime],
            Column::Created => &[Field::Btime],
            Column::Context => &[Field::Context],
            Column::Xattrs => &[Field::Xattrs],
            Column::Flags => &[Field::Attributes],
            Column::Git => &[Field::GitStaged, Field::GitUnstaged],
            Column::Total => &[Field::Total, Field::TotalAllocated, Field::TotalWhole],
            Column::Name => &[Field::Directory, Field::Name],
        }
    }

    /// These fields, each once; and where something is asked of entries, at the end whether that may be out of date, and
    /// what went wrong.
    #[must_use]
    pub fn complete(fields: impl IntoIterator<Item = Field>) -> Vec<Field> {
        let mut all: Vec<Field> = Vec::new();
        for field in fields {
            if !all.contains(&field) {
                all.push(field);
            }
        }
        if all.iter().any(|field| field.needs().asks_any()) {
            all.extend(STATE);
        }
        all
    }

    /// Its name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Field::Directory => "directory",
            Field::Name => "name",
            Field::Type => "type",
            Field::Mode => "mode",
            Field::Perm => "perm",
            Field::Nlink => "nlink",
            Field::Uid => "uid",
            Field::Gid => "gid",
            Field::User => "user",
            Field::Group => "group",
            Field::Size => "size",
            Field::Allocated => "allocated",
            Field::Ino => "ino",
            Field::Dev => "dev",
            Field::Rdev => "rdev",
            Field::Atime => "atime",
            Field::Btime => "btime",
            Field::Ctime => "ctime",
            Field::Mtime => "mtime",
            Field::Attributes => "attributes",
            Field::Target => "target",
            Field::Acl => "acl",
            Field::Context => "context",
            Field::Xattrs => "xattrs",
            Field::GitStaged => "git_staged",
            Field::GitUnstaged => "git_unstaged",
            Field::Total => "total",
            Field::TotalAllocated => "total_allocated",
            Field::TotalWhole => "total_whole",
            Field::Lazy => "lazy",
            Field::Asked => "asked",
            Field::Errno => "errno",
            Field::Error => "error",
        }
    }

    /// Whether it is text from outside, which may be any bytes.
    #[must_use]
    pub(crate) const fn is_text(self) -> bool {
        matches!(
            self,
            Field::Directory | Field::Name | Field::User | Field::Group | Field::Target | Field::Context
        )
    }

    /// What it must know of an entry.
    #[must_use]
    pub fn needs(self) -> NeedsByKind {
        let all = match self {
            Field::Directory | Field::Name | Field::GitStaged | Field::GitUnstaged => Needs::empty(),
            Field::Total | Field::TotalAllocated | Field::TotalWhole => return Total::needs(),
            Field::Lazy | Field::Asked | Field::Errno | Field::Error => Needs::empty(),
            Field::Type => Needs::TYPE,
            Field::Mode | Field::Perm => Needs::MODE,
            Field::Nlink => Needs::NLINK,
            Field::Uid | Field::User => Needs::UID,
            Field::Gid | Field::Group => Needs::GID,
            Field::Size => Needs::SIZE,
            Field::Allocated => Needs::BLOCKS,
            Field::Ino => Needs::INODE,
            // With any `statx` there are all of them.
            Field::Dev | Field::Atime | Field::Btime | Field::Ctime | Field::Mtime | Field::Attributes => {
                Needs::EXTRA
            }
            Field::Acl => Needs::MARK | Needs::MODE,
            Field::Context => Needs::CONTEXT | Needs::MODE,
            Field::Xattrs => Needs::XATTR_LIST | Needs::EXTRA,
            Field::Rdev => {
                return NeedsByKind::of(Kind::Char, Needs::RDEV) | NeedsByKind::of(Kind::Block, Needs::RDEV);
            }
            Field::Target => return NeedsByKind::of(Kind::Link, Needs::LINK),
        };
        NeedsByKind::all(all)
    }
}
