//! Listing until a deadline: what has not answered by then is left out, and nothing waits for it.
//!
//! A question to a dead server may keep its thread in the kernel beyond any signal, so the thread that prints asks none
//! here. Two processes share memory and nothing else:
//!
//! ```text
//! the lister (Deadline)               the agent (agent.rs on crew::growing: a head, workers as they are needed)
//!   wants a directory  ──► queue ──►  opens, reads, asks
//!   waits until the deadline          publishes what it learns
//!   takes what is there ◄── boards ◄─ (board.rs: names by the buffer, a slot for each answer)
//! ```
//!
//! - Every system call about a listed file is a task of its own, or one of a wide task that other workers go on with. So
//!   nothing waits behind a stuck worker: not the next entry, operand, or directory.
//! - No lock is held across a system call. A stuck worker that comes back late writes to slots that the lister has
//!   read for the last time.
//! - The lister never closes what the agent opened: descriptors are held by tasks, which only the agent touches.
//!
//! Costs, beside the questions themselves: a process and a thread; a clock reading for every answer that is a round trip, and for
//! every 16 that come from memory; 96 bytes for each entry until the lister takes it.

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
use crate::stat::ledger::{Account, Ledger};
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
use dents_engine::crew::growing::Growing;
use dents_engine::limit::Limit;
use dents_engine::limit::choose::{Choice, Strategy};
use dents_engine::limit::policy::Policy;
use dents_engine::order::queue::Queue;
use dents_engine::wait::Events;
use dents_sys::{Errno, Result, sched};

/// The error of an entry that did not answer in time. Not `ETIMEDOUT`, which a server's client may give by itself.
pub const UNANSWERED: Errno = Errno::TIME;

/// With so many entries read and not taken, no more are read ahead.
const AHEAD: usize = 200_000;

/// In flight before anything is known: one reads, one asks.
const BEGIN: usize = 2;

/// A process that may be abandoned, with all of its threads that are stuck.
pub trait Agent: Getent + Sync {
    /// Starts that process, which executes `job`. Should it end before this program does, this program must end too: a lock
    /// that the other process held stays locked.
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
    /// Where the questions in flight are shown.
    pub watch: Option<&'static Watch>,
    /// Whether it shall be noted what was asked of which kind of entry.
    pub explains: bool,
    /// Instead of the policies of the file systems: no more requests in flight than it says, stuck ones not counted. `None` for
    /// theirs, which are looked up where answers are round trips: two system calls for each directory, answered by the kernel alone.
    pub policy: Option<&'static Policy>,
}

/// What both processes share. Never freed: a stuck worker may come back to it.
struct Shared {
    wanted: Wanted,
    /// What was asked, if it shall be noted.
    ledger: Option<Ledger>,
    agent: &'static dyn Agent,
    crew: Growing<Task>,
    /// Of directories that were read ahead, and that the lister has not asked for.
    boards: Mutex<BTreeMap<Vec<u8>, Arc<Board>>>,
    /// What the lister may be waiting for.
    news: Events,
}

/// A directory that was asked for.
pub enum Opened {
    /// It is being read.
    Board(Arc<Board>),
    /// It cannot be opened.
    Failed(Errno),
    /// The time is up, and it has not answered.
    Late,
    /// The time is up, and no worker had come to it.
    NotReached,
}

/// Entries of a directory, all or some.
pub struct Part {
    /// The entries, filled as far as they have answered. The others have the fault [`UNANSWERED`].
    pub batch: Batch,
    /// What was asked.
    pub report: Report,
    /// Entries that did not answer, or not to all questions.
    pub unanswered: usize,
    /// How the directory ended, if it did in time.
    pub ended: Option<Result<()>>,
}

/// The lister's side: one for a program's run.
pub struct Deadline {
    shared: &'static Shared,
    until_ns: u64,
    /// Until when to wait for what follows from the answers.
    late_ns: u64,
}

impl Deadline {
    /// Starts the agent. `until_ns` is the deadline by [`dents_sys::clock::monotonic_ns`]; for what follows from the answers (names
    /// of owners, absolute paths) there may be `grace_ns` more. At most `in_flight` questions are unanswered at a
    /// time; of workers that are not stuck, `threads` if that number was named.
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
            ledger: wanted.explains.then(Ledger::default),
            wanted,
            agent,
            crew: Growing::new(limit, Queue::new(AHEAD)),
            boards: Mutex::default(),
            news: Events::new(),
        }));
        agent.start(Box::new(move || shared.lead()))?;
        Ok(Deadline { shared, until_ns, late_ns: until_ns.saturating_add(grace_ns) })
    }

    /// What has been noted so far, where that was wanted. Of stuck questions nothing is.
    #[must_use]
    pub fn account(&self) -> Option<Account> {
        self.shared.ledger.as_ref().map(Ledger::account)
    }

    /// Waits for what `ready` looks for, until the time is up.
    fn wait<T>(&self, until_ns: u64, ready: impl FnMut() -> Option<T>) -> Option<T> {
        self.shared.news.wait(0, Some(until_ns), ready)
    }

    /// Opens a directory, or finds it open. `above` is the one it was found in.
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

    /// All of a directory, or as much of it as there is when the time is up.
    #[must_use]
    pub fn whole(&self, board: &Board) -> Part {
        board.state().awaited = true;
        self.shared.crew.release(0);
        let _ = self.wait(self.until_ns, || board.state().is_whole().then_some(()));
        let (buffers, ended) = board.state().take_all();
        self.part(&buffers, ended)
    }

    /// The next buffer of a directory, once all of its entries have answered or the time is up. Without entries at the
    /// end, or where nothing more came in time.
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

    /// Takes what is known of some entries. Of those that `asks` selects there is a slot.
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

    /// Stats operands, as [`fill_operands`](crate::stat::fill_operands) does. Those that are directories are being
    /// opened already when this returns.
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
        let _ = self.wait(self.late_ns, || calls.iter().all(|call| call.lock().is_some()).then_some(()));
        calls.iter().map(|call| call.lock().take()).collect()
    }

    /// Has the agent do something. The answer appears where it says.
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

/// `getent` may ask a server too. What is not answered in time has no name.
impl Getent for Deadline {
    fn getent(&self, database: &CStr, ids: &[u32]) -> Option<Vec<u8>> {
        let (database, ids): (CString, Vec<u32>) = (database.into(), ids.into());
        let call = self.call(move |agent| agent.getent(&database, &ids));
        self.wait(self.late_ns, || call.lock().take()).flatten()
    }
}

impl Shared {
    /// The life of the agent's first thread.
    fn lead(&'static self) {
        let work = move |number| {
            self.crew.work(number, |worker, task| self.execute(worker, task));
        };
        self.crew
            .lead(sched::available_cores, |number| self.agent.thread(Box::new(move || work(number))).is_ok());
    }

    /// Opens a directory that will be wanted, unless enough has been read ahead.
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
