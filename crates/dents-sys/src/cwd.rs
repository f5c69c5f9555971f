//! A working directory for one thread, for facts that no system call returns relative to a descriptor.
//!
//! Threads share the working directory (`CLONE_FS`) until one of them asks for a copy. The copy is for good: if another
//! thread changes directory afterwards, the one with a copy does not follow. So a program has to allow it ([`allow`]),
//! and a library never does.
use crate::{AsFd, BorrowedFd, CWD, Errno, OwnedFd, Result, dir};
use core::sync::atomic::{AtomicBool, Ordering};
use rustix::process::fchdir;
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Relaxed: at worst another thread is refused once more.
static ALLOWED: AtomicBool = AtomicBool::new(false);

/// Lets [`enter`] give threads of this process a working directory of their own. No system call.
pub fn allow() {
    ALLOWED.store(true, Ordering::Relaxed);
}

/// As long as it is there, its thread's working directory is another one. Dropping it goes back: `fchdir` and `close`.
///
/// A thread that is started meanwhile begins in that directory, and so does a child.
#[derive(Debug)]
pub struct Away {
    home: OwnedFd,
    /// It is the working directory of one thread, and must go back there.
    _stays: core::marker::PhantomData<*const ()>,
}

/// Makes `dir` the working directory of the calling thread alone: `openat` with `O_PATH` for the way back, `unshare`,
/// `fchdir`.
///
/// Errors: `EPERM` if the process does not allow it, or a filter refused `unshare` (then it is not tried again), `EACCES` if the
/// working directory or `dir` may not be searched, `EMFILE`.
pub fn enter(dir: BorrowedFd<'_>) -> Result<Away> {
    if !ALLOWED.load(Ordering::Relaxed) {
        return Err(Errno::PERM);
    }
    let home = dir::open_place(CWD, c".")?;
    // SAFETY: of what may be unshared only the descriptor table is a danger to other code, and it stays as it is.
    unsafe { unshare_unsafe(UnshareFlags::FS) }.inspect_err(|_| ALLOWED.store(false, Ordering::Relaxed))?;
    fchdir(dir)?;
    Ok(Away { home, _stays: core::marker::PhantomData })
}

impl Drop for Away {
    fn drop(&mut self) {
        // It was searched when it was opened; there is no second way back.
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
