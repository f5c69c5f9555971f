//! One [`Ring::run`]: the only code that submits requests and takes their answers.

use super::files::{File, Landing, State};
use super::request::Request;
use super::ring::{CHUNK, MAX_ENTRIES, Ring};
use crate::file::{FIRST_READ, OPEN};
use crate::stat::Statx;
use crate::{Errno, OwnedFd, Result};
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ffi::CStr;
use rustix::fd::{AsRawFd, FromRawFd};
use rustix::io_uring as io;

/// Requests in flight. Dropping it, on return or while unwinding, waits for all of them.
pub(super) struct Run<'r> {
    ring: &'r mut Ring,
    /// Pushed and not landed: pending in the queue, or read by the kernel and not answered.
    outstanding: u32,
}

/// A request that the kernel has answered.
pub(super) struct Landed {
    pub(super) token: u32,
    pub(super) opcode: io::IoringOp,
    /// The buffer of the request, to be released after it was read.
    pub(super) buffer: u32,
    pub(super) result: Result<u32>,
}

/// The user data of a request: the caller's number, then the operation, then the buffer's number.
fn user_data(token: u32, opcode: io::IoringOp, buffer: u32) -> u64 {
    u64::from(token) << 32 | (opcode as u64) << 24 | u64::from(buffer)
}

/// Buffers have 24 bits, operations 8.
const _: () = assert!(MAX_ENTRIES * 2 <= 1 << 24);

/// How many requests stay in flight while this thread handles the answers to the others: a quarter keeps the kernel
/// busy longer than that.
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
                // SAFETY: the caller guarantees that path and descriptor are valid. The buffer belongs to the ring,
                // and no other request uses it until this one has landed and released it.
                unsafe { self.push(sqe) };
            }
            Request::Getxattr { path, name } => {
                let mut sqe = sqe(io::IoringOp::Getxattr, token, 0);
                sqe.addr_or_splice_off_in.addr = pointer(name);
                sqe.addr3_or_cmd.addr3.addr3 = path.as_ptr().expose_provenance() as u64;
                // Only the length of the value is requested: `off_or_addr2` and `len` stay zero.
                // SAFETY: the caller guarantees that path and name are valid.
                unsafe { self.push(sqe) };
            }
        }
        Ok(())
    }

    /// Pushes the next step of each file, as far as there is room.
    pub(super) fn push_files(&mut self) {
        for index in 0..self.ring.files.len() {
            if !self.has_room() {
                return;
            }
            match core::mem::replace(&mut self.ring.files[index].state, State::Opening) {
                State::Waiting => self.open(index),
                State::Opened(fd) => {
                    self.ring.files[index].state = State::Reading(fd, Vec::with_capacity(FIRST_READ));
                    self.read(index);
                }
                other => self.ring.files[index].state = other,
            }
        }
    }

    /// Pushes the `openat` of one of the ring's files. There must be room.
    fn open(&mut self, index: usize) {
        let mut sqe = sqe(io::IoringOp::Openat, index as u32, 0);
        sqe.fd = crate::CWD.as_raw_fd();
        sqe.addr_or_splice_off_in.addr = pointer(&self.ring.files[index].path);
        sqe.op_flags.open_flags = OPEN;
        // SAFETY: the path belongs to the ring, which does not change it during a run.
        unsafe { self.push(sqe) };
    }

    /// Pushes the `read` of one of the ring's files, from its current position. There must be room.
    fn read(&mut self, index: usize) {
        let State::Reading(fd, bytes) = &mut self.ring.files[index].state else { return };
        let room = bytes.spare_capacity_mut();
        let mut sqe = sqe(io::IoringOp::Read, index as u32, 0);
        sqe.fd = fd.as_raw_fd();
        sqe.addr_or_splice_off_in.addr = io::io_uring_ptr::new(room.as_mut_ptr().cast());
        sqe.len.len = u32::try_from(room.len()).unwrap_or(u32::MAX);
        // -1 means the current position, as in read(2).
        sqe.off_or_addr2.off = u64::MAX;
        // SAFETY: descriptor and vector belong to the ring, which uses neither before the read has landed. The kernel
        // writes at most `len` bytes.
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
            // SAFETY: the submission points to no memory. `Closing` owns the descriptor until `Closing::settle`, at
            // the end of the run, forgets those that the kernel has closed.
            unsafe { self.push(sqe) };
            self.ring.closing.pushed = index + 1;
        }
    }

    /// # Safety
    /// There must be room. The memory that the submission points to must stay valid until its completion has landed
    /// or the run is over.
    unsafe fn push(&mut self, sqe: io::io_uring_sqe) {
        // SAFETY: there is room, because at most `entries` are outstanding. The memory stays valid: the caller
        // guarantees it until the end of the run, and by then every pushed submission has landed or was retracted.
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
        // SAFETY: the request has landed, so the kernel does not write to the buffer any more. The buffer is not free
        // yet, so no new request uses it; to free it takes a `&mut self`, which this borrow excludes.
        unsafe { &*self.cell(buffer).get() }
    }

    /// Submits the pending requests and waits. If no more requests will follow, it waits for all that are
    /// outstanding. If the queue is full, it waits for all but a few, which the kernel answers while this side
    /// handles the others and pushes more. If the call is interrupted, or answers are wanted soon, it waits for
    /// fewer.
    pub(super) fn advance(&mut self) -> Result<()> {
        let Ring { queue, soon, .. } = &mut *self.ring;
        let spared = if queue.pending() == queue.entries() { overlap(queue.entries()) } else { 0 };
        let enough = if *soon { (self.outstanding / 8).max(1) } else { self.outstanding - spared };
        let mut answer = queue.enter(queue.pending(), enough);
        // There is no memory for more, or completions must be fetched first: wait for one of those in flight.
        if matches!(answer, Err(Errno::AGAIN | Errno::BUSY)) && self.outstanding > queue.pending() {
            answer = queue.enter(0, 1);
        }
        match answer {
            Err(Errno::INTR) => Ok(()),
            answer => answer,
        }
    }

    /// Returns one request of [`Ring::run`] that the kernel has answered. Handles the results for files and for
    /// closed descriptors on the way.
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
                // SAFETY: the kernel has made this descriptor for this request. No other code owns it, and each
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
                // After a signal, or with a ring that does not wait, the answers arrive nevertheless.
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

fn sqe(opcode: io::IoringOp, token: u32, buffer: u32) -> io::io_uring_sqe {
    let mut sqe = io::io_uring_sqe { opcode, ..Default::default() };
    sqe.user_data = io::io_uring_user_data::from_u64(user_data(token, opcode, buffer));
    sqe
}

fn pointer(text: &CStr) -> io::io_uring_ptr {
    io::io_uring_ptr::new(text.as_ptr().cast_mut().cast())
}
