//! A pool of threads, and a descriptor that is readable while results wait: for event loops.
//!
//! ```text
//! scandir, readdirx, next ─► queue ─► threads ─► done ─► Port::drain, called by the loop when the eventfd is readable
//! ```
//!
//! Threads start as requests wait, and end when they are idle for a while. An idle thread waits for an event of
//! [`dents_engine::wait`], whose models also hold for this queue under a lock: a thread that adds a request notifies
//! afterwards, and a thread that waits looks at the queue again after it has registered as a waiter.

use crate::os;
use crate::scan::{self, Batch, Stream, lock};
use dents::Threads;
use dents_arrow::{Failure, Next};
use dents_core::batch::Entry;
use dents_core::scandir::{self, Listing, Options, Readdir, Scan};
use dents_engine::wait::{Events, SPINS};
use dents_sys::{AsFd, AsRawFd, CWD, Errno, OwnedFd, dir, event};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::collections::{HashSet, VecDeque};
use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Requests that are executed at once.
const THREADS: usize = 32;
/// How long a thread waits for a request before it ends.
const IDLE_NS: u64 = 5_000_000_000;

enum Request {
    Scandir(CString, usize),
    Readdirx(CString, Readdir),
    Next(scan::Shared),
}

enum Outcome {
    Scan(Box<Scan>),
    Listing(Box<Listing>),
    Next(Next),
    Failed(Errno),
    Wrong(Failure),
    Panicked,
}

impl Request {
    fn execute(&self) -> Outcome {
        match self {
            Request::Scandir(path, max_requests) => {
                let workers: Option<&dyn dents_core::stat::Workers> = Some(&Threads);
                let options = Options { max_requests: *max_requests, workers, ..Options::default() };
                let scan = scandir::scandir(path, &options);
                scan.map_or_else(Outcome::Failed, |scan| Outcome::Scan(Box::new(scan)))
            }
            Request::Readdirx(path, flags) => {
                let listing = dir::open(CWD, path).and_then(|dir| scandir::readdirx(dir.as_fd(), *flags));
                listing.map_or_else(Outcome::Failed, |listing| Outcome::Listing(Box::new(listing)))
            }
            Request::Next(stream) => loop {
                let next = match &mut *lock(stream) {
                    Some(stream) => stream.next_within(Duration::from_millis(100)),
                    None => Ok(Next::End),
                };
                match next {
                    Ok(Next::Waiting) => {}
                    Ok(next) => break Outcome::Next(next),
                    Err(failure) => break Outcome::Wrong(failure),
                }
            },
        }
    }
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(u64, Request)>,
    /// Requests whose results are not wanted any more.
    cancelled: HashSet<u64>,
    running: HashSet<u64>,
    done: VecDeque<(u64, Outcome)>,
    threads: usize,
    closed: bool,
}

/// What a thread does next.
enum Step {
    Execute(u64, Request),
    Return,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Notified when a request waits, and at the end.
    arrived: Events,
    event: OwnedFd,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of a thread.
    fn work(&self) {
        while let Step::Execute(id, request) = self.next() {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| request.execute()));
            let mut queue = self.lock();
            queue.running.remove(&id);
            if !queue.cancelled.remove(&id) {
                queue.done.push_back((id, outcome.unwrap_or(Outcome::Panicked)));
                let _ = event::set(self.event.as_fd());
            }
        }
    }

    /// The next request, for which an idle thread waits [`IDLE_NS`].
    fn next(&self) -> Step {
        let deadline_ns = Some(dents_sys::clock::monotonic_ns().saturating_add(IDLE_NS));
        let step = self.arrived.wait(SPINS, deadline_ns, || self.lock().next());
        step.unwrap_or_else(|| {
            let mut queue = self.lock();
            // A request may have come after the deadline, when this thread was counted as free.
            queue.next().unwrap_or_else(|| queue.leave())
        })
    }
}

impl Queue {
    fn next(&mut self) -> Option<Step> {
        if let Some((id, request)) = self.waiting.pop_front() {
            self.running.insert(id);
            return Some(Step::Execute(id, request));
        }
        self.closed.then(|| self.leave())
    }

    fn leave(&mut self) -> Step {
        self.threads -= 1;
        Step::Return
    }

    /// Whether the threads that execute nothing are enough for those that wait.
    fn has_enough_threads(&self) -> bool {
        self.threads == THREADS || self.threads - self.running.len() >= self.waiting.len()
    }
}

/// A result that becomes Python objects, some at a time.
struct Conversion {
    id: u64,
    outcome: Outcome,
    lists: [Py<PyList>; 2],
    next: usize,
}

/// Requests of one event loop.
#[pyclass(frozen, module = "dents")]
pub(crate) struct Port {
    shared: ManuallyDrop<Arc<Shared>>,
    next: Mutex<u64>,
    converting: Mutex<Option<Conversion>>,
    generation: u32,
}

/// A finished request: its number, the error or None, the result.
type Finished = (u64, Option<Py<PyAny>>, Option<Py<PyAny>>);

#[pymethods]
impl Port {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Port> {
        let event = event::new().map_err(|errno| os::error(py, errno, None))?;
        let shared = Arc::new(Shared { queue: Mutex::default(), arrived: Events::default(), event });
        Ok(Port {
            shared: ManuallyDrop::new(shared),
            next: Mutex::new(0),
            converting: Mutex::new(None),
            generation: os::generation(),
        })
    }

    /// The descriptor to poll: readable while results wait.
    fn fileno(&self) -> i32 {
        self.shared.event.as_raw_fd()
    }

    fn scandir(&self, py: Python<'_>, path: &Bound<'_, PyAny>, max_requests: usize) -> PyResult<u64> {
        if max_requests == 0 {
            return Err(PyValueError::new_err("max_requests must be at least 1"));
        }
        let path = os::path(path)?.path;
        self.submit(py, Request::Scandir(path, max_requests.min(256)))
    }

    fn readdirx(&self, py: Python<'_>, path: &Bound<'_, PyAny>, flags: u8) -> PyResult<u64> {
        let known = Readdir::all().difference(Readdir::FOUND_UNKNOWN);
        let flags = Readdir::from_bits(flags).filter(|flags| known.contains(*flags));
        let flags = flags.ok_or_else(|| PyValueError::new_err("unknown flags"))?;
        self.submit(py, Request::Readdirx(os::path(path)?.path, flags))
    }

    fn next_batch(&self, py: Python<'_>, stream: &Stream) -> PyResult<u64> {
        self.submit(py, Request::Next(Arc::clone(&stream.stream)))
    }

    /// The result of this request is not wanted any more. A request that has begun ends by itself.
    fn cancel(&self, py: Python<'_>, id: u64) {
        py.detach(|| {
            let mut queue = self.shared.lock();
            queue.waiting.retain(|(one, _)| *one != id);
            queue.done.retain(|(one, _)| *one != id);
            if queue.running.contains(&id) {
                queue.cancelled.insert(id);
            }
        });
    }

    /// The requests that have finished, after at most `count` names and some more than `seconds`. What is left is for the next call: the descriptor
    /// stays readable. `as_bytes` tells of a request whether its names are bytes.
    fn drain<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seconds: f64,
        as_bytes: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Finished>> {
        let deadline = Instant::now() + Duration::from_secs_f64(seconds);
        let (mut left, mut finished) = (count, Vec::new());
        loop {
            let conversion = self.converting.lock().unwrap_or_else(PoisonError::into_inner).take();
            let conversion = conversion.map_or_else(|| self.begin(py), |one| Ok(Some(one)))?;
            let Some(mut conversion) = conversion else { return Ok(finished) };
            let whole = conversion.go_on(py, &mut left, deadline, as_bytes)?;
            if whole {
                finished.push(conversion.finish(py)?);
            } else {
                *self.converting.lock().unwrap_or_else(PoisonError::into_inner) = Some(conversion);
            }
            if left == 0 || Instant::now() >= deadline {
                return Ok(finished);
            }
        }
    }
}

impl Port {
    fn submit(&self, py: Python<'_>, request: Request) -> PyResult<u64> {
        if self.generation != os::generation() {
            return Err(PyRuntimeError::new_err("this event loop belongs to the parent process"));
        }
        let id = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            *next += 1;
            *next
        };
        py.detach(|| {
            let mut queue = self.shared.lock();
            queue.waiting.push_back((id, request));
            if queue.has_enough_threads() {
                drop(queue);
                self.shared.arrived.notify(1);
                return Ok(id);
            }
            let shared = Arc::clone(&self.shared);
            let thread =
                std::thread::Builder::new().name("dents-aio".to_owned()).spawn(move || shared.work());
            match thread {
                Ok(_) => queue.threads += 1,
                // The others execute it.
                Err(_) if queue.threads > 0 => {}
                Err(error) => {
                    queue.waiting.retain(|(one, _)| *one != id);
                    return Err(error.into());
                }
            }
            Ok(id)
        })
    }

    /// The next result, to be converted. Without one the descriptor is made unreadable.
    fn begin(&self, py: Python<'_>) -> PyResult<Option<Conversion>> {
        let next = py.detach(|| {
            let mut queue = self.shared.lock();
            if queue.done.is_empty() {
                let _ = event::reset(self.shared.event.as_fd());
            }
            queue.done.pop_front()
        });
        let lists = [PyList::empty(py).unbind(), PyList::empty(py).unbind()];
        Ok(next.map(|(id, outcome)| Conversion { id, outcome, lists, next: 0 }))
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        if self.generation != os::generation() {
            // The threads are the parent's, which may have held the lock at the fork: the memory is left as it is.
            return;
        }
        let mut queue = self.shared.lock();
        queue.closed = true;
        queue.waiting.clear();
        drop(queue);
        self.shared.arrived.notify_all();
        // SAFETY: it is dropped here alone, once.
        unsafe { ManuallyDrop::drop(&mut self.shared) };
    }
}

impl Conversion {
    /// Converts some names. Returns whether all are converted.
    fn go_on(
        &mut self,
        py: Python<'_>,
        left: &mut usize,
        deadline: Instant,
        as_bytes: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let lists = [self.lists[0].bind(py), self.lists[1].bind(py)];
        if !matches!(self.outcome, Outcome::Scan(_) | Outcome::Listing(_)) {
            *left = left.saturating_sub(1);
            return Ok(true);
        }
        let as_bytes: bool = as_bytes.call1((self.id,))?.extract()?;
        let name = |entry: &Entry<'_>| os::name(py, entry.name(), as_bytes);
        let from = self.next;
        let mut room = || {
            let may = *left > 0 && (!left.is_multiple_of(64) || Instant::now() < deadline);
            *left -= usize::from(may);
            may
        };
        match &self.outcome {
            Outcome::Scan(scan) => {
                // Those of unknown type vanished, or cannot be asked.
                let all = scan.directories().len() + scan.others().len();
                let tagged = scan.directories().map(|one| (0, one)).chain(scan.others().map(|one| (1, one)));
                for (list, entry) in tagged.skip(from) {
                    if !room() {
                        break;
                    }
                    lists[list].append(name(&entry)?)?;
                    self.next += 1;
                }
                Ok(self.next == all)
            }
            Outcome::Listing(listing) => {
                for index in listing.order.iter().skip(from) {
                    if !room() {
                        break;
                    }
                    let entry = listing.batch.entry(*index as usize);
                    lists[0].append((name(&entry)?, entry.d_kind() as u8, entry.d_ino()))?;
                    self.next += 1;
                }
                Ok(self.next == listing.order.len())
            }
            _ => Ok(true),
        }
    }

    fn finish(self, py: Python<'_>) -> PyResult<Finished> {
        let [first, second] = self.lists;
        let done = |result: Bound<'_, PyAny>| (self.id, None, Some(result.unbind()));
        let failed = |errno: i32, text: Option<String>| -> PyResult<Finished> {
            let error = (errno, text).into_pyobject(py)?.into_any().unbind();
            Ok((self.id, Some(error), None))
        };
        match self.outcome {
            Outcome::Scan(_) => Ok(done((first, second).into_pyobject(py)?.into_any())),
            Outcome::Listing(listing) => {
                Ok(done((first, listing.flags.bits()).into_pyobject(py)?.into_any()))
            }
            Outcome::Next(Next::Batch(batch)) => Ok(done(Bound::new(py, Batch(batch))?.into_any())),
            Outcome::Next(_) => Ok(done(py.None().into_bound(py))),
            Outcome::Failed(errno) => failed(errno.raw_os_error(), None),
            Outcome::Wrong(failure) => failed(0, Some(failure.text)),
            Outcome::Panicked => failed(0, Some("dents panicked: please report this".to_owned())),
        }
    }
}
