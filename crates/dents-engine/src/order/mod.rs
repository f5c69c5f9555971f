//! Which task is next.
//!
//! - [`range`]: the entries of one directory, claimed by chunk, while the rest of its names is still being read.
//! - [`turns`]: the directories of `-R`, prefetched in the order in which they will be shown.
//! - [`steal`]: a tree: each worker goes down its own way, idle ones steal from the far end of another's.
//! - [`queue`]: by priority: what the lister waits for goes first.

pub mod queue;
pub mod range;
pub mod steal;
pub mod turns;
