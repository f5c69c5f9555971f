//! The Python module `dents._dents`, the native part of the package `dents`.
//!
//! ```text
//! dents-core ─► ahead: entries, stat'ed ahead of the caller      ─► scandir: Scandir, DirEntry
//! dents-engine ─► walk: directories read ahead, in order         ─► Walk
//! dents-core::scandir ─► aio: a pool, and a descriptor to poll   ─► Port
//! dents-arrow ─► scan: record batches, tables of reports         ─► Run, Scan, Batch
//! ```
//!
//! Each part passes options in and batches out. No thread of a Rust crate touches Python: results wait until a thread of the
//! interpreter takes them. So no thread of these crates holds a lock of Python, neither at a fork, nor when the interpreter
//! exits, nor while a file system is slow.

mod ahead;
mod aio;
mod entry;
mod os;
mod scan;
mod scandir;
mod walk;

use pyo3::prelude::*;

/// The parts of the package `dents` that are in Rust.
#[pymodule]
fn _dents(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<entry::DirEntry>()?;
    module.add_class::<scandir::ScandirIterator>()?;
    module.add_class::<walk::Walk>()?;
    module.add_class::<aio::Port>()?;
    module.add_class::<scan::Run>()?;
    module.add_class::<scan::ScanQuery>()?;
    module.add_class::<scan::Batch>()?;
    module.add_class::<scan::Stream>()?;
    module.add_function(wrap_pyfunction!(scandir::scandir, module)?)?;
    module.add_function(wrap_pyfunction!(scan::program, module)?)?;
    module.add_function(wrap_pyfunction!(os::forked, module)?)?;
    module.add("Cancelled", module.py().get_type::<scan::Cancelled>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
