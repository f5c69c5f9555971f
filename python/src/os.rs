//! Paths, names and errors, as Python's `os` has them.

use pyo3::exceptions::{PyDeprecationWarning, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyInt, PyMemoryView, PyString};
use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering};

/// How often this process is the child of a fork, as seen from its first ancestor.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Called in the child after a fork: threads of the parent do not exist there, and locks may be held for ever.
#[pyfunction]
#[pyo3(name = "_forked")]
pub(crate) fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// A number that differs after a fork.
pub(crate) fn generation() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// `sys.audit`. Each import of a module by its name takes as long as a system call.
static AUDIT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Tells Python's audit hooks that a directory is about to be listed.
pub(crate) fn audit_scandir(py: Python<'_>, path: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let audit = AUDIT.import(py, "sys", "audit")?;
    audit.call1((pyo3::intern!(py, "os.scandir"), path)).map(drop)
}

/// A path as the caller gave it.
pub(crate) struct Given {
    pub(crate) path: CString,
    /// Whether names are `bytes`.
    pub(crate) as_bytes: bool,
    /// The argument, for `OSError.filename`; for a `PathLike`, what `os.fspath` returned.
    pub(crate) object: Py<PyAny>,
}

/// A path, or an open directory.
pub(crate) enum Argument {
    Path(Given),
    Descriptor(i32),
}

/// An argument of `os.scandir`: `str`, `bytes`, `PathLike`, a descriptor, or `None` for the current directory.
pub(crate) fn argument(
    py: Python<'_>,
    given: Option<&Bound<'_, PyAny>>,
    function: &str,
) -> PyResult<Argument> {
    let Some(given) = given else {
        let object = PyString::intern(py, ".").into_any().unbind();
        return Ok(Argument::Path(Given { path: c".".to_owned(), as_bytes: false, object }));
    };
    if given.is_instance_of::<PyInt>() {
        return Ok(Argument::Descriptor(given.extract()?));
    }
    let is_like_bytes = given.is_instance_of::<PyByteArray>() || given.is_instance_of::<PyMemoryView>();
    if is_like_bytes && py.version_info() < (3, 12) {
        let kind = given.get_type().name()?;
        let text =
            format!("{function}: path should be string, bytes, os.PathLike, integer or None, not {kind}");
        let text = CString::new(text)?;
        PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), &text, 1)?;
        let bytes = py.get_type::<PyBytes>().call1((given,))?;
        return path(&bytes).map(Argument::Path);
    }
    let is_path = given.is_instance_of::<PyString>()
        || given.is_instance_of::<PyBytes>()
        || given.hasattr(pyo3::intern!(py, "__fspath__"))?;
    if !is_path {
        let kind = given.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "{function}: path should be string, bytes, os.PathLike, integer or None, not {kind}"
        )));
    }
    path(given).map(Argument::Path)
}

/// A `str`, `bytes` or `PathLike`.
pub(crate) fn path(given: &Bound<'_, PyAny>) -> PyResult<Given> {
    // SAFETY: the argument is an object; the result is a new reference, or NULL with an exception set.
    let object = unsafe { Bound::from_owned_ptr_or_err(given.py(), pyo3::ffi::PyOS_FSPath(given.as_ptr()))? };
    let as_bytes = object.is_instance_of::<PyBytes>();
    let path = CString::new(encoded(&object)?).map_err(|_| PyValueError::new_err("embedded null byte"))?;
    Ok(Given { path, as_bytes, object: object.unbind() })
}

/// The bytes of a name: `str` by the encoding of file names, `bytes` as they are.
pub(crate) fn encoded(name: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = name.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    let text = name.cast::<PyString>()?;
    // SAFETY: `text` is a `str`; the result is a new `bytes`, or NULL with an exception set.
    let bytes = unsafe {
        Bound::from_owned_ptr_or_err(text.py(), pyo3::ffi::PyUnicode_EncodeFSDefault(text.as_ptr()))?
    };
    Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
}

/// A name or path as `str` or `bytes`. Bytes that are not in the encoding of file names become lone surrogates, as for `os`.
pub(crate) fn name<'py>(py: Python<'py>, bytes: &[u8], as_bytes: bool) -> PyResult<Bound<'py, PyAny>> {
    if as_bytes {
        return Ok(PyBytes::new(py, bytes).into_any());
    }
    if bytes.is_ascii() {
        // SAFETY: ASCII is UTF-8. A second check of each name would be a part of what a small directory costs.
        return Ok(PyString::new(py, unsafe { std::str::from_utf8_unchecked(bytes) }).into_any());
    }
    // SAFETY: the pointer and length are those of `bytes`; the result is a new `str`, or NULL with an exception set.
    unsafe {
        let text = pyo3::ffi::PyUnicode_DecodeFSDefaultAndSize(bytes.as_ptr().cast(), bytes.len() as isize);
        Bound::from_owned_ptr_or_err(py, text)
    }
}

/// The `OSError` of an error number, or its subclass: `FileNotFoundError`, …
pub(crate) fn error(py: Python<'_>, errno: dents_sys::Errno, filename: Option<&Bound<'_, PyAny>>) -> PyErr {
    error_of(py, errno.raw_os_error(), filename).unwrap_or_else(|error| error)
}

pub(crate) fn error_of(py: Python<'_>, errno: i32, filename: Option<&Bound<'_, PyAny>>) -> PyResult<PyErr> {
    let os = py.import(pyo3::intern!(py, "os"))?;
    let text = os.call_method1(pyo3::intern!(py, "strerror"), (errno,))?;
    let class = py.get_type::<PyOSError>();
    let value = match filename {
        Some(filename) => class.call1((errno, text, filename))?,
        None => class.call1((errno, text))?,
    };
    Ok(PyErr::from_value(value))
}
