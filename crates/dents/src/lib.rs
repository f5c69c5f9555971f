//! Walk directory trees and list directories, as fast as Linux allows.
//!
//! Every entry below a directory, with its size and its time, asked by as many threads as suit:
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
//! One directory: names and types, and nothing asked that was not declared:
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
//! In parallel, by batches, without a copy of anything:
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
//! A directory split into subdirectories and others, with the fewest questions:
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
//! [`Needs`] say which facts an entry must have; each fact is asked of the kernel only if it is declared. With names and types
//! alone a directory costs `openat`, `getdents64` once or twice, and `close`. With anything else each entry costs one `statx`
//! with exactly the mask that the facts need; [`Needs::LINK`] one `readlinkat` for each symbolic link. Nothing is allocated for
//! an entry but what the caller keeps.
//!
//! # Threads
//!
//! A [`Walk`] starts as many threads as suit, unless [`Walk::threads`] says otherwise: one for each core where answers come from
//! memory, up to 256 where each is a round trip to a server. Where the file system's client or server is known to bear fewer,
//! fewer are started. [`Walk::rate`] bounds the requests a second.
//!
//! # Errors
//!
//! An error belongs to one file or directory ([`Error::path`]); the walk goes on. Nothing panics but reading a fact that was not
//! declared, which is a mistake in the program.
//!
//! # Beside walkdir, ignore and jwalk
//!
//! | | `dents` | `walkdir` | `ignore` | `jwalk` |
//! |---|---|---|---|---|
//! | threads | by default | none | `build_parallel` | by default |
//! | metadata | declared, asked in parallel | asked by the caller | asked by the caller | asked by the caller |
//! | order | parents first; sorted on one thread | depth first | depth first on one thread | depth first |
//! | `.gitignore` | feature `gitignore` | | yes | |
//! | systems | Linux | all | all | all |
#![forbid(unsafe_code)]

mod batch;
mod entry;
mod error;
mod filter;
#[cfg(feature = "gitignore")]
#[doc(hidden)]
pub mod gitignore;
mod iter;
mod ordered;
mod read_dir;
mod threads;
mod walk;

pub use batch::Batch;
pub use dents_core::needs::Needs;
pub use entry::{Entry, FileType, View};
pub use error::Error;
pub use iter::IntoIter;
pub use read_dir::{ReadDir, read_dir, scandir};
#[doc(hidden)]
pub use threads::Threads;
pub use walk::{Cancel, Step, Summary, Walk};
