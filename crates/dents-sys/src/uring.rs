//! Many requests at once through io_uring: while one waits for a server, others are in flight, and all of them together cost
//! one system call.
//!
//! The kernel hands each `statx` and `getxattr` to a worker thread of its own, so a warm local file costs more here than
//! a plain call (measured in benches/ring.rs); a file server's latency is paid once per load instead of once per file.
//!
//! Memory: a request in flight is written to by the kernel. Its buffer belongs to the [`Ring`], its paths and its
//! directory are borrowed for the whole of [`Ring::run`], and that function returns or unwinds only when the
//! kernel holds no request any more (`run::Run`). So safe code cannot get at half-written or freed memory.
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

/// One question for [`Ring::run`].
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// As [`statx`](crate::stat::statx). Since Linux 5.6.
    Statx {
        /// The directory that `path` is relative to.
        dir: BorrowedFd<'a>,
        /// The name asked about.
        path: &'a CStr,
        /// How to look it up.
        flags: Flags,
        /// The fields to ask for.
        mask: Mask,
    },
    /// How long the value of an extended attribute is. Since Linux 5.19.
    Getxattr {
        /// Relative to the current directory; a symbolic link is followed. The operation knows neither a directory's
        /// descriptor nor flags (io_uring/xattr.c).
        path: &'a CStr,
        /// The attribute's name in full, as `security.selinux`.
        name: &'a CStr,
    },
}

/// The kernel's answer to a [`Request`]: `EINVAL` where it does not know the operation.
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
    /// Where the kernel writes; one may be looked at while no `statx` in flight has it. Made a chunk at a time, as they
    /// are needed, and never moved.
    buffers: Vec<Vec<UnsafeCell<Statx>>>,
    /// Buffers that no request has. Last in, first out: those in use stay in the cache.
    free: Vec<u32>,
    closing: Closing,
    files: Vec<File>,
    /// Whether answers are wanted soon rather than all at once.
    soon: bool,
}

impl Ring {
    /// A ring for `entries` requests, 1 to [`MAX_ENTRIES`] (others are moved there), rounded up to a power of two. Each
    /// takes about 100 bytes from the kernel at once; while in flight 256 bytes here if it is a `statx`, and 4 KiB in the
    /// kernel for its path.
    ///
    /// Costs three system calls: `io_uring_setup`, two `mmap`; four before Linux 6.1, five before 6.0. Dropping it costs three. Whether the
    /// kernel knows an operation is not asked for: its first answer shows it. Errors mean: do without. `ENOSYS` no
    /// io_uring, or one of before 5.4, `EPERM` forbidden (seccomp, `kernel.io_uring_disabled`), `ENOMEM`, `EMFILE`.
    pub fn new(entries: u32) -> Result<Ring> {
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

    /// From now on [`run`](Self::run) hands answers over an eighth of those in flight at a time, down to the last, instead
    /// of waiting for all, so that progress can be shown. Of a thousand in some sixty calls instead of one.
    pub fn want_answers_soon(&mut self, soon: bool) {
        self.soon = soon;
    }

    /// How many of the kernel's threads may work on this thread's requests at once: one `io_uring_register`, since
    /// Linux 5.15 (`EINVAL` before). 0 changes nothing. Unset it is the smaller of the entries and four times the cores.
    pub fn set_max_workers(&mut self, bounded: u32) -> Result<()> {
        self.queue.set_max_workers(bounded)
    }

    /// Drives requests from `next`, each with a number of the caller's, through the ring, calls `done` with each one's
    /// number and answer, in the order of the answers, and returns when `next` has no more and all are answered. A
    /// `next` that had none is asked again once answers have come, since these may have led to more.
    ///
    /// One `io_uring_enter` for [`entries`](Self::entries) requests: it submits them and waits. If there are no more it
    /// waits for all; else it leaves the last quarter in flight, so that the kernel works on them while `done` and `next`
    /// run (30,000 requests: 0.76 of the time). With [`want_answers_soon`](Self::want_answers_soon) it waits for fewer.
    ///
    /// On an error the ring as such has failed: `ECANCELED` the kernel can start no worker (RLIMIT_NPROC, a cgroup's
    /// pids.max; it tries for 50 ms), `EAGAIN` and `ENOMEM` no memory even for one request. Numbers that `done` has
    /// not seen by then it will not see; they are the caller's to ask otherwise.
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
                // SAFETY: what the request borrows it borrows for 'a, which is longer than this function runs, and
                // the run does not outlive it.
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

    /// Closes a descriptor along with the requests of the next [`run`](Self::run), for no call of its own; at the
    /// latest when the ring is dropped. If many wait already, this one is closed at once: one `close`.
    pub fn close_later(&mut self, fd: OwnedFd) {
        self.closing.add(fd);
    }

    /// Closes what waits for it now, one `close` each, where the process is out of descriptors. Returns whether there was any.
    pub fn close_now(&mut self) -> bool {
        self.closing.give_up()
    }
}

impl core::fmt::Debug for Ring {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Ring").field("entries", &self.entries()).finish_non_exhaustive()
    }
}
