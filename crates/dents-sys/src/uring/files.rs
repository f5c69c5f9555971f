//! Reads small files beside other requests: opened together with one submission, read together with the next.

use crate::{Errno, OwnedFd, Result};
use alloc::ffi::CString;
use alloc::vec::Vec;

/// A file to read, and its state.
pub(super) struct File {
    pub(super) path: CString,
    /// Its maximum size in bytes.
    pub(super) most: usize,
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
