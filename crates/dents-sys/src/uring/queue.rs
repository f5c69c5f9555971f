//! The two queues shared with the kernel, and the calls that move them.
//!
//! This module knows no types of requests: 64-byte submissions go in, pairs of a number and a result come out.
//! Without `SQPOLL` the kernel reads submissions only inside `io_uring_enter`, so pushed submissions can be retracted
//! before.
use crate::{AsFd, Errno, OwnedFd, Result};
use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU32, Ordering};
use rustix::io_uring::{
    self as io, IoringEnterFlags, IoringFeatureFlags, IoringRegisterOp, IoringSetupFlags,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A ring's descriptor and its mappings. The pointers point into the mappings, which live as long as this value.
pub(super) struct Queue {
    fd: OwnedFd,
    /// The next submission that the kernel will read. Only the kernel writes it.
    sq_head: NonNull<AtomicU32>,
    /// The end of the submissions that the kernel may read. Only this side writes it.
    sq_tail: NonNull<AtomicU32>,
    sq_entries: u32,
    /// The next completion that this side will read. Only this side writes it.
    cq_head: NonNull<AtomicU32>,
    /// The end of the completions. Only the kernel writes it.
    cq_tail: NonNull<AtomicU32>,
    cq_entries: u32,
    cqes: NonNull<io::io_uring_cqe>,
    sqes: Mapping,
    _rings: Mapping,
}

impl Queue {
    /// A ring for `entries` submissions, 1 to 32,768: `io_uring_setup` and two `mmap`; one more `io_uring_setup` before
    /// Linux 6.1, two before 6.0.
    pub(super) fn new(entries: u32) -> Result<Self> {
        let (fd, params) = setup(entries)?;
        // Since 5.4; IORING_OP_STATX came with 5.6.
        if !params.features.contains(IoringFeatureFlags::SINGLE_MMAP) {
            return Err(Errno::NOSYS);
        }

        let array_end = params.sq_off.array as usize + params.sq_entries as usize * size_of::<u32>();
        let cqes_end =
            params.cq_off.cqes as usize + params.cq_entries as usize * size_of::<io::io_uring_cqe>();
        let rings = Mapping::new(&fd, array_end.max(cqes_end), io::IORING_OFF_SQ_RING)?;
        let sqes = params.sq_entries as usize * size_of::<io::io_uring_sqe>();
        let sqes = Mapping::new(&fd, sqes, io::IORING_OFF_SQES)?;

        let array = rings.at::<u32>(params.sq_off.array, params.sq_entries);
        for index in 0..params.sq_entries {
            // Submission n is always at index n, so the indirection is written once and for all.
            // SAFETY: `at` checked that the array's `sq_entries` words lie inside the mapping.
            unsafe { array.add(index as usize).write(index) };
        }
        Ok(Queue {
            sq_head: rings.at(params.sq_off.head, 1),
            sq_tail: rings.at(params.sq_off.tail, 1),
            sq_entries: params.sq_entries,
            cq_head: rings.at(params.cq_off.head, 1),
            cq_tail: rings.at(params.cq_off.tail, 1),
            cq_entries: params.cq_entries,
            cqes: rings.at(params.cq_off.cqes, params.cq_entries),
            fd,
            sqes,
            _rings: rings,
        })
    }

    /// The number of submissions that fit, a power of two.
    pub(super) fn entries(&self) -> u32 {
        self.sq_entries
    }

    /// `IORING_REGISTER_IOWQ_MAX_WORKERS` for bounded work, since Linux 5.15 (`EINVAL` before).
    pub(super) fn set_max_workers(&mut self, bounded: u32) -> Result<()> {
        // A 0 leaves the second count (unbounded work) unchanged. The kernel writes the old values back.
        let mut counts = [bounded, 0];
        // SAFETY: this operation reads and writes two u32.
        unsafe {
            let op = IoringRegisterOp::RegisterIowqMaxWorkers;
            io::io_uring_register(&self.fd, op, counts.as_mut_ptr().cast::<c_void>(), 2)?;
        }
        Ok(())
    }

    /// Appends a submission, which the kernel reads at the next [`enter`](Self::enter).
    ///
    /// # Safety
    /// There must be room: fewer than `sq_entries` submissions are pending. The memory that the submission points to
    /// must stay valid until its completion was popped, or the submission was retracted.
    pub(super) unsafe fn push(&mut self, sqe: io::io_uring_sqe) {
        debug_assert!(self.pending() < self.sq_entries);
        // SAFETY: the pointers are valid as long as the mappings. Only this side writes the tail, so a relaxed read
        // is enough. While there is room, the kernel does not use the slot at the tail.
        unsafe {
            let tail = self.sq_tail.as_ref().load(Ordering::Relaxed);
            // `sq_entries` is a power of two, so that this works across the wrap of the counters.
            let place = (tail & (self.sq_entries - 1)) as usize;
            self.sqes.start.cast::<io::io_uring_sqe>().add(place).write(sqe);
            self.sq_tail.as_ref().store(tail.wrapping_add(1), Ordering::Release);
        }
    }

    /// How many submissions the kernel has not read yet.
    pub(super) fn pending(&self) -> u32 {
        // SAFETY: the pointers are valid as long as the mappings.
        let (head, tail) = unsafe { (self.sq_head.as_ref(), self.sq_tail.as_ref()) };
        tail.load(Ordering::Relaxed).wrapping_sub(head.load(Ordering::Acquire))
    }

    /// Retracts the submissions that the kernel has not read yet, and returns their number.
    pub(super) fn retract(&mut self) -> u32 {
        let pending = self.pending();
        // SAFETY: the pointer is valid as long as the mapping; the kernel reads it in `enter` only.
        let tail = unsafe { self.sq_tail.as_ref() };
        tail.store(tail.load(Ordering::Relaxed).wrapping_sub(pending), Ordering::Release);
        pending
    }

    /// Lets the kernel read `submit` submissions, and waits for `wait` completions: one `io_uring_enter`.
    /// [`pending`](Self::pending) then shows how many submissions the kernel has read.
    pub(super) fn enter(&mut self, submit: u32, wait: u32) -> Result<()> {
        let flags = if wait > 0 { IoringEnterFlags::GETEVENTS } else { IoringEnterFlags::empty() };
        // SAFETY: the callers of `push` guarantee that all pointers in the submissions are valid; the flags announce
        // no argument.
        unsafe { io::io_uring_enter(&self.fd, submit, wait, flags)? };
        Ok(())
    }

    /// The next completion: the submission's `user_data` and its result, a count or -errno. No system call.
    pub(super) fn pop(&mut self) -> Option<(u64, i32)> {
        // SAFETY: the pointers are valid as long as the mappings. Acquire on the tail: the completions before it are
        // completely written. Release on the head: they are read before the kernel may write to their slots again.
        unsafe {
            let head = self.cq_head.as_ref().load(Ordering::Relaxed);
            if head == self.cq_tail.as_ref().load(Ordering::Acquire) {
                return None;
            }
            let cqe = self.cqes.add((head & (self.cq_entries - 1)) as usize).as_ptr();
            let completion =
                ((&raw const (*cqe).user_data).cast::<u64>().read(), (&raw const (*cqe).res).read());
            self.cq_head.as_ref().store(head.wrapping_add(1), Ordering::Release);
            Some(completion)
        }
    }
}

/// Sets up a ring. Where the kernel has them, it uses flags that save inter-processor interrupts and wake-ups:
///
/// - Only one thread submits (6.0).
/// - Completions wait until that thread enters the kernel to fetch them (6.1), or enters the kernel for any reason
///   (5.19).
/// - A bad submission stops no other (5.18).
///
/// A thread that waits for thousands of completions is then woken once, which saves 6 to 9 % of the time of `-al`.
fn setup(entries: u32) -> Result<(OwnedFd, io::io_uring_params)> {
    const SPARING: IoringSetupFlags = IoringSetupFlags::SINGLE_ISSUER.union(IoringSetupFlags::SUBMIT_ALL);
    let [newest, newer] = [IoringSetupFlags::DEFER_TASKRUN, IoringSetupFlags::COOP_TASKRUN];
    for flags in [SPARING | newest, SPARING | newer] {
        let mut params = io::io_uring_params::default();
        params.flags = flags;
        // SAFETY: ATTACH_WQ is not among the flags.
        match unsafe { io::io_uring_setup(entries, &mut params) } {
            Err(Errno::INVAL) => {}
            answer => return Ok((answer?, params)),
        }
    }
    let mut params = io::io_uring_params::default();
    // SAFETY: as above.
    let fd = unsafe { io::io_uring_setup(entries, &mut params)? };
    Ok((fd, params))
}

/// Memory shared with the kernel, unmapped on drop.
struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

impl Mapping {
    fn new(fd: &OwnedFd, len: usize, offset: u64) -> Result<Self> {
        // SAFETY: a new mapping at an address that the kernel chooses overlaps no other memory.
        let start = unsafe {
            let prot = ProtFlags::READ | ProtFlags::WRITE;
            mmap(ptr::null_mut(), len, prot, MapFlags::SHARED | MapFlags::POPULATE, fd.as_fd(), offset)?
        };
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        Ok(Mapping { start, len })
    }

    /// A pointer to `count` values of `T` at an offset that the kernel returned.
    fn at<T>(&self, offset: u32, count: u32) -> NonNull<T> {
        let offset = offset as usize;
        assert!(
            offset.is_multiple_of(align_of::<T>()) && offset + count as usize * size_of::<T>() <= self.len
        );
        // SAFETY: the check above shows that the offset is inside the mapping.
        unsafe { self.start.add(offset).cast() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and no pointer into it is used any more. An error could only mean that
        // it is not mapped, so it is ignored.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}
