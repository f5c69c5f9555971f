//! The process's io_uring, created when first needed: for requests about entries, for reading small files and for
//! closing directories along with them.
//!
//! A request through the ring costs a share of an `io_uring_enter`. Where io_uring is refused, plain calls are made
//! instead.

use alloc::ffi::CString;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::ffi::CStr;
use dents_sys::uring::Ring;
use dents_sys::{Errno, OwnedFd, Result, file};

/// Most requests in flight. Each may hold 4 KiB for its path in the kernel: at most 32 MiB.
const MOST: u32 = 8192;

/// Fewest entries of a ring when memory is short.
const LEAST: u32 = 64;

/// A ring is replaced only if a larger one saves more than this factor of rounds: a new ring costs three calls.
const ROUNDS: u32 = 4;

/// The process's rings, for one thread. Dropping them costs three calls each; a process that is about to end may skip
/// it.
#[derive(Default)]
pub struct Rings(RefCell<State>);

#[derive(Default)]
struct State {
    /// The last ring is in use. Outgrown rings stay: freeing one would cost three calls.
    rings: Vec<Ring>,
    /// The error, once creating a ring has failed.
    refused: Option<Errno>,
    /// Files to read with the next requests.
    wanted: Vec<(CString, usize)>,
    /// Files that were read and not yet taken.
    files: Vec<(CString, Result<Vec<u8>>)>,
    suited: Option<Device>,
}

/// Major and minor number.
pub(crate) type Device = (u32, u32);

impl Rings {
    /// Reads a file along with the next requests about entries, for a later [`read`](Self::read): at most one
    /// `io_uring_enter` for all such files.
    pub fn read_ahead(&self, path: CString, most: usize) {
        self.0.borrow_mut().wanted.push((path, most));
    }

    /// Reads a whole small file like [`file::read_to_end`]; no call if it was read ahead. A second call reads it again.
    ///
    /// # Errors
    /// The kernel's.
    pub fn read(&self, path: &CStr, most: usize) -> Result<Vec<u8>> {
        self.take(path).unwrap_or_else(|| file::read_to_end(path, most))
    }

    /// Takes the content of a file that was read ahead.
    pub(crate) fn take(&self, path: &CStr) -> Option<Result<Vec<u8>>> {
        let files = &mut self.0.borrow_mut().files;
        let at = files.iter().position(|(read, _)| read.as_c_str() == path)?;
        Some(files.swap_remove(at).1)
    }

    /// Closes a descriptor with the next requests, or when the rings are dropped; at once without a ring.
    pub fn close_later(&self, fd: OwnedFd) {
        if let Some(ring) = self.0.borrow_mut().rings.last_mut() {
            ring.close_later(fd);
        }
    }

    /// Closes all waiting descriptors now, for a caller that has no descriptor left. Returns whether there were any.
    pub fn close_now(&self) -> bool {
        self.0.borrow_mut().rings.iter_mut().fold(false, |any, ring| ring.close_now() | any)
    }

    /// Runs `job` with a ring for this many requests. If a job fails, rings do not work here: its error, or that of
    /// creating a ring, is returned from then on.
    pub(crate) fn with<T>(&self, requests: usize, job: impl FnOnce(&mut Ring) -> Result<T>) -> Result<T> {
        let state = &mut *self.0.borrow_mut();
        let wanted = core::mem::take(&mut state.wanted);
        let ring = state.ring(u32::try_from(requests).unwrap_or(u32::MAX))?;
        wanted.into_iter().for_each(|(path, most)| ring.read_later(path, most));
        let answer = job(ring);
        let files = ring.take_files();
        let full = |(_, content): &(_, Result<_>)| matches!(content, Err(Errno::MFILE | Errno::NFILE));
        if files.iter().any(full) {
            // The ring's own descriptor may be one too many: the files are read by plain calls; the next requests get a
            // new ring.
            state.rings.clear();
        }
        state.keep(files);
        state.refused = answer.as_ref().err().copied();
        answer
    }

    /// The device of the previous directory, if the ring can request attributes on its file system.
    pub(crate) fn suited(&self) -> Option<Device> {
        self.0.borrow().suited
    }

    pub(crate) fn set_suited(&self, device: Option<Device>) {
        self.0.borrow_mut().suited = device;
    }
}

impl State {
    fn ring(&mut self, requests: u32) -> Result<&mut Ring> {
        if let Some(errno) = self.refused {
            return Err(errno);
        }
        let wanted = requests.clamp(1, MOST).next_power_of_two();
        if self.rings.last().is_none_or(|ring| ring.entries().saturating_mul(ROUNDS) < wanted) {
            match largest(wanted) {
                Ok(ring) => self.rings.push(ring),
                // The present ring suffices, with more rounds.
                Err(_) if !self.rings.is_empty() => {}
                Err(errno) => {
                    self.refused = Some(errno);
                    return Err(errno);
                }
            }
        }
        self.rings.last_mut().ok_or(Errno::NOSYS)
    }

    /// Errors that only a ring produces (operation not supported, no kernel worker) are dropped: such a file is read by
    /// a plain call when it is needed.
    fn keep(&mut self, files: Vec<(CString, Result<Vec<u8>>)>) {
        let told = |(_, content): &(_, Result<_>)| matches!(content, Ok(_) | Err(Errno::NOENT));
        self.files.extend(files.into_iter().filter(told));
    }
}

/// A ring with this many entries, or fewer where RLIMIT_MEMLOCK limits its memory (before Linux 5.12).
fn largest(wanted: u32) -> Result<Ring> {
    match Ring::new(wanted) {
        Err(Errno::NOMEM) if wanted > LEAST => largest(wanted / 4),
        answer => answer,
    }
}
