//! How threads wait for each other, cut down to the steps that matter and executed in every order by `loom`.
//!
//! Two protocols, each as it is and as it once was: a lost wake-up shows only where a thread is interrupted between two
//! instructions, which no test of the code itself can force. The models follow the code step by step and name it; a
//! change there is made here first. Spinning before a wait is left out: it ends either way, and only then a thread sleeps.

use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};
use loom::sync::{Condvar, Mutex, MutexGuard};
use loom::thread;
// That of std: loom's would have a thread that finds a deadlock panic once more while it lets go.
use std::sync::Arc;

/// A word and those that sleep on it: `dents_sys::futex`. The kernel compares the word and puts the thread to sleep under
/// a lock that a wake takes too; both are full barriers (futex(2), kernel/futex/waitwake.c).
struct Futex {
    word: AtomicU32,
    queue: Mutex<()>,
    woken: Condvar,
}

impl Futex {
    fn new() -> Futex {
        Futex { word: AtomicU32::new(0), queue: Mutex::new(()), woken: Condvar::new() }
    }

    fn load(&self) -> u32 {
        self.word.load(Ordering::Acquire)
    }

    /// The word is increased, before a wake.
    fn add(&self) {
        self.word.fetch_add(1, Ordering::SeqCst);
        // loom takes SeqCst for AcqRel; the fence is what it stands for here: the next load comes later.
        fence(Ordering::SeqCst);
    }

    fn wait(&self, expected: u32) {
        fence(Ordering::SeqCst);
        let queue = self.queue.lock().unwrap();
        if self.load() == expected {
            drop(self.woken.wait(queue).unwrap());
        }
    }

    fn wake(&self) {
        let queue = self.queue.lock().unwrap();
        self.woken.notify_all();
        drop(queue);
    }
}

/// Executes a model in every order that takes at most three preemptions: more take minutes, and both faults need one.
fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// In which order a helper of `dents::ahead` looks at `done` and at `more`.
#[derive(Clone, Copy)]
enum Looks {
    MoreFirst,
    DoneFirst,
}

/// `dents::ahead::Lookahead`: a stack of directories, helpers that sleep while it is empty, one thread that shows.
struct Lookahead {
    unread: Mutex<u32>,
    found: AtomicUsize,
    more: Futex,
    sleepers: AtomicU32,
    read: Futex,
    awaited: AtomicBool,
    done: AtomicBool,
}

impl Lookahead {
    fn new() -> Lookahead {
        Lookahead {
            unread: Mutex::new(0),
            found: AtomicUsize::new(0),
            more: Futex::new(),
            sleepers: AtomicU32::new(0),
            read: Futex::new(),
            awaited: AtomicBool::new(false),
            done: AtomicBool::new(false),
        }
    }

    fn next(&self) -> bool {
        let mut unread = self.unread.lock().unwrap();
        let any = *unread > 0;
        *unread -= u32::from(any);
        any
    }

    fn offer(&self) {
        *self.unread.lock().unwrap() += 1;
        self.wake();
    }

    fn wake(&self) {
        self.more.add();
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            self.more.wake();
        }
    }

    fn sleep(&self, more: u32) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        self.more.wait(more);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    fn read(&self) {
        self.found.store(1, Ordering::Release);
        self.read.add();
        if self.awaited.load(Ordering::SeqCst) {
            self.read.wake();
        }
    }

    fn wait_for(&self) {
        self.awaited.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let read = self.read.load();
        if self.found.load(Ordering::Acquire) == 0 {
            self.read.wait(read);
        }
        self.awaited.store(false, Ordering::SeqCst);
    }

    fn help(&self, looks: Looks) {
        let is_done = || self.done.load(Ordering::Acquire);
        loop {
            let (done, more) = match looks {
                Looks::MoreFirst => {
                    let more = self.more.load();
                    (is_done(), more)
                }
                Looks::DoneFirst => (is_done(), self.more.load()),
            };
            if done {
                return;
            }
            match self.next() {
                true => self.read(),
                false => self.sleep(more),
            }
        }
    }

    /// The end of `Lookahead::run`.
    fn end(&self) {
        self.done.store(true, Ordering::Release);
        self.wake();
    }
}

/// One directory is offered, read by the helper or by the thread that shows, and that is all.
fn looks_ahead(looks: Looks) {
    explore(move || {
        let lookahead = Arc::new(Lookahead::new());
        let helper = {
            let lookahead = lookahead.clone();
            thread::spawn(move || lookahead.help(looks))
        };
        lookahead.offer();
        while lookahead.found.load(Ordering::Acquire) == 0 {
            match lookahead.next() {
                true => lookahead.read(),
                false => lookahead.wait_for(),
            }
        }
        lookahead.end();
        helper.join().unwrap();
    });
}

#[test]
fn helpers_of_a_lookahead_end() {
    looks_ahead(Looks::MoreFirst);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_helper_that_looks_at_done_first_may_sleep_for_ever() {
    looks_ahead(Looks::DoneFirst);
}

/// When a reader of `dents::stat::overlap` tells the others that there is more.
#[derive(Clone, Copy)]
enum Tells {
    Unlocked,
    Locked,
}

/// `dents::stat::overlap::Unread` of a directory whose next buffer has no names to show and whose last is empty, and the
/// limit that threads of `dents::stat::flight::Flight` wait at.
struct Unread {
    buffers: Mutex<u32>,
    ended: Mutex<bool>,
    reads: Futex,
    limit: Futex,
}

impl Unread {
    fn new() -> Unread {
        Unread { buffers: Mutex::new(2), ended: Mutex::new(false), reads: Futex::new(), limit: Futex::new() }
    }

    fn has_ended(&self) -> bool {
        *self.ended.lock().unwrap()
    }

    fn read(&self, mut stream: MutexGuard<'_, u32>, tells: Tells) {
        *stream -= 1;
        *self.ended.lock().unwrap() = *stream == 0;
        match tells {
            Tells::Unlocked => {
                drop(stream);
                self.reads.add();
                self.reads.wake();
            }
            Tells::Locked => {
                self.reads.add();
                self.reads.wake();
                drop(stream);
            }
        }
    }

    fn read_on(&self, reads: u32, nothing: bool, tells: Tells) {
        match self.buffers.try_lock() {
            Ok(stream) if !self.has_ended() => self.read(stream, tells),
            Ok(_) => {}
            Err(_) if nothing => self.reads.wait(reads),
            Err(_) => {}
        }
    }

    /// `Supply::next`, which answers that there are no more names.
    fn to_the_end(&self, tells: Tells) {
        loop {
            let reads = self.reads.load();
            if self.has_ended() {
                return;
            }
            self.read_on(reads, true, tells);
        }
    }
}

/// A thread sees that names run short and reads, then waits to be let in again, which it is when the other has found the
/// end: the number in flight was halved.
fn overlaps(tells: Tells) {
    explore(move || {
        let unread = Arc::new(Unread::new());
        let reader = {
            let unread = unread.clone();
            thread::spawn(move || {
                let reads = unread.reads.load();
                unread.read_on(reads, false, tells);
                unread.limit.wait(0);
            })
        };
        unread.to_the_end(tells);
        unread.limit.add();
        unread.limit.wake();
        reader.join().unwrap();
    });
}

#[test]
fn threads_that_read_and_ask_end() {
    overlaps(Tells::Unlocked);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_reader_that_tells_before_it_unlocks_may_leave_the_other_asleep() {
    overlaps(Tells::Locked);
}
