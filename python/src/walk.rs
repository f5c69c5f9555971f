//! `walk`: directories in the order of `os.walk`, read ahead by threads of their own.
//!
//! ```text
//! threads   read directories in the order in which they will be yielded ─► Turns
//! Walk      takes each in its turn, or reads it itself; compares dirnames with what it gave out ─► stack
//! ```
//!
//! A directory is read ahead before the caller has seen its parent, so directories that the caller prunes may have been read: at most [`AHEAD`]
//! results wait at any time. A pruned directory and all below it leave the queue at once.
//!
//! A directory may change after it was read ahead. So in the directory's turn `Walk` requests its times again, and
//! reads it again if they changed: then the caller gets what `os.walk` would return. A change within the same tick of
//! the file system's clock, of some milliseconds, may go unseen. Where an answer is a round trip, `Walk` does not
//! request the times again: it would wait for each directory as if nothing were read ahead.

use crate::os;
use dents::Threads;
use dents_core::batch::{Batch, Entry};
use dents_core::needs::{Kind, Needs, NeedsByKind};
use dents_core::read::{Filter, Hidden, Reader};
use dents_core::stat::policy::Policy;
use dents_core::stat::{self, Asking, Mode, Resources, Threads as Count};
use dents_engine::order::turns::{Item, Turn, Turns};
use dents_sys::stat::{Flags, Mask, Statx};
use dents_sys::{CWD, Errno};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::collections::HashMap;
use std::ffi::CString;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Results that wait for their turn: some milliseconds of work, some megabytes.
const AHEAD: usize = 512;
/// Names of a directory that is read ahead; a larger one is read in its turn, because results would fill memory.
const LARGE: usize = 16_384;
/// Directories that are worth starting threads for.
const WORTH: usize = 16;
/// Threads where each answer is a round trip.
const FAR: usize = 32;
/// How long a wait lasts before signals are looked at.
const PATIENCE_NS: u64 = 50_000_000;

/// A directory to read.
struct Directory {
    path: CString,
    /// Whether it is entered through a symbolic link.
    follow: bool,
}

type Task = Arc<Item<Directory, Found>>;

/// The result of reading a directory.
enum Found {
    Read(Box<Listing>),
    Failed(Errno),
    /// A symbolic link, which is not followed.
    Link,
    /// Too large to be kept: it is read in its turn.
    Later,
}

/// How a directory shows that it has changed: device, inode number, times of the contents and of the inode.
type Stamp = ((u32, u32), u64, [(i64, u32); 2]);

const STAMP: Mask = Mask::INO.union(Mask::MTIME).union(Mask::CTIME);

fn stamp(statx: &Statx) -> Stamp {
    (statx.dev(), statx.ino(), [statx.mtime(), statx.ctime()].map(|time| (time.sec, time.nsec)))
}

/// The entries of a directory.
struct Listing {
    /// From before it was read ahead.
    stamp: Option<Stamp>,
    batch: Batch,
    /// The entries that are directories, or links to them.
    directories: Vec<u32>,
    /// One for each of `directories` that is entered, in this order.
    below: Vec<Task>,
}

/// What the threads and the caller share.
struct Shared {
    turns: Turns<Directory, Found>,
    follow: bool,
    /// Whether each answer is a round trip.
    far: AtomicBool,
}

fn below(found: &Found) -> &[Task] {
    if let Found::Read(listing) = found { &listing.below } else { &[] }
}

impl Shared {
    /// Reads a directory with at most this many entries.
    fn read(&self, directory: &Directory, buffer: &mut Vec<u8>, most: usize) -> Found {
        let reader = match Reader::open(CWD, &directory.path, directory.follow) {
            Ok(reader) => reader,
            Err(Errno::NOTDIR | Errno::LOOP) if !directory.follow && is_link(&directory.path) => {
                return Found::Link;
            }
            // Where descriptors run out, the caller's turn may still find one.
            Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM) if most != usize::MAX => return Found::Later,
            Err(errno) => return Found::Failed(errno),
        };
        let mut reader = reader.with_buffer(mem::take(buffer));
        let found = self.read_open(directory, &mut reader, most);
        *buffer = reader.into_parts().1;
        found
    }

    /// Whether a directory that was read ahead is still what it was: one `statx`, unless it is far.
    fn is_current(&self, directory: &Directory, listing: &Listing) -> bool {
        let Some(before) = listing.stamp else { return true };
        let flags = if directory.follow { Flags::empty() } else { Flags::NOFOLLOW };
        let now = dents_sys::stat::statx(CWD, &directory.path, flags | Flags::NO_AUTOMOUNT, STAMP);
        now.is_ok_and(|now| stamp(&now) == before)
    }

    fn read_open(&self, directory: &Directory, reader: &mut Reader, most: usize) -> Found {
        let is_ahead = most != usize::MAX && !self.far.load(Relaxed);
        let before = is_ahead.then(|| dents_sys::stat::fstat(reader.dir(), STAMP)).and_then(Result::ok);
        let filter = Filter { hidden: Hidden::AlmostAll, ..Filter::default() };
        let needs = NeedsByKind::all(Needs::TYPE);
        let mut batch = Batch::new(needs);
        loop {
            match reader.read(&filter, &mut batch) {
                Ok(true) if batch.len() > most => return Found::Later,
                Ok(true) => {}
                Ok(false) => break,
                Err(errno) => return Found::Failed(errno),
            }
        }
        // The types of the targets of links, and of entries that have none: without them nothing is asked.
        let count = Count::new(Some(1));
        let (mode, workers) = (Mode::Auto, &Threads);
        let resources = Resources {
            mode,
            threads: &count,
            workers,
            mounts: None,
            rings: None,
            lazy: false,
            counter: None,
        };
        stat::fill(&mut batch, reader.dir(), &Asking { needs: &needs, follow: true, resources: &resources });
        let mut listing =
            Listing { stamp: before.as_ref().map(stamp), batch, directories: Vec::new(), below: Vec::new() };
        let batch = &listing.batch;
        for entry in batch.iter().filter(|entry| entry.kind() == Kind::Dir) {
            listing.directories.push(entry.index() as u32);
            listing.below.extend(self.task(&directory.path, &entry));
        }
        Found::Read(Box::new(listing))
    }

    /// The task of a subdirectory. Links are left to the caller's turn, when they may be something else.
    fn task(&self, parent: &CString, entry: &Entry<'_>) -> Option<Task> {
        (self.follow || entry.d_kind() != Kind::Link).then(|| self.task_of(parent, entry.name()))
    }

    fn task_of(&self, parent: &CString, name: &[u8]) -> Task {
        let path = join(parent.to_bytes(), name);
        Item::new(Directory { path: CString::new(path).unwrap_or_default(), follow: self.follow })
    }
}

fn is_link(path: &CString) -> bool {
    let statx = dents_sys::stat::statx(CWD, path, Flags::NOFOLLOW | Flags::NO_AUTOMOUNT, Mask::TYPE);
    statx.is_ok_and(|statx| Kind::from_mode(statx.mode() as u16) == Kind::Link)
}

/// `os.path.join`.
fn join(parent: &[u8], name: &[u8]) -> Vec<u8> {
    if name.starts_with(b"/") {
        return name.to_vec();
    }
    let slash: &[u8] = if parent.is_empty() || parent.ends_with(b"/") { b"" } else { b"/" };
    [parent, slash, name].concat()
}

/// What was yielded last: the caller may have changed dirnames.
struct Yielded {
    path: CString,
    names: Py<PyList>,
    listing: Box<Listing>,
}

enum Frame {
    /// A directory that is to be read.
    Enter(Task),
    /// A directory whose subdirectories have been yielded.
    Leave(CString, Box<Listing>),
}

struct State {
    stack: Vec<Frame>,
    yielded: Option<Yielded>,
    shared: Arc<Shared>,
    /// Whether threads were started, or are not worth it.
    started: bool,
    generation: u32,
    buffer: Vec<u8>,
    /// Pruned directories that a thread was reading when they were pruned.
    late: Vec<Task>,
}

/// The iterator of dents.walk.
#[pyclass(frozen, module = "dents")]
pub(crate) struct Walk {
    topdown: bool,
    as_bytes: bool,
    onerror: Option<Py<PyAny>>,
    state: Mutex<Option<State>>,
}

#[pymethods]
impl Walk {
    #[new]
    fn new(
        top: &Bound<'_, PyAny>,
        topdown: bool,
        onerror: Option<Py<PyAny>>,
        followlinks: bool,
    ) -> PyResult<Walk> {
        let given = os::path(top)?;
        let shared =
            Arc::new(Shared { turns: Turns::new(AHEAD), follow: followlinks, far: AtomicBool::new(false) });
        let first = Item::new(Directory { path: given.path, follow: true });
        let state = State {
            stack: vec![Frame::Enter(first)],
            yielded: None,
            shared,
            started: false,
            generation: os::generation(),
            buffer: Vec::new(),
            late: Vec::new(),
        };
        let as_bytes = given.as_bytes;
        Ok(Walk { topdown, as_bytes, onerror, state: Mutex::new(Some(state)) })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        // Taken out while it is used: a second thread, or `onerror`, finds a walk that has ended, as it would find a generator that runs.
        let Some(mut state) = self.lock().take() else { return Ok(None) };
        if state.generation != os::generation() {
            state = state.after_fork();
        }
        let step = self.step(py, &mut state);
        match step {
            Ok(Some(_)) => *self.lock() = Some(state),
            _ => state.end(),
        }
        step
    }

    /// Ends the walk: nothing more is yielded.
    fn close(&self) {
        drop(self.lock().take());
    }
}

impl Walk {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn step<'py>(&self, py: Python<'py>, state: &mut State) -> PyResult<Option<Bound<'py, PyTuple>>> {
        if let Some(yielded) = state.yielded.take() {
            state.enter_those_that_remain(py, yielded)?;
        }
        loop {
            let task = match state.stack.pop() {
                None => return Ok(None),
                Some(Frame::Leave(path, listing)) => return self.triple(py, state, path, listing).map(Some),
                Some(Frame::Enter(task)) => task,
            };
            let path = task.payload().path.clone();
            match state.read(py, &task)? {
                Found::Read(listing) if self.topdown => {
                    return self.triple(py, state, path, listing).map(Some);
                }
                Found::Read(mut listing) => {
                    let below = mem::take(&mut listing.below);
                    state.stack.push(Frame::Leave(path, listing));
                    state.stack.extend(below.into_iter().rev().map(Frame::Enter));
                }
                Found::Failed(errno) => {
                    if let Some(onerror) = &self.onerror {
                        let error = os::error(py, errno, Some(&self.path(py, &path)?));
                        onerror.call1(py, (error.into_value(py),))?;
                    }
                }
                Found::Link | Found::Later => {}
            }
        }
    }

    /// The path as the caller's type of string; the first is what the caller gave.
    fn path<'py>(&self, py: Python<'py>, path: &CString) -> PyResult<Bound<'py, PyAny>> {
        os::name(py, path.to_bytes(), self.as_bytes)
    }

    fn triple<'py>(
        &self,
        py: Python<'py>,
        state: &mut State,
        path: CString,
        listing: Box<Listing>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (dirs, others) = (PyList::empty(py), PyList::empty(py));
        let mut next = listing.directories.iter().peekable();
        for entry in listing.batch.iter() {
            let name = os::name(py, entry.name(), self.as_bytes)?;
            let is_directory = next.next_if(|index| **index as usize == entry.index()).is_some();
            if is_directory { dirs.append(name)? } else { others.append(name)? }
        }
        let triple = (self.path(py, &path)?, &dirs, others).into_pyobject(py)?;
        if self.topdown {
            state.yielded = Some(Yielded { path, names: dirs.unbind(), listing });
        }
        Ok(triple)
    }
}

impl State {
    /// A walk whose threads do not exist in this process. Its memory is left as it was at the fork: locks may be held.
    fn after_fork(mut self) -> State {
        let shared = Arc::new(Shared {
            turns: Turns::new(AHEAD),
            follow: self.shared.follow,
            far: AtomicBool::new(false),
        });
        let fresh = |task: Task| {
            let Directory { path, follow } = task.payload();
            let fresh = Item::new(Directory { path: path.clone(), follow: *follow });
            mem::forget(task);
            fresh
        };
        for frame in &mut self.stack {
            if let Frame::Enter(task) = frame {
                let old =
                    mem::replace(task, Item::new(Directory { path: CString::default(), follow: false }));
                *task = fresh(old);
            }
        }
        if let Some(yielded) = &mut self.yielded {
            yielded.listing.below = mem::take(&mut yielded.listing.below).into_iter().map(fresh).collect();
        }
        mem::forget(mem::take(&mut self.late));
        mem::forget(mem::replace(&mut self.shared, shared));
        self.generation = os::generation();
        self.started = false;
        self
    }

    /// No thread has anything to do any more.
    fn end(&self) {
        if self.generation == os::generation() {
            self.shared.turns.end();
        }
    }

    /// The result of a directory in its turn.
    fn read(&mut self, py: Python<'_>, task: &Task) -> PyResult<Found> {
        self.start(py, &task.payload().path);
        let mut stale = Vec::new();
        let (shared, buffer) = (&self.shared, &mut self.buffer);
        let mut take = |py: Python<'_>, is_found: bool| {
            let mut act = || match shared.turns.take(task, Some(PATIENCE_NS)) {
                Turn::Found(Found::Later) => Some(shared.read(task.payload(), buffer, usize::MAX)),
                Turn::Found(Found::Read(listing)) if !shared.is_current(task.payload(), &listing) => {
                    stale.extend(listing.below);
                    let found = shared.read(task.payload(), buffer, usize::MAX);
                    shared.turns.offer(below(&found).iter());
                    Some(found)
                }
                Turn::Found(found) => Some(found),
                Turn::Yours => {
                    let found = shared.read(task.payload(), buffer, usize::MAX);
                    shared.turns.offer(below(&found).iter());
                    Some(found)
                }
                Turn::Late => None,
            };
            if is_found { act() } else { py.detach(act) }
        };
        let found = loop {
            match take(py, task.is_found()) {
                Some(found) => break found,
                None => py.check_signals()?,
            }
        };
        if !stale.is_empty() {
            self.prune(&stale, &[]);
        }
        Ok(found)
    }

    /// Starts threads once enough directories wait.
    fn start(&mut self, py: Python<'_>, path: &CString) {
        if self.started || self.shared.turns.next_unread().0 < WORTH {
            return;
        }
        self.started = true;
        let count = py.detach(|| {
            let fs = dents_sys::dir::hold(CWD, path)
                .and_then(|held| dents_sys::statfs::of_mount(dents_sys::AsFd::as_fd(&held)));
            let policy = Policy::of(fs.ok());
            self.shared.far.store(policy.is_far(), Relaxed);
            if policy.is_far() { FAR.min(policy.most) } else { policy.cores(Count::default().count()) }
        });
        for _ in 0..count {
            let shared = Arc::clone(&self.shared);
            let work = move || {
                let mut buffer = Vec::new();
                shared.turns.work(|directory| shared.read(directory, &mut buffer, LARGE), below);
            };
            // Where no thread can be started, the caller reads each directory in its turn.
            let _ = std::thread::Builder::new().name("dents-walk".to_owned()).spawn(work);
        }
    }

    /// Puts the directories whose names remain in dirnames on the stack, in the order of dirnames.
    fn enter_those_that_remain(&mut self, py: Python<'_>, yielded: Yielded) -> PyResult<()> {
        let Yielded { path, names, mut listing } = yielded;
        let names = names.bind(py);
        let tasks = mem::take(&mut listing.below);
        let mut known = tasks.iter().peekable();
        let (mut wanted, mut by_name) = (Vec::with_capacity(names.len()), None);
        let name_of = |task: &Task| last_part(task.payload().path.to_bytes()).to_vec();
        for name in names.iter() {
            let name = os::encoded(&name)?;
            // Mostly unchanged: the next is the next.
            if let Some(task) = known.next_if(|task| last_part(task.payload().path.to_bytes()) == name) {
                wanted.push(Arc::clone(task));
                continue;
            }
            let by_name = by_name.get_or_insert_with(|| {
                tasks.iter().map(|task| (name_of(task), task)).collect::<HashMap<_, _>>()
            });
            wanted.push(by_name.remove(&name).cloned().unwrap_or_else(|| self.shared.task_of(&path, &name)));
        }
        let is_unchanged = wanted.len() == tasks.len() && by_name.is_none();
        if !is_unchanged {
            self.prune(&tasks, &wanted);
            self.shared.turns.offer(wanted.iter());
        }
        self.stack.extend(wanted.into_iter().rev().map(Frame::Enter));
        Ok(())
    }

    /// Takes those tasks that are not wanted, and what was found below them, out of the queue.
    fn prune(&mut self, tasks: &[Task], wanted: &[Task]) {
        let wanted: std::collections::HashSet<_> = wanted.iter().map(Arc::as_ptr).collect();
        let mut pruned: Vec<Task> = mem::take(&mut self.late);
        pruned.extend(tasks.iter().filter(|task| !wanted.contains(&Arc::as_ptr(task))).cloned());
        while let Some(task) = pruned.pop() {
            match self.shared.turns.take(&task, Some(0)) {
                Turn::Found(found) => pruned.extend(below(&found).iter().cloned()),
                Turn::Yours => {}
                Turn::Late => self.late.push(task),
            }
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.end();
    }
}

fn last_part(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}
