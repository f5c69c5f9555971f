//! Walks directory trees and lists directories, as fast as Linux allows.
//!
//! Every entry below a directory, with its size and time of modification, on several threads:
//!
//! ```
//! use dents::Needs;
//!
//! # fn main() -> Result<(), dents::Error> {
//! for entry in dents::Walk::new("src").needs(Needs::SIZE | Needs::MTIME) {
//!     let entry = entry?;                          // dents::Error: path, depth, io::ErrorKind, errno
//!     println!("{:>12} {}", entry.size(), entry.path().display());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! One directory, with names and types. Nothing else is requested unless [`ReadDir::needs`] declares it:
//!
//! ```
//! # fn main() -> Result<(), dents::Error> {
//! for entry in dents::read_dir("src")? {
//!     let entry = entry?;
//!     println!("{:?} {}", entry.file_type(), entry.file_name().display());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! In parallel, by batches: a visitor on each thread gets the entries of one directory (or of a part of a large one)
//! at a time, without a copy:
//!
//! ```
//! use dents::{Batch, Step, Walk};
//!
//! let summary = Walk::new("src").threads(8).run(|| |batch: &Batch| {
//!     for entry in batch.iter() {
//!         println!("{}", entry.path().display());
//!     }
//!     Step::Enter
//! });
//! assert!(summary.is_complete());
//! ```
//!
//! One directory, split into subdirectories and other entries with the fewest system calls:
//!
//! ```
//! # fn main() -> Result<(), dents::Error> {
//! let (directories, others) = dents::scandir("src")?;
//! println!("{} directories, {} others", directories.len(), others.len());
//! # Ok(())
//! # }
//! ```
//!
//! # What it costs
//!
//! [`Needs`] declares the facts that each entry must have. Only declared facts are requested from the kernel:
//!
//! - Names and types alone cost `openat`, `getdents64` once or twice, and `close` for each directory.
//! - All other facts together cost one `statx` for each entry, with exactly the mask that the facts need.
//! - [`Needs::LINK`] costs one `readlinkat` for each symbolic link.
//!
//! Memory is allocated per directory, not per entry.
//!
//! # Threads
//!
//! A [`Walk`] chooses the number of threads, unless [`Walk::threads`] sets it: one for each core where answers come
//! from memory, up to 256 where each answer is a round trip to a server, and fewer on file systems whose client or
//! server is known to tolerate fewer. [`Walk::rate`] limits the requests per second.
//!
//! Walks by entries share the threads of a [`Pool`]: that of the process, or one that the program made. A walk whose entries are not taken gives its
//! threads back once it has read 2,048 entries ahead (up to 65,536, if as many were taken before), and no walk waits for another one. A sorted
//! walk enters its directories on the calling thread, one after the other; threads of the pool read up to 128 small ones ahead.
//!
//! # Errors
//!
//! An error belongs to one file or directory ([`Error::path`]); the walk continues. The crate panics only if the
//! program reads a fact that it did not declare, such as [`Entry::size`] without [`Needs::SIZE`].
//!
//! # Compared with walkdir, ignore and jwalk
//!
//! | | `dents` | `walkdir` | `ignore` | `jwalk` |
//! |---|---|---|---|---|
//! | threads | by default | none | `build_parallel` | by default |
//! | metadata | declared, requested in parallel | requested by the caller | requested by the caller | requested by the caller |
//! | order | parents first, or sorted; both on threads | depth first | depth first on one thread | depth first |
//! | `.gitignore` | feature `gitignore` | | yes | |
//! | systems | Linux | all | all | all |
#![forbid(unsafe_code)]

mod ahead;
mod batch;
mod entry;
mod error;
mod feed;
mod filter;
#[cfg(all(feature = "gitignore", any(test, fuzzing)))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(feature = "gitignore")]
#[doc(hidden)]
pub mod gitignore;
mod iter;
mod jobs;
mod ordered;
mod outbox;
mod pool;
mod read_dir;
mod search;
/// What models (`tests/outbox.rs`, `tests/feed.rs`, `tests/pool.rs`) replace by loom's.
mod sync {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
    pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

    /// Whether a model injects this fault.
    pub(crate) const fn broken(_fault: &str) -> bool {
        false
    }
}
mod threads;
mod walk;

pub use batch::Batch;
pub use dents_core::needs::Needs;
pub use entry::{Entry, FileType, View};
pub use error::Error;
pub use iter::IntoIter;
pub use pool::Pool;
pub use read_dir::{ReadDir, read_dir, scandir};
#[doc(hidden)]
pub use threads::Threads;
pub use walk::{Cancel, Step, Summary, Walk};
