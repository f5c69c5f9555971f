//! Rows for programs: their syntax and their fields.

use crate::note::Total;
use crate::view::Column;
use alloc::vec::Vec;
use dents_core::needs::{Kind, Needs, NeedsByKind};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// One document (RFC 8259).
    Json,
    /// A JSON object on each line.
    Ndjson,
    /// RFC 4180, with a header.
    Csv,
}

/// The syntax and the fields of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Their syntax.
    pub syntax: Syntax,
    /// Their fields, in this order.
    pub fields: Vec<Field>,
    /// Whether values may be stale (`--lazy`).
    pub lazy: bool,
}

/// A field of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The directory: the operand, and the path below it; null for operands themselves.
    Directory,
    /// The name; for an operand the whole operand.
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
    /// For a device file, the number of the device; null for other files.
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
    /// The text of a symbolic link; null for other files.
    Target,
    /// Whether there is an ACL.
    Acl,
    /// Security context; null if there is none.
    Context,
    /// The names of all extended attributes with the sizes of their values.
    Xattrs,
    /// The difference between the last commit and the index; null if git has no answer.
    GitStaged,
    /// The difference between the index and the file; null if git has no answer.
    GitUnstaged,
    /// Bytes of the entry and all below it; null if they were not added up.
    Total,
    /// Allocated bytes of the entry and all below it.
    TotalAllocated,
    /// Whether the total is complete.
    TotalWhole,
    /// Whether the values may be stale; null if there are none.
    Lazy,
    /// The request that failed: `stat`, `link`, `xattr`.
    Asked,
    /// The kernel's error number; null after a timeout.
    Errno,
    /// The kernel's name of the error (`ENOENT`); `TIMEOUT` after a timeout.
    Error,
}

/// The fields that say whether the others are valid.
const STATE: [Field; 4] = [Field::Lazy, Field::Asked, Field::Errno, Field::Error];

impl Field {
    /// All facts that one `statx` returns, and the texts of links.
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

    /// The fields that a column of the view becomes in output for programs.
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

    /// These fields, each once. If they need a request about entries, the fields about its validity and errors follow
    /// at the end.
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
            // The mark is declared with the style.
            Field::Mode | Field::Perm | Field::Acl => Needs::MODE,
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
