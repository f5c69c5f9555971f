//! Threads that walks share.

use crate::ahead::Ahead;
use crate::jobs::Jobs;
use crate::outbox::lock;
use crate::search::Search;
use dents_sys::sched;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// After this time without a job a thread ends.
const IDLE: Duration = Duration::from_secs(1);

/// The pool of the process with this number: a child that `fork` made has none of the threads.
static SHARED: Mutex<Option<(u32, Pool)>> = Mutex::new(None);

/// Threads that walks by entries share. All walks of a process share one pool, unless [`Walk::pool`](crate::Walk::pool) gives them
/// another one.
///
/// - **Threads** are started when a walk needs them, and end after a second without work. To make a pool costs nothing. However many walks
///   are open, a pool has at most the threads that [`Pool::new`] says; that of the process as many as the walk that uses most: one for
///   each core, up to 256 where each answer is a round trip to a server, or what [`Walk::threads`](crate::Walk::threads) says.
/// - **Turns**: a walk whose entries are not taken leaves its threads to others after two milliseconds. It then costs no thread, the entries that
///   were read ahead (2,048, or as many as were taken before, at most 65,536; some 100 bytes each), and one descriptor for each directory
///   that is half read. If other walks wait, a walk leaves its threads after some milliseconds.
/// - **No walk waits for another one.** If no thread is free, for example because a server does not answer, a walk continues on the thread that
///   iterates over it.
///
/// ```
/// use dents::{Pool, Walk};
///
/// # fn main() -> Result<(), dents::Error> {
/// let pool = Pool::new(2);
/// // All these walks are open at a time, and have two threads together.
/// let mut walks: Vec<_> = (0..100).map(|_| Walk::new("src").pool(&pool).into_iter()).collect();
/// for walk in &mut walks {
///     println!("{}", walk.next().expect("the root")?.path().display());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    jobs: Jobs<Job>,
    /// `None` for as many as one walk may use.
    most: Option<usize>,
    /// The most threads for walks that do not know yet how many they use.
    begin: usize,
}

/// What a thread of a pool does.
pub(crate) enum Job {
    Lead(Arc<Search>),
    Help(Arc<Search>),
    ReadAhead(Arc<Ahead>),
}

impl Pool {
    /// A pool of at most so many threads, at least one.
    #[must_use]
    pub fn new(threads: usize) -> Pool {
        Pool::with(Some(threads.max(1)))
    }

    /// The pool of the process: as many threads as one of its walks may use.
    pub(crate) fn shared() -> Pool {
        let (mut shared, process) = (lock(&SHARED), std::process::id());
        match &*shared {
            Some((number, pool)) if *number == process => pool.clone(),
            _ => shared.insert((process, Pool::with(None))).1.clone(),
        }
    }

    fn with(most: Option<usize>) -> Pool {
        let begin = most.unwrap_or_else(sched::available_cores);
        Pool(Arc::new(Inner { jobs: Jobs::new(), most, begin }))
    }

    /// The most workers of a walk that would use `threads`, or chooses.
    pub(crate) fn workers(&self, threads: Option<usize>) -> Option<usize> {
        match (threads, self.0.most) {
            (Some(threads), Some(most)) => Some(threads.min(most)),
            (threads, _) => threads,
        }
    }

    /// Queues a walk that may use `threads`. Returns whether a thread is free for it.
    pub(crate) fn submit(&self, search: &Arc<Search>, threads: Option<usize>) -> bool {
        let job = Job::Lead(Arc::clone(search));
        let most = self.0.most.or(threads).unwrap_or(self.0.begin);
        self.0.jobs.submit(job, most, &|| self.start())
    }

    /// Takes a walk out of the queue. Returns whether it was there.
    pub(crate) fn withdraw(&self, search: &Arc<Search>) -> bool {
        self.0.jobs.withdraw(|job| matches!(job, Job::Lead(one) if Arc::ptr_eq(one, search)))
    }

    /// Gives a walk up to so many threads more, as far as some are free.
    pub(crate) fn call_helpers(&self, search: &Arc<Search>, helpers: usize) {
        let most = self.0.most.unwrap_or(helpers + 1);
        let offer = |_: &usize| self.0.jobs.offer(Job::Help(Arc::clone(search)), most, &|| self.start());
        let _ = (0..helpers).take_while(offer).count();
    }

    /// Gives a sorted walk one thread more, if one is free; it has up to so many. Returns whether one was.
    pub(crate) fn call_ahead(&self, ahead: &Arc<Ahead>, threads: usize) -> bool {
        let most = self.0.most.unwrap_or(threads);
        self.0.jobs.offer(Job::ReadAhead(Arc::clone(ahead)), most, &|| self.start())
    }

    /// Whether a walk waits for a thread.
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.jobs.has_waiting()
    }

    /// Starts a thread, if that is possible.
    fn start(&self) -> bool {
        let pool = Arc::clone(&self.0);
        let run = |job| match job {
            Job::Lead(search) => search.begin(),
            Job::Help(search) => search.help(),
            Job::ReadAhead(ahead) => ahead.help(),
        };
        Builder::new().name("dents".to_owned()).spawn(move || pool.jobs.work(run, wait)).is_ok()
    }
}

/// Waits for a change, and tells whether none came for so long that the thread should end.
fn wait<'g, T>(changed: &Condvar, state: MutexGuard<'g, T>) -> (MutexGuard<'g, T>, bool) {
    let (state, timeout) = changed.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
    (state, timeout.timed_out())
}

impl fmt::Debug for Pool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Pool").field("threads", &self.0.most).finish_non_exhaustive()
    }
}
