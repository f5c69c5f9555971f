//! Listing until a deadline: what has not answered by then is left out, and nothing waits for it.
//!
//! A question to a dead server may keep its thread in the kernel beyond any signal, so no question is asked here by
//! the thread that shows the answers. Two sides share one board and nothing else:
//!
//! ```text
//! the lister (Bounded)                 the agent (crew.rs: a head, and threads as they are needed)
//!   wants a directory  ──► queue ──►   opens, reads, asks (job.rs)
//!   waits, until the deadline          posts what it learns, piece by piece
//!   takes what is there ◄── sheets ◄── (sheet.rs: names of each buffer, a slot for each answer)
//! ```
//!
//! - Every system call about a listed file is a job of its own or one of a row that others go on with, so nothing
//!   waits behind what hangs: not the next entry, the next operand, or the next directory of a tree.
//! - Nobody holds a lock while it asks. What is written by a thread that hung and came back late goes to slots that
//!   the lister has looked at for the last time.
//! - The lister never closes what the agent opened: descriptors live in jobs, which only the agent touches.
//!
//! Costs, beside the questions themselves: a process and a thread, one clock reading an answer, 96 bytes an entry
//! until it is taken.

mod crew;
mod job;
mod sheet;

#[cfg(test)]
mod tests;

pub use sheet::{Identity, Sheet};

use crate::batch::Batch;
use crate::canonical::canonicalize;
use crate::lock::Mutex;
use crate::needs::{Kind, NeedsByKind};
use crate::owners::Getent;
use crate::path::below;
use crate::read::Filter;
use crate::stat::choose::{Choice, Strategy};
use crate::stat::ledger::{Account, Ledger};
use crate::stat::{Dereference, Report, Tally};
use crate::watchdog::Watch;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use crew::Crew;
use dents_sys::{Errno, Result, clock, futex};
use job::Job;
use sheet::{Leaf, Taken};

/// The error of an entry that did not answer in time. Not `ETIMEDOUT`, which a server's client may give by itself.
pub const UNANSWERED: Errno = Errno::TIME;

/// Entries read and asked that nobody has taken yet, from which on no more are read ahead.
const AHEAD: usize = 200_000;

/// Whoever can do things aside: in a process that may be left behind with whatever hangs in it.
pub trait Aside: Getent + Sync {
    /// Starts that process, which does `job`. Should it end before this program does, this program must end too: a lock that
    /// the other process held stays locked.
    ///
    /// # Errors
    /// Why it cannot be started.
    fn start(&self, job: Box<dyn FnOnce() + Send>) -> Result<()>;

    /// Starts one more thread in that process, from within.
    ///
    /// # Errors
    /// Why it cannot be started.
    fn thread(&self, job: Box<dyn FnOnce() + Send>) -> Result<()>;
}

/// What is wanted of the directories and operands.
pub struct Wanted {
    /// Of an entry of a directory, by type.
    pub needs: NeedsByKind,
    /// Of an operand.
    pub operand_needs: NeedsByKind,
    /// Which links are followed.
    pub dereference: Dereference,
    /// Which names of a directory.
    pub filter: Filter,
    /// Whether directories among the operands will be listed.
    pub lists_operands: bool,
    /// Whether what is below them will be.
    pub recursive: bool,
    /// Whether values may be stale where that spares requests to a server.
    pub lazy: bool,
    /// Who looks on.
    pub watch: Option<&'static Watch>,
    /// Whether it shall be noted what was asked of which kind of entry.
    pub explains: bool,
}

impl Wanted {
    fn follows(&self) -> bool {
        self.dereference == Dereference::Always
    }
}

/// What both sides share.
struct Board {
    wanted: Wanted,
    /// What was asked, if anybody wants to know.
    ledger: Option<Ledger>,
    aside: &'static dyn Aside,
    crew: Crew,
    queue: Mutex<VecDeque<Job>>,
    /// Directories to be read once what was read ahead has been taken.
    parked: Mutex<Vec<Job>>,
    /// Begun or to be begun, not yet asked for.
    sheets: Mutex<BTreeMap<Vec<u8>, Arc<Sheet>>>,
    /// Entries that nobody has taken yet.
    ahead: AtomicUsize,
    /// Counts what the lister may be waiting for.
    news: AtomicU32,
}

impl Board {
    /// Tells the lister to look again.
    fn tell(&self) {
        self.news.fetch_add(1, Ordering::Release);
        let _ = futex::wake(&self.news, u32::MAX);
    }

    /// Somebody shall do this next.
    fn push(&self, job: Job) {
        self.queue.lock().push_front(job);
        self.crew.call();
    }

    /// A sheet for a directory that will be wanted, unless enough has been read ahead.
    fn foresee(&self, path: Vec<u8>, above: Option<&Arc<Sheet>>) {
        if self.ahead.load(Ordering::Relaxed) >= AHEAD {
            return;
        }
        let Ok(c_path) = CString::new(path.clone()) else { return };
        let sheet = Arc::new(Sheet::new(path.clone(), above.cloned()));
        let job = Job::Open { sheet: sheet.clone(), path: c_path, follow: true };
        // After what is wanted already.
        self.queue.lock().push_back(job);
        self.sheets.lock().insert(path, sheet);
        self.crew.call();
    }

    /// What was put off is no longer.
    fn unpark(&self) {
        let parked = core::mem::take(&mut *self.parked.lock());
        parked.into_iter().for_each(|job| self.push(job));
    }
}

/// A directory that was asked for.
pub enum Opened {
    /// It is being read.
    Sheet(Arc<Sheet>),
    /// It cannot be opened.
    Failed(Errno),
    /// The time is up, and it has not answered.
    Hung,
    /// The time is up, and nobody had come to it.
    NotReached,
}

/// Entries of a directory, all or some.
pub struct Part {
    /// They, filled as far as they have answered. The others have the fault [`UNANSWERED`].
    pub batch: Batch,
    /// What was asked.
    pub report: Report,
    /// Entries that did not answer, or not to all questions.
    pub unanswered: usize,
    /// How the directory ended, if it did in time.
    pub ended: Option<Result<()>>,
}

/// The lister's side.
///
/// The board is never freed: whoever hangs may come back to it. So one of these for a program's run.
pub struct Bounded {
    board: &'static Board,
    until_ns: u64,
    grace_ns: u64,
}

impl Bounded {
    /// Starts the agent. `until_ns` is the deadline by [`clock::monotonic_ns`]; for what follows from the answers (names
    /// of owners, absolute paths) there may be `grace_ns` more. At most `in_flight` questions are unanswered at a
    /// time; beyond those that hang `threads` of them, if that number was named.
    ///
    /// # Errors
    /// Why there can be no agent.
    pub fn start(
        aside: &'static dyn Aside,
        wanted: Wanted,
        (until_ns, grace_ns): (u64, u64),
        (threads, in_flight): (Option<usize>, usize),
    ) -> Result<Bounded> {
        let ledger = wanted.explains.then(Ledger::default);
        let board: &'static Board = Box::leak(Box::new(Board {
            wanted,
            ledger,
            aside,
            crew: Crew::new(threads, in_flight),
            queue: Mutex::default(),
            parked: Mutex::default(),
            sheets: Mutex::default(),
            ahead: AtomicUsize::new(0),
            news: AtomicU32::new(0),
        }));
        aside.start(Box::new(move || crew::lead(board)))?;
        Ok(Bounded { board, until_ns, grace_ns })
    }

    /// What has been noted so far, where that was wanted. Of what hangs nothing is.
    #[must_use]
    pub fn account(&self) -> Option<Account> {
        self.board.ledger.as_ref().map(Ledger::account)
    }

    /// Whether the time is up.
    #[must_use]
    pub fn is_over(&self) -> bool {
        clock::monotonic_ns() >= self.until_ns
    }

    /// Waits for what `ready` looks for, until the time is up.
    fn wait<T>(&self, until_ns: u64, mut ready: impl FnMut() -> Option<T>) -> Option<T> {
        loop {
            let seen = self.board.news.load(Ordering::Acquire);
            if let Some(found) = ready() {
                return Some(found);
            }
            let now = clock::monotonic_ns();
            if now >= until_ns {
                return None;
            }
            let _ = futex::wait(&self.board.news, seen, Some(until_ns - now));
        }
    }

    /// Opens a directory, or finds it open. `above` is the one it was found in.
    #[must_use]
    pub fn open(&self, path: &CStr, follow: bool, above: Option<&Arc<Sheet>>) -> Opened {
        let board = self.board;
        let foreseen = board.sheets.lock().remove(path.to_bytes());
        let sheet = foreseen.unwrap_or_else(|| {
            let sheet = Arc::new(Sheet::new(path.to_bytes().to_vec(), above.cloned()));
            board.push(Job::Open { sheet: sheet.clone(), path: path.into(), follow });
            sheet
        });
        board.hurry(&sheet);
        match self.wait(self.until_ns, || sheet.opened()) {
            Some(Ok(())) => Opened::Sheet(sheet),
            Some(Err(errno)) => Opened::Failed(errno),
            None if sheet.is_begun() => Opened::Hung,
            None => Opened::NotReached,
        }
    }

    /// All of a directory, or as much of it as there is when the time is up.
    #[must_use]
    pub fn whole(&self, sheet: &Sheet) -> Part {
        sheet.want();
        self.board.unpark();
        let _ = self.wait(self.until_ns, || sheet.is_whole().then_some(()));
        let (leaves, ended) = sheet.take_all();
        self.taken(&leaves);
        let mut taken = Taken::new(&self.board.wanted.needs);
        leaves.iter().for_each(|leaf| taken.names(leaf));
        taken.place(&self.board.wanted);
        leaves.iter().take(taken.named).for_each(|leaf| taken.answers(leaf));
        self.part(taken, ended)
    }

    /// The next buffer of a directory, once all of its entries have answered or the time is up. Without entries at the
    /// end, or where nothing more came in time.
    #[must_use]
    pub fn next(&self, sheet: &Sheet) -> Part {
        let next = self.wait(self.until_ns, || {
            let next = sheet.next_whole();
            if next.is_none() {
                self.board.unpark();
            }
            next
        });
        let (leaf, ended) = next.unwrap_or_else(|| sheet.next_as_it_is());
        self.taken(leaf.as_slice());
        let mut taken = Taken::new(&self.board.wanted.needs);
        if let Some(leaf) = &leaf {
            taken.names(leaf);
            taken.place(&self.board.wanted);
            taken.answers(leaf);
        }
        self.part(taken, ended)
    }

    fn taken(&self, leaves: &[Arc<Leaf>]) {
        let entries = leaves.iter().map(|leaf| leaf.names.len()).sum();
        self.board.ahead.fetch_sub(entries, Ordering::Relaxed);
    }

    fn part(&self, taken: Taken, ended: Option<Result<()>>) -> Part {
        let (batch, tally, unanswered) = taken.into_batch();
        let ended = batch.whole().err().map_or(ended, |errno| Some(Err(errno)));
        Part { report: self.report(tally), batch, unanswered, ended }
    }

    fn report(&self, tally: Tally) -> Report {
        let choice = Choice {
            strategy: Strategy::Flight(self.board.crew.most()),
            reason: "there is a deadline: what hangs holds up nobody",
        };
        Report { tally, choice: (tally.stats > 0).then_some(choice), refused: None }
    }

    /// Stats operands, as [`fill_operands`](crate::stat::fill_operands) does. Those that are directories are being
    /// opened already when this returns.
    #[must_use]
    pub fn operands(&self, names: &[&CStr]) -> Part {
        let mut batch = Batch::default();
        names.iter().for_each(|name| batch.push(name, Kind::Unknown, 0));
        let leaf = Arc::new(Leaf::new(batch, |_| true));
        self.board.ahead.fetch_add(names.len(), Ordering::Relaxed);
        self.board.push(Job::AskOperands(leaf.clone()));
        let _ = self.wait(self.until_ns, || leaf.is_answered().then_some(()));
        self.taken(core::slice::from_ref(&leaf));
        let mut taken = Taken::new(&job::operand_needs(&self.board.wanted));
        taken.names(&leaf);
        taken.place_all();
        taken.answers(&leaf);
        self.part(taken, Some(Ok(())))
    }

    /// The absolute paths of `names` seen from `base`, as [`canonicalize`] has them; none for what did not answer.
    #[must_use]
    pub fn canonical(&self, base: &[u8], names: Vec<Vec<u8>>) -> Vec<Option<Vec<u8>>> {
        let base: Arc<[u8]> = base.into();
        let calls: Vec<_> = names
            .into_iter()
            .map(|name| {
                let base = base.clone();
                self.call(move |_| canonicalize(&base, &name))
            })
            .collect();
        let _ = self.wait(self.until_ns.saturating_add(self.grace_ns), || {
            calls.iter().all(|call| call.lock().is_some()).then_some(())
        });
        calls.iter().map(|call| call.lock().take()).collect()
    }

    /// Has something done aside. The answer appears where it says.
    fn call<T: Send + 'static>(
        &self,
        what: impl FnOnce(&'static dyn Aside) -> T + Send + 'static,
    ) -> Arc<Mutex<Option<T>>> {
        let answer = Arc::new(Mutex::new(None));
        let (place, aside) = (answer.clone(), self.board.aside);
        self.board.push(Job::Call(Box::new(move || {
            let found = what(aside);
            *place.lock() = Some(found);
        })));
        answer
    }
}

/// `getent` may ask a server too. In time, or nobody has a name.
impl Getent for Bounded {
    fn getent(&self, database: &CStr, ids: &[u32]) -> Option<Vec<u8>> {
        let (database, ids): (CString, Vec<u32>) = (database.into(), ids.into());
        let call = self.call(move |aside| aside.getent(&database, &ids));
        self.wait(self.until_ns.saturating_add(self.grace_ns), || call.lock().take()).flatten()
    }
}
