//! `DirEntry`, and `os.stat_result`.

use crate::os;
use dents_core::batch::{Asked, Batch, Entry, Time};
use dents_core::needs::Kind;
use dents_sys::stat::{self, Flags, Mask, Statx};
use dents_sys::{AsRawFd, BorrowedFd, CWD, Errno};
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::ffi::{PyStructSequence_New, PyStructSequence_SetItem};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use std::ffi::CString;
use std::sync::Arc;

/// Where entries are.
pub(crate) struct Place {
    /// What stands before a name to make a path: `DIRECTORY/`; empty for a descriptor.
    pub(crate) prefix: Vec<u8>,
    /// The caller's descriptor.
    pub(crate) descriptor: Option<i32>,
    /// Whether names are `bytes`.
    pub(crate) as_bytes: bool,
}

/// Entries of one directory: all, or those of one buffer. Each [`DirEntry`] holds a reference.
pub(crate) struct Block {
    pub(crate) place: Arc<Place>,
    pub(crate) batch: Batch,
}

/// An entry of a directory, as `os.DirEntry`.
#[pyclass(frozen, module = "dents")]
pub(crate) struct DirEntry {
    pub(crate) block: Arc<Block>,
    pub(crate) index: u32,
    followed: PyOnceLock<Py<PyAny>>,
    itself: PyOnceLock<Py<PyAny>>,
}

impl DirEntry {
    pub(crate) fn new(block: &Arc<Block>, index: usize) -> DirEntry {
        let (followed, itself) = (PyOnceLock::new(), PyOnceLock::new());
        DirEntry { block: Arc::clone(block), index: index as u32, followed, itself }
    }

    fn entry(&self) -> Entry<'_> {
        self.block.batch.entry(self.index as usize)
    }

    fn path_bytes(&self) -> Vec<u8> {
        [&self.block.place.prefix, self.entry().name()].concat()
    }

    /// Asks the kernel now.
    fn ask(&self, py: Python<'_>, follow: bool) -> PyResult<Py<PyAny>> {
        let path = CString::new(self.path_bytes()).unwrap_or_default();
        let flags = if follow { Flags::NO_AUTOMOUNT } else { Flags::NO_AUTOMOUNT | Flags::NOFOLLOW };
        let mask = Mask::all().difference(Mask::MNT_ID | Mask::MNT_ID_UNIQUE | Mask::BTIME);
        let descriptor = self.block.place.descriptor;
        let answer = py.detach(|| {
            // SAFETY: the descriptor is the caller's, who keeps it open while entries are asked, as for `os.scandir`; if it is not
            // open, the kernel answers EBADF.
            let dir = descriptor.map_or(CWD, |fd| unsafe { BorrowedFd::borrow_raw(fd) });
            debug_assert!(dir.as_raw_fd() != -1);
            stat::statx(dir, &path, flags, mask)
        });
        let statx = answer.map_err(|errno| self.error(py, errno))?;
        Facts::from(&statx).object(py)
    }

    fn error(&self, py: Python<'_>, errno: Errno) -> PyErr {
        match os::name(py, &self.path_bytes(), self.block.place.as_bytes) {
            Ok(path) => os::error(py, errno, Some(&path)),
            Err(error) => error,
        }
    }

    /// The facts of the entry itself.
    fn itself(&self, py: Python<'_>) -> PyResult<&Py<PyAny>> {
        self.itself.get_or_try_init(py, || {
            let entry = self.entry();
            match (entry.extra(), entry.fault()) {
                (Some(_), _) => Facts::from(&entry).object(py),
                (None, Some((Asked::Stat, errno))) => Err(self.error(py, errno)),
                _ => self.ask(py, false),
            }
        })
    }

    fn followed(&self, py: Python<'_>) -> PyResult<&Py<PyAny>> {
        if self.kind(py)? != Kind::Link {
            return self.itself(py);
        }
        self.followed.get_or_try_init(py, || self.ask(py, true))
    }

    /// The type of the entry itself.
    fn kind(&self, py: Python<'_>) -> PyResult<Kind> {
        match self.entry().kind() {
            Kind::Unknown => kind_of(py, self.itself(py)?),
            kind => Ok(kind),
        }
    }

    /// Whether it is of this type; what vanished is not.
    fn is(&self, py: Python<'_>, wanted: Kind, follow: bool) -> PyResult<bool> {
        match self.entry().kind() {
            Kind::Unknown => {}
            Kind::Link if follow => {}
            kind => return Ok(kind == wanted),
        }
        let kind = match self.kind(py) {
            Ok(Kind::Link) if follow => self.followed(py).and_then(|facts| kind_of(py, facts)),
            kind => kind,
        };
        match kind {
            Ok(kind) => Ok(kind == wanted),
            Err(error) if error.is_instance_of::<PyFileNotFoundError>(py) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn kind_of(py: Python<'_>, facts: &Py<PyAny>) -> PyResult<Kind> {
    let mode: u32 = facts.getattr(py, pyo3::intern!(py, "st_mode"))?.extract(py)?;
    Ok(Kind::from_mode(mode as u16))
}

#[pymethods]
impl DirEntry {
    /// The name, without the directory.
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        os::name(py, self.entry().name(), self.block.place.as_bytes)
    }

    /// The path: the argument of scandir, and the name.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        os::name(py, &self.path_bytes(), self.block.place.as_bytes)
    }

    fn __fspath__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.path(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<DirEntry {}>", self.name(py)?.repr()?))
    }

    /// The inode number that the directory has for the entry: no system call.
    fn inode(&self) -> u64 {
        self.entry().d_ino()
    }

    /// Whether it is a directory, or a link to one. A system call for links, and where the file system returns no types.
    #[pyo3(signature = (*, follow_symlinks = true))]
    fn is_dir(&self, py: Python<'_>, follow_symlinks: bool) -> PyResult<bool> {
        self.is(py, Kind::Dir, follow_symlinks)
    }

    /// Whether it is a regular file, or a link to one.
    #[pyo3(signature = (*, follow_symlinks = true))]
    fn is_file(&self, py: Python<'_>, follow_symlinks: bool) -> PyResult<bool> {
        self.is(py, Kind::Reg, follow_symlinks)
    }

    /// Whether it is a symbolic link.
    fn is_symlink(&self, py: Python<'_>) -> PyResult<bool> {
        self.is(py, Kind::Link, false)
    }

    /// False: junctions are a thing of Windows.
    fn is_junction(&self) -> bool {
        false
    }

    /// What os.stat and os.lstat return. With scandir(..., stat=True) no system call is made, but for the target of a
    /// symbolic link. The result is kept.
    #[pyo3(signature = (*, follow_symlinks = true))]
    fn stat(&self, py: Python<'_>, follow_symlinks: bool) -> PyResult<Py<PyAny>> {
        let facts = if follow_symlinks { self.followed(py)? } else { self.itself(py)? };
        Ok(facts.clone_ref(py))
    }

    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        of: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        class.py().import("types")?.getattr("GenericAlias")?.call1((class, of))
    }
}

/// The fields of `struct stat`.
struct Facts {
    mode: u32,
    ino: u64,
    dev: (u32, u32),
    nlink: u32,
    uid: u32,
    gid: u32,
    size: u64,
    blocks: u64,
    blksize: u32,
    rdev: (u32, u32),
    times: [Time; 3],
}

impl From<&Statx> for Facts {
    fn from(statx: &Statx) -> Facts {
        let times = [statx.atime(), statx.mtime(), statx.ctime()];
        Facts {
            mode: statx.mode(),
            ino: statx.ino(),
            dev: statx.dev(),
            nlink: statx.nlink(),
            uid: statx.uid(),
            gid: statx.gid(),
            size: statx.size(),
            blocks: statx.blocks(),
            blksize: statx.blksize(),
            rdev: statx.rdev(),
            times: times.map(|time| Time { sec: time.sec, nsec: time.nsec }),
        }
    }
}

impl From<&Entry<'_>> for Facts {
    fn from(entry: &Entry<'_>) -> Facts {
        let extra = entry.extra().copied().unwrap_or_default();
        Facts {
            mode: entry.mode().into(),
            ino: entry.ino(),
            dev: extra.dev,
            nlink: entry.nlink(),
            uid: entry.uid(),
            gid: entry.gid(),
            size: entry.size(),
            blocks: entry.blocks(),
            blksize: extra.blksize,
            rdev: entry.rdev(),
            times: [extra.atime, extra.mtime, extra.ctime],
        }
    }
}

/// The fields of `os.stat_result` that have no index of their own in every Python: where this one has them.
const NAMED: [&str; 9] = [
    "st_atime",
    "st_mtime",
    "st_ctime",
    "st_atime_ns",
    "st_mtime_ns",
    "st_ctime_ns",
    "st_blksize",
    "st_blocks",
    "st_rdev",
];

/// The type `os.stat_result`, its length, and the places of [`NAMED`].
struct Layout {
    class: Py<PyType>,
    fields: usize,
    named: [isize; 9],
}

impl Layout {
    /// A result whose fields are their own places tells them.
    fn new(py: Python<'_>) -> PyResult<Layout> {
        let class = py.import("os")?.getattr("stat_result")?.cast_into::<PyType>()?;
        let fields: usize = class.getattr("n_fields")?.extract()?;
        let probe = class.call1((PyTuple::new(py, 0..fields)?,))?;
        let mut named = [0; 9];
        for (place, name) in named.iter_mut().zip(NAMED) {
            *place = probe.getattr(name)?.extract()?;
        }
        Ok(Layout { class: class.unbind(), fields, named })
    }
}

static LAYOUT: PyOnceLock<Layout> = PyOnceLock::new();

/// `makedev(3)`.
fn device((major, minor): (u32, u32)) -> u64 {
    let (major, minor) = (u64::from(major), u64::from(minor));
    (major & 0xffff_f000) << 32 | (major & 0xfff) << 8 | (minor & 0xffff_ff00) << 12 | (minor & 0xff)
}

impl Facts {
    fn object(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let layout = LAYOUT.get_or_try_init(py, || Layout::new(py))?;
        // SAFETY: the class is a struct sequence; the result is a new one, or NULL with an exception set.
        let result =
            unsafe { Bound::from_owned_ptr_or_err(py, PyStructSequence_New(layout.class.as_ptr().cast()))? };
        let mut filled = 0_u64;
        let mut set = |place: isize, value: Bound<'_, PyAny>| {
            filled |= 1 << place;
            // SAFETY: the places are below `n_fields`, and each is set once; the call takes the reference.
            unsafe { PyStructSequence_SetItem(result.as_ptr(), place, value.into_ptr()) };
        };
        let whole = [
            u64::from(self.mode),
            self.ino,
            device(self.dev),
            self.nlink.into(),
            self.uid.into(),
            self.gid.into(),
            self.size,
        ];
        for (place, value) in whole.into_iter().enumerate() {
            set(place as isize, int(py, value)?);
        }
        let [atime, mtime, ctime, atime_ns, mtime_ns, ctime_ns, blksize, blocks, rdev] = layout.named;
        let places = [(7, atime, atime_ns), (8, mtime, mtime_ns), (9, ctime, ctime_ns)];
        for (time, (seconds, float, nanoseconds)) in self.times.iter().zip(places) {
            set(seconds, time.sec.into_pyobject(py)?.into_any());
            set(float, (time.sec as f64 + 1e-9 * f64::from(time.nsec)).into_pyobject(py)?.into_any());
            set(nanoseconds, nanoseconds_of(py, time)?);
        }
        set(blksize, int(py, self.blksize.into())?);
        set(blocks, int(py, self.blocks)?);
        set(rdev, int(py, device(self.rdev))?);
        for place in (0..layout.fields).filter(|place| filled & 1 << place == 0) {
            // SAFETY: as above; a field of a later Python.
            unsafe { PyStructSequence_SetItem(result.as_ptr(), place as isize, py.None().into_ptr()) };
        }
        Ok(result.unbind())
    }
}

fn int(py: Python<'_>, value: u64) -> PyResult<Bound<'_, PyAny>> {
    Ok(value.into_pyobject(py)?.into_any())
}

fn nanoseconds_of<'py>(py: Python<'py>, time: &Time) -> PyResult<Bound<'py, PyAny>> {
    let small = time.sec.checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(time.nsec.into()));
    match small {
        Some(ns) => Ok(ns.into_pyobject(py)?.into_any()),
        // Before 1677 or after 2262.
        None => int(py, 1_000_000_000)?.mul(time.sec)?.add(time.nsec),
    }
}
