//! A descriptor that another thread makes readable: for programs that poll descriptors.
use crate::{BorrowedFd, Errno, OwnedFd, Result, syscall};
use rustix::fd::FromRawFd;

/// `EFD_CLOEXEC | EFD_NONBLOCK`, which have the values of `O_CLOEXEC` and `O_NONBLOCK`.
const FLAGS: u32 = rustix::fs::OFlags::CLOEXEC.union(rustix::fs::OFlags::NONBLOCK).bits();

/// Creates such a descriptor, which is not readable yet: one `eventfd2`.
pub fn new() -> Result<OwnedFd> {
    // SAFETY: the call takes two numbers and no pointer.
    let fd = unsafe { syscall::syscall(syscall::nr::EVENTFD2, [0, FLAGS as usize, 0, 0, 0, 0])? };
    // SAFETY: the kernel has just opened the descriptor for this call, so nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Makes the descriptor readable, until [`reset`]: one `write`.
pub fn set(event: BorrowedFd<'_>) -> Result<()> {
    match rustix::io::write(event, &1_u64.to_ne_bytes()) {
        // It has been set 2^64 - 2 times: it is readable.
        Ok(_) | Err(Errno::AGAIN) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Makes the descriptor unreadable: one `read`. Returns whether it was readable.
pub fn reset(event: BorrowedFd<'_>) -> Result<bool> {
    match rustix::io::read(event, &mut [0_u8; 8]) {
        Ok(_) => Ok(true),
        Err(Errno::AGAIN) => Ok(false),
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AsFd;

    #[test]
    fn it_stays_set_until_it_is_reset() {
        let event = new().expect("a descriptor");
        assert_eq!(reset(event.as_fd()), Ok(false));
        assert_eq!((set(event.as_fd()), set(event.as_fd())), (Ok(()), Ok(())));
        assert_eq!((reset(event.as_fd()), reset(event.as_fd())), (Ok(true), Ok(false)));
    }
}
