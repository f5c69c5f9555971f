//! Many requests at once through io_uring: while one waits for a server, others are in flight, and all of them
//! together cost one system call.
//!
//! The kernel hands each `statx` and `getxattr` to a worker thread of its own, so a warm local file costs more here
//! than with a plain call (measured in benches/ring.rs). On a file server, many requests wait for one round trip
//! together.
//!
//! Memory: while a request is in flight, the kernel writes to its buffer. The buffer belongs to the [`Ring`]. Paths
//! and directory are borrowed for the whole of [`Ring::run`], which returns or unwinds only when the kernel has no
//! request any more (`run::Run`). So safe code never sees half-written or freed memory.
mod files;
mod queue;
mod run;

use crate::stat::{Flags, Mask, Statx};
use crate::{BorrowedFd, Errno, OwnedFd, Result};
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ffi::CStr;
use files::File;
use queue::Queue;
use run::{Closing, Landed, Run};
use rustix::io_uring as io;

/// One request for [`Ring::run`].
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// As [`statx`](crate::stat::statx). Since Linux 5.6.
    Statx {
        /// The directory that `path` is relative to.
        dir: BorrowedFd<'a>,
        /// The path of the file.
        path: &'a CStr,
        /// How to look it up.
        flags: Flags,
        /// The fields to request.
        mask: Mask,
    },
    /// The length of an extended attribute's value. Since Linux 5.19.
    Getxattr {
        /// Relative to the current directory; a symbolic link is followed. The operation takes neither a directory's
        /// descriptor nor flags (io_uring/xattr.c).
        path: &'a CStr,
        /// The attribute's name in full, as `security.selinux`.
        name: &'a CStr,
    },
}

/// The kernel's answer to a [`Request`]: `EINVAL` if the kernel does not have the operation.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'r> {
    /// To a [`Request::Statx`].
    Statx(Result<&'r Statx>),
    /// To a [`Request::Getxattr`]: the length in bytes, `ENODATA` if there is no such attribute.
    Getxattr(Result<u32>),
}

/// The most requests one call can submit (`IORING_MAX_ENTRIES`).
pub const MAX_ENTRIES: u32 = 32_768;

/// Buffers made at a time, 16 KiB: a small directory needs no more.
const CHUNK: usize = 64;

/// A ring with room for a fixed number of requests. It belongs to the thread that made it.
pub struct Ring {
    queue: Queue,
    /// The kernel writes to these. A buffer may be read only while no `statx` in flight uses it. They are allocated a
    /// chunk at a time, when needed, and never moved.
    buffers: Vec<Vec<UnsafeCell<Statx>>>,
    /// Buffers that no request uses. Last in, first out, so that those in use stay in the cache.
    free: Vec<u32>,
    closing: Closing,
    files: Vec<File>,
    /// Whether answers are wanted soon rather than all at once.
    soon: bool,
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
            return Err(crate::Errno::NOSYS);
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

    /// Executes the requests that `next` returns, each with a number that the caller chooses. Calls `done` with the
    /// number and the answer of each, in the order of the answers. Returns when `next` has no more requests and all
    /// are answered. If `next` returned `None`, it is called again after answers have arrived, because these may have
    /// led to new requests.
    ///
    /// Makes one `io_uring_enter` for [`entries`](Self::entries) requests: it submits them and waits. If `next` has
    /// no more, it waits for all. Otherwise it leaves the last quarter in flight, so that the kernel works on these
    /// while `done` and `next` run (30,000 requests: 0.76 of the time). With
    /// [`want_answers_soon`](Self::want_answers_soon) it waits for fewer.
    ///
    /// An error means that the ring itself has failed: `ECANCELED` if the kernel can start no worker (RLIMIT_NPROC, a
    /// cgroup's pids.max; it tries for 50 ms), `EAGAIN` and `ENOMEM` if there is no memory for even one request.
    /// `done` is not called for the remaining requests; the caller must make them in another way.
    pub fn run<'a>(
        &mut self,
        mut next: impl FnMut() -> Option<(u32, Request<'a>)>,
        mut done: impl FnMut(u32, Answer<'_>),
    ) -> Result<()> {
        let mut run = Run::of(self);
        run.push_closing();
        loop {
            run.push_files();
            while run.has_room()
                && let Some((token, request)) = next()
            {
                // SAFETY: the request borrows for 'a, which is longer than this function runs, and the run does not
                // outlive this function.
                unsafe { run.ask(token, &request)? };
            }
            if run.is_empty() {
                return Ok(());
            }
            run.advance()?;
            while let Some(landed) = run.land() {
                let Landed { token, buffer, result, .. } = landed;
                if result == Err(Errno::CANCELED) {
                    return Err(Errno::CANCELED);
                }
                if landed.opcode == io::IoringOp::Statx {
                    done(token, Answer::Statx(result.map(|_| run.buffer(buffer))));
                    run.release(buffer);
                } else {
                    done(token, Answer::Getxattr(result));
                }
            }
        }
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
}

impl core::fmt::Debug for Ring {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Ring").field("entries", &self.entries()).finish_non_exhaustive()
    }
}
