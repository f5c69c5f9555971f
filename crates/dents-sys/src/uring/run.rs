//! One [`Ring::run`]: the only code that submits requests and takes their answers.

use super::files::{File, Landing, State};
use super::{CHUNK, Request, Ring};
use crate::file::OPEN;
use crate::stat::Statx;
use crate::{Errno, OwnedFd, Result};
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ffi::CStr;
use rustix::fd::{AsRawFd, FromRawFd, IntoRawFd};
use rustix::io_uring as io;

/// Requests under way. Dropping it, on return or while unwinding, waits for all of them.
pub(super) struct Run<'r> {
    pub(super) ring: &'r mut Ring,
    /// Pushed and not landed: pending in the queue, or in the kernel's hands.
    outstanding: u32,
}

/// A request that the kernel has answered.
pub(super) struct Landed {
    pub(super) token: u32,
    pub(super) opcode: io::IoringOp,
    /// The buffer it was given, to be released once it was looked at.
    pub(super) buffer: u32,
    pub(super) result: Result<u32>,
}

/// The user data of a request: the caller's number, then the operation, then the buffer's number.
fn user_data(token: u32, opcode: io::IoringOp, buffer: u32) -> u64 {
    u64::from(token) << 32 | (opcode as u64) << 24 | u64::from(buffer)
}

/// Buffers have 24 bits, operations 8.
const _: () = assert!(super::MAX_ENTRIES * 2 <= 1 << 24);

/// How many requests the kernel keeps while answers to the others are looked at: a quarter takes it longer than that.
fn overlap(entries: u32) -> u32 {
    entries / 4
}

/// All operations that a [`Run`] submits.
const OPERATIONS: [io::IoringOp; 5] = [
    io::IoringOp::Statx,
    io::IoringOp::Getxattr,
    io::IoringOp::Openat,
    io::IoringOp::Read,
    io::IoringOp::Close,
];

impl<'r> Run<'r> {
    pub(super) fn of(ring: &'r mut Ring) -> Self {
        Run { ring, outstanding: 0 }
    }

    /// Whether one more can be pushed: the queue of submissions has room, and the queue of completions, which is twice as
    /// long, will have room for the answer.
    pub(super) fn has_room(&self) -> bool {
        self.ring.queue.pending() < self.ring.entries()
            && self.outstanding < self.ring.entries() + overlap(self.ring.entries())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.outstanding == 0
    }

    /// Pushes one request of [`Ring::run`]. There must be room.
    ///
    /// # Safety
    /// The request's paths and descriptor must outlive the run.
    pub(super) unsafe fn ask(&mut self, token: u32, request: &Request<'_>) -> Result<()> {
        match *request {
            Request::Statx { dir, path, flags, mask } => {
                let buffer = self.take_buffer()?;
                let mut sqe = sqe(io::IoringOp::Statx, token, buffer);
                sqe.fd = dir.as_raw_fd();
                sqe.addr_or_splice_off_in.addr = pointer(path);
                let memory = self.cell(buffer).get();
                sqe.off_or_addr2.addr2 = io::io_uring_ptr::new(memory.cast());
                sqe.len.len = mask.known_bits();
                sqe.op_flags.statx_flags = flags.at_flags();
                // SAFETY: the caller vouches for path and descriptor; the buffer is the ring's, and no other
                // request's until this one has landed and released it.
                unsafe { self.push(sqe) };
            }
            Request::Getxattr { path, name } => {
                let mut sqe = sqe(io::IoringOp::Getxattr, token, 0);
                sqe.addr_or_splice_off_in.addr = pointer(name);
                sqe.addr3_or_cmd.addr3.addr3 = path.as_ptr().expose_provenance() as u64;
                // No value is asked for, only its length: `off_or_addr2` and `len` stay zero.
                // SAFETY: the caller vouches for path and name.
                unsafe { self.push(sqe) };
            }
        }
        Ok(())
    }

    /// Pushes the `openat` of one of the ring's files. There must be room.
    pub(super) fn open(&mut self, index: usize) {
        let mut sqe = sqe(io::IoringOp::Openat, index as u32, 0);
        sqe.fd = crate::CWD.as_raw_fd();
        sqe.addr_or_splice_off_in.addr = pointer(&self.ring.files[index].path);
        sqe.op_flags.open_flags = OPEN;
        // SAFETY: the path is the ring's, and nothing touches it while there is a run.
        unsafe { self.push(sqe) };
    }

    /// Pushes the `read` of one of the ring's files, from where it stands. There must be room.
    pub(super) fn read(&mut self, index: usize) {
        let State::Reading(fd, bytes) = &mut self.ring.files[index].state else { return };
        let room = bytes.spare_capacity_mut();
        let mut sqe = sqe(io::IoringOp::Read, index as u32, 0);
        sqe.fd = fd.as_raw_fd();
        sqe.addr_or_splice_off_in.addr = io::io_uring_ptr::new(room.as_mut_ptr().cast());
        sqe.len.len = u32::try_from(room.len()).unwrap_or(u32::MAX);
        // -1: as read(2), and not as pread(2).
        sqe.off_or_addr2.off = u64::MAX;
        // SAFETY: descriptor and vector are the ring's, which touches neither before the read has landed; the kernel
        // writes no more than `len` bytes.
        unsafe { self.push(sqe) };
    }

    /// Pushes the closing of the descriptors that wait for it, as far as there is room.
    pub(super) fn push_closing(&mut self) {
        for index in 0..self.ring.closing.fds.len() {
            if !self.has_room() {
                break;
            }
            let mut sqe = sqe(io::IoringOp::Close, index as u32, 0);
            sqe.fd = self.ring.closing.fds[index].as_raw_fd();
            // SAFETY: the submission points to no memory. The descriptor is ours until `Closing::settle`, which the
            // run's end calls, gives up those that the kernel has closed.
            unsafe { self.push(sqe) };
            self.ring.closing.pushed = index + 1;
        }
    }

    /// # Safety
    /// There must be room, and what the submission points to must stay valid until its completion has landed or the
    /// run is over.
    unsafe fn push(&mut self, sqe: io::io_uring_sqe) {
        // SAFETY: room: no more than `entries` are outstanding. Validity: the caller's word, and a run is not over
        // before all that it pushed has landed or was retracted.
        unsafe { self.ring.queue.push(sqe) };
        self.outstanding += 1;
    }

    /// A buffer for one request, or `ENOMEM`.
    fn take_buffer(&mut self) -> Result<u32> {
        let Ring { buffers, free, .. } = &mut *self.ring;
        if let Some(buffer) = free.pop() {
            return Ok(buffer);
        }
        let mut chunk = Vec::new();
        chunk.try_reserve_exact(CHUNK).map_err(|_| Errno::NOMEM)?;
        chunk.resize_with(CHUNK, || UnsafeCell::new(Statx::zeroed()));
        let first = (buffers.len() * CHUNK) as u32;
        buffers.push(chunk);
        free.extend((first + 1..first + CHUNK as u32).rev());
        Ok(first)
    }

    fn cell(&self, buffer: u32) -> &UnsafeCell<Statx> {
        &self.ring.buffers[buffer as usize / CHUNK][buffer as usize % CHUNK]
    }

    /// A buffer whose request has landed may be used by another.
    pub(super) fn release(&mut self, buffer: u32) {
        self.ring.free.push(buffer);
    }

    /// The buffer of a request that has landed and was not released yet.
    pub(super) fn buffer(&self, buffer: u32) -> &Statx {
        // SAFETY: the request has landed, so the kernel does not write there any more; the buffer is not free yet, so no
        // new request does, and to change that takes a `&mut self`, which this borrow excludes.
        unsafe { &*self.cell(buffer).get() }
    }

    /// Submits what is pending and waits: for all that is outstanding if that is all there is to submit; if the queue is
    /// full, for all but a few, which the kernel answers while this side looks at the others and pushes more. Where
    /// something comes between, or answers are wanted soon, for less.
    pub(super) fn advance(&mut self) -> Result<()> {
        let Ring { queue, soon, .. } = &mut *self.ring;
        let spared = if queue.pending() == queue.entries() { overlap(queue.entries()) } else { 0 };
        let enough = if *soon { (self.outstanding / 8).max(1) } else { self.outstanding - spared };
        let mut answer = queue.enter(queue.pending(), enough);
        // No memory for more, or completions to be fetched first: wait for one of those under way.
        if matches!(answer, Err(Errno::AGAIN | Errno::BUSY)) && self.outstanding > queue.pending() {
            answer = queue.enter(0, 1);
        }
        match answer {
            Err(Errno::INTR) => Ok(()),
            answer => answer,
        }
    }

    /// One request of [`Ring::run`] that the kernel has answered. What became of files and of descriptors to be closed
    /// is noted on the way.
    pub(super) fn land(&mut self) -> Option<Landed> {
        loop {
            let (data, result) = self.ring.queue.pop()?;
            self.outstanding -= 1;
            let opcode = OPERATIONS.into_iter().find(|opcode| *opcode as u64 == data >> 24 & 0xff);
            let opcode = opcode.unwrap_or(io::IoringOp::Nop);
            let (token, buffer) = ((data >> 32) as u32, data as u32 & 0xff_ffff);
            let result = u32::try_from(result).map_err(|_| Errno::from_raw_os_error(-result));
            let Ring { closing, files, .. } = &mut *self.ring;
            match opcode {
                io::IoringOp::Close => closing.landed(token, result),
                // SAFETY: the kernel has made this descriptor for this request, no other code knows of it, and each
                // request lands once.
                io::IoringOp::Openat => files[token as usize]
                    .landed(result.map(|fd| Landing::Opened(unsafe { OwnedFd::from_raw_fd(fd as i32) }))),
                io::IoringOp::Read => {
                    files[token as usize].landed(result.map(|len| Landing::Read(len as usize)));
                }
                _ => return Some(Landed { token, opcode, buffer, result }),
            }
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.outstanding -= self.ring.queue.retract();
        while self.outstanding > 0 {
            if self.land().is_none()
                && self.outstanding > 0
                && self.ring.queue.enter(0, self.outstanding).is_err()
            {
                // A signal, or a ring that does not wait: the answers come all the same.
                rustix::thread::sched_yield();
            }
        }
        self.ring.closing.settle();
        self.ring.files.iter_mut().for_each(File::settle);
        let buffers = self.ring.buffers.len() * CHUNK;
        if self.ring.free.len() < buffers {
            self.ring.free.clear();
            self.ring.free.extend(0..buffers as u32);
        }
    }
}

/// Descriptors to be closed by the next run.
#[derive(Default)]
pub(super) struct Closing {
    fds: Vec<OwnedFd>,
    /// How many of them, the first, are in the run.
    pushed: usize,
    /// Those of them that the kernel has closed, a bit each.
    closed: u32,
}

impl Closing {
    /// More than a listing has at a time; where no run comes by they must not pile up.
    const MOST: usize = 8;

    /// Takes one, or closes it now.
    pub(super) fn add(&mut self, fd: OwnedFd) {
        if self.fds.len() < Self::MOST {
            self.fds.push(fd);
        }
    }

    /// Closes all: one `close` each. Answers whether there was any.
    pub(super) fn give_up(&mut self) -> bool {
        self.fds.drain(..).count() > 0
    }

    /// Whatever else close(2) answers, the descriptor is gone; `EINVAL` and `ECANCELED` come from the ring.
    fn landed(&mut self, index: u32, result: Result<u32>) {
        let tried = !matches!(result, Err(Errno::INVAL | Errno::CANCELED));
        self.closed |= u32::from(tried) << index;
    }

    /// Of those that were in the run, gives up what was closed and closes what was not: one `close` each.
    fn settle(&mut self) {
        let closed = core::mem::take(&mut self.closed);
        let pushed = core::mem::take(&mut self.pushed);
        for (index, fd) in self.fds.drain(..pushed).enumerate() {
            if closed & 1 << index != 0 {
                let _ = fd.into_raw_fd();
            }
        }
    }
}

fn sqe(opcode: io::IoringOp, token: u32, buffer: u32) -> io::io_uring_sqe {
    let mut sqe = io::io_uring_sqe { opcode, ..Default::default() };
    sqe.user_data = io::io_uring_user_data::from_u64(user_data(token, opcode, buffer));
    sqe
}

fn pointer(text: &CStr) -> io::io_uring_ptr {
    io::io_uring_ptr::new(text.as_ptr().cast_mut().cast())
}
