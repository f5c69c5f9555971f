//! What is being asked at this moment, for somebody who looks on from another thread.
//!
//! The threads that ask write what they do on desks of their own; whoever looks on reads them. A thread that hangs does
//! nothing to show it: its desk just stays as it is. So looking on costs those who ask no clock: 10 ns an entry, and
//! nothing where nobody looks on.

use crate::lock::Mutex;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use dents_sys::sched;

/// Desks: the lister's, and those of 256 who ask and as many who help. Threads beyond these are not seen.
pub const DESKS: usize = 513;

/// How often a [`Lookout`] looks. What has been waited for from one look to the next holds up others for no longer.
pub const LOOK_NS: u64 = 30_000_000;

/// What a desk bears while names are read.
pub const READING: &[u8] = b"the names themselves";

/// Helpers at a time at most, those that hang among them.
const MOST_HANDS: u32 = 256;

/// Bytes of a name that are kept.
const KEPT: usize = 63;

/// The desks, and what is counted. All zero, so that a static one costs nothing while nobody uses it.
pub struct Watch {
    read: AtomicU64,
    answered: AtomicU64,
    /// Helpers that somebody could use.
    hands: AtomicU32,
    desks: [Desk; DESKS],
}

struct Desk {
    busy: AtomicBool,
    /// Counts what was begun.
    turn: AtomicU32,
    /// The thread that sits there, if it has said so.
    thread: AtomicU32,
    name: Mutex<Name>,
}

impl Desk {
    const fn free() -> Desk {
        let name = Mutex::new(Name { len: 0, bytes: [0; KEPT] });
        Desk { busy: AtomicBool::new(false), turn: AtomicU32::new(0), thread: AtomicU32::new(0), name }
    }
}

#[derive(Clone, Copy)]
struct Name {
    len: u8,
    bytes: [u8; KEPT],
}

/// A desk as it was found.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Counts what was begun there: while it stays the same, the same is waited for.
    pub turn: u32,
    name: [u8; KEPT],
    len: u8,
}

impl Seen {
    /// What is waited for: the beginning of its name.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name[..usize::from(self.len)]
    }
}

impl Watch {
    /// Nothing is being done.
    #[must_use]
    pub const fn new() -> Watch {
        Watch {
            read: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            hands: AtomicU32::new(0),
            desks: [const { Desk::free() }; DESKS],
        }
    }

    /// So many more names have been read.
    pub fn add_read(&self, count: usize) {
        self.read.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// So many more entries have answered, to somebody who has no desk.
    pub fn add_answered(&self, count: usize) {
        self.answered.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// So many helpers would be welcome, even if nothing hangs.
    pub(crate) fn want_hands(&self, hands: u32) {
        self.hands.store(hands, Ordering::Relaxed);
    }

    /// The calling thread takes a desk, and may be helped from now on: one system call.
    pub(crate) fn sit(&self, desk: usize) {
        if let Some(desk) = self.desks.get(desk) {
            desk.thread.store(sched::thread_id(), Ordering::Relaxed);
        }
    }

    /// A question about this file begins at a desk. Desk 0 is the lister's.
    pub fn begin(&self, desk: usize, name: &[u8]) {
        let Some(desk) = self.desks.get(desk) else { return };
        let len = name.len().min(KEPT);
        let mut kept = desk.name.lock();
        kept.len = len as u8;
        kept.bytes[..len].copy_from_slice(&name[..len]);
        drop(kept);
        desk.turn.fetch_add(1, Ordering::Relaxed);
        desk.busy.store(true, Ordering::Release);
    }

    /// What was begun there last is done. `answered` counts entries.
    pub fn end(&self, desk: usize, answered: u64) {
        self.answered.fetch_add(answered, Ordering::Relaxed);
        if let Some(desk) = self.desks.get(desk) {
            desk.busy.store(false, Ordering::Release);
        }
    }

    /// Names read, and entries that have answered.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.read.load(Ordering::Relaxed), self.answered.load(Ordering::Relaxed))
    }

    /// What is being done at a desk, if anything.
    #[must_use]
    pub fn look(&self, desk: usize) -> Option<Seen> {
        let desk = self.desks.get(desk)?;
        if !desk.busy.load(Ordering::Acquire) {
            return None;
        }
        let name = *desk.name.lock();
        Some(Seen { turn: desk.turn.load(Ordering::Relaxed), name: name.bytes, len: name.len })
    }
}

/// Sees who waits too long.
pub struct Lookout([u32; DESKS]);

impl Lookout {
    /// Nobody has been seen yet.
    #[must_use]
    pub fn new() -> Lookout {
        Lookout([0; DESKS])
    }

    /// Looks round; to be called every [`LOOK_NS`]. How many helpers there should be: for each desk where the same is
    /// waited for as at the last look two, those that hang themselves among them. So where many hang, the number that do
    /// not grows faster than by one at a time. Whoever waits for a core is none of them: more threads would only make it
    /// wait longer.
    ///
    /// Three system calls for each that seems to hang.
    pub fn look(&mut self, watch: &Watch) -> u32 {
        self.look_by(watch, sched::is_runnable)
    }

    fn look_by(&mut self, watch: &Watch, is_runnable: impl Fn(u32) -> bool) -> u32 {
        let mut stuck = 0;
        // The lister's own desk is left out: opening and reading a directory nobody can do in its stead.
        for (desk, last) in watch.desks.iter().zip(&mut self.0).skip(1) {
            let turn = desk.turn.load(Ordering::Relaxed);
            let busy = desk.busy.load(Ordering::Acquire);
            let thread = desk.thread.load(Ordering::Relaxed);
            let same = busy && turn == *last && thread != 0;
            stuck += u32::from(same && 2 * stuck < MOST_HANDS && !is_runnable(thread));
            *last = turn;
        }
        (2 * stuck + watch.hands.load(Ordering::Relaxed)).min(MOST_HANDS)
    }
}

impl Default for Lookout {
    fn default() -> Lookout {
        Lookout::new()
    }
}

impl Default for Watch {
    fn default() -> Watch {
        Watch::new()
    }
}

impl core::fmt::Debug for Watch {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "Watch{:?}", self.counts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::boxed::Box;

    #[test]
    fn what_is_begun_is_seen_until_it_ends() {
        let watch = Box::new(Watch::new());
        assert!(watch.look(3).is_none());
        watch.begin(3, b"slow");
        let seen = watch.look(3).unwrap();
        assert_eq!((seen.name(), seen.turn), (&b"slow"[..], 1));
        watch.end(3, 1);
        assert!(watch.look(3).is_none());
        watch.begin(3, &[b'x'; 300]);
        assert_eq!((watch.look(3).unwrap().name().len(), watch.look(3).unwrap().turn), (KEPT, 2));
        watch.begin(DESKS, b"nobody sees");
        watch.add_answered(2);
        assert_eq!(watch.counts(), (0, 3));
    }

    #[test]
    fn two_hands_for_each_that_is_stuck() {
        let (watch, mut lookout) = (Box::new(Watch::new()), Lookout::new());
        let mut look = || lookout.look_by(&watch, |_| false);
        watch.begin(0, b"reading");
        assert_eq!((look(), look()), (0, 0), "nobody can read in its stead");
        watch.begin(3, b"elsewhere");
        assert_eq!((look(), look()), (0, 0), "whoever does not sit there looks after itself");
        (1..DESKS).for_each(|desk| watch.sit(desk));
        watch.begin(3, b"slow");
        assert_eq!((look(), look()), (0, 2), "seen twice");
        watch.end(3, 1);
        watch.begin(3, b"next");
        watch.begin(4, b"hung");
        assert_eq!((look(), look()), (2, 4));
        watch.end(3, 1);
        watch.want_hands(32);
        assert_eq!(look(), 34);
        (5..DESKS).for_each(|desk| watch.begin(desk, b"hung"));
        assert_eq!((look(), look()), (34, MOST_HANDS));
        assert_eq!(Lookout(lookout.0).look_by(&watch, |_| true), 32, "all wait for a core");
    }
}
