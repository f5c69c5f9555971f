//! Help for a thread that waits in the kernel: somebody who looks on starts others, which do what it has not come to.
//!
//! Whoever may have to wait offers its work ([`offer`]); whoever sees it wait too long calls for hands ([`help`]). While
//! nobody does, an offer costs two uncontended locks and no system call. A helper costs three (mmap, mprotect,
//! clone), and its stack is never used again: those who call look first whether there is anything left to do.
//!
//! Helpers have a copy of the *caller's* descriptors, not of those of the thread they help: what they need of those they
//! must fetch themselves.

use core::mem;
use core::sync::atomic::{AtomicU32, Ordering};

use alloc::boxed::Box;
use rustix::thread::futex;

use crate::lock::Lock;
use crate::thread::detach;

type Wanted<'a> = dyn Fn() -> bool + Sync + 'a;
type Job<'a> = dyn Fn() + Sync + 'a;

/// What helpers find to do.
#[derive(Clone, Copy)]
struct Offer {
    wanted: *const Wanted<'static>,
    job: *const Job<'static>,
}

// SAFETY: both point to what is `Sync`, and `offer` keeps it alive for as long as anybody may look at it.
unsafe impl Send for Offer {}

static OFFER: Lock<Option<Offer>> = Lock::new(None);

/// Helpers that have not ended. Changed upwards only under the lock of the offer.
static INSIDE: AtomicU32 = AtomicU32::new(0);

/// Runs `during` here. Meanwhile [`help`] may start helpers: threads that run `job` once, if `wanted` says that there is
/// something to do. Returns when `during` and all helpers have.
///
/// One offer stands at a time: within another there is none.
pub fn offer(wanted: &(dyn Fn() -> bool + Sync), job: &(dyn Fn() + Sync), during: &mut dyn FnMut()) {
    // SAFETY: only forgets how long the two are borrowed; `Standing` is dropped before this returns, and with it
    // the offer is taken back and every helper has ended.
    let offer = unsafe {
        Offer {
            wanted: mem::transmute::<*const Wanted<'_>, *const Wanted<'static>>(wanted),
            job: mem::transmute::<*const Job<'_>, *const Job<'static>>(job),
        }
    };
    let mut place = OFFER.lock();
    let standing = place.is_none().then(|| Standing);
    place.get_or_insert(offer);
    drop(place);
    during();
    drop(standing);
}

/// As long as it is there, so is the offer.
struct Standing;

impl Drop for Standing {
    fn drop(&mut self) {
        *OFFER.lock() = None;
        loop {
            match INSIDE.load(Ordering::Acquire) {
                0 => return,
                // Errors: it has changed, or a signal.
                inside => drop(futex::wait(&INSIDE, futex::Flags::PRIVATE, inside, None)),
            }
        }
    }
}

/// Starts helpers until there are `hands`, if there is an offer and they are wanted. Where the kernel refuses a thread,
/// none after it is tried.
pub fn help(hands: u32) {
    while let Some(offer) = take_up(hands) {
        let work = move || {
            let Offer { job, .. } = { offer };
            // SAFETY: counted inside, so whoever made the offer waits for us before its borrow ends.
            unsafe { (*job)() };
            leave();
        };
        if detach(Box::new(work)).is_err() {
            return leave();
        }
    }
}

/// The offer, with one more inside, if there are fewer than `hands`.
fn take_up(hands: u32) -> Option<Offer> {
    let place = OFFER.lock();
    let offer = (*place)?;
    // SAFETY: while the lock is held the offer stands, and so do its borrows.
    if INSIDE.load(Ordering::Relaxed) >= hands || !unsafe { (*offer.wanted)() } {
        return None;
    }
    INSIDE.fetch_add(1, Ordering::Relaxed);
    Some(offer)
}

fn leave() {
    if INSIDE.fetch_sub(1, Ordering::AcqRel) == 1 {
        // Cannot fail: the address is valid.
        let _ = futex::wake(&INSIDE, futex::Flags::PRIVATE, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicUsize;

    /// Beside a libc nobody can be started; nobody is waited for then.
    #[test]
    fn an_offer_stands_while_it_is_made() {
        let (asked, ran) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let wanted = || asked.fetch_add(1, Ordering::Relaxed) < 100;
        let job = || {
            ran.fetch_add(1, Ordering::Relaxed);
        };
        help(3);
        offer(&wanted, &job, &mut || {
            help(0);
            assert_eq!(asked.load(Ordering::Relaxed), 0, "enough are there");
            help(3);
            assert_eq!(asked.load(Ordering::Relaxed), 1, "refused once is enough");
            offer(&|| panic!("within another"), &job, &mut || help(1));
            assert_eq!(asked.load(Ordering::Relaxed), 2);
        });
        help(3);
        assert_eq!((asked.into_inner(), ran.into_inner(), INSIDE.load(Ordering::Relaxed)), (2, 0, 0));
    }
}
