//! Many `statx` at once through io_uring: while one waits for a server, others are on their way.
//!
//! The kernel hands each `statx` to a worker thread of its own, so a warm local file costs more here than a plain
//! call (measured in benches/ring.rs; see [`Ring::new`]); a file server's latency is paid once per batch instead of
//! once per file.
//!
//! Memory: a request in flight is written to by the kernel. Its buffer belongs to the [`Ring`], its path and
//! directory are borrowed for the whole of [`Ring::statx`], and that function leaves, by whatever way, only when the
//! kernel holds nothing any more (`Flight`). So safe code cannot get at half-written or freed memory.
mod queue;

use crate::stat::{Flags, Mask, Statx};
use crate::{BorrowedFd, Errno, Result};
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ffi::CStr;
use queue::Queue;
use rustix::fd::AsRawFd;
use rustix::io_uring as io;

/// One question for [`Ring::statx`].
#[derive(Clone, Copy, Debug)]
pub struct StatxRequest<'a> {
    /// Comes back with the answer; any number.
    pub token: u64,
    /// What `path` is relative to.
    pub dir: BorrowedFd<'a>,
    /// The name asked about.
    pub path: &'a CStr,
    /// How to look it up.
    pub flags: Flags,
    /// What to ask for.
    pub mask: Mask,
}

/// The most requests a ring can have in flight (`IORING_MAX_ENTRIES`).
pub const MAX_SLOTS: u32 = 32_768;

/// Slots for a warm or local file system. Between 64 and 1,024 slots, and 2 and 8 workers, 10,000 warm files take the
/// same time within the noise, 1.1 to 3 times that of plain calls (benches/ring.rs, 2 cores); 256 slots need at most
/// 78 `io_uring_enter` for them.
pub const DEFAULT_SLOTS: u32 = 256;

/// A ring with a fixed number of slots, each owning its statx buffer. It belongs to the thread that made it.
pub struct Ring {
    queue: Queue,
    /// Where the kernel writes; slot n's buffer may be looked at while n is not in flight.
    buffers: Vec<UnsafeCell<Statx>>,
    /// Whose request each slot in flight carries.
    tokens: Vec<u64>,
    /// Slots not in flight. Last in, first out: the buffers in use stay in the cache.
    free: Vec<u32>,
}

impl Ring {
    /// A ring with `slots` slots, 1 to [`MAX_SLOTS`] (others are moved there), about 0.4 KiB each.
    ///
    /// [`DEFAULT_SLOTS`] do for local files. Where answers take long, limit the workers to the requests the server
    /// shall see at once and take twice as many slots: then none of them is ever without work.
    ///
    /// Costs four system calls: `io_uring_setup`, `io_uring_register` (is `IORING_OP_STATX` there?), two `mmap`; five
    /// before Linux 6.0. Dropping it costs three. Errors mean: do without. `ENOSYS` no io_uring or one without
    /// statx, `EPERM` forbidden (seccomp, `kernel.io_uring_disabled`), `ENOMEM`, `EOPNOTSUPP`, `EMFILE`.
    pub fn new(slots: u32) -> Result<Ring> {
        let slots = slots.clamp(1, MAX_SLOTS);
        let queue = Queue::new(slots, io::IoringOp::Statx)?;
        Ok(Ring {
            queue,
            buffers: filled(slots, |_| UnsafeCell::new(Statx::zeroed()))?,
            tokens: filled(slots, |_| 0)?,
            free: filled(slots, |slot| slot)?,
        })
    }

    /// How many requests can be in flight.
    pub fn slots(&self) -> u32 {
        self.buffers.len() as u32
    }

    /// How many of the kernel's threads may work on this thread's requests at once: one `io_uring_register`, since
    /// Linux 5.15 (`EINVAL` before). 0 changes nothing. Unset it is the smaller of the slots (rounded up to a power of
    /// two) and four times the cores.
    pub fn set_max_workers(&mut self, bounded: u32) -> Result<()> {
        self.queue.set_max_workers(bounded)
    }

    /// Drives requests from `next` through the ring, at most [`slots`](Self::slots) in flight, calls `done` with each
    /// one's token and answer, in the order of the answers, and returns when `next` has no more and all are answered.
    /// A `next` that had none is asked again once answers have come, since these may have led to more.
    ///
    /// One `io_uring_enter` per half the slots: it submits what is new and waits until half of what is in flight
    /// has come back, so that the workers have the other half to go on with meanwhile.
    ///
    /// On an error the ring as such has failed: `ECANCELED` the kernel can start no worker (RLIMIT_NPROC, a cgroup's
    /// pids.max; it tries for 50 ms), `EAGAIN` no memory even for one request. Tokens that `done` has not seen by then
    /// it will not see; they are the caller's to ask otherwise.
    pub fn statx<'a>(
        &mut self,
        mut next: impl FnMut() -> Option<StatxRequest<'a>>,
        mut done: impl FnMut(u64, Result<&Statx>),
    ) -> Result<()> {
        let mut flight = Flight { ring: self, outstanding: 0 };
        loop {
            let more = flight.fill(&mut next);
            if flight.outstanding == 0 {
                return Ok(());
            }
            flight.advance(if more { flight.outstanding.div_ceil(2) } else { flight.outstanding })?;
            while let Some((slot, result)) = flight.land() {
                if result == Err(Errno::CANCELED) {
                    return Err(Errno::CANCELED);
                }
                done(flight.ring.tokens[slot as usize], result.map(|()| flight.buffer(slot)));
                flight.ring.free.push(slot);
            }
        }
    }
}

impl core::fmt::Debug for Ring {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Ring").field("slots", &self.slots()).finish_non_exhaustive()
    }
}

/// A vector of `len` values, or `ENOMEM`.
fn filled<T>(len: u32, value: impl FnMut(u32) -> T) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(len as usize).map_err(|_| Errno::NOMEM)?;
    values.extend((0..len).map(value));
    Ok(values)
}

/// The time in which requests may be in flight. Dropping it, on return or while unwinding, waits for all of them.
struct Flight<'r> {
    ring: &'r mut Ring,
    /// Pushed and not landed: pending in the queue, or in the kernel's hands.
    outstanding: u32,
}

impl Flight<'_> {
    /// Pushes requests until no slot is free or there are no more; answers whether there may be more.
    fn fill<'a>(&mut self, next: &mut impl FnMut() -> Option<StatxRequest<'a>>) -> bool {
        while let Some(&slot) = self.ring.free.last() {
            let Some(request) = next() else { return false };
            self.ring.free.pop();
            self.push(slot, &request);
        }
        true
    }

    fn push(&mut self, slot: u32, request: &StatxRequest<'_>) {
        let StatxRequest { token, dir, path, flags, mask } = *request;
        self.ring.tokens[slot as usize] = token;
        let mut sqe =
            io::io_uring_sqe { opcode: io::IoringOp::Statx, fd: dir.as_raw_fd(), ..Default::default() };
        sqe.addr_or_splice_off_in.addr = io::io_uring_ptr::new(path.as_ptr().cast_mut().cast());
        sqe.off_or_addr2.addr2 = io::io_uring_ptr::new(self.ring.buffers[slot as usize].get().cast());
        sqe.len.len = mask.known_bits();
        sqe.op_flags.statx_flags = flags.at_flags();
        sqe.user_data = io::io_uring_user_data::from_u64(u64::from(slot));
        // SAFETY: room: no more than `slots` are outstanding, and the queue was made for as many. Validity: the path
        // and the descriptor are borrowed for longer than `Ring::statx` runs, the buffer is the ring's, it was free
        // until now, and `Flight`'s drop keeps `Ring::statx` from ending before the kernel is done with it.
        unsafe { self.ring.queue.push(sqe) };
        self.outstanding += 1;
    }

    /// Submits what is pending and waits for `wait` answers or, where something comes between, fewer.
    fn advance(&mut self, wait: u32) -> Result<()> {
        let queue = &mut self.ring.queue;
        let mut answer = queue.enter(queue.pending(), wait);
        // No memory for more, or completions to be fetched first: wait for one of those under way.
        if matches!(answer, Err(Errno::AGAIN | Errno::BUSY)) && self.outstanding > queue.pending() {
            answer = queue.enter(0, 1);
        }
        match answer {
            Err(Errno::INTR) => Ok(()),
            answer => answer,
        }
    }

    /// One request that the kernel has answered, by its slot, which is not free yet, and its result.
    fn land(&mut self) -> Option<(u32, Result<()>)> {
        let (slot, result) = self.ring.queue.pop()?;
        self.outstanding -= 1;
        let result = if result < 0 { Err(Errno::from_raw_os_error(-result)) } else { Ok(()) };
        Some((slot as u32, result))
    }

    /// The buffer of a slot that has landed and is not free yet.
    fn buffer(&self, slot: u32) -> &Statx {
        // SAFETY: the slot has landed, so the kernel does not write there any more; it is not free yet, so no new
        // request does, and to change that takes a `&mut self`, which this borrow excludes.
        unsafe { &*self.ring.buffers[slot as usize].get() }
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.outstanding -= self.ring.queue.retract();
        while self.outstanding > 0 {
            if self.land().is_none() && self.ring.queue.enter(0, self.outstanding).is_err() {
                // A signal, or a ring that does not wait: the answers come all the same.
                rustix::thread::sched_yield();
            }
        }
        if self.ring.free.len() < self.ring.buffers.len() {
            self.ring.free.clear();
            self.ring.free.extend(0..self.ring.slots());
        }
    }
}
