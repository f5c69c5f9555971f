//! Small files read all at once: one `io_uring_enter` opens them, a second one reads them.

use super::Ring;
use super::flight::Flight;
use crate::file::{FIRST_READ, OPEN, read_on};
use crate::{Errno, OwnedFd, Result};
use alloc::vec::Vec;
use core::ffi::CStr;

impl Ring {
    /// What [`read_to_end`](crate::file::read_to_end) gives for each of these paths, in their order: two `io_uring_enter`
    /// for as many as the ring has room for, and plain `read`s for what is beyond 4 KiB. The descriptors are closed
    /// as [`close_later`](Self::close_later) says.
    ///
    /// An error of one file is that file's (`EINVAL` may mean that the kernel has no such operation). On an error of
    /// the whole the ring has failed, as [`run`](Self::run) says.
    pub fn read_files(&mut self, paths: &[&CStr]) -> Result<Vec<Result<Vec<u8>>>> {
        let mut contents = Vec::with_capacity(paths.len());
        for paths in paths.chunks(self.entries() as usize) {
            let opened = self.open_all(paths)?;
            let read = self.read_all(&opened)?;
            for (fd, first) in opened.into_iter().zip(read) {
                contents.push(fd.and_then(|fd| self.finish(fd, first)));
            }
        }
        Ok(contents)
    }

    fn open_all(&mut self, paths: &[&CStr]) -> Result<Vec<Result<OwnedFd>>> {
        let mut opened: Vec<_> = paths.iter().map(|_| Err(Errno::CANCELED)).collect();
        let mut flight = Flight::of(self);
        for (token, path) in paths.iter().enumerate() {
            // SAFETY: the paths are borrowed for longer than this function, which the flight does not outlive.
            unsafe { flight.open(token as u32, path, OPEN) };
        }
        while !flight.is_empty() {
            flight.advance()?;
            while let Some(landed) = flight.land() {
                opened[landed.token as usize] = Flight::opened(&landed);
            }
        }
        Ok(opened)
    }

    /// What a first read of each gives; nothing where there is no descriptor.
    fn read_all(&mut self, fds: &[Result<OwnedFd>]) -> Result<Vec<Result<Vec<u8>>>> {
        let mut bytes: Vec<_> = fds.iter().map(|_| Vec::with_capacity(FIRST_READ)).collect();
        let mut results: Vec<_> = fds.iter().map(|_| Ok(0)).collect();
        // Declared last, dropped first: until then the kernel may write to `bytes`.
        let mut flight = Flight::of(self);
        for (token, (fd, bytes)) in fds.iter().zip(&mut bytes).enumerate() {
            if let Ok(fd) = fd {
                // SAFETY: descriptor and vector live longer than the flight, and the vectors are not touched before it
                // is over.
                unsafe { flight.read(token as u32, fd, bytes) };
            }
        }
        while !flight.is_empty() {
            flight.advance()?;
            while let Some(landed) = flight.land() {
                results[landed.token as usize] = landed.result;
            }
        }
        drop(flight);
        let filled = |(result, mut bytes): (Result<u32>, Vec<u8>)| {
            let len = result? as usize;
            assert!(len <= bytes.capacity());
            // SAFETY: the kernel has written that many bytes, and it was just seen that they fit.
            unsafe { bytes.set_len(len) };
            Ok(bytes)
        };
        Ok(results.into_iter().zip(bytes).map(filled).collect())
    }

    /// The rest of a file that is longer than its first read.
    fn finish(&mut self, fd: OwnedFd, first: Result<Vec<u8>>) -> Result<Vec<u8>> {
        let whole = match first {
            Ok(bytes) if bytes.len() < FIRST_READ => Ok(bytes),
            Ok(bytes) => read_on(&fd, bytes),
            Err(errno) => Err(errno),
        };
        self.close_later(fd);
        whole
    }
}
