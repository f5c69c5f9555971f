//! The facts that one `statx` returns: [`Facts`] holds their values, [`FACTS`] has a row for each. [`Detail`] has a row for each fact that a scan has
//! only on request.
//!
//! The formats of scan files, Arrow, filters and the needs of columns are loops over the tables. The two formats that encode by hand,
//! Parquet and journals, name all fields of [`Facts`], so that they do not compile without a new one.

use crate::batch::{Entry, Extra, Time};
use crate::needs::{Kind, Needs};
use crate::tree::hardlinks::file_key;
use bitflags::bitflags;

bitflags! {
    /// A set of columns. Every row has its type, its depth, its fault, and whether it has facts. All other fields must be wanted: a field
    /// whose column is not wanted has a neutral value (empty, 0, `None`, false, the beginning of 1970) and must not be used.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Columns: u32 {
        /// The path of the directory.
        const PARENT = 1 << 0;
        /// The name.
        const NAME = 1 << 1;
        /// Device and inode number.
        const INODE = 1 << 2;
        /// Type and permission bits.
        const MODE = 1 << 3;
        /// Hard links.
        const NLINK = 1 << 4;
        /// Owner.
        const UID = 1 << 5;
        /// Group.
        const GID = 1 << 6;
        /// The owner's name.
        const USER = 1 << 7;
        /// The group's name.
        const GROUP = 1 << 8;
        /// Bytes.
        const SIZE = 1 << 9;
        /// Bytes that are allocated.
        const ALLOCATED = 1 << 10;
        /// Last access.
        const ATIME = 1 << 11;
        /// Birth.
        const BTIME = 1 << 12;
        /// Last change of the inode.
        const CTIME = 1 << 13;
        /// Last change of the contents.
        const MTIME = 1 << 14;
        /// Where a symbolic link leads.
        const TARGET = 1 << 15;
        /// Whether the values may be out of date.
        const LAZY = 1 << 16;
        /// The project id, the first of the details. The others follow in the order of [`Detail::ALL`]; those that code asks for have a name here.
        const PROJECT = 1 << 17;
        /// Inode flags.
        const FLAGS = 1 << 18;
        /// The existing ACLs.
        const ACL = 1 << 19;
        /// The names of extended attributes.
        const XATTRS = 1 << 20;
        /// The type of the file system.
        const FILESYSTEM = 1 << 21;
        /// Lustre's number of stripes.
        const STRIPES = 1 << 22;
        /// Lustre's pool.
        const POOL = 1 << 23;
        /// Lustre's state in hierarchical storage.
        const HSM = 1 << 24;

        /// Parent and name.
        const PATH = Self::PARENT.bits() | Self::NAME.bits();
        /// All four times.
        const TIMES = Self::ATIME.bits() | Self::BTIME.bits() | Self::CTIME.bits() | Self::MTIME.bits();
        /// All columns that a scan has only on request.
        const DETAILS = ((1 << Detail::ALL.len()) - 1) * Self::PROJECT.bits();
        /// All columns that every scan has.
        const USUAL = Self::PROJECT.bits() - 1;
    }
}

impl Columns {
    /// The columns of these needs.
    #[must_use]
    pub fn of(needs: Needs) -> Columns {
        let facts =
            FACTS.iter().map(|fact| (fact.needs, fact.column)).chain([(Needs::LINK, Columns::TARGET)]);
        // A need of an owner is that of the number. The name is a column that a program asks for by itself.
        let facts = facts
            .filter(|(need, column)| !need.is_empty() && needs.contains(*need) && !NAMES.contains(*column));
        facts.fold(Columns::empty(), |all, (_, column)| all | column)
    }

    /// What must be known of an entry for these columns.
    #[must_use]
    pub fn needs(self) -> Needs {
        let facts =
            FACTS.iter().map(|fact| (fact.needs, fact.column)).chain([(Needs::LINK, Columns::TARGET)]);
        let details = Detail::of(self).map(|detail| (detail.needs(), detail.column()));
        facts
            .chain(details)
            .filter(|(_, column)| self.intersects(*column))
            .fold(Needs::empty(), |all, (need, _)| all | need)
    }
}

/// The names of owner and group.
const NAMES: Columns = Columns::USER.union(Columns::GROUP);

/// The values of the facts of one entry.
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

/// Neutral values without an owner: of an entry of which nothing is known.
impl Default for Facts<'_> {
    fn default() -> Self {
        let btime = Some(Time::default());
        Facts { uid: 0, gid: 0, btime, ..Facts::neutral(Kind::Unknown) }
    }
}

/// A file, by its device and inode number: its identity, independent of its names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inode {
    /// The major and the minor number of the device.
    pub dev: (u32, u32),
    /// The inode number.
    pub ino: u64,
}

impl Inode {
    /// The key of the file in a [`HardLinks`](crate::tree::hardlinks::HardLinks).
    #[must_use]
    pub fn key(self) -> [u32; 3] {
        file_key(self.dev, self.ino)
    }
}

/// A fact.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// Its word in all formats and options.
    pub word: &'static str,
    /// Its column. Device and inode number share one.
    pub column: Columns,
    /// What must be known of an entry; empty for what every `statx` returns.
    pub needs: Needs,
    /// What it means if a row that has facts lacks this one.
    pub absent: Absent,
    /// Its type, and how its value is read and set.
    pub access: Access,
}

/// What it means if a row that has facts lacks one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// The file is damaged.
    Never,
    /// The program that wrote the file did not know it.
    Unknown,
    /// There is nothing: an owner without a name, a file system that keeps no birth.
    Nothing,
}

/// The type of a fact, with the functions that read and set its value. A getter returns neutral values for what is not known:
/// [`Facts::known`] tells.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// 64 bits.
    Wide(fn(&Facts<'_>) -> u64, fn(&mut Facts<'_>, u64)),
    /// 32 bits.
    Narrow(fn(&Facts<'_>) -> u32, fn(&mut Facts<'_>, u32)),
    /// 16 bits.
    Short(fn(&Facts<'_>) -> u16, fn(&mut Facts<'_>, u16)),
    /// A time.
    Time(fn(&Facts<'_>) -> Option<Time>, fn(&mut Facts<'_>, Time)),
    /// Bytes, usually text.
    Text(for<'a> fn(&Facts<'a>) -> Option<&'a [u8]>, for<'a> fn(&mut Facts<'a>, &'a [u8])),
    /// Yes or no.
    Flag(fn(&Facts<'_>) -> bool, fn(&mut Facts<'_>, bool)),
}

/// A value in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// A number.
    Number(u64),
    /// A time.
    Time(Time),
    /// Bytes.
    Text(&'a [u8]),
    /// Yes or no.
    Flag(bool),
}

/// A row of the table for a field with this type.
macro_rules! fact {
    ($word:literal, $column:ident, $needs:expr, $absent:ident, Time?, $field:ident) => {
        fact!(@ $word, $column, $needs, $absent, Access::Time(|facts| facts.$field, |facts, value| facts.$field = Some(value)))
    };
    ($word:literal, $column:ident, $needs:expr, $absent:ident, Time, $field:ident) => {
        fact!(@ $word, $column, $needs, $absent, Access::Time(|facts| Some(facts.$field), |facts, value| facts.$field = value))
    };
    ($word:literal, $column:ident, $needs:expr, $absent:ident, Text, $field:ident) => {
        fact!(@ $word, $column, $needs, $absent, Access::Text(|facts| facts.$field, |facts, value| facts.$field = Some(value)))
    };
    ($word:literal, $column:ident, $needs:expr, $absent:ident, $kind:ident, $field:ident) => {
        fact!(@ $word, $column, $needs, $absent, Access::$kind(|facts| facts.$field, |facts, value| facts.$field = value))
    };
    (@ $word:literal, $column:ident, $needs:expr, $absent:ident, $value:expr) => {
        Fact { word: $word, column: Columns::$column, needs: $needs, absent: Absent::$absent, access: $value }
    };
}

/// All facts, in the order of their columns.
pub static FACTS: [Fact; 15] = [
    fact!("ino", INODE, Needs::INODE, Never, Wide, ino),
    Fact {
        word: "dev",
        column: Columns::INODE,
        needs: Needs::empty(),
        absent: Absent::Never,
        access: Access::Wide(|facts| device(facts.dev), |facts, value| facts.dev = device_halves(value)),
    },
    fact!("nlink", NLINK, Needs::NLINK, Never, Narrow, nlink),
    fact!("mode", MODE, Needs::MODE, Unknown, Short, mode),
    fact!("uid", UID, Needs::UID, Unknown, Narrow, uid),
    fact!("gid", GID, Needs::GID, Unknown, Narrow, gid),
    fact!("user", USER, Needs::UID, Nothing, Text, user),
    fact!("group", GROUP, Needs::GID, Nothing, Text, group),
    fact!("size", SIZE, Needs::SIZE, Never, Wide, size),
    fact!("allocated", ALLOCATED, Needs::BLOCKS, Never, Wide, allocated),
    fact!("atime", ATIME, Needs::ATIME, Unknown, Time, atime),
    fact!("btime", BTIME, Needs::BTIME, Nothing, Time?, btime),
    fact!("ctime", CTIME, Needs::CTIME, Unknown, Time, ctime),
    fact!("mtime", MTIME, Needs::MTIME, Unknown, Time, mtime),
    fact!("lazy", LAZY, Needs::empty(), Never, Flag, lazy),
];

/// The type of a detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// 32 bits.
    Narrow,
    /// 64 bits.
    Wide,
    /// UTF-8.
    Text,
}

/// Reads a number from what `statx` returned; `None` if it is not known.
pub type Getter = fn(&Extra) -> Option<u64>;

/// Makes the details of the rows of a table: variant, word, type, what must be known of an entry, and the getter of a number that `statx` returns.
/// A detail without a getter takes more than a `statx`: `dents-commands/src/details.rs`.
macro_rules! details {
    ($($(#[$doc:meta])+ $name:ident, $word:literal, $kind:ident, $needs:expr, $getter:expr;)+) => {
        /// A fact that a scan has only on request, because it costs a system call, or space for what few need. If it was requested, all formats
        /// have a column with its word, which is null if the value is not known.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Detail {
            $($(#[$doc])+ $name,)+
        }

        impl Detail {
            /// All, in the order of their columns.
            pub const ALL: [Detail; [$($word),+].len()] = [$(Detail::$name),+];

            const fn row(self) -> (&'static str, Type, Needs, Option<Getter>) {
                match self {
                    $(Detail::$name => ($word, Type::$kind, $needs, $getter),)+
                }
            }
        }
    };
}

// Files and journals have the number of a detail, so a new one comes last.
details! {
    /// The project id, by which file systems keep quotas: a number; 0 belongs to no project.
    Project, "project", Narrow, Needs::empty(), None;
    /// The inode flags that `statx` returns, in the letters of lsattr(1): `i` immutable, `a` append only, `c` compressed, `d` no dump,
    /// `E` encrypted, `V` verity, `x` DAX; empty if none is set.
    Flags, "flags", Text, Needs::INODE, None;
    /// The existing ACLs: the words `access`, `default` and `nfs4` with commas between them; empty if there is none.
    Acl, "acl", Text, Needs::empty(), None;
    /// The names of the extended attributes in their order, with a comma between them; empty if there is none. Bytes of a name that are not
    /// printable ASCII, commas and backslashes are written as `\x2c`.
    Xattrs, "xattrs", Text, Needs::empty(), None;
    /// The type of the file system, as the list of mounts has it: `ext4`, `nfs4`, `lustre`.
    Filesystem, "filesystem", Text, Needs::INODE, None;
    /// On Lustre the number of stripes of a file.
    Stripes, "stripes", Narrow, Needs::INODE, None;
    /// On Lustre the file's pool of storage targets; empty if there is none.
    Pool, "pool", Text, Needs::INODE, None;
    /// On Lustre the state of a file in hierarchical storage: the words `exists`, `dirty`, `released`, `archived`, `norelease`, `noarchive` and
    /// `lost` with commas between them; empty if the file was never in it.
    Hsm, "hsm", Text, Needs::INODE, None;
}

impl Detail {
    /// Its word in all formats and options.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// The type of its values.
    #[must_use]
    pub const fn kind(self) -> Type {
        self.row().1
    }

    /// What must be known of an entry.
    #[must_use]
    pub const fn needs(self) -> Needs {
        self.row().2
    }

    /// The getter, if `statx` returns it as a number.
    #[must_use]
    pub const fn getter(self) -> Option<Getter> {
        self.row().3
    }

    /// Its column.
    #[must_use]
    pub const fn column(self) -> Columns {
        Columns::from_bits_truncate(Columns::PROJECT.bits() << self as u8)
    }

    /// The details among these columns.
    pub fn of(columns: Columns) -> impl Iterator<Item = Detail> {
        Detail::ALL.into_iter().filter(move |detail| columns.contains(detail.column()))
    }
}

impl Fact {
    /// The value, if it is known.
    #[must_use]
    #[inline]
    pub fn cell<'a>(&self, facts: &Facts<'a>) -> Option<Cell<'a>> {
        if !facts.knows(self.column) {
            return None;
        }
        match self.access {
            Access::Wide(get, _) => Some(Cell::Number(get(facts))),
            Access::Narrow(get, _) => Some(Cell::Number(get(facts).into())),
            Access::Short(get, _) => Some(Cell::Number(get(facts).into())),
            Access::Time(get, _) => get(facts).map(Cell::Time),
            Access::Text(get, _) => get(facts).map(Cell::Text),
            Access::Flag(get, _) => Some(Cell::Flag(get(facts))),
        }
    }

    /// Sets the value from a file. `None` if it is missing or no value of this fact.
    #[inline]
    pub fn take<'a>(&self, facts: &mut Facts<'a>, cell: Option<Cell<'a>>) -> Option<()> {
        match (self.access, cell) {
            (_, None) if self.absent == Absent::Never => return None,
            (_, None) if self.absent == Absent::Unknown => facts.unknown |= self.column,
            (_, None) => {}
            (Access::Wide(_, set), Some(Cell::Number(value))) => set(facts, value),
            (Access::Narrow(_, set), Some(Cell::Number(value))) => set(facts, value.try_into().ok()?),
            (Access::Short(_, set), Some(Cell::Number(value))) => set(facts, value.try_into().ok()?),
            (Access::Time(_, set), Some(Cell::Time(value))) => set(facts, value),
            (Access::Text(_, set), Some(Cell::Text(value))) => set(facts, value),
            (Access::Flag(_, set), Some(Cell::Flag(value))) => set(facts, value),
            _ => return None,
        }
        Some(())
    }
}

impl Facts<'static> {
    /// What the `statx` of a walk returned, with the facts of these needs, which the entry must [declare](Entry::needs); the others are 0. Names of
    /// owners are not among them. Device and times need [`Needs::EXTRA`].
    #[must_use]
    #[inline]
    pub fn of(entry: &Entry<'_>, wanted: Needs) -> Self {
        let has = |need| wanted.contains(need);
        let extra = entry.extra().copied().unwrap_or_default();
        Facts {
            dev: extra.dev,
            ino: if has(Needs::INODE) { entry.ino() } else { 0 },
            mode: if has(Needs::MODE) { entry.mode() } else { 0 },
            nlink: if has(Needs::NLINK) { entry.nlink() } else { 0 },
            uid: if has(Needs::UID) { entry.uid() } else { 0 },
            gid: if has(Needs::GID) { entry.gid() } else { 0 },
            user: None,
            group: None,
            size: if has(Needs::SIZE) { entry.size() } else { 0 },
            // A file system may report any number of blocks.
            allocated: if has(Needs::BLOCKS) { entry.blocks().saturating_mul(512) } else { 0 },
            atime: in_range(extra.atime),
            btime: (extra.btime != Time::UNKNOWN).then_some(in_range(extra.btime)),
            ctime: in_range(extra.ctime),
            mtime: in_range(extra.mtime),
            lazy: false,
            unknown: Columns::empty(),
        }
    }
}

/// Limits the nanoseconds to a second: a file server may report any number, and readers of scan files refuse more.
fn in_range(time: Time) -> Time {
    Time { nsec: time.nsec.min(999_999_999), ..time }
}

impl Facts<'_> {
    /// The file.
    #[must_use]
    #[inline]
    pub fn inode(&self) -> Inode {
        Inode { dev: self.dev, ino: self.ino }
    }

    /// One of the times, if it is known: [`Needs::ATIME`], [`Needs::BTIME`], [`Needs::CTIME`], else the modification.
    #[must_use]
    #[inline]
    pub fn time(&self, which: Needs) -> Option<Time> {
        match which {
            Needs::ATIME => self.known(Columns::ATIME, self.atime),
            Needs::BTIME => self.btime,
            Needs::CTIME => self.known(Columns::CTIME, self.ctime),
            _ => self.known(Columns::MTIME, self.mtime),
        }
    }

    /// Whether a fact of these needs is not known.
    #[must_use]
    #[inline]
    pub fn lacks(&self, needs: Needs) -> bool {
        !self.unknown.is_empty() && self.unknown.intersects(Columns::of(needs))
    }

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
    pub const EACH_UNKNOWABLE: [Columns; 6] = {
        let (mut each, mut next, mut nth) = ([Columns::empty(); 6], 0, 0);
        while nth < FACTS.len() {
            if matches!(FACTS[nth].absent, Absent::Unknown) {
                each[next] = FACTS[nth].column;
                next += 1;
            }
            nth += 1;
        }
        assert!(next == each.len(), "as many as the table has");
        each
    };

    /// The owner and the group where they are not known. The kernel assigns this id to no user and no group.
    pub const NOBODY: u32 = u32::MAX;

    /// Neutral values: what an entry of this type has before facts are [taken](Fact::take).
    #[must_use]
    #[inline]
    pub const fn neutral(kind: Kind) -> Facts<'static> {
        const BEGIN: Time = Time { sec: 0, nsec: 0 };
        Facts {
            dev: (0, 0),
            ino: 0,
            mode: (kind as u16) << 12,
            nlink: 0,
            uid: Facts::NOBODY,
            gid: Facts::NOBODY,
            user: None,
            group: None,
            size: 0,
            allocated: 0,
            atime: BEGIN,
            btime: None,
            ctime: BEGIN,
            mtime: BEGIN,
            lazy: false,
            unknown: Columns::empty(),
        }
    }

    /// Whether it is known.
    #[must_use]
    #[inline]
    pub fn knows(&self, column: Columns) -> bool {
        !self.unknown.contains(column)
    }

    /// The value of a fact, if it is known.
    #[must_use]
    #[inline]
    pub fn known<T>(&self, column: Columns, value: T) -> Option<T> {
        self.knows(column).then_some(value)
    }

    /// The same facts of an entry of this type, of which these are not known.
    #[must_use]
    #[inline]
    pub fn without(mut self, unknown: Columns, kind: Kind) -> Self {
        let neutral = Facts::neutral(kind);
        self.unknown = unknown & Facts::UNKNOWABLE;
        let unknown = self.unknown;
        for fact in FACTS.iter().filter(|fact| unknown.contains(fact.column)) {
            fact.take(&mut self, fact.cell(&neutral));
        }
        self
    }

    /// The facts with neutral values in the columns that are not in this set: 0 for numbers. Each row of a file passes here, so this is no loop
    /// over the table.
    #[must_use]
    #[inline]
    pub fn only(&self, columns: Columns) -> Self {
        let has = |column| columns.contains(column);
        let wide = |column, value| if has(column) { value } else { 0_u64 };
        let narrow = |column, value| if has(column) { value } else { 0_u32 };
        let time = |column, value| if has(column) { value } else { Time::default() };
        Facts {
            dev: if has(Columns::INODE) { self.dev } else { (0, 0) },
            ino: wide(Columns::INODE, self.ino),
            mode: if has(Columns::MODE) { self.mode } else { 0 },
            nlink: narrow(Columns::NLINK, self.nlink),
            uid: narrow(Columns::UID, self.uid),
            gid: narrow(Columns::GID, self.gid),
            user: self.user.filter(|_| has(Columns::USER)),
            group: self.group.filter(|_| has(Columns::GROUP)),
            size: wide(Columns::SIZE, self.size),
            allocated: wide(Columns::ALLOCATED, self.allocated),
            atime: time(Columns::ATIME, self.atime),
            btime: self.btime.filter(|_| has(Columns::BTIME)),
            ctime: time(Columns::CTIME, self.ctime),
            mtime: time(Columns::MTIME, self.mtime),
            lazy: has(Columns::LAZY) && self.lazy,
            unknown: self.unknown & columns,
        }
    }
}

/// The number of a device as in `stat(2)` (`makedev(3)` of glibc), which other programs show too. It has all bits of
/// the two halves.
#[must_use]
#[inline]
pub const fn device((major, minor): (u32, u32)) -> u64 {
    let (major, minor) = (major as u64, minor as u64);
    (major & 0xffff_f000) << 32 | (major & 0xfff) << 8 | (minor & 0xffff_ff00) << 12 | (minor & 0xff)
}

/// Major and minor number of a device.
#[must_use]
#[inline]
pub const fn device_halves(device: u64) -> (u32, u32) {
    let major = (device >> 32 & 0xffff_f000) | (device >> 8 & 0xfff);
    let minor = (device >> 12 & 0xffff_ff00) | (device & 0xff);
    (major as u32, minor as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Facts without a neutral value. Named field by field, so that a new one must be added here, and then needs a row.
    const ALL: Facts<'static> = Facts {
        dev: (8, 1),
        ino: 2,
        mode: 0o100_644,
        nlink: 3,
        uid: 4,
        gid: 5,
        user: Some(b"ann"),
        group: Some(b"staff"),
        size: 6,
        allocated: 7,
        atime: Time { sec: 8, nsec: 1 },
        btime: Some(Time { sec: 9, nsec: 2 }),
        ctime: Time { sec: 10, nsec: 3 },
        mtime: Time { sec: 11, nsec: 4 },
        lazy: true,
        unknown: Columns::empty(),
    };

    #[test]
    fn the_table_has_every_field() {
        let mut copy = Facts::neutral(Kind::Unknown);
        for fact in &FACTS {
            assert_eq!(fact.take(&mut copy, fact.cell(&ALL)), Some(()), "{}", fact.word);
        }
        assert_eq!(copy, ALL);
        let columns = FACTS.iter().fold(Columns::empty(), |all, fact| all | fact.column);
        assert_eq!(columns, Columns::USUAL.difference(Columns::PATH | Columns::TARGET));
    }

    #[test]
    fn what_is_missing_is_damage_or_unknown_or_nothing() {
        let words = |absent| {
            let words = FACTS.iter().filter(|fact| fact.absent == absent).map(|fact| fact.word);
            words.collect::<alloc::vec::Vec<_>>().join(" ")
        };
        assert_eq!(words(Absent::Never), "ino dev nlink size allocated lazy");
        assert_eq!(words(Absent::Unknown), "mode uid gid atime ctime mtime");
        assert_eq!(words(Absent::Nothing), "user group btime");
        for fact in &FACTS {
            let mut facts = Facts::neutral(Kind::Reg);
            let taken = fact.take(&mut facts, None);
            assert_eq!(taken.is_none(), fact.absent == Absent::Never, "{}", fact.word);
            assert_eq!(
                facts.unknown,
                Facts::UNKNOWABLE & if taken.is_some() { fact.column } else { Columns::empty() }
            );
            assert_eq!(
                fact.take(&mut facts, Some(Cell::Text(b"x"))).is_some(),
                matches!(fact.access, Access::Text(..))
            );
        }
        let unknown = ALL.without(Facts::UNKNOWABLE, Kind::Dir);
        assert_eq!((unknown.mode, unknown.uid, unknown.mtime), (0o040_000, Facts::NOBODY, Time::default()));
        assert_eq!((unknown.size, unknown.btime), (ALL.size, ALL.btime));
    }

    #[test]
    fn only_wanted_columns_keep_their_values() {
        assert_eq!(ALL.only(Columns::all()), ALL);
        let none = Facts { mode: 0, uid: 0, gid: 0, ..Facts::neutral(Kind::Unknown) };
        assert_eq!(ALL.only(Columns::PATH), none);
        for fact in &FACTS {
            let (alone, others) = (ALL.only(fact.column), ALL.only(fact.column.complement()));
            assert_eq!(
                (fact.cell(&alone), fact.cell(&others)),
                (fact.cell(&ALL), fact.cell(&none)),
                "{}",
                fact.word
            );
        }
        let only = ALL.only(Columns::UID | Columns::MTIME);
        assert_eq!((only.uid, only.mtime, only.gid, only.mode, only.btime), (4, ALL.mtime, 0, 0, None));
        let unknown = ALL.without(Columns::UID, Kind::Reg);
        assert_eq!(unknown.only(Columns::all()), unknown);
    }

    #[test]
    fn each_detail_has_a_column_of_its_own() {
        let all = Detail::ALL.iter().fold(Columns::empty(), |all, one| all | one.column());
        assert_eq!((all, all.bits().count_ones() as usize), (Columns::DETAILS, Detail::ALL.len()));
        let named = [Detail::Project, Detail::Flags, Detail::Acl, Detail::Xattrs, Detail::Filesystem];
        let columns = [Columns::PROJECT, Columns::FLAGS, Columns::ACL, Columns::XATTRS, Columns::FILESYSTEM];
        assert_eq!(named.map(Detail::column), columns);
        let lustre = [Detail::Stripes, Detail::Pool, Detail::Hsm].map(Detail::column);
        assert_eq!(lustre, [Columns::STRIPES, Columns::POOL, Columns::HSM]);
        assert_eq!(Detail::of(Columns::all()).collect::<alloc::vec::Vec<_>>(), Detail::ALL);
        assert!(Detail::ALL.iter().all(|one| one.getter().is_none() || one.kind() != Type::Text));
    }

    #[test]
    fn needs_and_columns_lead_to_each_other() {
        let needs = Needs::UID | Needs::SIZE | Needs::LINK;
        assert_eq!(Columns::of(needs), Columns::UID | Columns::SIZE | Columns::TARGET);
        assert_eq!(Columns::of(needs).needs(), needs);
        assert_eq!((Columns::USER | Columns::PATH).needs(), Needs::UID);
        assert_eq!(Columns::of(Needs::TYPE), Columns::empty());
    }

    #[test]
    fn no_time_has_more_nanoseconds_than_a_second() {
        let at = |nsec| in_range(Time { sec: 7, nsec });
        assert_eq!([at(0), at(999_999_999)].map(|at| at.nsec), [0, 999_999_999]);
        assert_eq!(at(3_400_000_000), at(999_999_999));
    }

    #[test]
    fn a_device_comes_back() {
        for halves in
            [(0, 0), (8, 1), (0, 0x2a), (0xfff, 0xfffff), (u32::MAX, u32::MAX), (0x1234_5678, 0x9abc_def0)]
        {
            assert_eq!(device_halves(device(halves)), halves);
        }
    }
}
