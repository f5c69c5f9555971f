//! The table of file systems, row by row: the name that `--explain` shows, and the policy.

use dents_engine::limit::policy::{Far, Lists, Policy};
use dents_sys::statfs::FsType;

const ANY: usize = usize::MAX;
/// A disk's queue.
const QUEUE: usize = 32;

/// Name, where answers come from, most in flight, whether reading and requests alternate, whether `--lazy` saves requests.
type Row = (&'static str, Far, usize, bool, bool);

const fn local(name: &'static str) -> Row {
    (name, Far::No, QUEUE, false, false)
}

const fn network(name: &'static str) -> Row {
    (name, Far::Yes, 128, false, false)
}

#[test]
fn each_file_system_has_its_policy() {
    let rows: &[(FsType, Row)] = &[
        (FsType::EXT, local("ext4")),
        (FsType::XFS, local("XFS")),
        (FsType::BTRFS, local("btrfs")),
        (FsType::BCACHEFS, local("bcachefs")),
        (FsType::F2FS, local("F2FS")),
        (FsType::ZFS, local("ZFS")),
        (FsType::TMPFS, local("tmpfs")),
        (FsType::RAMFS, local("ramfs")),
        (FsType::OVERLAY, local("overlay")),
        (FsType::SQUASHFS, local("SquashFS")),
        (FsType::EROFS, local("EROFS")),
        (FsType::ISOFS, local("ISO 9660")),
        (FsType::MSDOS, local("FAT")),
        (FsType::EXFAT, local("exFAT")),
        (FsType::NTFS3, local("NTFS")),
        (FsType::PROC, local("proc")),
        (FsType::SYSFS, local("sysfs")),
        (FsType::CGROUP2, local("cgroup2")),
        (FsType::DEVPTS, local("devpts")),
        (FsType::AUTOFS, local("autofs")),
        (FsType::OCFS2, local("OCFS2")),
        (FsType::GFS2, local("GFS2")),
        (FsType::NFS, ("NFS", Far::WithNames, ANY, true, true)),
        (FsType::FUSE, ("FUSE", Far::Yes, ANY, true, true)),
        (FsType::CEPH, ("CephFS", Far::Yes, ANY, false, true)),
        (FsType::LUSTRE, ("Lustre", Far::AskedAhead, 64, false, true)),
        (FsType::GPFS, ("GPFS", Far::Yes, 64, false, false)),
        (FsType::CIFS, ("SMB", Far::Yes, 128, false, true)),
        (FsType::SMB2, ("SMB", Far::Yes, 128, false, true)),
        (FsType::SMB, ("SMB", Far::Yes, 128, false, true)),
        (FsType::V9FS, ("9p", Far::Yes, 64, false, false)),
        (FsType::AFS, ("AFS", Far::Yes, 64, false, true)),
        (FsType::OPENAFS, ("AFS", Far::Yes, 64, false, true)),
        (FsType::BEEGFS, network("BeeGFS")),
        (FsType::PANFS, network("PanFS")),
        (FsType::CODA, network("Coda")),
        (FsType(0xbacb_acbc), network("VMware's shared folders")),
    ];
    for (fs, expected) in rows {
        let policy = Policy::of(Some(*fs));
        let found = (policy.name, policy.far, policy.most, policy.interleave, policy.lazy);
        assert_eq!(found, *expected, "{fs:?}");
    }
}

#[test]
fn each_policy_says_why() {
    let why = |fs| Policy::of(fs).why;
    assert!(why(None).contains("the clock decides"));
    assert!(why(Some(FsType::EXT)).contains("disk"));
    assert!(why(Some(FsType::GFS2)).contains("lock") && why(Some(FsType::OCFS2)).contains("lock"));
    assert!(why(Some(FsType::CODA)).contains("servers"));
}

#[test]
fn what_follows_from_a_policy() {
    let of = |fs| Policy::of(Some(fs));
    let (ext4, nfs, lustre, unknown) =
        (of(FsType::EXT), of(FsType::NFS), of(FsType::LUSTRE), Policy::of(None));
    assert_eq!([ext4, nfs, lustre, unknown].map(Policy::is_far), [false, true, true, false]);
    assert_eq!([ext4, nfs, lustre, unknown].map(Policy::holds), [false, true, true, true]);
    assert_eq!([ext4, nfs, lustre, unknown].map(Policy::believes_the_first_look), [true, false, false, true]);
    assert_eq!([ext4, nfs, lustre].map(|policy| policy.looks().len()), [2, 3, 2]);
    assert_eq!([ext4, nfs, lustre].map(|policy| policy.looks().iter().sum::<usize>()), [32, 12, 32]);
    assert_eq!([ext4, nfs, lustre].map(Policy::believes_a_fast_look), [false, true, false]);
    let lists = [FsType::NFS, FsType::CIFS, FsType::EXT, FsType::FUSE].map(|fs| of(fs).lists);
    assert_eq!(lists, [Lists::Apart, Lists::OfUsers, Lists::WithMetadata, Lists::WithMetadata]);
    let trees = [
        FsType::EXT,
        FsType::XFS,
        FsType::BTRFS,
        FsType::BCACHEFS,
        FsType::F2FS,
        FsType::TMPFS,
        FsType::RAMFS,
    ];
    assert!(trees.iter().all(|fs| of(*fs).is_a_tree));
    let others = [FsType::OVERLAY, FsType::NFS, FsType::FUSE, FsType::PROC, FsType::OCFS2, FsType::ZFS];
    assert!(others.iter().all(|fs| !of(*fs).is_a_tree) && !unknown.is_a_tree);
    let few = Policy { most: 4, ..*nfs };
    assert_eq!((few.cores(16), few.cores(2), ext4.cores(64), nfs.cores(64)), (4, 2, 64, 64));
}
