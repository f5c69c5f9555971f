//! Rows for programs: their syntax and their fields.

use crate::note::Total;
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

/// Makes the fields of the rows of a table: variant and name.
macro_rules! fields {
    ($($(#[$doc:meta])+ $name:ident = $word:literal;)+) => {
        /// A field of a row.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Field {
            $($(#[$doc])+ $name,)+
        }

        impl Field {
            /// Its name.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Field::$name => $word,)+
                }
            }
        }
    };
}

fields! {
    /// The directory: the operand, and the path below it; null for operands themselves.
    Directory = "directory";
    /// The name; for an operand the whole operand.
    Name = "name";
    /// The type, a word of [`crate::record::words::of_kind`].
    Type = "type";
    /// `st_mode` as a number, with its type bits.
    Mode = "mode";
    /// The same as ten letters.
    Perm = "perm";
    /// Hard links.
    Nlink = "nlink";
    /// The owner's number.
    Uid = "uid";
    /// The group's number.
    Gid = "gid";
    /// The owner's name; null if there is none.
    User = "user";
    /// The group's name; null if there is none.
    Group = "group";
    /// Bytes.
    Size = "size";
    /// Allocated bytes.
    Allocated = "allocated";
    /// Inode number.
    Ino = "ino";
    /// The device that holds the file, as `stat(2)` numbers it.
    Dev = "dev";
    /// For a device file, the number of the device; null for other files.
    Rdev = "rdev";
    /// Last access.
    Atime = "atime";
    /// Birth; null if the file system keeps none.
    Btime = "btime";
    /// Last change of the inode.
    Ctime = "ctime";
    /// Last change of the contents.
    Mtime = "mtime";
    /// `STATX_ATTR_*` that are set, as words.
    Attributes = "attributes";
    /// The text of a symbolic link; null for other files.
    Target = "target";
    /// Whether there is an ACL.
    Acl = "acl";
    /// Security context; null if there is none.
    Context = "context";
    /// The names of all extended attributes with the sizes of their values.
    Xattrs = "xattrs";
    /// The difference between the last commit and the index; null if git has no answer.
    GitStaged = "git_staged";
    /// The difference between the index and the file; null if git has no answer.
    GitUnstaged = "git_unstaged";
    /// Bytes of the entry and all below it; null if they were not added up.
    Total = "total";
    /// Allocated bytes of the entry and all below it.
    TotalAllocated = "total_allocated";
    /// Whether the total is complete.
    TotalWhole = "total_whole";
    /// Whether the values may be stale; null if there are none.
    Lazy = "lazy";
    /// The request that failed: `stat`, `link`, `xattr`.
    Asked = "asked";
    /// The kernel's error number; null after a timeout.
    Errno = "errno";
    /// The kernel's name of the error (`ENOENT`); `TIMEOUT` after a timeout.
    Error = "error";
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
