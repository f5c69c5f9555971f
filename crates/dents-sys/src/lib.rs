//! Thin, typed calls into the Linux kernel for listing directories.
//!
//! Everything a listing asks of the kernel is asked here, under the kernel's own names: one function is one
//! system call unless its documentation says otherwise. Nothing is cached, nothing is decided, nothing is
//! printed. Above this crate there is no `unsafe`; here each block says why it holds.
//!
//! | module | asks | system calls |
//! |---|---|---|
//! | [`dir`] | which names are in this directory? | `openat`, `openat2`, `getdents64`, `lseek` |
//! | [`stat`] | what is known of this file? | `statx`, or `newfstatat` |
//! | [`uring`] | the same for many files at once, by the kernel's own threads | `io_uring_*` |
//! | [`link`] | where does this link point? | `readlinkat` |
//! | [`xattr`] | which attributes has it? what do they hold? | `listxattrat`, `getxattrat` |
//! | [`statfs`] | what kind of file system is this? | `fstatfs` |
//! | [`host`] | which machine is this, who are we, and where? | `uname`, `geteuid`, `getcwd` |
//! | [`tty`] | is this a terminal, and how wide? | `ioctl` |
//! | [`sched`] | how many threads are worth starting, how many files may be open? | `sched_getaffinity`, cgroup files, `prlimit64` |
//! | [`signal`] | has someone sent one? | `rt_sigprocmask`, `rt_sigpending` |
//! | [`futex`] | is there anything to do again? | `futex` |
//! | [`clock`] | what time is it? | `clock_gettime` |
//! | [`file`](mod@file) | what does this small file say? | `openat`, `read`, `write`, `close` |
//! | [`cwd`] | what is here, where this thread alone has gone? | `unshare`, `fchdir` |
//! | [`cache`] | (tells the processor what will be read) | none |
//!
//! Needs no call that is younger than Linux 3.17; each newer one falls back on older ones (`PLATFORM.md`, "Kernels").
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

/// What every call here answers: a value or the kernel's `errno`.
pub type Result<T> = core::result::Result<T, Errno>;

/// `AT_FDCWD`: relative paths start at the current directory.
pub const CWD: BorrowedFd<'static> = rustix::fs::CWD;
