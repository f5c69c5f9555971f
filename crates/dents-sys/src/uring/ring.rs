//! The ring: what stays from one run to the next.

use super::files::{File, State};
use super::queue::Queue;
use crate::file::{FIRST_READ, read_on};
use crate::stat::Statx;
use crate::{Errno, OwnedFd, Result};
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use rustix::fd::IntoRawFd;

/// The most requests one call can submit (`IORING_MAX_ENTRIES`).
pub const MAX_ENTRIES: u32 = 32_768;

/// Buffers made at a time, 16 KiB: a small directory needs no more.
pub(super) const CHUNK: usize = 64;

/// A ring with room for a fixed number of requests. It belongs to the thread that made it.
pub struct Ring {
    pub(super) queue: Queue,
    /// The kernel writes to these. A buffer may be read only while no `statx` in flight uses it. They are allocated a
    /// chunk at a time, when needed, and never moved.
    pub(super) buffers: Vec<Vec<UnsafeCell<Statx>>>,
    /// Buffers that no request uses. Last in, first out, so that those in use stay in the cache.
    pub(super) free: Vec<u32>,
    pub(super) closing: Closing,
    pub(super) files: Vec<File>,
    /// Whether answers are wanted soon rather than all at once.
    pub(super) soon: bool,
}

impl Ring {
    /// A ring for `entries` requests, clamped to 1 … [`MAX_ENTRIES`] and rounded up to a power of two. Each takes
    /// about 100 bytes of the kernel's memory from the start. While it is in flight, a `statx` takes 256 bytes here,
    /// and each request 4 KiB in the kernel for its path.
    ///
    /// Costs three system calls: `io_uring_setup`, two `mmap`; four before Linux 6.1, five before 6.0. Dropping it
    /// costs three. It does not check which operations the kernel has: the first answer shows that. On an error the
    /// caller works without a ring: `ENOSYS` if there is no io_uring or one from before 5.4, `EPERM` if it is
    /// forbidden (seccomp, `kernel.io_uring_disabled`), `ENOMEM`, `EMFILE`.
    pub fn new(entries: u32) -> Result<Ring> {
        if cfg!(feature = "libc") {
            // No library before libc would see the requests.
            return Err(Errno::NOSYS);
        }
        let queue = Queue::new(entries.clamp(1, MAX_ENTRIES))?;
        Ok(Ring {
            queue,
            buffers: Vec::new(),
            free: Vec::new(),
            closing: Closing::default(),
            files: Vec::new(),
            soon: false,
        })
    }

    /// How many requests one `io_uring_enter` submits at most. A quarter more can be in flight.
    pub fn entries(&self) -> u32 {
        self.queue.entries()
    }

    /// From now on [`run`](Self::run) waits for an eighth of the requests in flight at a time, instead of all, so
    /// that the program can show progress. For a thousand requests that takes some sixty calls instead of one.
    pub fn want_answers_soon(&mut self, soon: bool) {
        self.soon = soon;
    }

    /// Sets how many threads of the kernel may work on this thread's requests at once: one `io_uring_register`, since
    /// Linux 5.15 (`EINVAL` before). 0 changes nothing. The default is the smaller of the entries and four times the
    /// cores.
    pub fn set_max_workers(&mut self, bounded: u32) -> Result<()> {
        self.queue.set_max_workers(bounded)
    }

    /// Closes a descriptor together with the requests of the next [`run`](Self::run), without a call of its own, or
    /// at the latest when the ring is dropped. If many descriptors wait already, it closes this one at once: one
    /// `close`.
    pub fn close_later(&mut self, fd: OwnedFd) {
        self.closing.add(fd);
    }

    /// Closes the waiting descriptors now, with one `close` each, for a process that has no descriptors left. Returns
    /// whether there were any.
    pub fn close_now(&mut self) -> bool {
        self.closing.give_up()
    }

    /// Reads a file from its beginning together with the requests of the next [`run`](Self::run). That costs at most
    /// one `io_uring_enter` more, for any number of files. A file of more than `most` bytes is `EFBIG`. The
    /// descriptors are closed as by [`close_later`](Self::close_later).
    pub fn read_later(&mut self, path: CString, most: usize) {
        self.files.push(File { path, most, state: State::Waiting });
    }

    /// Returns the files that the runs since have read, with the results that
    /// [`read_to_end`](crate::file::read_to_end) would return. Reads bytes beyond 4 KiB by plain `read`s. `EINVAL`
    /// may mean that the kernel does not have the operation, `ECANCELED` that a run failed or that there was none.
    pub fn take_files(&mut self) -> Vec<(CString, Result<Vec<u8>>)> {
        let files = core::mem::take(&mut self.files);
        files.into_iter().map(|File { path, most, state }| (path, self.contents(state, most))).collect()
    }

    fn contents(&mut self, state: State, most: usize) -> Result<Vec<u8>> {
        let (fd, bytes) = match state {
            State::Read(fd, bytes) => (fd, bytes),
            State::Failed(errno) => return Err(errno),
            _ => return Err(Errno::CANCELED),
        };
        let whole = if bytes.len() < FIRST_READ { Ok(bytes) } else { read_on(&fd, bytes, most) };
        self.close_later(fd);
        whole
    }
}

/// Descriptors to be closed by the next run.
#[derive(Default)]
pub(super) struct Closing {
    pub(super) fds: Vec<OwnedFd>,
    /// The run includes this many of them, counted from the first.
    pub(super) pushed: usize,
    /// One bit for each descriptor that the kernel has closed.
    closed: u32,
}

impl Closing {
    /// More than a listing has at a time. The limit is for a program that makes no further run.
    const MOST: usize = 8;

    /// Adds a descriptor, or closes it now.
    pub(super) fn add(&mut self, fd: OwnedFd) {
        if self.fds.len() < Self::MOST {
            self.fds.push(fd);
        }
    }

    /// Closes all: one `close` each. Returns whether there were any.
    pub(super) fn give_up(&mut self) -> bool {
        self.fds.drain(..).count() > 0
    }

    /// The descriptor is closed, whatever close(2) returns. Only `EINVAL` and `ECANCELED` come from the ring itself.
    pub(super) fn landed(&mut self, index: u32, result: Result<u32>) {
        let tried = !matches!(result, Err(Errno::INVAL | Errno::CANCELED));
        self.closed |= u32::from(tried) << index;
    }

    /// Of the descriptors in the run, forgets those that were closed, and closes the others: one `close` each.
    pub(super) fn settle(&mut self) {
        let closed = core::mem::take(&mut self.closed);
        let pushed = core::mem::take(&mut self.pushed);
        for (index, fd) in self.fds.drain(..pushed).enumerate() {
            if closed & 1 << index != 0 {
                let _ = fd.into_raw_fd();
            }
        }
    }
}

impl core::fmt::Debug for Ring {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Ring").field("entries", &self.entries()).finish_non_exhaustive()
    }
}
