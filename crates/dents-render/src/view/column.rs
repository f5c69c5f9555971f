//! All columns: the name, the alignment and the needs of each.

use crate::note::Total;
use dents_core::needs::{Kind, Needs, NeedsByKind};

/// A column of the view, and the field that it becomes in output for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// Type and permissions as letters, and the mark of an ACL or a context.
    Mode,
    /// The permission bits as an octal number.
    Octal,
    /// Hard links.
    Links,
    /// The owner's name, or number where it has none.
    User,
    /// The group's name, or number where it has none.
    Group,
    /// The owner's number.
    Uid,
    /// The group's number.
    Gid,
    /// Bytes; for a device its major and minor number.
    Size,
    /// Allocated space, in the units of `-s`.
    Blocks,
    /// Inode number.
    Inode,
    /// Major and minor number of the device that holds the entry.
    Device,
    /// Last change of the contents.
    Modified,
    /// Last change of the inode.
    Changed,
    /// Last access.
    Accessed,
    /// Birth.
    Created,
    /// Security context.
    Context,
    /// The number of extended attributes.
    Xattrs,
    /// The attributes that `lsattr` shows, as letters.
    Flags,
    /// State in git: index, then file.
    Git,
    /// The size of the entry and all below it.
    Total,
    /// The name, and the target of a link.
    Name,
}

impl Column {
    /// All of them.
    pub const ALL: [Column; 21] = [
        Column::Mode,
        Column::Octal,
        Column::Links,
        Column::User,
        Column::Group,
        Column::Uid,
        Column::Gid,
        Column::Size,
        Column::Blocks,
        Column::Inode,
        Column::Device,
        Column::Modified,
        Column::Changed,
        Column::Accessed,
        Column::Created,
        Column::Context,
        Column::Xattrs,
        Column::Flags,
        Column::Git,
        Column::Total,
        Column::Name,
    ];

    /// Its word on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Column::Mode => "mode",
            Column::Octal => "octal",
            Column::Links => "links",
            Column::User => "user",
            Column::Group => "group",
            Column::Uid => "uid",
            Column::Gid => "gid",
            Column::Size => "size",
            Column::Blocks => "blocks",
            Column::Inode => "inode",
            Column::Device => "device",
            Column::Modified => "modified",
            Column::Changed => "changed",
            Column::Accessed => "accessed",
            Column::Created => "created",
            Column::Context => "context",
            Column::Xattrs => "xattrs",
            Column::Flags => "flags",
            Column::Git => "git",
            Column::Total => "total",
            Column::Name => "name",
        }
    }

    /// Its title in the header.
    #[must_use]
    pub const fn header(self) -> &'static [u8] {
        match self {
            Column::Mode => b"Mode",
            Column::Octal => b"Octal",
            Column::Links => b"Links",
            Column::User => b"User",
            Column::Group => b"Group",
            Column::Uid => b"UID",
            Column::Gid => b"GID",
            Column::Size => b"Size",
            Column::Blocks => b"Blocks",
            Column::Inode => b"Inode",
            Column::Device => b"Device",
            Column::Modified => b"Modified",
            Column::Changed => b"Changed",
            Column::Accessed => b"Accessed",
            Column::Created => b"Created",
            Column::Context => b"Context",
            Column::Xattrs => b"Xattrs",
            Column::Flags => b"Flags",
            Column::Git => b"Git",
            Column::Total => b"Total",
            Column::Name => b"Name",
        }
    }

    /// Whether it is right-aligned, as numbers are.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(
            self,
            Column::Octal
                | Column::Links
                | Column::Uid
                | Column::Gid
                | Column::Size
                | Column::Blocks
                | Column::Inode
                | Column::Device
                | Column::Xattrs
                | Column::Total
        )
    }

    /// The time it shows, if it shows one: one of [`Needs::TIMES`].
    #[must_use]
    pub const fn time(self) -> Option<Needs> {
        match self {
            Column::Modified => Some(Needs::MTIME),
            Column::Changed => Some(Needs::CTIME),
            Column::Accessed => Some(Needs::ATIME),
            Column::Created => Some(Needs::BTIME),
            _ => None,
        }
    }

    /// The column that shows one of [`Needs::TIMES`].
    #[must_use]
    pub fn of_time(time: Needs) -> Column {
        [Column::Changed, Column::Accessed, Column::Created]
            .into_iter()
            .find(|column| column.time() == Some(time))
            .unwrap_or(Column::Modified)
    }

    /// The facts that the column needs. A slot has room for one time only, so times are declared as [`Needs::EXTRA`];
    /// a view that shows only the time of the slot declares that time instead. The state in git and totals are not
    /// metadata: they are in a [`crate::Note`].
    #[must_use]
    pub fn needs(self) -> NeedsByKind {
        NeedsByKind::all(match self {
            // The mark after the mode is declared with the style.
            Column::Mode | Column::Octal => Needs::MODE,
            Column::Links => Needs::NLINK,
            Column::User | Column::Uid => Needs::UID,
            Column::Group | Column::Gid => Needs::GID,
            // For a device its numbers are shown.
            Column::Size => {
                return NeedsByKind::all(Needs::SIZE | Needs::TYPE)
                    | NeedsByKind::of(Kind::Char, Needs::RDEV)
                    | NeedsByKind::of(Kind::Block, Needs::RDEV);
            }
            Column::Blocks => Needs::BLOCKS,
            Column::Inode => Needs::INODE,
            // Device and attributes have no mask bit: every statx returns them.
            Column::Device | Column::Flags => Needs::EXTRA,
            Column::Modified | Column::Changed | Column::Accessed | Column::Created => Needs::EXTRA,
            Column::Context => Needs::CONTEXT,
            Column::Xattrs => Needs::XATTR_LIST | Needs::EXTRA,
            Column::Git => Needs::empty(),
            Column::Total => return Total::needs(),
            Column::Name => return NeedsByKind::all(Needs::TYPE) | NeedsByKind::of(Kind::Link, Needs::LINK),
        })
    }
}
