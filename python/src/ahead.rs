//! A directory whose entries are stat'ed ahead of the caller.
//!
//! ```text
//! reader   buffers of names ─► Turns
//! threads  stat the entries of the next buffer, one thread for each further core
//! caller   takes each buffer in its turn and makes objects of it meanwhile; stats what no thread has begun
//! ```
//!
//! A small directory is stat'ed whole, and so is one on a server, where threads wait for answers: see [`stat::read`].

use crate::os;
use dents::Threads;
use dents_core::batch::Batch;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::read::{Filter, Reader};
use dents_core::stat::policy::Policy;
use dents_core::stat::{self, Asking, Mode, Resources, Threads as Count};
use dents_engine::order::turns::{Item, Turn, Turns};
use dents_sys::{AsFd, BorrowedFd, OwnedFd, Result, dir};
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What `os.stat_result` has; the rest is in the `Extra`.
const FACTS: Needs = Needs::TYPE
    .union(Needs::INODE)
    .union(Needs::MODE)
    .union(Needs::NLINK)
    .union(Needs::UID)
    .union(Needs::GID)
    .union(Needs::RDEV)
    .union(Needs::SIZE)
    .union(Needs::BLOCKS)
    .union(Needs::MTIME);

/// Entries that are worth starting threads for.
const LARGE: usize = 1_000;
/// A full first buffer has at least this many names.
const FULL: usize = 200;
/// How long names are read, and how long a wait lasts, before signals are looked at.
const PATIENCE: Duration = Duration::from_millis(20);

/// Names, and the same with their metadata.
type Part = Arc<Item<Batch, Batch>>;

struct Shared {
    turns: Turns<Batch, Batch>,
    dir: OwnedFd,
}

/// What was begun.
pub(crate) enum Begun {
    /// All entries, and how reading ended.
    Whole(Batch, Result<()>),
    Parts(Ahead),
}

/// The parts of a large directory.
pub(crate) struct Ahead {
    shared: ManuallyDrop<Arc<Shared>>,
    parts: VecDeque<Part>,
    /// The number of parts that the threads may take.
    offered: usize,
    /// How reading ended; None while names are left to read.
    ended: Option<Result<()>>,
    generation: u32,
}

/// Calls `act` with what asks for the metadata of entries on `count` threads.
fn asking<T>(count: &Count, act: impl FnOnce(&Asking<'_>) -> T) -> T {
    let needs = NeedsByKind::all(FACTS).with_extra();
    let resources = Resources {
        mode: Mode::Auto,
        threads: count,
        workers: &Threads,
        mounts: None,
        rings: None,
        lazy: false,
        counter: None,
    };
    act(&Asking { needs: &needs, follow: false, resources: &resources })
}

/// The metadata of these names, on the calling thread. The names stay: a process that is forked meanwhile needs them.
fn ask(dir: BorrowedFd<'_>, names: &Batch) -> Batch {
    let mut batch = names.clone();
    asking(&Count::new(Some(1)), |asking| stat::fill(&mut batch, dir, asking));
    batch
}

fn names() -> Batch {
    Batch::new(NeedsByKind::all(FACTS).with_extra())
}

/// Reads the first names, and begins to stat them.
pub(crate) fn begin(reader: &mut Reader, filter: &Filter) -> Begun {
    let mut first = names();
    let mut ended = reader.read(filter, &mut first);
    if ended == Ok(true) && first.len() >= FULL && !Policy::of(reader.fs()).is_far() {
        while ended == Ok(true) && first.len() < LARGE {
            ended = reader.read(filter, &mut first);
        }
        if ended == Ok(true)
            && let Ok(dir) = reader.dir().try_clone_to_owned()
        {
            return Begun::Parts(Ahead::new(first, dir, Policy::of(reader.fs())));
        }
    }
    let count = Count::default();
    let ended = asking(&count, |asking| {
        if ended != Ok(true) {
            stat::fill(&mut first, reader.dir(), asking);
            return ended.map(drop);
        }
        let progress = stat::read(&mut first, reader, filter, asking);
        stat::fill_read(progress, &mut first, reader, filter, asking).1
    });
    Begun::Whole(first, ended)
}

impl Ahead {
    fn new(first: Batch, dir: OwnedFd, policy: &Policy) -> Ahead {
        let first = Item::new(first);
        let shared = Arc::new(Shared { turns: Turns::new(usize::MAX), dir });
        shared.turns.offer([&first].into_iter());
        for _ in 1..policy.cores(Count::default().count()) {
            let shared = Arc::clone(&shared);
            // Where no thread can be started, the caller does all in its turns.
            let _ = std::thread::Builder::new().name("dents-stat".to_owned()).spawn(move || shared.work());
        }
        let parts = VecDeque::from([first]);
        let (shared, offered) = (ManuallyDrop::new(shared), parts.len());
        Ahead { shared, parts, offered, ended: None, generation: os::generation() }
    }

    /// Reads other names for a while. Returns whether all were read. They are offered when the threads have nothing more to
    /// do: those that are offered together are taken in the caller's order.
    pub(crate) fn read(&mut self, reader: &mut Reader, filter: &Filter) -> bool {
        let start = Instant::now();
        while self.ended.is_none() {
            let mut batch = names();
            let ended = reader.read(filter, &mut batch);
            if !batch.is_empty() {
                self.parts.push_back(Item::new(batch));
            }
            if ended != Ok(true) {
                self.ended = Some(ended.map(drop));
            }
            // After a fork the threads are the parent's, and locks may have been held.
            let is_own = self.generation == os::generation();
            if is_own && (self.ended.is_some() || self.shared.turns.next_unread().0 == 0) {
                self.shared.turns.offer(self.parts.range(self.offered..));
                self.offered = self.parts.len();
            }
            if start.elapsed() >= PATIENCE {
                break;
            }
        }
        self.ended.is_some()
    }

    /// The next entries; None if that takes long. Afterwards [`Ahead::ended`] tells whether they were the last.
    pub(crate) fn next(&mut self) -> Option<Batch> {
        let part = self.parts.front()?;
        let Shared { turns, dir } = &**self.shared;
        let ask = |names: &Batch| ask(dir.as_fd(), names);
        let batch = if self.generation == os::generation() {
            while turns.read_ahead(part, |_| true, ask, |_| &[]) {}
            match turns.take(part, Some(PATIENCE.as_nanos() as u64)) {
                Turn::Found(batch) => batch,
                Turn::Yours => ask(part.payload()),
                Turn::Late => return None,
            }
        } else {
            // The threads are the parent's, and locks may have been held at the fork.
            ask(part.payload())
        };
        self.parts.pop_front();
        Some(batch)
    }

    /// How reading ended, after the last part.
    pub(crate) fn ended(&self) -> Option<Result<()>> {
        if self.parts.is_empty() { self.ended } else { None }
    }
}

impl Shared {
    /// The loop of a thread. A descriptor of its own costs one `openat` and saves the cores a shared counter in each request.
    fn work(&self) {
        let own = dir::open_place(self.dir.as_fd(), c".");
        let dir = own.as_ref().map_or(self.dir.as_fd(), AsFd::as_fd);
        self.turns.work(|names| ask(dir, names), |_| &[]);
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // After a fork the memory is left as it was.
        if self.generation == os::generation() {
            self.shared.turns.end();
            // SAFETY: it is dropped here alone, once.
            unsafe { ManuallyDrop::drop(&mut self.shared) };
        }
    }
}
