//! Lists until a deadline: entries without an answer by then are left out, and nothing waits for them.
//!
//! A request to a dead server may block its thread in the kernel, where no signal wakes it. So the thread that prints
//! makes no request. Two processes share their memory:
//!
//! ```text
//! the lister (Deadline)               the agent (agent.rs on growing: a head, workers as they are needed)
//!   wants a directory  ──► queue ──►  opens, reads, asks
//!   waits until the deadline          publishes the results
//!   takes what is there ◄── boards ◄─ (board.rs: names by the buffer, a slot for each answer)
//! ```
//!
//! - Every system call about a listed file is a task of its own, or belongs to a wide task that other workers
//!   continue. So nothing waits for a stuck worker: not the next entry, operand, or directory.
//! - No lock is held across a system call. A stuck worker whose call returns late writes to slots that the lister no
//!   longer reads.
//! - The lister never closes descriptors that the agent opened: tasks hold them, and only the agent uses tasks.
//!
//! Costs, beside the requests themselves: a process and a thread; a clock reading for every answer that is a round
//! trip, and for every 16 that come from memory; 96 bytes for each entry until the lister takes it.

mod agent;
mod board;

#[cfg(test)]
mod tests;

pub use board::{Board, Identity};

use crate::batch::Batch;
use crate::canonical::canonicalize;
use crate::lock::Mutex;
use crate::needs::{Kind, Needs, NeedsByKind};
use crate::owners::Getent;
use crate::read::Filter;
use crate::stat::request_counts::{RequestCounter, RequestCounts};
use crate::stat::{Dereference, Report, asks};
use crate::watchdog::Watch;
use agent::Task;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use board::{Buffer, Taken};
use core::ffi::CStr;
use dents_engine::growing::Growing;
use dents_engine::limit::Limit;
use dents_engine::limit::choose::{Choice, Strategy};
use dents_engine::limit::policy::Policy;
use dents_engine::order::queue::Queue;
use dents_engine::wait::Events;
use dents_sys::{Errno, Result, sched};

/// The error of an entry without an answer in time. Not `ETIMEDOUT`, which a client of a server may return.
pub const UNANSWERED: Errno = Errno::TIME;

/// Entries that are read and not taken; at this number prefetching stops.
const AHEAD: usize = 200_000;

/// Requests in flight at first: one worker reads names, one requests metadata.
const BEGIN: usize = 2;

/// Calls in flight where there is nothing else, stuck ones included.
const CALLS: usize = 64;

/// A process that may be abandoned, with its stuck threads.
pub trait Agent: Getent + Sync {
    /// Starts the process, which executes `job`. If it ends before this program, this program must end too: a lock that it held
    /// stays locked.
    ///
    /// # Errors
    /// Why it cannot be started.
    fn start(&self, job: Box<dyn FnOnce() + Send>) -> Result<()>;

    /// Starts another thread in that process. Called in that process.
    ///
    /// # Errors
    /// Why it cannot be started.
    fn thread(&self, job: Box<dyn FnOnce() + Send>) -> Result<()>;
}

/// What to list, and what to request about it.
pub struct Wanted {
    /// Needs of the entries of a directory.
    pub needs: NeedsByKind,
    /// Needs of the operands.
    pub operand_needs: NeedsByKind,
    /// Which links are followed.
    pub dereference: Dereference,
    /// Which names to keep.
    pub filter: Filter,
    /// Whether directories among the operands are listed.
    pub lists_operands: bool,
    /// Whether subdirectories are listed.
    pub recursive: bool,
    /// Whether values may be stale where that saves requests to a server.
    pub lazy: bool,
    /// Where requests in flight are shown.
    pub watch: Option<&'static Watch>,
    /// Whether to count requests by kind of entry.
    pub explains: bool,
    /// The policy to use instead of those of the file systems: it limits the requests in flight, without stuck ones.
    /// With `None` the policy of each file system is used, which is looked up where answers are round trips, or may be: two
    /// system calls for each directory, without a request to a server.
    pub policy: Option<&'static Policy>,
}

/// State that both processes share. Never freed: a stuck worker may still use it.
struct Shared {
    wanted: Wanted,
    /// The counts, if requested.
    counter: Option<RequestCounter>,
    agent: &'static dyn Agent,
    crew: Growing<Task>,
    /// Directories that were prefetched and not yet opened by the lister.
    boards: Mutex<BTreeMap<Vec<u8>, Arc<Board>>>,
    /// Notified when the lister may find something new.
    news: Events,
}

/// The result of opening a directory.
pub enum Opened {
    /// It is being read.
    Board(Arc<Board>),
    /// It cannot be opened.
    Failed(Errno),
    /// The deadline passed before it was opened.
    Late,
    /// The deadline passed before a worker began it.
    NotReached,
}

/// All or some entries of a directory.
pub struct Part {
    /// The entries, filled as far as they are answered. The others have the fault [`UNANSWERED`].
    pub batch: Batch,
    /// The requests.
    pub report: Report,
    /// Entries without all answers.
    pub unanswered: usize,
    /// How the directory ended, if it did in time.
    pub ended: Option<Result<()>>,
}

/// The lister's side. One for each run of the program.
pub struct Deadline {
    shared: &'static Shared,
    until_ns: u64,
    /// The later deadline for lookups that follow from the answers.
    late_ns: u64,
}

impl Deadline {
    /// Starts the agent for [calls](Deadline::calls) alone, which have deadlines of their own.
    ///
    /// # Errors
    /// Why there can be no agent.
    pub fn for_calls(agent: &'static dyn Agent) -> Result<Deadline> {
        let wanted = Wanted {
            needs: NeedsByKind::default(),
            operand_needs: NeedsByKind::default(),
            dereference: Dereference::Never,
            filter: Filter::default(),
            lists_operands: false,
            recursive: false,
            lazy: false,
            watch: None,
            explains: false,
            policy: None,
        };
        Deadline::start(agent, wanted, (u64::MAX, 0), (Some(1), CALLS))
    }

    /// Starts the agent. `until_ns` is the deadline on the clock of [`dents_sys::clock::monotonic_ns`]. Lookups that
    /// follow from the answers (names of owners, absolute paths) may take `grace_ns` more. At most `in_flight`
    /// requests are in flight at a time. If `threads` is set, at most this many workers that are not stuck make
    /// requests.
    ///
    /// # Errors
    /// Why there can be no agent.
    pub fn start(
        agent: &'static dyn Agent,
        mut wanted: Wanted,
        (until_ns, grace_ns): (u64, u64),
        (threads, in_flight): (Option<usize>, usize),
    ) -> Result<Deadline> {
        wanted.operand_needs |= NeedsByKind::all(Needs::TYPE);
        let most = in_flight.max(threads.unwrap_or(1));
        let limit = match threads {
            Some(threads) => Limit::counted(threads, most),
            None => Limit::unknown(BEGIN, most, 1),
        };
        wanted.policy.iter().for_each(|policy| limit.cap(policy.most));
        let shared: &'static Shared = Box::leak(Box::new(Shared {
            counter: wanted.explains.then(RequestCounter::default),
            wanted,
            agent,
            crew: Growing::new(limit, Queue::new(AHEAD)),
            boards: Mutex::default(),
            news: Events::new(),
        }));
        agent.start(Box::new(move || shared.lead()))?;
        Ok(Deadline { shared, until_ns, late_ns: until_ns.saturating_add(grace_ns) })
    }

    /// The counts so far, if requested. Stuck requests are not counted.
    #[must_use]
    pub fn counts(&self) -> Option<RequestCounts> {
        self.shared.counter.as_ref().map(RequestCounter::counts)
    }

    /// Waits until `ready` returns a value, or until the deadline.
    fn wait<T>(&self, until_ns: u64, ready: impl FnMut() -> Option<T>) -> Option<T> {
        self.shared.news.wait(0, Some(until_ns), ready)
    }

    /// Opens a directory, or takes it prefetched. `above` is its parent.
    #[must_use]
    pub fn open(&self, path: &CStr, follow: bool, above: Option<&Arc<Board>>) -> Opened {
        let crew = &self.shared.crew;
        let read_ahead = self.shared.boards.lock().remove(path.to_bytes());
        let board = if let Some(board) = read_ahead {
            crew.queue().hurry(|task| task.is_about(&board));
            board
        } else {
            let board = Board::new(path.to_bytes().to_vec(), above.cloned());
            crew.push(Task::Open { board: board.clone(), path: path.into(), follow });
            board
        };
        match self.wait(self.until_ns, || board.state().opened) {
            Some(Ok(_)) => Opened::Board(board),
            Some(Err(errno)) => Opened::Failed(errno),
            None if board.state().begun => Opened::Late,
            None => Opened::NotReached,
        }
    }

    /// All entries of a directory, or those read by the deadline.
    #[must_use]
    pub fn whole(&self, board: &Board) -> Part {
        board.state().awaited = true;
        self.shared.crew.release(0);
        let _ = self.wait(self.until_ns, || board.state().is_whole().then_some(()));
        let (buffers, ended) = board.state().take_all();
        self.part(&buffers, ended)
    }

    /// The next buffer of a directory, when all of its entries are answered or the deadline has passed. Empty at the end, or if
    /// no buffer came in time.
    #[must_use]
    pub fn next(&self, board: &Board) -> Part {
        let next = self.wait(self.until_ns, || {
            let next = board.state().next_whole();
            if next.is_none() {
                self.shared.crew.release(0);
            }
            next
        });
        let (buffer, ended) = next.unwrap_or_else(|| board.state().next());
        self.part(buffer.as_slice(), ended)
    }

    fn part(&self, buffers: &[Arc<Buffer>], ended: Option<Result<()>>) -> Part {
        let Wanted { needs, dereference, .. } = &self.shared.wanted;
        let follow = *dereference == Dereference::Always;
        self.take(buffers, needs, |kind| asks(needs, follow, kind), ended)
    }

    /// Takes the results of some entries. The entries that `asks` selects have slots.
    fn take(
        &self,
        buffers: &[Arc<Buffer>],
        needs: &NeedsByKind,
        asks: impl Fn(Kind) -> bool,
        ended: Option<Result<()>>,
    ) -> Part {
        self.shared.crew.release(buffers.iter().map(|buffer| buffer.names.len()).sum());
        let Taken { batch, tally, unanswered } = Taken::from_buffers(buffers, needs, asks);
        let choice = Choice {
            strategy: Strategy::Flight(self.shared.crew.limit().most()),
            reason: "there is a deadline: a stuck question delays no other",
        };
        let report = Report { tally, choice: (tally.stats > 0).then_some(choice), refused: None };
        let ended = batch.whole().err().map_or(ended, |errno| Some(Err(errno)));
        Part { report, batch, unanswered, ended }
    }

    /// Stats operands, like [`fill_operands`](crate::stat::fill_operands). Directories among them are being opened when this
    /// returns.
    #[must_use]
    pub fn operands(&self, names: &[&CStr]) -> Part {
        let mut batch = Batch::default();
        names.iter().for_each(|name| batch.push(name, Kind::Unknown, 0));
        let buffer = Arc::new(Buffer::new(batch, |_| true));
        self.shared.crew.queue().add(names.len());
        self.shared.crew.push(Task::AskOperands(buffer.clone()));
        let _ = self.wait(self.until_ns, || buffer.slots.is_complete().then_some(()));
        self.take(&[buffer], &self.shared.wanted.operand_needs, |_| true, Some(Ok(())))
    }

    /// The absolute paths of `names` relative to `base`, as [`canonicalize`] returns them; `None` without an answer.
    #[must_use]
    pub fn canonical(&self, base: &[u8], names: Vec<Vec<u8>>) -> Vec<Option<Vec<u8>>> {
        let base: Arc<[u8]> = base.into();
        self.calls(
            None,
            names.into_iter().map(|name| {
                let base = base.clone();
                move || canonicalize(&base, &name)
            }),
        )
    }

    /// The results of calls that may never return, each a task of its own; `None` for those without one when the later
    /// deadline has passed, or `until_ns` if that is earlier.
    #[must_use]
    pub fn calls<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
        &self,
        until_ns: Option<u64>,
        calls: impl Iterator<Item = F>,
    ) -> Vec<Option<T>> {
        let answers: Vec<_> = calls.map(|call| self.call(move |_| call())).collect();
        let until_ns = until_ns.map_or(self.late_ns, |until_ns| until_ns.min(self.late_ns));
        let _ = self.wait(until_ns, || answers.iter().all(|answer| answer.lock().is_some()).then_some(()));
        answers.iter().map(|answer| answer.lock().take()).collect()
    }

    /// Lets the agent execute a call. Its result is published through the returned slot.
    fn call<T: Send + 'static>(
        &self,
        what: impl FnOnce(&'static dyn Agent) -> T + Send + 'static,
    ) -> Arc<Mutex<Option<T>>> {
        let answer = Arc::new(Mutex::new(None));
        let (place, agent) = (answer.clone(), self.shared.agent);
        self.shared.crew.push(Task::Call(Box::new(move || {
            let found = what(agent);
            *place.lock() = Some(found);
        })));
        answer
    }
}

/// `getent` may contact a server too. An id without an answer in time has no name.
impl Getent for Deadline {
    fn getent(&self, database: &CStr, ids: &[u32]) -> Option<Vec<u8>> {
        let (database, ids): (CString, Vec<u32>) = (database.into(), ids.into());
        let call = self.call(move |agent| agent.getent(&database, &ids));
        self.wait(self.late_ns, || call.lock().take()).flatten()
    }
}

impl Shared {
    /// The loop of the agent's first thread.
    fn lead(&'static self) {
        let work = move |number| {
            self.crew.work(number, |worker, task| self.execute(worker, task));
        };
        self.crew
            .lead(sched::available_cores, |number| self.agent.thread(Box::new(move || work(number))).is_ok());
    }

    /// Prefetches a directory, unless the limit is reached.
    fn read_ahead(&self, path: Vec<u8>, above: Option<&Arc<Board>>) {
        if self.crew.queue().is_full() {
            return;
        }
        let Ok(c_path) = CString::new(path.clone()) else { return };
        let board = Board::new(path.clone(), above.cloned());
        self.boards.lock().insert(path, board.clone());
        self.crew.push_last(Task::Open { board, path: c_path, follow: true });
    }
}
