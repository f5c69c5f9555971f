//! A working directory for one thread, for facts that no system call returns relative to a descriptor.
//!
//! Threads share the working directory (`CLONE_FS`) until one of them makes a copy (`unshare`). The copy is
//! permanent: if another thread changes directory afterwards, the thread with the copy does not follow. So a program
//! must allow it ([`allow`]), and a library never does.
use crate::{AsFd, BorrowedFd, CWD, Errno, OwnedFd, Result, dir};
use core::sync::atomic::{AtomicBool, Ordering};
use rustix::process::fchdir;
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Relaxed: at worst the kernel refuses one more thread.
static ALLOWED: AtomicBool = AtomicBool::new(false);

/// Lets [`enter`] give threads of this process a working directory of their own. No system call.
pub fn allow() {
    ALLOWED.store(true, Ordering::Relaxed);
}

/// While this value exists, its thread has a working directory of its own. Dropping it restores the old one: `fchdir`
/// and `close`.
///
/// A thread or child process that this thread starts meanwhile begins in that directory.
#[derive(Debug)]
pub struct Away {
    home: OwnedFd,
    /// Not `Send`: it concerns the working directory of one thread, which must drop it.
    _stays: core::marker::PhantomData<*const ()>,
}

/// Makes `dir` the working directory of the calling thread alone: `openat` with `O_PATH` for the way back, `unshare`,
/// `fchdir`.
///
/// Errors: `EPERM` if the program did not [`allow`] it or a filter refused `unshare` (which is then not called
/// again), `EACCES` if the working directory or `dir` may not be searched, `EMFILE`.
pub fn enter(dir: BorrowedFd<'_>) -> Result<Away> {
    if !ALLOWED.load(Ordering::Relaxed) {
        return Err(Errno::PERM);
    }
    let home = dir::open_place(CWD, c".")?;
    // SAFETY: unsharing the descriptor table would be a danger to other code; this unshares the working directory
    // alone.
    unsafe { unshare_unsafe(UnshareFlags::FS) }.inspect_err(|_| ALLOWED.store(false, Ordering::Relaxed))?;
    fchdir(dir)?;
    Ok(Away { home, _stays: core::marker::PhantomData })
}

impl Drop for Away {
    fn drop(&mut self) {
        // Cannot fail because of permissions: the directory was searchable when it was opened. There is no other way
        // back.
        let _ = fchdir(self.home.as_fd());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::{Mask, fstat};

    #[test]
    fn a_thread_goes_and_comes_back() {
        let root = dir::open(CWD, c"/").unwrap();
        let identity = |fd| fstat(fd, Mask::INO).map(|statx| (statx.dev(), statx.ino())).unwrap();
        let (before, there) = (identity(CWD), identity(root.as_fd()));
        assert_ne!(before, there, "tests do not run in the root");
        let life = || {
            assert_eq!(enter(root.as_fd()).unwrap_err(), Errno::PERM, "it was not allowed");
            allow();
            let away = enter(root.as_fd()).unwrap();
            assert_eq!(identity(CWD), there);
            away
        };
        std::thread::scope(|scope| {
            let moved = scope.spawn(|| {
                let away = life();
                drop(away);
                assert_eq!(identity(CWD), before);
            });
            moved.join().unwrap();
        });
        assert_eq!(identity(CWD), before);
    }
}
