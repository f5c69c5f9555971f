//! All columns: a row of the table for each.

use crate::field::Field;
use crate::note::Total;
use dents_core::needs::{Kind, Needs, NeedsByKind};

/// The side to which a column is aligned: numbers to the right.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Makes the columns of the rows of a table: variant, spellings on the command line, title, side, the fields that it becomes in output for programs,
/// and needs.
macro_rules! columns {
    ($($(#[$doc:meta])+ $name:ident, [$($word:literal),+], $header:literal, $side:ident, $fields:expr, $needs:expr;)+) => {
        /// A column of the view, and the fields that it becomes in output for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Column {
            $($(#[$doc])+ $name,)+
        }

        impl Column {
            /// All of them.
            pub const ALL: [Column; Column::SPELLINGS.len()] = [$(Column::$name),+];

            /// Their spellings on the command line, parallel to [`Column::ALL`].
            pub const SPELLINGS: &'static [&'static [&'static str]] = &[$(&[$($word),+]),+];

            /// Its title in the header.
            #[must_use]
            pub const fn header(self) -> &'static [u8] {
                match self {
                    $(Column::$name => $header.as_bytes(),)+
                }
            }

            const fn side(self) -> Side {
                match self {
                    $(Column::$name => Side::$side,)+
                }
            }

            /// The fields that it becomes in output for programs.
            #[must_use]
            pub const fn fields(self) -> &'static [Field] {
                match self {
                    $(Column::$name => &$fields,)+
                }
            }

            /// The facts that the column needs. A slot has room for one time only, so times are declared as [`Needs::EXTRA`];
            /// a view that shows only the time of the slot declares that time instead. The state in git and totals are not
            /// metadata: they are in a [`crate::Note`].
            #[must_use]
            pub fn needs(self) -> NeedsByKind {
                match self {
                    $(Column::$name => $needs,)+
                }
            }
        }
    };
}

// The mark after the mode is declared with the style. Device and attributes have no bit in the mask: every `statx` returns them.
columns! {
    /// Type and permissions as letters, and the mark of an ACL or a context.
    Mode, ["mode"], "Mode", Left, [Field::Type, Field::Perm], NeedsByKind::all(Needs::MODE);
    /// The permission bits as an octal number.
    Octal, ["octal"], "Octal", Right, [Field::Mode], NeedsByKind::all(Needs::MODE);
    /// Hard links.
    Links, ["links"], "Links", Right, [Field::Nlink], NeedsByKind::all(Needs::NLINK);
    /// The owner's name, or number where it has none.
    User, ["user", "owner"], "User", Left, [Field::User], NeedsByKind::all(Needs::UID);
    /// The group's name, or number where it has none.
    Group, ["group"], "Group", Left, [Field::Group], NeedsByKind::all(Needs::GID);
    /// The owner's number.
    Uid, ["uid"], "UID", Right, [Field::Uid], NeedsByKind::all(Needs::UID);
    /// The group's number.
    Gid, ["gid"], "GID", Right, [Field::Gid], NeedsByKind::all(Needs::GID);
    /// Bytes; for a device its major and minor number.
    Size, ["size"], "Size", Right, [Field::Size], size_needs();
    /// Allocated space, in the units of `-s`.
    Blocks, ["blocks"], "Blocks", Right, [Field::Allocated], NeedsByKind::all(Needs::BLOCKS);
    /// Inode number.
    Inode, ["inode"], "Inode", Right, [Field::Ino], NeedsByKind::all(Needs::INODE);
    /// Major and minor number of the device that holds the entry.
    Device, ["device"], "Device", Right, [Field::Dev], NeedsByKind::all(Needs::EXTRA);
    /// Last change of the contents.
    Modified, ["modified", "mtime"], "Modified", Left, [Field::Mtime], NeedsByKind::all(Needs::EXTRA);
    /// Last change of the inode.
    Changed, ["changed", "ctime"], "Changed", Left, [Field::Ctime], NeedsByKind::all(Needs::EXTRA);
    /// Last access.
    Accessed, ["accessed", "atime"], "Accessed", Left, [Field::Atime], NeedsByKind::all(Needs::EXTRA);
    /// Birth.
    Created, ["created", "birth"], "Created", Left, [Field::Btime], NeedsByKind::all(Needs::EXTRA);
    /// Security context.
    Context, ["context"], "Context", Left, [Field::Context], NeedsByKind::all(Needs::CONTEXT);
    /// The number of extended attributes.
    Xattrs, ["xattrs"], "Xattrs", Right, [Field::Xattrs], NeedsByKind::all(Needs::XATTR_LIST | Needs::EXTRA);
    /// The attributes that `lsattr` shows, as letters.
    Flags, ["flags"], "Flags", Left, [Field::Attributes], NeedsByKind::all(Needs::EXTRA);
    /// State in git: index, then file.
    Git, ["git"], "Git", Left, [Field::GitStaged, Field::GitUnstaged], NeedsByKind::all(Needs::empty());
    /// The size of the entry and all below it.
    Total, ["total"], "Total", Right, [Field::Total, Field::TotalAllocated, Field::TotalWhole], Total::needs();
    /// The name, and the target of a link.
    Name, ["name"], "Name", Left, [Field::Directory, Field::Name], NeedsByKind::all(Needs::TYPE) | NeedsByKind::of(Kind::Link, Needs::LINK);
}

/// For a device its numbers are shown.
fn size_needs() -> NeedsByKind {
    NeedsByKind::all(Needs::SIZE | Needs::TYPE)
        | NeedsByKind::of(Kind::Char, Needs::RDEV)
        | NeedsByKind::of(Kind::Block, Needs::RDEV)
}

impl Column {
    /// Its word on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        Column::SPELLINGS[self as usize][0]
    }

    /// Whether it is right-aligned, as numbers are.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(self.side(), Side::Right)
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
}
