//! Small files read on the way: opened along with one load of requests, read along with the next.

use super::Ring;
use super::run::Run;
use crate::file::{FIRST_READ, read_on};
use crate::{Errno, OwnedFd, Result};
use alloc::ffi::CString;
use alloc::vec::Vec;

/// A file that is to be read, or was.
pub(super) struct File {
    pub(super) path: CString,
    /// How many bytes it may have.
    most: usize,
    pub(super) state: State,
}

pub(super) enum State {
    /// Not requested yet.
    Waiting,
    Opening,
    Opened(OwnedFd),
    /// The kernel may write to the vector's spare room.
    Reading(OwnedFd, Vec<u8>),
    /// The first read is done.
    Read(OwnedFd, Vec<u8>),
    Failed(Errno),
}

impl Ring {
    /// Reads a file from its beginning along with the requests of the next [`run`](Self::run), which costs at most one
    /// `io_uring_enter` more, however many files there are. Of more than `most` bytes it is `EFBIG`. The descriptors are closed as
    /// [`close_later`](Self::close_later) says.
    pub fn read_later(&mut self, path: CString, most: usize) {
        self.files.push(File { path, most, state: State::Waiting });
    }

    /// What the runs since have read, as [`read_to_end`](crate::file::read_to_end) would have it. Costs plain `read`s for
    /// what is beyond 4 KiB. `EINVAL` may mean that the kernel has no such operation, `ECANCELED` that a run
    /// failed or that there was none.
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

impl Run<'_> {
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
}

impl File {
    /// The result of `openat` or `read`.
    pub(super) fn landed(&mut self, result: Result<Landing>) {
        let state = core::mem::replace(&mut self.state, State::Waiting);
        self.state = match (state, result) {
            (State::Opening, Ok(Landing::Opened(fd))) => State::Opened(fd),
            (State::Reading(fd, mut bytes), Ok(Landing::Read(len))) => {
                assert!(len <= bytes.capacity());
                // SAFETY: the kernel has written that many bytes, and it was just seen that they fit.
                unsafe { bytes.set_len(len) };
                State::Read(fd, bytes)
            }
            (_, Err(errno)) => State::Failed(errno),
            _ => State::Failed(Errno::CANCELED),
        };
    }

    /// The run is over: what was neither read nor refused never will be.
    pub(super) fn settle(&mut self) {
        if !matches!(self.state, State::Waiting | State::Read(..) | State::Failed(_)) {
            self.state = State::Failed(Errno::CANCELED);
        }
    }
}

/// The good news about a file.
pub(super) enum Landing {
    Opened(OwnedFd),
    /// So many bytes.
    Read(usize),
}
