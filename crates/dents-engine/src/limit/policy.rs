//! A table of file systems and their policies. Only `auto` uses it, and only for a choice among strategies, so a short listing
//! never looks up its file system.
//!
//! A wrong policy makes no listing wrong: a policy changes when requests are made and how many at once, never which. A row that
//! rests on documentation or kernel source, not on our measurements, names its source.

use dents_sys::statfs::FsType;

/// Whether answers are round trips, and how to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Far {
    /// They are not, unless the disk is slow. The clock is read after 4 entries, and again after 32.
    No,
    /// They are, unless the client has cached them. One answer decides, and the search begins.
    Yes,
    /// They are, but attributes come with the names for a reader that asks about them between its reads. The first answer is no
    /// sign: it sets up what the next ones find.
    WithNames,
    /// They are, but the client prefetches for a reader in `readdir` order. So 32 entries are requested on one
    /// thread, and several at once only if the last of these are still round trips.
    AskedAhead,
}

/// What the list of an entry's extended attributes (`listxattr`) costs and tells, where the other metadata comes with the names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lists {
    /// Nothing beyond the other metadata, or as little as that.
    #[default]
    WithMetadata,
    /// A round trip of its own, as is an ACL. They are requested last, many at once: between two reads they would take so
    /// long that attributes expire. The list of a server names users' attributes alone, so an ACL is requested by its name.
    Apart,
    /// A round trip of its own that never names an ACL, a label or a capability: it is not requested for them.
    OfUsers,
}

/// How to list a file system, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Its usual name.
    pub name: &'static str,
    /// Where answers come from.
    pub far: Far,
    /// Whether requests begin as soon as there are enough names to choose a strategy, and reading continues meanwhile. Elsewhere
    /// they begin at a thousand names.
    pub interleave: bool,
    /// What lists of extended attributes cost.
    pub lists: Lists,
    /// Most requests in flight, even if the user allows more.
    pub most: usize,
    /// Whether `AT_STATX_DONT_SYNC` (`--lazy`) saves requests.
    pub lazy: bool,
    /// Whether a directory has one parent in the file system itself, so that only mounts and symbolic links lead from a
    /// directory to one above it. True where fs/dcache.c (`d_splice_alias`) guards inodes that have no second number.
    pub is_a_tree: bool,
    /// Why, in a phrase for `--explain`.
    pub why: &'static str,
}

const ANY: usize = usize::MAX;

/// Names in the first reply of an NFS client, `.` and `..` among them: 19 on 6.12. Source: fs/nfs/dir.c since 5.18, `nfs_do_filldir`
/// with `NFS_READDIR_CACHE_MISS_THRESHOLD`. It fetches attributes with the next names only if more than eight of these were asked
/// about before the next read. On 6.1 the first read fills the buffer instead, and the same holds for the next.
pub const FIRST_REPLY: core::ops::RangeInclusive<usize> = 18..=20;

/// Length of a disk's queue. Threads beyond it only compete for cores once the disk has read ahead.
const QUEUE: usize = 32;

const LOCAL: Policy = Policy {
    name: "local",
    far: Far::No,
    interleave: false,
    lists: Lists::WithMetadata,
    most: QUEUE,
    lazy: false,
    is_a_tree: false,
    why: "answers come from memory or a disk",
};

/// A local file system whose directories form a tree: the kernel refuses a loop, even if the names on disk form one.
const TREE: Policy = Policy { is_a_tree: true, ..LOCAL };

/// A file system that is not in the table. It is treated as local, until the clock shows that it is remote.
const UNKNOWN: Policy =
    Policy { name: "unknown", why: "not in the table: the clock decides", most: ANY, ..LOCAL };

/// Measured on kernel 6.12 with nfsd (docs/SLOW.md). Source: fs/nfs/dir.c and inode.c. `nfs_readdir` changes to READDIRPLUS when names are looked up while a directory
/// is read (since 5.18 it counts misses), so reading and requests must alternate. With `DONT_SYNC`, `nfs_getattr`
/// returns cached values. Requests beyond the slots of the session wait in the client.
const NFS: Policy = Policy {
    name: "NFS",
    far: Far::WithNames,
    interleave: true,
    lists: Lists::Apart,
    most: ANY,
    lazy: true,
    is_a_tree: false,
    why: "a server answers; asked between reads, the client fetches names and attributes together",
};

/// Source: fs/fuse/readdir.c (READDIRPLUS if the last names were looked up, and one request per `getdents64`) and
/// `fuse_update_get_attr`; measured with our slow file system: without a time to live a `statx` is a lookup and a
/// getattr, with `DONT_SYNC` the lookup alone.
const FUSE: Policy = Policy {
    name: "FUSE",
    far: Far::Yes,
    interleave: true,
    lists: Lists::WithMetadata,
    most: ANY,
    lazy: true,
    is_a_tree: false,
    why: "a program answers, maybe for a server; each piece of the directory is a request of its own",
};

/// Source: fs/ceph/inode.c, `ceph_getattr`: a field needs a capability from the server, and `DONT_SYNC` requests
/// none. The `readdir` of a directory returns capabilities for its entries, so answers may come from memory.
const CEPH: Policy = Policy {
    name: "CephFS",
    far: Far::Yes,
    interleave: false,
    lists: Lists::WithMetadata,
    most: ANY,
    lazy: true,
    is_a_tree: false,
    why: "a metadata server grants what is asked for; just after reading, much is known already",
};

/// Source: Lustre's manual, statahead. `max_rpcs_in_flight` is 8 for each metadata server, unless the site sets more,
/// so beyond some dozens requests wait in the client. With `DONT_SYNC` sizes are those that the metadata server has
/// cached (2.13). Not measured by this project. Reports differ: one found many threads 2.5 times as fast where
/// statahead did not help.
const LUSTRE: Policy = Policy {
    name: "Lustre",
    far: Far::AskedAhead,
    interleave: false,
    lists: Lists::WithMetadata,
    most: 64,
    lazy: true,
    is_a_tree: false,
    why: "the client asks ahead for one that goes in the order of the directory; more at once only if that is slow",
};

/// Source: IBM's documentation (`maxStatCache`, a token for each inode). Its source is closed; not measured by this
/// project.
const GPFS: Policy = Policy {
    name: "GPFS",
    far: Far::Yes,
    interleave: false,
    lists: Lists::WithMetadata,
    most: 64,
    lazy: false,
    is_a_tree: false,
    why: "a token per file; the client prefetches inodes of a directory being read",
};

/// Measured on kernel 6.12 with Samba (`cargo xtask vm 6.12 cifs`). Source: fs/smb/client. Credits limit requests (`max_credits`,
/// commonly 128). readdir returns attributes, which the client believes for a second, and `cifs_getattr` with `DONT_SYNC` returns
/// these without a request. `smb2_query_eas` names no attribute but `user.*`.
const CIFS: Policy = Policy {
    name: "SMB",
    far: Far::Yes,
    interleave: false,
    lists: Lists::OfUsers,
    most: 128,
    lazy: true,
    is_a_tree: false,
    why: "a server answers, to no more than its credits; reading brings attributes along",
};

/// Measured on kernel 6.12 with diod (`cargo xtask vm 6.12 9p`): the requests of GNU ls. Source: fs/9p/vfs_inode_dotl.c
/// (`v9fs_vfs_getattr_dotl` does not look at the flag); QEMU's server works with 64 coroutine threads.
const V9FS: Policy = Policy {
    name: "9p",
    far: Far::Yes,
    interleave: false,
    lists: Lists::WithMetadata,
    most: 64,
    lazy: false,
    is_a_tree: false,
    why: "the host answers, with a limited number of threads",
};

/// Source: fs/afs/inode.c (`afs_getattr` honours the flag; callbacks keep attributes valid).
const AFS: Policy = Policy {
    name: "AFS",
    far: Far::Yes,
    interleave: false,
    lists: Lists::WithMetadata,
    most: 64,
    lazy: true,
    is_a_tree: false,
    why: "a server answers once and promises to call back on change",
};

/// Other network file systems.
const NETWORK: Policy = Policy {
    name: "a network's",
    far: Far::Yes,
    interleave: false,
    lists: Lists::WithMetadata,
    most: 128,
    lazy: false,
    is_a_tree: false,
    why: "servers answer",
};

/// Disks shared by machines: local until another machine holds the lock.
const SHARED: Policy =
    Policy { name: "shared disk", why: "a lock per inode, granted by other machines", ..LOCAL };

/// The table. Local file systems share a policy, each under its own name.
#[rustfmt::skip]
const TABLE: [(FsType, Policy); 37] = [
    (FsType::EXT,      Policy { name: "ext4", ..TREE }),
    (FsType::XFS,      Policy { name: "XFS", ..TREE }),
    (FsType::BTRFS,    Policy { name: "btrfs", ..TREE }),
    (FsType::BCACHEFS, Policy { name: "bcachefs", ..TREE }),
    (FsType::F2FS,     Policy { name: "F2FS", ..TREE }),
    (FsType::ZFS,      Policy { name: "ZFS", ..LOCAL }),
    (FsType::TMPFS,    Policy { name: "tmpfs", ..TREE }),
    (FsType::RAMFS,    Policy { name: "ramfs", ..TREE }),
    (FsType::OVERLAY,  Policy { name: "overlay", ..LOCAL }),
    (FsType::SQUASHFS, Policy { name: "SquashFS", ..LOCAL }),
    (FsType::EROFS,    Policy { name: "EROFS", ..LOCAL }),
    (FsType::ISOFS,    Policy { name: "ISO 9660", ..LOCAL }),
    (FsType::MSDOS,    Policy { name: "FAT", ..LOCAL }),
    (FsType::EXFAT,    Policy { name: "exFAT", ..LOCAL }),
    (FsType::NTFS3,    Policy { name: "NTFS", ..LOCAL }),
    (FsType::PROC,     Policy { name: "proc", ..LOCAL }),
    (FsType::SYSFS,    Policy { name: "sysfs", ..LOCAL }),
    (FsType::CGROUP2,  Policy { name: "cgroup2", ..LOCAL }),
    (FsType::DEVPTS,   Policy { name: "devpts", ..LOCAL }),
    (FsType::AUTOFS,   Policy { name: "autofs", ..LOCAL }),
    (FsType::OCFS2,    Policy { name: "OCFS2", ..SHARED }),
    (FsType::GFS2,     Policy { name: "GFS2", ..SHARED }),
    (FsType::NFS,      NFS),
    (FsType::FUSE,     FUSE),
    (FsType::CEPH,     CEPH),
    (FsType::LUSTRE,   LUSTRE),
    (FsType::GPFS,     GPFS),
    (FsType::CIFS,     CIFS),
    (FsType::SMB2,     CIFS),
    (FsType::SMB,      CIFS),
    (FsType::V9FS,     V9FS),
    (FsType::AFS,      AFS),
    (FsType::OPENAFS,  AFS),
    (FsType::BEEGFS,   Policy { name: "BeeGFS", ..NETWORK }),
    (FsType::PANFS,    Policy { name: "PanFS", ..NETWORK }),
    (FsType::CODA,     Policy { name: "Coda", ..NETWORK }),
    (FsType(0xbacb_acbc), Policy { name: "VMware's shared folders", ..NETWORK }),
];

impl Policy {
    /// The policy for a file system; `None` has that of an unknown one.
    #[must_use]
    pub fn of(fs: Option<FsType>) -> &'static Policy {
        const { &TABLE }.iter().find(|row| Some(row.0) == fs).map_or(const { &UNKNOWN }, |row| &row.1)
    }

    /// The number of threads where answers come from memory: one for each core, but no more than the policy allows in flight.
    #[must_use]
    pub fn cores(&self, cores: usize) -> usize {
        if self.most < QUEUE { cores.min(self.most) } else { cores }
    }

    /// Whether answers come from a server.
    #[must_use]
    pub fn is_far(&self) -> bool {
        self.far != Far::No
    }

    /// Whether one fast look shows that answers come from memory. Elsewhere the last look decides.
    #[must_use]
    pub fn believes_a_fast_look(&self) -> bool {
        self.far == Far::WithNames
    }

    /// Numbers of entries, stat'ed on one thread, after which the clock is read. Each look covers the entries since the previous
    /// one.
    #[must_use]
    pub fn looks(&self) -> &'static [usize] {
        match self.far {
            Far::No | Far::AskedAhead => &[4, 28],
            Far::Yes => &[1, 3, 28],
            Far::WithNames => &[4, 4, 4],
        }
    }

    /// Whether to keep an entry open for further requests, if answers take long. On a disk a second lookup costs nothing.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.far != Far::No || *self == UNKNOWN
    }

    /// Whether the first look that sees a round trip ends the probe. A client that prefetches needs time to begin first.
    #[must_use]
    pub fn believes_the_first_look(&self) -> bool {
        !matches!(self.far, Far::AskedAhead | Far::WithNames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_system_has_one_row() {
        for (at, (fs, policy)) in TABLE.iter().enumerate() {
            assert_eq!(TABLE.iter().position(|row| row.0 == *fs), Some(at), "{fs:?}");
            assert!(!policy.name.is_empty() && !policy.why.is_empty() && policy.most > 0, "{fs:?}");
        }
    }

    #[test]
    fn what_nobody_knows_is_judged_by_the_clock() {
        for fs in [None, Some(FsType(0x1234_5678))] {
            let policy = Policy::of(fs);
            assert_eq!((policy.name, policy.far, policy.most), ("unknown", Far::No, ANY));
        }
    }

    #[test]
    fn looks_come_before_the_number_of_entries_that_has_any() {
        for (_, policy) in &TABLE {
            let looked: usize = policy.looks().iter().sum();
            assert!(looked <= super::super::choose::PROBE_FROM / 2);
        }
    }
}
