//! A piece of a directory without types, which `fuser` has no words for.
//!
//! `fuser`'s reply always carries a type. So the same entries go into its buffer, which knows when it is
//! full, and into this one, with `DT_UNKNOWN`; this one is written to the device, and `fuser`'s is thrown
//! away: the kernel refuses a second answer to the same request with `ENOENT`, and that is all.
//! Layouts: `struct fuse_out_header` and `struct fuse_dirent` of `include/uapi/linux/fuse.h`.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use fuser::{Errno, ReplyDirectory};

use super::tree::Listed;

const HEADER: usize = 16;
const DT_UNKNOWN: u32 = 0;

/// An answer under way.
pub(super) struct Untyped {
    bytes: Vec<u8>,
}

impl Untyped {
    pub(super) fn new(request: u64) -> Untyped {
        let mut bytes = Vec::with_capacity(4096);
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(&request.to_ne_bytes());
        Untyped { bytes }
    }

    pub(super) fn add(&mut self, listed: &Listed) {
        self.push(listed.inode, listed.cookie, &listed.name);
    }

    fn push(&mut self, inode: u64, cookie: u64, name: &OsStr) {
        self.bytes.extend_from_slice(&inode.to_ne_bytes());
        self.bytes.extend_from_slice(&cookie.to_ne_bytes());
        self.bytes.extend_from_slice(&(name.len() as u32).to_ne_bytes());
        self.bytes.extend_from_slice(&DT_UNKNOWN.to_ne_bytes());
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
    }

    fn finish(mut self) -> Vec<u8> {
        let length = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        debug_assert!(self.bytes.len() >= HEADER);
        self.bytes
    }

    /// Sends this in the place of `reply`.
    pub(super) fn send(self, device: &OwnedFd, reply: ReplyDirectory) {
        // If it cannot be sent, the next answer is that of the request.
        let _ = rustix::io::write(device, &self.finish());
        reply.error(Errno::EIO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laid_out_as_the_kernel_reads_it() {
        let mut piece = Untyped::new(7);
        piece.push(2, 3, OsStr::new("abc"));
        let bytes = piece.finish();
        assert_eq!(bytes.len(), 16 + 24 + 8);
        assert_eq!(bytes[..4], 48u32.to_ne_bytes());
        assert_eq!(bytes[8..16], 7u64.to_ne_bytes());
        assert_eq!(bytes[16 + 16..16 + 20], 3u32.to_ne_bytes());
        assert_eq!(&bytes[16 + 24..], b"abc\0\0\0\0\0");
    }
}
