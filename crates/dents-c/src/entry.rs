//! The entry of a walk as C has it, and the facts that a walk can declare.

use dents::{FileType, Needs, View};
use std::ffi::{c_char, c_int};
use std::ptr::null;
use std::time::{Duration, SystemTime};

/// The inode number.
pub const DENTS_INO: u32 = 1;
/// Type and permission bits, as in st_mode.
pub const DENTS_MODE: u32 = 2;
/// The number of hard links.
pub const DENTS_NLINK: u32 = 4;
/// The user id of the owner.
pub const DENTS_UID: u32 = 8;
/// The group id.
pub const DENTS_GID: u32 = 16;
/// The size in bytes.
pub const DENTS_SIZE: u32 = 32;
/// The allocated space in bytes.
pub const DENTS_ALLOCATED: u32 = 64;
/// The time of the last access.
pub const DENTS_ATIME: u32 = 128;
/// The time of creation, which some file systems do not keep.
pub const DENTS_BTIME: u32 = 256;
/// The time of the last change of the inode.
pub const DENTS_CTIME: u32 = 512;
/// The time of the last change of the contents.
pub const DENTS_MTIME: u32 = 1024;
/// The target of a symbolic link: one readlinkat for each symbolic link, and no statx.
pub const DENTS_LINK: u32 = 2048;

/// Each fact with its need.
pub(crate) const FACTS: [(u32, Needs); 12] = [
    (DENTS_INO, Needs::INODE),
    (DENTS_MODE, Needs::MODE),
    (DENTS_NLINK, Needs::NLINK),
    (DENTS_UID, Needs::UID),
    (DENTS_GID, Needs::GID),
    (DENTS_SIZE, Needs::SIZE),
    (DENTS_ALLOCATED, Needs::BLOCKS),
    (DENTS_ATIME, Needs::ATIME),
    (DENTS_BTIME, Needs::BTIME),
    (DENTS_CTIME, Needs::CTIME),
    (DENTS_MTIME, Needs::MTIME),
    (DENTS_LINK, Needs::LINK),
];

type IsType = fn(FileType) -> bool;

/// Each type as d_type of readdir(3) has it, the most frequent ones first.
const TYPES: [(IsType, u8); 7] = [
    (FileType::is_file, 8),
    (FileType::is_dir, 4),
    (FileType::is_symlink, 10),
    (FileType::is_socket, 12),
    (FileType::is_fifo, 1),
    (FileType::is_char_device, 2),
    (FileType::is_block_device, 6),
];

/// A time: seconds since 1970-01-01 00:00:00 UTC, negative before it, and 0 to 999,999,999 nanoseconds after that second.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct dents_time {
    /// Seconds.
    pub sec: i64,
    /// Nanoseconds.
    pub nsec: u32,
}

/// An entry of a walk, or the error of a file or directory. The walk owns it, with its strings: they are valid until the next call of
/// dents_walk_next or dents_walk_close with the same walk. Facts that were not requested, or are not known, are 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct dents_entry {
    /// The path, byte for byte. It begins with the root as given.
    pub path: *const c_char,
    /// The name: the last component of the path; the whole path if it has none ("/", "..").
    pub name: *const c_char,
    /// The target of a symbolic link; NULL for other types, or if it is not known.
    pub link: *const c_char,
    /// 0 for a root, 1 for the entries of a root.
    pub depth: u32,
    /// The error number of the call that failed for this path; 0 for an entry without error. Then only path, name and depth are known.
    /// A directory that cannot be opened or read is an entry first, and an error later.
    pub errnum: c_int,
    /// The facts that are known, of those requested: without DENTS_BTIME if the file system does not keep it.
    pub facts: u32,
    /// Type and permission bits.
    pub mode: u32,
    /// The user id of the owner.
    pub uid: u32,
    /// The group id.
    pub gid: u32,
    /// The inode number.
    pub ino: u64,
    /// The number of hard links.
    pub nlink: u64,
    /// The size in bytes.
    pub size: u64,
    /// The allocated space in bytes.
    pub allocated: u64,
    /// The time of the last access.
    pub atime: dents_time,
    /// The time of creation.
    pub btime: dents_time,
    /// The time of the last change of the inode.
    pub ctime: dents_time,
    /// The time of the last change of the contents.
    pub mtime: dents_time,
    /// The type, as d_type of readdir(3): DT_REG, DT_DIR, DT_LNK and others of dirent.h; DT_UNKNOWN (0) for an error.
    pub r#type: u8,
}

/// The facts that were declared.
pub(crate) fn facts_of<'b>(view: &View<'b>, facts: u32) -> dents_entry {
    fn only<T: Default>(is_declared: bool, read: impl FnOnce() -> T) -> T {
        if is_declared { read() } else { T::default() }
    }
    let has = |fact| facts & fact != 0;
    let mut entry = dents_entry {
        depth: u32::try_from(view.depth()).unwrap_or(u32::MAX),
        r#type: d_type(view.file_type()),
        facts,
        mode: only(has(DENTS_MODE), || view.mode()),
        uid: only(has(DENTS_UID), || view.uid()),
        gid: only(has(DENTS_GID), || view.gid()),
        ino: only(has(DENTS_INO), || view.ino()),
        nlink: only(has(DENTS_NLINK), || view.nlink()),
        size: only(has(DENTS_SIZE), || view.size()),
        allocated: only(has(DENTS_ALLOCATED), || view.allocated()),
        ..dents_entry::default()
    };
    let mut time = |fact, read: fn(&View<'b>) -> Option<SystemTime>| {
        let time = only(has(fact), || read(view)).map(time_of);
        if time.is_none() {
            entry.facts &= !fact;
        }
        time.unwrap_or_default()
    };
    let times = [
        time(DENTS_ATIME, View::accessed),
        time(DENTS_BTIME, View::created),
        time(DENTS_CTIME, View::changed),
        time(DENTS_MTIME, View::modified),
    ];
    [entry.atime, entry.btime, entry.ctime, entry.mtime] = times;
    entry
}

fn d_type(file_type: FileType) -> u8 {
    TYPES.iter().find(|(is, _)| is(file_type)).map_or(0, |(_, d_type)| *d_type)
}

/// The nanoseconds count forward from the second, also before 1970.
fn time_of(time: SystemTime) -> dents_time {
    let seconds = |whole: Duration| i64::try_from(whole.as_secs()).unwrap_or(i64::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => dents_time { sec: seconds(after), nsec: after.subsec_nanos() },
        Err(error) => {
            let before = error.duration();
            match before.subsec_nanos() {
                0 => dents_time { sec: -seconds(before), nsec: 0 },
                nanos => dents_time { sec: -1 - seconds(before), nsec: 1_000_000_000 - nanos },
            }
        }
    }
}

impl Default for dents_entry {
    fn default() -> dents_entry {
        let time = dents_time::default();
        dents_entry {
            path: null(),
            name: null(),
            link: null(),
            depth: 0,
            errnum: 0,
            facts: 0,
            mode: 0,
            uid: 0,
            gid: 0,
            ino: 0,
            nlink: 0,
            size: 0,
            allocated: 0,
            atime: time,
            btime: time,
            ctime: time,
            mtime: time,
            r#type: 0,
        }
    }
}
