//! Replacements of workers that are stuck in the kernel.
//!
//! A caller whose workers may get stuck allows replacements while they run ([`with_replacements`]); the watchdog
//! starts them ([`replace`]). As long as none is started, this costs two uncontended locks and no system call. A
//! replacement costs three (mmap, mprotect, clone), and its stack is never reused. So `wanted` is called first, to
//! check whether there is work left.
//!
//! A replacement has a copy of the *watchdog's* descriptors, not of those of the thread that it replaces. It must
//! open the descriptors that it needs again.

use core::mem;
use core::sync::atomic::{AtomicU32, Ordering};

use alloc::boxed::Box;
use rustix::thread::futex;

use super::detach;
use crate::lock::Lock;
use crate::task::wait;

/// The work of replacements.
#[derive(Clone, Copy)]
struct Work {
    wanted: *const (dyn Fn() -> bool + Sync),
    job: *const (dyn Fn() + Sync),
}

// SAFETY: both point to values that are `Sync`, and `with_replacements` keeps them alive while a thread may use them.
unsafe impl Send for Work {}

static WORK: Lock<Option<Work>> = Lock::new(None);

/// Replacements that have not ended. Grows only under the lock of `WORK`.
static RUNNING: AtomicU32 = AtomicU32::new(0);

/// Runs `during` on the calling thread. Meanwhile [`replace`] may start replacements: threads that run `job` once, if
/// `wanted` returns that there is work. Returns when `during` and all replacements have returned. Inside another call
/// of `with_replacements`, it only runs `during`.
pub fn with_replacements(
    wanted: &(dyn Fn() -> bool + Sync),
    job: &(dyn Fn() + Sync),
    during: &mut dyn FnMut(),
) {
    // SAFETY: this changes only the lifetime of the two borrows. `End` is dropped before this function returns; then
    // no thread can reach them, and every replacement has ended.
    let work = unsafe {
        Work {
            wanted: mem::transmute::<*const (dyn Fn() -> bool + Sync + '_), *const (dyn Fn() -> bool + Sync)>(
                wanted,
            ),
            job: mem::transmute::<*const (dyn Fn() + Sync + '_), *const (dyn Fn() + Sync)>(job),
        }
    };
    let mut place = WORK.lock();
    let end = place.is_none().then(|| End);
    place.get_or_insert(work);
    drop(place);
    during();
    drop(end);
}

struct End;

impl Drop for End {
    fn drop(&mut self) {
        *WORK.lock() = None;
        wait(&RUNNING);
    }
}

/// Starts replacements until there are `count`, if they are allowed and wanted. If the kernel refuses a thread, no
/// further one is tried.
pub fn replace(count: u32) {
    while let Some(work) = one_more(count) {
        let live = move || {
            let Work { job, .. } = { work };
            // SAFETY: this thread is counted, so the borrow of the job lasts until this thread has ended.
            unsafe { (*job)() };
            leave();
        };
        if detach(Box::new(live)).is_err() {
            return leave();
        }
    }
}

/// The work, with one more replacement counted, if there are fewer than `count`.
fn one_more(count: u32) -> Option<Work> {
    let place = WORK.lock();
    let work = (*place)?;
    // SAFETY: the borrow lasts while the lock is held.
    if RUNNING.load(Ordering::Relaxed) >= count || !unsafe { (*work.wanted)() } {
        return None;
    }
    RUNNING.fetch_add(1, Ordering::Relaxed);
    Some(work)
}

fn leave() {
    if RUNNING.fetch_sub(1, Ordering::AcqRel) == 1 {
        // Cannot fail: the address is valid.
        let _ = futex::wake(&RUNNING, futex::Flags::empty(), 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicUsize;

    /// In a process with a libc no thread can be started, so there is none to wait for.
    #[test]
    fn replacements_are_allowed_while_the_work_lasts() {
        let (asked, ran) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let wanted = || asked.fetch_add(1, Ordering::Relaxed) < 100;
        let job = || {
            ran.fetch_add(1, Ordering::Relaxed);
        };
        replace(3);
        with_replacements(&wanted, &job, &mut || {
            replace(0);
            assert_eq!(asked.load(Ordering::Relaxed), 0, "enough are there");
            replace(3);
            assert_eq!(asked.load(Ordering::Relaxed), 1, "refused once is enough");
            with_replacements(&|| panic!("within another"), &job, &mut || replace(1));
            assert_eq!(asked.load(Ordering::Relaxed), 2);
        });
        replace(3);
        assert_eq!((asked.into_inner(), ran.into_inner(), RUNNING.load(Ordering::Relaxed)), (2, 0, 0));
    }
}
