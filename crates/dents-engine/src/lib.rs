//! Decides which task is executed when, and by which worker.
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
//! - [`task`]: the four kinds of tasks, and how many workers can share one.
//! - [`order`]: which task is next.
//! - [`limit`]: how many tasks may be in flight, and the table of file systems that sets this limit.
//! - [`crew`]: the loop that every worker executes; the watchdog that finds stuck workers.
//! - [`board`]: slots for results, each published once.
//! - [`wait`]: the one primitive that threads sleep on.
//!
//! The engine knows no directory, no entry and no `statx`: the type of tasks is a parameter, and the consumer executes
//! them. So the model checker executes each protocol here unchanged (`tests/model.rs`), in every interleaving within
//! stated bounds.
//!
//! The engine starts no thread: callers pass threads in ([`crew::Workers`]). Its only system calls are `futex`,
//! `clock_gettime`, `sched_yield`, and reads of `/proc/self/task` for a worker that seems stuck.
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::too_many_lines)]

extern crate alloc;
#[cfg(any(test, feature = "model"))]
extern crate std;

pub mod board;
pub mod crew;
pub mod growing;
pub mod limit;
pub mod lock;
pub mod order;
#[cfg(feature = "model")]
pub use sync::{Fault, put as put_fault};
mod sync;
pub mod task;
pub mod wait;
