//! Reads small files beside other requests: opened together with one submission, read together with the next.

use super::Ring;
use super::run::Run;
use crate::file::{FIRST_READ, read_on};
use crate::{Errno, OwnedFd, Result};
use alloc::ffi::CString;
use alloc::vec::Vec;

/// A file to read, and its state.
pub(super) struct File {
    pub(super) path: CString,
    /// Its maximum size in bytes.
    most: usize,
    pub(super) state: State,
}

pub(super) enum State {
    /// Not requested yet.
    Waiting,
    Opening,
    Opened(OwnedFd),
    /// The kernel may write to the spare capacity of the vector.
    Reading(OwnedFd, Vec<u8>),
    /// The first read is done.
    Read(OwnedFd, Vec<u8>),
    Failed(Errno),
}

impl Ring {
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
                // SAFETY: the kernel has written that many bytes, and the check above shows that they fit.
                unsafe { bytes.set_len(len) };
                State::Read(fd, bytes)
            }
            (_, Err(errno)) => State::Failed(errno),
            _ => State::Failed(Errno::CANCELED),
        };
    }

    /// The run is over: files that are not finished fail.
    pub(super) fn settle(&mut self) {
        if !matches!(self.state, State::Waiting | State::Read(..) | State::Failed(_)) {
            self.state = State::Failed(Errno::CANCELED);
        }
    }
}

/// The success of a request for a file.
pub(super) enum Landing {
    Opened(OwnedFd),
    /// This many bytes were read.
    Read(usize),
}
