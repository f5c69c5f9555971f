//! The process's io_uring, made when first needed and used by everything that can: the questions about entries, and
//! along with them the reading of small files and the closing of directories.
//!
//! A question that goes through it costs no system call of its own, only a share of an `io_uring_enter`. Where io_uring is
//! refused, everything here is done by plain calls.

use alloc::ffi::CString;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::ffi::CStr;
use dents_sys::uring::Ring;
use dents_sys::{Errno, OwnedFd, Result, file};

/// The most requests in flight at once. Each may hold 4 KiB for its path in the kernel, so 32 MiB at most there.
const MOST: u32 = 8192;

/// The least worth asking for when memory is short.
const LEAST: u32 = 64;

/// A ring that could have fewer rounds by no more than this factor is not replaced: a larger one costs three calls.
const ROUNDS: u32 = 4;

/// The process's rings, for one thread. Dropping them costs three calls each, which a process about to end may spare.
#[derive(Default)]
pub struct Rings(RefCell<State>);

#[derive(Default)]
struct State {
    /// The last one is in use. Outgrown ones stay: giving one back would cost three calls.
    rings: Vec<Ring>,
    /// Why there is none, once it was tried.
    refused: Option<Errno>,
    /// Files to be read with the next requests.
    wanted: Vec<(CString, usize)>,
    /// Files read and not asked for yet.
    files: Vec<(CString, Result<Vec<u8>>)>,
    suited: Option<Device>,
}

/// Major and minor number.
pub(crate) type Device = (u32, u32);

impl Rings {
    /// Reads a file, of which [`read`](Self::read) will be asked, along with the next questions about entries: at most
    /// one `io_uring_enter` for all such files.
    pub fn read_ahead(&self, path: CString, most: usize) {
        self.0.borrow_mut().wanted.push((path, most));
    }

    /// All of a small file, as [`file::read_to_end`] reads it; for no call if it was read ahead. A second time it is read
    /// anew.
    ///
    /// # Errors
    /// The kernel's.
    pub fn read(&self, path: &CStr, most: usize) -> Result<Vec<u8>> {
        self.take(path).unwrap_or_else(|| file::read_to_end(path, most))
    }

    /// What was read ahead of this file and not asked for yet.
    pub(crate) fn take(&self, path: &CStr) -> Option<Result<Vec<u8>>> {
        let files = &mut self.0.borrow_mut().files;
        let at = files.iter().position(|(read, _)| read.as_c_str() == path)?;
        Some(files.swap_remove(at).1)
    }

    /// Closes a descriptor with the next requests or when the rings are dropped; at once if there is no ring.
    pub fn close_later(&self, fd: OwnedFd) {
        if let Some(ring) = self.0.borrow_mut().rings.last_mut() {
            ring.close_later(fd);
        }
    }

    /// Closes what waits for it now, for a caller that is out of descriptors. Answers whether there was any.
    pub fn close_now(&self) -> bool {
        self.0.borrow_mut().rings.iter_mut().fold(false, |any, ring| ring.close_now() | any)
    }

    /// Runs `job` with a ring that suits so many requests. A job that fails has shown that rings do not work here:
    /// that, as what comes of setting one up, is the answer from then on.
    pub(crate) fn with<T>(&self, requests: usize, job: impl FnOnce(&mut Ring) -> Result<T>) -> Result<T> {
        let state = &mut *self.0.borrow_mut();
        let wanted = core::mem::take(&mut state.wanted);
        let ring = state.ring(u32::try_from(requests).unwrap_or(u32::MAX))?;
        wanted.into_iter().for_each(|(path, most)| ring.read_later(path, most));
        let answer = job(ring);
        let files = ring.take_files();
        let full = |(_, content): &(_, Result<_>)| matches!(content, Err(Errno::MFILE | Errno::NFILE));
        if files.iter().any(full) {
            // The ring's own descriptor is one too many: the files will be read plainly, the next questions have another ring.
            state.rings.clear();
        }
        state.keep(files);
        state.refused = answer.as_ref().err().copied();
        answer
    }

    /// The device of the directory before, if it is on a file system whose attributes a ring can be asked for.
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
                // A small ring does it too, in more rounds.
                Err(_) if !self.rings.is_empty() => {}
                Err(errno) => {
                    self.refused = Some(errno);
                    return Err(errno);
                }
            }
        }
        self.rings.last_mut().ok_or(Errno::NOSYS)
    }

    /// Errors that a ring may have made up (no such operation, no worker to be had) are nobody's: such a file is read
    /// plainly when it is asked for.
    fn keep(&mut self, files: Vec<(CString, Result<Vec<u8>>)>) {
        let told = |(_, content): &(_, Result<_>)| matches!(content, Ok(_) | Err(Errno::NOENT));
        self.files.extend(files.into_iter().filter(told));
    }
}

/// A ring of so many entries, or of fewer where memory for rings is limited (RLIMIT_MEMLOCK, before Linux 5.12).
fn largest(wanted: u32) -> Result<Ring> {
    match Ring::new(wanted) {
        Err(Errno::NOMEM) if wanted > LEAST => largest(wanted / 4),
        answer => answer,
    }
}
