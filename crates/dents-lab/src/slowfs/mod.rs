//! A file system in this process that is slow, does not answer or gives wrong answers: FUSE with the faults of a network.
//!
//! ```no_run
//! use std::time::Duration;
//! use dents_lab::slowfs::{Kind, Request, SlowFs};
//!
//! let far = SlowFs::builder()
//!     .entries(1000, &[Kind::File])
//!     .latency(Duration::from_micros(1200))
//!     .hang("e00500")
//!     .mount()
//!     .expect("FUSE is there");
//! // … list far.path() …
//! println!("{}, at most {} at once", far.counts(), far.peak_in_flight());
//! assert_eq!(far.counts().of(Request::Opendir), 1);
//! ```
//!
//! The flow: the kernel's request comes in at `fuse`, goes to the `server`, which counts it, finds its `fault`,
//! and decides when it is answered; the answer is read off the `tree` in that moment. Nothing is cached by the
//! kernel unless a time to live says so: every question is a request, and every request counts.
//!
//! Without FUSE (no `/dev/fuse`, or mounting refused) tests skip, saying so, unless `DLS_FUSE=required`, as
//! `cargo xtask test` has it: [`Builder::mount_or_skip`].

mod builder;
mod fault;
mod fuse;
mod kind;
mod mounted;
mod options;
mod raw;
mod request;
mod server;
mod table;
mod tree;
mod tricks;

pub use builder::{Builder, SlowFs};
pub use fault::{ERRORS, Fault};
pub use fuse::Readdirplus;
pub use kind::Kind;
pub use mounted::Mounted;
pub use options::{Command, HELP, duration, fill_in};
pub use request::{Counts, Request};
pub use rustix::io::Errno;
