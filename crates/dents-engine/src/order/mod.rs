//! Which task is next.
//!
//! - [`range`]: the entries of one directory, claimed in chunks while its remaining names are read.
//! - [`spans`]: the names of one huge directory, read from several positions.
//! - [`turns`]: the directories of `-R`, prefetched in the order in which they will be shown.
//! - [`steal`]: a tree: each worker goes depth first; an idle worker steals from the far end of another's stack.
//! - [`queue`]: tasks by priority: those that the lister waits for go first.

mod elevator;
pub mod queue;
pub mod range;
pub mod spans;
pub mod steal;
pub mod turns;
