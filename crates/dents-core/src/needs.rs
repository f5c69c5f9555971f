//! Needs: the facts about an entry that consumers declare.
//!
//! Every consumer (a column, a sort key, an indicator, a colour) declares its [`Needs`] beside the code that reads the
//! field. The caller ORs them into one [`NeedsByKind`]; the strategies request exactly that. `readdir` already provides
//! [`Needs::TYPE`] through `d_type`, so a listing that needs only types makes no `statx`. In debug builds, reading an
//! undeclared field panics (see [`crate::batch`]).

use bitflags::bitflags;
use core::ops::{BitOr, BitOrAssign};
use dents_sys::stat::Mask;

bitflags! {
    /// A set of facts about one entry.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Needs: u32 {
        /// The file type. Free where the file system fills `d_type`.
        const TYPE = 1 << 0;
        /// The inode number as `stat` gives it. (`d_ino` of a mount point is that of the covered directory.)
        const INODE = 1 << 1;
        /// Type and permission bits.
        const MODE = 1 << 2;
        /// Number of hard links.
        const NLINK = 1 << 3;
        /// Owner.
        const UID = 1 << 4;
        /// Group.
        const GID = 1 << 5;
        /// Device number of a device file.
        const RDEV = 1 << 6;
        /// Size in bytes.
        const SIZE = 1 << 7;
        /// Allocated blocks of 512 bytes.
        const BLOCKS = 1 << 8;
        /// Time of the last access.
        const ATIME = 1 << 9;
        /// Time of birth.
        const BTIME = 1 << 10;
        /// Time of the last change of the inode.
        const CTIME = 1 << 11;
        /// Time of the last change of the contents.
        const MTIME = 1 << 12;
        /// The text of a symbolic link: one `readlinkat`.
        const LINK = 1 << 13;
        /// The target of a symbolic link (its mode, or that it dangles): one more `statx`.
        const TARGET = 1 << 14;
        /// Whether there is an ACL or a security context: one `listxattrat`.
        const MARK = 1 << 15;
        /// Whether there is a file capability: the same `listxattrat`.
        const CAPABILITY = 1 << 16;
        /// The security context: one `getxattrat`. Together with `listxattrat`, only for entries whose list has a
        /// context.
        const CONTEXT = 1 << 17;
        /// Metadata that a slot has no room for ([`crate::batch::Extra`]): all four times, the device, the attributes
        /// of the file system. The same `statx`.
        const EXTRA = 1 << 18;
        /// The names of all extended attributes and the sizes of their values: one `listxattrat`, and one `getxattrat`
        /// for each. They are stored with the [`crate::batch::Extra`], so declare [`Needs::EXTRA`] too.
        const XATTR_LIST = 1 << 19;
        /// [`Needs::MARK`] where no server has to be asked for it: on a network file system the mark stays unknown. Two
        /// system calls for each directory and thread tell the file system.
        const NEAR_MARK = 1 << 20;
    }
}

impl Needs {
    /// All times. A batch keeps one of them, so a plan declares at most one.
    pub const TIMES: Needs = Needs::ATIME.union(Needs::BTIME).union(Needs::CTIME).union(Needs::MTIME);

    /// Facts that extended attributes provide.
    pub const XATTRS: Needs =
        Needs::MARKS.union(Needs::CAPABILITY).union(Needs::CONTEXT).union(Needs::XATTR_LIST);

    /// The two ways to need a mark. A plan declares at most one.
    pub const MARKS: Needs = Needs::MARK.union(Needs::NEAR_MARK);

    /// The `statx` mask for these needs; empty if no `statx` is needed. A mask always contains the type: it comes in
    /// the same field as the mode, and all later decisions depend on it.
    #[must_use]
    pub fn mask(self) -> Mask {
        const TABLE: [(Needs, Mask); 11] = [
            (Needs::INODE, Mask::INO),
            (Needs::MODE, Mask::MODE),
            (Needs::NLINK, Mask::NLINK),
            (Needs::UID, Mask::UID),
            (Needs::GID, Mask::GID),
            (Needs::SIZE, Mask::SIZE),
            (Needs::BLOCKS, Mask::BLOCKS),
            (Needs::ATIME, Mask::ATIME),
            (Needs::BTIME, Mask::BTIME),
            (Needs::CTIME, Mask::CTIME),
            (Needs::MTIME, Mask::MTIME),
        ];
        let mut mask = Mask::empty();
        for (need, bit) in TABLE {
            if self.contains(need) {
                mask |= bit;
            }
        }
        if self.intersects(Needs::EXTRA.union(Needs::XATTR_LIST)) {
            mask |= Mask::ATIME | Mask::BTIME | Mask::CTIME | Mask::MTIME;
        }
        // The kernel always fills stx_rdev (include/uapi/linux/stat.h has no mask bit for it), so any mask suffices.
        if !mask.is_empty() || self.contains(Needs::RDEV) { mask | Mask::TYPE } else { mask }
    }
}

/// The type of a file as `d_type` gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// `DT_UNKNOWN`: the file system did not tell, or no `statx` was made yet.
    Unknown = 0,
    /// A FIFO.
    Fifo = 1,
    /// A character device.
    Char = 2,
    /// A directory.
    Dir = 4,
    /// A block device.
    Block = 6,
    /// A regular file.
    Reg = 8,
    /// A symbolic link.
    Link = 10,
    /// A socket.
    Sock = 12,
    /// A whiteout of a union file system.
    Whiteout = 14,
}

impl Kind {
    /// All types of files, without [`Kind::Unknown`].
    pub const KNOWN: [Kind; 8] =
        [Kind::Fifo, Kind::Char, Kind::Dir, Kind::Block, Kind::Reg, Kind::Link, Kind::Sock, Kind::Whiteout];

    /// From `d_type`; values that the kernel does not define become unknown.
    #[must_use]
    pub fn from_d_type(d_type: u8) -> Kind {
        match d_type {
            1 => Kind::Fifo,
            2 => Kind::Char,
            4 => Kind::Dir,
            6 => Kind::Block,
            8 => Kind::Reg,
            10 => Kind::Link,
            12 => Kind::Sock,
            14 => Kind::Whiteout,
            _ => Kind::Unknown,
        }
    }

    /// From `stx_mode`: `d_type` is its upper four bits (`IFTODT` in dirent.h).
    #[must_use]
    pub fn from_mode(mode: u16) -> Kind {
        Kind::from_d_type((mode >> 12) as u8)
    }

    /// Whether `st_size` is a length in bytes that can be added up: only for regular files and symbolic links. For
    /// other types, such as directories, a sum would mean nothing (GNU du counts in this way since 9.2).
    #[must_use]
    pub fn has_length(self) -> bool {
        matches!(self, Kind::Reg | Kind::Link)
    }
}

/// A set of types. It always contains [`Kind::Unknown`]: such an entry may still have any type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// All types.
    pub const ALL: Kinds = Kinds(u16::MAX);

    /// One type.
    #[must_use]
    pub const fn of(kind: Kind) -> Kinds {
        Kinds(1 << Kind::Unknown as u16 | 1 << kind as u16)
    }

    /// Adds a type if `wanted`.
    #[must_use]
    pub const fn with(self, kind: Kind, wanted: bool) -> Kinds {
        Kinds(self.0 | (wanted as u16) << kind as u16)
    }

    /// Whether the set contains a type.
    #[must_use]
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 >> kind as u16 & 1 == 1
    }
}

impl Default for Kinds {
    fn default() -> Kinds {
        Kinds::ALL
    }
}

/// The needs for each type of file: a colour may need the mode of a directory, and nothing for a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeedsByKind([Needs; 16]);

impl NeedsByKind {
    /// The same needs for all types.
    #[must_use]
    pub fn all(needs: Needs) -> Self {
        NeedsByKind([needs; 16])
    }

    /// These needs for one type. An entry of unknown type gets [`Needs::TYPE`] too: its type must be known first.
    #[must_use]
    pub fn of(kind: Kind, needs: Needs) -> Self {
        let mut table = [Needs::empty(); 16];
        table[kind as usize] = needs;
        table[Kind::Unknown as usize] = needs | Needs::TYPE;
        NeedsByKind(table)
    }

    /// The needs of an entry of this type. For [`Kind::Unknown`], those of all types.
    #[must_use]
    pub fn get(&self, kind: Kind) -> Needs {
        self.0[kind as usize]
    }

    /// The needs of all types together.
    #[must_use]
    pub fn any(&self) -> Needs {
        self.0.iter().fold(Needs::empty(), |all, one| all | *one)
    }

    /// The mask for the `statx` of an entry with this `d_type`; empty if none is needed.
    #[must_use]
    pub fn mask(&self, kind: Kind) -> Mask {
        let needs = self.get(kind);
        if kind == Kind::Unknown && !needs.is_empty() { needs.mask() | Mask::TYPE } else { needs.mask() }
    }

    /// Whether an entry with this `d_type` costs at least one system call.
    #[must_use]
    pub fn asks(&self, kind: Kind) -> bool {
        let needs = self.get(kind);
        match kind {
            Kind::Unknown => !needs.is_empty(),
            Kind::Link => !needs.difference(Needs::TYPE).is_empty(),
            _ => !needs.difference(Needs::TYPE | Needs::LINK | Needs::TARGET).is_empty(),
        }
    }

    /// Adds [`Needs::EXTRA`] for each type that needs a `statx`.
    #[must_use]
    pub fn with_extra(mut self) -> Self {
        for needs in &mut self.0 {
            needs.set(Needs::EXTRA, !needs.mask().is_empty());
        }
        self
    }

    /// The same needs, as far as they are among these.
    #[must_use]
    pub fn only(mut self, among: Needs) -> Self {
        self.0.iter_mut().for_each(|needs| *needs &= among);
        self
    }

    /// Whether any entry could cost a system call.
    #[must_use]
    pub fn asks_any(&self) -> bool {
        Kind::KNOWN.iter().any(|kind| self.asks(*kind))
    }
}

impl BitOr for NeedsByKind {
    type Output = NeedsByKind;

    fn bitor(mut self, other: Self) -> Self {
        self |= other;
        self
    }
}

impl BitOrAssign for NeedsByKind {
    fn bitor_assign(&mut self, other: Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn nothing_but_the_type_makes_no_statx() {
        let needs = NeedsByKind::all(Needs::TYPE);
        assert!(!needs.asks_any());
        assert!(needs.mask(Kind::Reg).is_empty());
        assert_eq!(needs.mask(Kind::Unknown), Mask::TYPE);
    }

    #[test]
    fn a_need_of_directories_leaves_the_others_alone() {
        let needs = NeedsByKind::of(Kind::Dir, Needs::MODE);
        assert_eq!(needs.mask(Kind::Dir), Mask::TYPE | Mask::MODE);
        assert!(needs.mask(Kind::Reg).is_empty());
        assert!(!needs.asks(Kind::Link));
        assert_eq!(needs.mask(Kind::Unknown), Mask::TYPE | Mask::MODE);
    }

    #[test]
    fn the_target_of_a_link_needs_no_statx_of_the_link() {
        let needs = NeedsByKind::all(Needs::TARGET | Needs::TYPE);
        assert!(needs.mask(Kind::Link).is_empty());
        assert!(needs.asks(Kind::Link));
        assert!(!needs.asks(Kind::Reg));
    }

    #[test]
    fn the_kind_follows_the_mode() {
        assert_eq!(Kind::from_mode(0o040_755), Kind::Dir);
        assert_eq!(Kind::from_mode(0o120_777), Kind::Link);
        assert_eq!(Kind::from_mode(0), Kind::Unknown);
    }

    /// The `statx` mask of each need, bit by bit.
    const MASKS: [(Needs, Mask); 21] = [
        (Needs::TYPE, Mask::empty()),
        (Needs::INODE, Mask::TYPE.union(Mask::INO)),
        (Needs::MODE, Mask::TYPE.union(Mask::MODE)),
        (Needs::NLINK, Mask::TYPE.union(Mask::NLINK)),
        (Needs::UID, Mask::TYPE.union(Mask::UID)),
        (Needs::GID, Mask::TYPE.union(Mask::GID)),
        (Needs::RDEV, Mask::TYPE),
        (Needs::SIZE, Mask::TYPE.union(Mask::SIZE)),
        (Needs::BLOCKS, Mask::TYPE.union(Mask::BLOCKS)),
        (Needs::ATIME, Mask::TYPE.union(Mask::ATIME)),
        (Needs::BTIME, Mask::TYPE.union(Mask::BTIME)),
        (Needs::CTIME, Mask::TYPE.union(Mask::CTIME)),
        (Needs::MTIME, Mask::TYPE.union(Mask::MTIME)),
        (Needs::LINK, Mask::empty()),
        (Needs::TARGET, Mask::empty()),
        (Needs::MARK, Mask::empty()),
        (Needs::NEAR_MARK, Mask::empty()),
        (Needs::CAPABILITY, Mask::empty()),
        (Needs::CONTEXT, Mask::empty()),
        (Needs::EXTRA, Mask::TYPE.union(TIMES)),
        (Needs::XATTR_LIST, Mask::TYPE.union(TIMES)),
    ];
    const TIMES: Mask = Mask::ATIME.union(Mask::BTIME).union(Mask::CTIME).union(Mask::MTIME);

    #[test]
    fn each_need_asks_for_its_own_and_no_more() {
        let all = MASKS.iter().fold(Needs::empty(), |all, (needs, _)| all | *needs);
        assert_eq!(all, Needs::all(), "a need is not in the table");
        for (needs, mask) in MASKS {
            assert_eq!(needs.mask(), mask, "{needs:?}");
            assert_eq!(NeedsByKind::all(needs).mask(Kind::Reg), mask, "{needs:?}");
            // An entry of unknown type always needs its type too.
            assert_eq!(NeedsByKind::all(needs).mask(Kind::Unknown), mask | Mask::TYPE, "{needs:?}");
            for (other, more) in MASKS {
                assert_eq!((needs | other).mask(), mask | more, "{needs:?} {other:?}");
            }
        }
        assert!(Needs::empty().mask().is_empty());
        assert!(NeedsByKind::default().mask(Kind::Unknown).is_empty());
    }

    /// Which needs cost a system call: for an unknown type, for a link, and for a regular file.
    #[test]
    fn needs_that_cost_a_call() {
        for (needs, _) in MASKS {
            let by_kind = NeedsByKind::all(needs);
            let asks = [Kind::Unknown, Kind::Link, Kind::Reg].map(|kind| by_kind.asks(kind));
            let expected = match needs {
                Needs::TYPE => [true, false, false],
                Needs::LINK | Needs::TARGET => [true, true, false],
                _ => [true; 3],
            };
            assert_eq!(asks, expected, "{needs:?}");
            assert_eq!(by_kind.asks_any(), expected[1], "{needs:?}");
        }
        assert!(!NeedsByKind::default().asks(Kind::Unknown));
    }

    #[test]
    fn needs_add_up_type_by_type() {
        let mut both = NeedsByKind::of(Kind::Dir, Needs::MODE) | NeedsByKind::of(Kind::Reg, Needs::SIZE);
        both |= NeedsByKind::of(Kind::Dir, Needs::UID);
        assert_eq!(both.get(Kind::Dir), Needs::MODE | Needs::UID);
        assert_eq!(both.get(Kind::Reg), Needs::SIZE);
        assert_eq!(both.get(Kind::Unknown), Needs::TYPE | Needs::MODE | Needs::UID | Needs::SIZE);
        assert_eq!(both.any(), both.get(Kind::Unknown));
        assert!(both.get(Kind::Fifo).is_empty());
        let extra = (both | NeedsByKind::of(Kind::Link, Needs::LINK)).with_extra();
        let with_extra = |kind| extra.get(kind).contains(Needs::EXTRA);
        assert_eq!([Kind::Dir, Kind::Reg, Kind::Unknown].map(with_extra), [true; 3]);
        assert_eq!([Kind::Link, Kind::Fifo].map(with_extra), [false; 2], "no statx is made for them");
    }

    #[test]
    fn every_type_has_its_number() {
        for kind in Kind::KNOWN {
            assert_eq!(Kind::from_d_type(kind as u8), kind);
            assert_eq!(Kind::from_mode((kind as u16) << 12 | 0o7777), kind);
        }
        let unknown = (0..=u8::MAX).filter(|d_type| Kind::from_d_type(*d_type) == Kind::Unknown).count();
        assert_eq!(unknown, 256 - Kind::KNOWN.len());
    }

    #[test]
    fn sets_of_types() {
        let set = Kinds::of(Kind::Dir).with(Kind::Link, true).with(Kind::Reg, false);
        let within: Vec<Kind> = Kind::KNOWN.into_iter().filter(|kind| set.contains(*kind)).collect();
        assert_eq!(within, [Kind::Dir, Kind::Link]);
        assert!(set.contains(Kind::Unknown) && Kind::KNOWN.iter().all(|kind| Kinds::ALL.contains(*kind)));
        assert_eq!(Kinds::default(), Kinds::ALL);
    }
}
