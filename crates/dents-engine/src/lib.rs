//! Decides what is asked when, and by which worker.
//!
//! ```text
//!           order                 limit                 crew
//! tasks ─►  which is next?  ─►  how many at once?  ─►  which worker?  ─►  board ─► consumer
//! Open      one directory       fixed                 the caller alone     names per buffer
//! Read      turns of -R         searched (policy,     threads              slots per chunk
//! Ask       stealing (trees)    latency)              the agent process    published once
//! Call      by priority                               replacement of
//!                                                     stuck workers
//!                          wait: one event count; nothing else sleeps
//! ```
//!
//! - [`task`]: the four kinds of work, and how many workers can share one.
//! - [`order`]: which task is next.
//! - [`limit`]: how many tasks may be in flight, and the table of file systems that governs it.
//! - [`crew`]: the loop that every worker executes; the watchdog that finds stuck workers.
//! - [`board`]: results, each published once.
//! - [`wait`]: the one primitive that threads sleep on.
//!
//! The engine knows no directory, no entry and no `statx`: tasks are a parameter of the order, and the consumer executes
//! them. So every protocol here is executed as it is by the model checker (`tests/model.rs`), in every interleaving within
//! stated bounds.
//!
//! The engine starts no thread: callers pass them in ([`crew::Workers`]). It makes no system call but `futex`, `clock_gettime`,
//! `sched_yield` and, for a worker that seems stuck, a look at `/proc/self/task`.
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::too_many_lines)]

extern crate alloc;
#[cfg(any(test, feature = "model"))]
extern crate std;

pub mod board;
pub mod crew;
pub mod limit;
pub mod lock;
pub mod order;
#[cfg(feature = "model")]
pub use sync::{Fault, put as put_fault};
mod sync;
pub mod task;
pub mod wait;
