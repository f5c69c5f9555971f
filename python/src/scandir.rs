//! `scandir`: one directory, a buffer of names at a time, or whole and stat'ed ahead.

use crate::ahead::{self, Ahead, Begun};
use crate::entry::{Block, DirEntry, Place};
use crate::os::{self, Argument};
use dents_core::batch::Batch;
use dents_core::needs::{Needs, NeedsByKind};
use dents_core::read::{Filter, Hidden, Reader};
use dents_sys::{BorrowedFd, CWD, dir};
use pyo3::exceptions::PyResourceWarning;
use pyo3::prelude::*;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};

/// scandir(path='.', *, stat=False)
/// --
///
/// The entries of a directory, as os.scandir: path is a str, bytes, PathLike or the descriptor of a directory.
///
/// With stat=True the first step of the iterator reads all names, and the metadata of all entries is read ahead on all cores without the
/// GIL; then DirEntry.stat() makes no system call, except that stat() of a symbolic link asks about its target when it is called.
#[pyfunction]
#[pyo3(signature = (path = None, *, stat = false))]
pub(crate) fn scandir(
    py: Python<'_>,
    path: Option<&Bound<'_, PyAny>>,
    stat: bool,
) -> PyResult<ScandirIterator> {
    let argument = os::argument(py, path, "scandir")?;
    os::audit_scandir(py, path)?;
    let (opened, place, object) = match argument {
        Argument::Path(given) => {
            let mut prefix = given.path.to_bytes().to_vec();
            if prefix.last().is_some_and(|last| *last != b'/') {
                prefix.push(b'/');
            }
            let place = Place { prefix, descriptor: None, as_bytes: given.as_bytes };
            (py.detach(|| dir::open(CWD, &given.path)), place, given.object)
        }
        Argument::Descriptor(fd) => {
            let place = Place { prefix: Vec::new(), descriptor: Some(fd), as_bytes: false };
            let object = fd.into_pyobject(py)?.into_any().unbind();
            if fd < 0 {
                return Err(os::error(py, dents_sys::Errno::BADF, Some(object.bind(py))));
            }
            // SAFETY: the descriptor is the caller's and is open during the call; if it is not, the kernel answers EBADF.
            let duplicate = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned();
            let duplicate = duplicate
                .map_err(|error| dents_sys::Errno::from_io_error(&error).unwrap_or(dents_sys::Errno::BADF));
            // The kernel keeps one position for both descriptors: begin at the first entry.
            let rewound = duplicate.and_then(|fd| dir::rewind(dents_sys::AsFd::as_fd(&fd)).map(|()| fd));
            (rewound, place, object)
        }
    };
    let reader = opened.map(Reader::new).map_err(|errno| os::error(py, errno, Some(object.bind(py))))?;
    let reader = reader.with_buffer(spare_buffer());
    let state = State { reader: Some(reader), ahead: None, block: None, next: 0, rest: Rest::More };
    Ok(ScandirIterator { place: Arc::new(place), object, stat, state: Mutex::new(state) })
}

/// The buffer of the last reader, for the next one: to allocate and to clear one takes longer than to read a small directory.
static SPARE: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// A larger buffer is freed.
const SMALL_BUFFER: usize = 64 * 1024;
/// A directory with fewer names in its first buffer is read to its end in one step.
const FEW: usize = 64;

fn spare_buffer() -> Vec<u8> {
    // In the child of a fork the lock may be held for ever.
    SPARE.try_lock().map_or_else(|_| Vec::new(), |mut spare| std::mem::take(&mut *spare))
}

fn keep_buffer(buffer: Vec<u8>) {
    if buffer.len() <= SMALL_BUFFER
        && let Ok(mut spare) = SPARE.try_lock()
    {
        *spare = buffer;
    }
}

/// What follows the entries of the block.
#[derive(Clone, Copy)]
enum Rest {
    More,
    Fails(dents_sys::Errno),
    Nothing,
}

struct State {
    /// None from the end on.
    reader: Option<Reader>,
    ahead: Option<Ahead>,
    block: Option<Arc<Block>>,
    next: usize,
    rest: Rest,
}

/// An iterator and context manager, as that of os.scandir.
#[pyclass(frozen, module = "dents")]
pub(crate) struct ScandirIterator {
    place: Arc<Place>,
    object: Py<PyAny>,
    stat: bool,
    state: Mutex<State>,
}

impl State {
    /// The next buffer, or everything. Nothing changes where that takes long.
    fn refill(&mut self, place: &Arc<Place>, stat: bool) {
        let Some(reader) = &mut self.reader else { return };
        let filter = Filter { hidden: Hidden::AlmostAll, ..Filter::default() };
        let (batch, ended) = match &mut self.ahead {
            Some(ahead) => {
                let Some(batch) = ahead.read(reader, &filter).then(|| ahead.next()).flatten() else { return };
                (batch, ahead.ended().map_or(Ok(true), |ended| ended.map(|()| false)))
            }
            None if stat => match ahead::begin(reader, &filter) {
                Begun::Whole(batch, ended) => (batch, ended.map(|()| false)),
                Begun::Parts(ahead) => {
                    self.ahead = Some(ahead);
                    return self.refill(place, stat);
                }
            },
            None => {
                let mut batch = Batch::new(NeedsByKind::all(Needs::TYPE));
                let mut ended = reader.read(&filter, &mut batch);
                if ended == Ok(true) && batch.len() < FEW {
                    ended = reader.read(&filter, &mut batch);
                }
                (batch, ended)
            }
        };
        self.rest = match ended {
            Ok(true) => Rest::More,
            Ok(false) => Rest::Nothing,
            Err(errno) => Rest::Fails(errno),
        };
        (self.block, self.next) = (Some(Arc::new(Block { place: Arc::clone(place), batch })), 0);
    }

    /// The position of a caller's descriptor is shared: the next reader begins at the first entry.
    fn close(&mut self, place: &Place) {
        if let (Some(reader), Some(_)) = (&self.reader, place.descriptor) {
            let _ = dir::rewind(reader.dir());
        }
        if let Some(reader) = self.reader.take() {
            keep_buffer(reader.into_parts().1);
        }
        (self.ahead, self.block, self.rest) = (None, None, Rest::Nothing);
    }

    fn take(&mut self) -> Option<DirEntry> {
        let block = self.block.as_ref()?;
        if self.next == block.batch.len() {
            return None;
        }
        self.next += 1;
        Some(DirEntry::new(block, self.next - 1))
    }
}

#[pymethods]
impl ScandirIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<DirEntry>> {
        loop {
            // The lock is never held while the GIL is waited for.
            let rest = {
                let mut state = self.lock();
                if let Some(entry) = state.take() {
                    return Ok(Some(entry));
                }
                let rest = state.rest;
                if !matches!(rest, Rest::More) {
                    state.close(&self.place);
                }
                if state.reader.is_none() && matches!(rest, Rest::More) {
                    return Ok(None);
                }
                rest
            };
            match rest {
                Rest::Nothing => return Ok(None),
                Rest::Fails(errno) => return Err(os::error(py, errno, Some(self.object.bind(py)))),
                Rest::More => {
                    py.detach(|| {
                        let mut state = self.lock();
                        // Another thread may have refilled meanwhile.
                        if state.block.as_ref().is_none_or(|block| state.next == block.batch.len()) {
                            state.refill(&self.place, self.stat);
                        }
                    });
                    py.check_signals()?;
                }
            }
        }
    }

    /// Closes the directory. Called at the end, and by `with`.
    fn close(&self, py: Python<'_>) {
        if self.lock().reader.is_none() {
            return;
        }
        py.detach(|| {
            let mut state = self.lock();
            state.close(&self.place);
        });
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        self.close(py);
    }
}

impl ScandirIterator {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ScandirIterator {
    fn drop(&mut self) {
        if self.lock().reader.is_none() {
            return;
        }
        Python::attach(|py| {
            // The object may go while an exception is on its way.
            let pending = PyErr::take(py);
            let path = self.object.bind(py).repr().map_or_else(|_| String::new(), |repr| repr.to_string());
            let text = CString::new(format!("unclosed scandir iterator of {path}")).unwrap_or_default();
            if let Err(error) = PyErr::warn(py, &py.get_type::<PyResourceWarning>(), &text, 1) {
                error.write_unraisable(py, None);
            }
            if let Some(pending) = pending {
                pending.restore(py);
            }
        });
    }
}
