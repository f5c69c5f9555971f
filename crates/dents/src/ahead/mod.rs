//! Directories read ahead of their turn, for a listing that shows one after the other.
//!
//! Each small directory on its own is too little work to share, but `-R` has thousands of them. So helpers read the next
//! ones that are known to follow, ask about their entries and sort them, go on with what these lead to, and keep all that
//! until it is shown:
//!
//! ```text
//! turns    d0 ────── d1 ── d2 ─── …          shown in this order by the calling thread
//!          │         │
//! helpers  d0/a d0/b d1/a d1/b …             taken from a stack, the next one on top
//! ```
//!
//! Who shows comes to a directory that nobody has read, and reads it; to one that is being read, and reads the next
//! meanwhile; or to one that is there. Only small ones are kept: a large one is better shared by all when it comes, and
//! would fill memory until then. A helper whom a server lets wait holds up nobody: what is shown before is shown, and
//! read by others.

mod hand;
#[cfg(test)]
mod tests;

use hand::Common;
pub use hand::{Hand, Wanted};

use crate::batch::{Batch, Entry};
use crate::lock::Mutex;
use crate::needs::Kind;
use crate::path::below;
use crate::sort::Collate;
use crate::stat::policy::Policy;
use crate::stat::{Means, Mode, Report};
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::hint;
use core::mem;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use dents_sys::{AsFd, CWD, Errno, Result, dir, futex, statfs};

/// Entries of a directory that is small: 50 KiB with all that is known of them.
const SMALL: usize = 512;

/// The same where each answer is a round trip: of the entries of a larger one many are better asked about at once.
const SMALL_AND_FAR: usize = 32;

/// Threads where each answer is a round trip.
const FAR: usize = 32;

/// With fewer than these it is not worth a thread: 30 µs to start, against some 10 to 30 µs for each directory.
pub const WORTH: usize = 16;

/// What that is in entries: a directory is 10 to 30 µs of work, an entry 2 µs.
const FEW: usize = WORTH * 16;

/// With so many known, all cores are worth their threads; with fewer, two do.
const MANY: usize = 64;

/// As many are kept until it is their turn: some milliseconds of work, some megabytes at most.
const KEPT: usize = 512;

/// With as many to read a helper is woken, which costs as much as reading one.
const WAKING: usize = 4;

/// How often to look before sleeping: some microseconds.
const SPINS: u32 = 300;

/// A directory that is to be listed, now or later.
pub struct Directory {
    path: CString,
    state: Mutex<State>,
}

enum State {
    Unread,
    /// Somebody reads it, or it is listed already.
    Taken,
    Found(Ahead),
}

/// What became of a directory that was read ahead.
pub enum Ahead {
    /// It cannot be opened.
    Closed(Errno),
    /// It was read.
    Small(Box<Small>),
    /// It is large, or there was no descriptor left to open it: to be read when it is needed.
    Later,
}

/// All of a small directory.
pub struct Small {
    /// Its device and inode.
    pub identity: Result<((u32, u32), u64)>,
    /// Its entries, filled.
    pub batch: Batch,
    /// What filling them took.
    pub report: Report,
    /// What ended the reading, if not the end of the directory.
    pub ended: Result<()>,
    /// Its entries in their order; `None` if that is found out elsewhere.
    pub order: Option<Vec<u32>>,
    /// What is to be listed after it, in this order; `None` if that is found out elsewhere.
    pub below: Option<Vec<Arc<Directory>>>,
    /// As many of these as there are, so many directories are kept.
    kept: Option<Arc<()>>,
}

impl Directory {
    /// A directory nobody has read.
    #[must_use]
    pub fn new(path: CString) -> Arc<Directory> {
        Arc::new(Directory { path, state: Mutex::new(State::Unread) })
    }

    /// The subdirectories of a directory, among its entries in this order.
    #[must_use]
    pub fn all_below(path: &CStr, batch: &Batch, order: &[u32]) -> Vec<Arc<Directory>> {
        let entries = order.iter().map(|index| batch.entry(*index as usize));
        let below = |entry: Entry<'_>| CString::new(below(path.to_bytes(), entry.name())).ok();
        let is_below = |entry: &Entry<'_>| entry.kind() == Kind::Dir && !matches!(entry.name(), b"." | b"..");
        entries.filter(is_below).filter_map(below).map(Directory::new).collect()
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &CStr {
        &self.path
    }

    /// Whether it is the caller's to read now.
    fn claim(&self) -> bool {
        let mut state = self.state.lock();
        let unread = matches!(*state, State::Unread);
        if unread {
            *state = State::Taken;
        }
        unread
    }

    /// Whether it can be shown without waiting for anything.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        matches!(*self.state.lock(), State::Found(Ahead::Small(_) | Ahead::Closed(_)))
    }

    fn is_unread(&self) -> bool {
        matches!(*self.state.lock(), State::Unread)
    }
}

/// Who reads ahead.
#[derive(Clone, Copy)]
pub struct Crew {
    /// How many do so already, beside the one who shows.
    already: usize,
    /// Threads, the calling one among them.
    threads: usize,
    far: bool,
    /// Whether no more may come.
    complete: bool,
}

impl Crew {
    /// Whether there is anybody but the calling thread.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.threads > 1
    }

    /// Whether each answer is a round trip.
    #[must_use]
    pub fn is_far(&self) -> bool {
        self.far
    }
}

/// What those who read ahead share with the one who shows.
#[derive(Default)]
pub struct Lookahead {
    /// To be read, the next one on top. Some may have been read since.
    unread: Mutex<Vec<Arc<Directory>>>,
    /// What has been shown, to be used again: several threads that allocate get in each other's way.
    #[expect(clippy::vec_box, reason = "a box is handed round as it is")]
    shown: Mutex<Vec<Box<Small>>>,
    kept: Arc<()>,
    /// Changes when there is more to read, and room to keep it.
    more: AtomicU32,
    sleepers: AtomicU32,
    /// Changes when a directory was read.
    read: AtomicU32,
    /// Whether the one who shows sleeps until then.
    awaited: AtomicBool,
    done: AtomicBool,
}

impl Lookahead {
    /// Whether directories may be read ahead at all: by threads, and with nothing to note about each call.
    #[must_use]
    pub fn suits(means: &Means<'_>) -> bool {
        matches!(means.mode, Mode::Auto | Mode::Par) && means.ledger.is_none()
    }

    /// Who should help, if there is enough to do; until then nobody knows. Costs four system calls, and what it takes to
    /// count the cores.
    #[must_use]
    pub fn crew(&self, means: &Means<'_>) -> Option<Crew> {
        let next = {
            let unread = self.unread.lock();
            unread.last().filter(|_| unread.len() >= WORTH).cloned()?
        };
        let policy = policy_of_parent(&next.path);
        let far = policy.is_far();
        let threads = match means.threads.asked() {
            None if far => FAR.min(policy.most).min(means.threads.most_in_flight()),
            _ => means.threads.count_for(FEW),
        };
        let complete = far || means.threads.asked().is_some();
        Some(Crew { already: 0, threads, far, complete })
    }

    /// Who should come to help too, now that there is much to do: all cores, at most once.
    #[must_use]
    pub fn more(&self, crew: &mut Crew, means: &Means<'_>) -> Option<Crew> {
        if crew.complete || self.unread.lock().len() < MANY {
            return None;
        }
        crew.complete = true;
        let already = crew.threads - 1;
        let threads = means.threads.count().saturating_sub(already);
        (threads > 1).then_some(Crew { already, threads, ..*crew })
    }

    /// Directories that will be listed before those that were offered already, in this order.
    pub fn offer<'d>(&self, directories: impl DoubleEndedIterator<Item = &'d Arc<Directory>>) {
        let mut unread = self.unread.lock();
        unread.extend(directories.rev().cloned());
        let count = unread.len();
        drop(unread);
        if count >= WAKING {
            self.wake(count);
        }
    }

    /// Has all of the crew help and runs `own`, which takes all turns. `collate` where names are not compared by bytes.
    pub fn run(
        &self,
        crew: Crew,
        wanted: Wanted<'_>,
        means: &Means<'_>,
        collate: Option<&dyn Collate>,
        own: &mut dyn FnMut(&mut Hand<'_>),
    ) {
        let (common, threads) = (Common::of(means, crew.far), crew.threads);
        let collates: Vec<_> =
            (0..threads).map(|_| Mutex::new(collate.map(|collate| collate.fork()))).collect();
        let hand = |worker: usize| {
            let collate = collates.get(worker).and_then(|collate| collate.lock().take());
            Hand::new(wanted, common, collate, crew.already + worker)
        };
        let help = |worker: usize| {
            if worker > 0 {
                self.help(&mut hand(worker));
            }
        };
        common.workers.run_beside(threads, &help, &mut || {
            own(&mut hand(0));
            self.done.store(true, Ordering::Release);
            self.wake(usize::MAX);
        });
    }

    fn help(&self, hand: &mut Hand<'_>) {
        loop {
            // Before `done`, which is set before `more` changes for the last time: a helper that looked at `done` too early
            // then finds that `more` has changed, and does not sleep (tests/model.rs).
            let more = self.more.load(Ordering::Acquire);
            if self.done.load(Ordering::Acquire) {
                return;
            }
            match self.next() {
                Some(directory) => self.read(&directory, hand),
                None => self.sleep(more),
            }
        }
    }

    /// The next directory, now the caller's to read; none if there is none, or enough are kept.
    fn next(&self) -> Option<Arc<Directory>> {
        if Arc::strong_count(&self.kept) > KEPT {
            return None;
        }
        let mut unread = self.unread.lock();
        core::iter::from_fn(|| unread.pop()).find(|directory| directory.claim())
    }

    fn read(&self, directory: &Directory, hand: &mut Hand<'_>) {
        let spare = self.shown.lock().pop();
        let mut ahead = hand.read(directory, spare);
        if let Ahead::Small(small) = &mut ahead {
            small.kept = Some(Arc::clone(&self.kept));
            self.offer(small.below.iter().flatten());
        }
        *directory.state.lock() = State::Found(ahead);
        self.read.fetch_add(1, Ordering::SeqCst);
        if self.awaited.load(Ordering::SeqCst) {
            let _ = futex::wake(&self.read, u32::MAX);
        }
    }

    /// What was found of a directory whose turn it is; `None` if it is the caller's to read.
    pub fn take(&self, directory: &Directory, hand: &mut Hand<'_>) -> Option<Ahead> {
        loop {
            let mut state = directory.state.lock();
            let found = mem::replace(&mut *state, State::Taken);
            drop(state);
            match found {
                State::Found(mut ahead) => {
                    if let Ahead::Small(small) = &mut ahead {
                        small.kept = None;
                    }
                    self.make_room_known();
                    return Some(ahead);
                }
                State::Unread => {
                    self.forget_read();
                    return None;
                }
                // Far away the next one may hang, and what is awaited come.
                State::Taken => match if hand.is_far() { None } else { self.next() } {
                    Some(next) => self.read(&next, hand),
                    None => self.wait_for(directory),
                },
            }
        }
    }

    /// Something was taken off: somebody may wait for that.
    fn make_room_known(&self) {
        if self.sleepers.load(Ordering::Relaxed) > 0 && Arc::strong_count(&self.kept) < KEPT / 2 {
            let count = self.unread.lock().len();
            if count >= WAKING {
                self.wake(count);
            }
        }
    }

    /// The one who shows reads it, before there is anybody to help.
    pub fn take_alone(&self, directory: &Directory) {
        directory.claim();
        self.forget_read();
    }

    /// Takes off the top what was read by the one who shows, else it would pile up where nobody helps.
    fn forget_read(&self) {
        let mut unread = self.unread.lock();
        while unread.last().is_some_and(|directory| !directory.is_unread()) {
            unread.pop();
        }
    }

    /// What was shown, and is used again.
    pub fn give_back(&self, small: Box<Small>) {
        self.shown.lock().push(small);
    }

    /// Wakes no more than have something to do.
    fn wake(&self, count: usize) {
        self.more.fetch_add(1, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            let _ = futex::wake(&self.more, count.try_into().unwrap_or(u32::MAX));
        }
    }

    /// Until there is more than there was.
    fn sleep(&self, more: u32) {
        let is_more = || self.more.load(Ordering::SeqCst) != more;
        if !spin_until(is_more) {
            self.sleepers.fetch_add(1, Ordering::SeqCst);
            let _ = futex::wait(&self.more, more, None);
            self.sleepers.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Until somebody has read this directory.
    fn wait_for(&self, directory: &Directory) {
        let is_read = || !matches!(*directory.state.lock(), State::Taken);
        if !spin_until(is_read) {
            self.awaited.store(true, Ordering::SeqCst);
            let read = self.read.load(Ordering::SeqCst);
            if !is_read() {
                let _ = futex::wait(&self.read, read, None);
            }
            self.awaited.store(false, Ordering::SeqCst);
        }
    }
}

fn spin_until(done: impl Fn() -> bool) -> bool {
    (0..SPINS).any(|_| {
        hint::spin_loop();
        done()
    })
}

/// What is done on the file system of what contains a directory: four system calls.
fn policy_of_parent(path: &CStr) -> &'static Policy {
    let mut parent = path.to_bytes().to_vec();
    parent.truncate(memchr::memrchr(b'/', &parent).map_or(0, |slash| slash + 1));
    if parent.is_empty() {
        parent.push(b'.');
    }
    let parent = CString::new(parent).map_err(|_| Errno::INVAL).and_then(|parent| dir::hold(CWD, &parent));
    Policy::of(parent.and_then(|parent| statfs::of_mount(parent.as_fd())).ok())
}
