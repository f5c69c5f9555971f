//! Asking about the first names of a directory while the next are still being read.
//!
//! Reading is one thread's work at any moment, since a directory has one position; asking is everybody's. A worker
//! takes the next few names; if it sees that they run short, and nobody is reading, it reads one more buffer before
//! it goes on to ask. So no thread is a reader by profession, and none waits while there are names.

use super::par::{Piece, Scratch, Supply, Taking};
use crate::batch::{Batch, Names};
use crate::lock::{Mutex, MutexGuard};
use crate::read::{Filter, Stream};
use crate::watchdog::Watch;
use core::sync::atomic::{AtomicU32, Ordering};
use dents_sys::{BorrowedFd, Errno, futex};

/// A directory that has been read in part.
pub(crate) struct Unread<'a> {
    names: Mutex<State<'a>>,
    stream: Mutex<Stream<'a>>,
    filter: &'a Filter,
    watch: Option<&'static Watch>,
    /// Counts the buffers read: what those wait on who find nothing to do.
    reads: AtomicU32,
}

struct State<'a> {
    batch: &'a mut Batch,
    /// The first entry that nobody has taken.
    next: usize,
    ended: bool,
    failed: Option<Errno>,
}

impl<'a> Unread<'a> {
    /// None of its entries has been handed out.
    pub(crate) fn new(
        batch: &'a mut Batch,
        stream: Stream<'a>,
        filter: &'a Filter,
        watch: Option<&'static Watch>,
    ) -> Self {
        Unread {
            names: Mutex::new(State { batch, next: 0, ended: false, failed: None }),
            stream: Mutex::new(stream),
            filter,
            watch,
            reads: AtomicU32::new(0),
        }
    }

    /// What ended the reading before the directory's end, once all entries have been taken.
    pub(crate) fn failed(&self) -> Option<Errno> {
        self.names.lock().failed
    }

    /// One more buffer. Names are parsed aside, so that others can take some meanwhile.
    fn read(&self, mut stream: MutexGuard<'_, Stream<'_>>, dir: BorrowedFd<'_>) {
        let mut more = Batch::default();
        let answer = stream.read_by(dir, self.filter, &mut more);
        let read = more.len();
        let mut state = self.names.lock();
        state.batch.append_names(&mut more);
        state.ended = answer != Ok(true);
        state.failed = answer.err();
        drop(state);
        // Before the others are woken: a thread that finds no names and the stream still locked waits for the next change of
        // `reads`, which no thread may be left to make (tests/model.rs).
        drop(stream);
        self.watch.iter().for_each(|watch| watch.add_read(read));
        self.reads.fetch_add(1, Ordering::Release);
        let _ = futex::wake(&self.reads, u32::MAX);
    }

    fn take(&self, taking: &Taking<'_>, scratch: &mut Scratch) -> Taken {
        let mut state = self.names.lock();
        let State { batch, next, ended, .. } = &mut *state;
        let left = batch.len() - *next;
        let count = taking.step.min(left);
        if count == 0 {
            return if *ended { Taken::End } else { Taken::Nothing };
        }
        let dents = &batch.dents[*next..*next + count];
        // The arena moves when it grows, so the worker gets a copy: 2 KiB, about 0.1 µs.
        let (from, to) = (dents[0].span().0, dents[count - 1].span().1);
        scratch.dents.clear();
        scratch.dents.extend_from_slice(dents);
        scratch.names.clear();
        scratch.names.extend_from_slice(&batch.arena[from..to]);
        let start = *next;
        *next += count;
        Taken::Some { start, from, short: !*ended && left < taking.low }
    }

    /// Reads on, unless somebody does or there is nothing more. Whoever has `nothing` to do waits for that somebody.
    fn read_on(&self, dir: BorrowedFd<'_>, reads: u32, nothing: bool) {
        match self.stream.try_lock() {
            // Somebody may have read between our look and our turn: one buffer more does no harm.
            Some(stream) if !self.names.lock().ended => self.read(stream, dir),
            Some(_) => {}
            None if nothing => drop(futex::wait(&self.reads, reads, None)),
            None => {}
        }
    }
}

enum Taken {
    Some {
        start: usize,
        from: usize,
        short: bool,
    },
    /// For now.
    Nothing,
    End,
}

impl Supply for Unread<'_> {
    fn next<'p>(&'p self, taking: &Taking<'_>, scratch: &'p mut Scratch) -> Option<Piece<'p>> {
        let (start, from) = loop {
            let reads = self.reads.load(Ordering::Acquire);
            match self.take(taking, scratch) {
                Taken::Some { start, from, short } => {
                    if short {
                        self.read_on(taking.dir, reads, false);
                    }
                    break (start, from);
                }
                Taken::Nothing => self.read_on(taking.dir, reads, true),
                Taken::End => return None,
            }
        };
        Some(Piece { start, dents: &scratch.dents, names: Names { bytes: &scratch.names, from } })
    }

    fn has_more(&self) -> bool {
        let state = self.names.lock();
        state.next < state.batch.len() || !state.ended
    }
}
