//! Thin, typed calls into the Linux kernel for listing directories.
//!
//! All system calls of a listing are made here, under the kernel's own names: one function is one system call unless its
//! documentation says otherwise. This crate caches nothing, decides nothing and prints nothing. Crates above it have no
//! `unsafe`; here each block says why it is sound.
//!
//! | module | question | system calls |
//! |---|---|---|
//! | [`dir`] | which names are in this directory? | `openat`, `openat2`, `getdents64`, `lseek` |
//! | [`stat`] | what is known of this file? | `statx`, or `newfstatat` |
//! | [`uring`] | the same for many files at once, by the kernel's own threads | `io_uring_*` |
//! | [`link`] | where does this link point? | `readlinkat` |
//! | [`xattr`] | which attributes has it? what do they hold? | `listxattrat`, `getxattrat` |
//! | [`statfs`] | what kind of file system is this? | `fstatfs` |
//! | [`host`] | what are the host, the user and the working directory called? | `uname`, `geteuid`, `getcwd` |
//! | [`tty`] | is this a terminal, and how wide? | `ioctl` |
//! | [`sched`] | how many threads are worth starting, how many files may be open? | `sched_getaffinity`, cgroup files, `prlimit64` |
//! | [`signal`] | which signals are pending, which are blocked? | `rt_sigprocmask`, `rt_sigpending` |
//! | [`futex`] | has another thread changed this word? | `futex` |
//! | [`clock`] | what time is it? | `clock_gettime` |
//! | [`file`](mod@file) | what does this small file say? | `openat`, `read`, `write`, `close` |
//! | [`cwd`] | what is in a directory that only this thread has changed to? | `unshare`, `fchdir` |
//! | [`cache`] | (tells the processor what will be read) | none |
//!
//! No call newer than Linux 3.17 is needed; each newer one falls back on older ones (`PLATFORM.md`, "Kernels").
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod cache;
pub mod clock;
pub mod cwd;
pub mod dir;
pub mod file;
pub mod futex;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod host;
pub mod link;
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
