//! Thin, typed calls into the Linux kernel for listing directories.
//!
//! All system calls of a listing are made here, under the kernel's own names: one function is one system call unless
//! its documentation says otherwise. This crate caches nothing, decides nothing and prints nothing. Crates above it
//! have no `unsafe`; here each block says why it is sound.
//!
//! | module | what it returns or does | system calls |
//! |---|---|---|
//! | [`dir`] | the names in a directory, and their changes | `openat`, `openat2`, `getdents64`, `lseek`, `mkdirat`, `renameat`, `linkat`, `unlinkat` |
//! | [`stat`] | the metadata of a file | `statx`, or `newfstatat` |
//! | [`bulk`] | the metadata of many inodes of XFS or btrfs | `ioctl`, `syncfs` |
//! | [`uring`] | the metadata of many files at once, by threads of the kernel | `io_uring_*` |
//! | [`link`] | the target of a symbolic link | `readlinkat` |
//! | [`xattr`] | extended attributes and their values | `listxattrat`, `getxattrat` |
//! | [`fileattr`] | the project of a file | `file_getattr`, or `ioctl` |
//! | [`statfs`] | the type of a file system | `fstatfs` |
//! | [`host`] | the names of host and working directory, the user | `uname`, `geteuid`, `getcwd` |
//! | [`tty`] | whether a file is a terminal, and how wide | `ioctl` |
//! | [`sched`] | how many threads pay off, how many files may be open | `sched_getaffinity`, cgroup files, `prlimit64` |
//! | [`signal`] | pending and blocked signals | `rt_sigprocmask`, `rt_sigpending` |
//! | [`fatal`] | gives a terminal back when a signal ends the program | `rt_sigaction`, `ioctl`, `write`, `exit_group` |
//! | [`event`] | wakes a thread that polls descriptors | `eventfd2`, `read`, `write` |
//! | [`futex`] | waits until another thread changes a word | `futex` |
//! | [`memory`] | ends a program that has no memory left | `write`, `exit_group` |
//! | [`clock`] | the time | `clock_gettime` |
//! | [`file`](mod@file) | the contents of a small file | `openat`, `read`, `write`, `close` |
//! | [`cwd`] | a working directory for one thread | `unshare`, `fchdir` |
//! | [`cache`] | prefetches a cache line | none |
//!
//! No call newer than Linux 3.17 is required: each newer one has a replacement (`PLATFORM.md`, "Kernels").
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod bulk;
pub mod cache;
pub mod clock;
pub mod cwd;
pub mod dir;
pub mod event;
pub mod extent;
pub mod fatal;
pub mod file;
pub mod fileattr;
pub mod futex;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod host;
pub mod link;
pub mod memory;
pub mod sched;
pub mod signal;
pub mod stat;
pub mod statfs;
pub mod stdio;
mod syscall;
pub mod tty;
pub mod uring;
pub mod xattr;

pub use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
pub use rustix::io::Errno;
pub use stat::Timestamp;

/// The result of every call here: a value or the kernel's `errno`.
pub type Result<T> = core::result::Result<T, Errno>;

/// `AT_FDCWD`: relative paths start at the current directory.
pub const CWD: BorrowedFd<'static> = rustix::fs::CWD;
