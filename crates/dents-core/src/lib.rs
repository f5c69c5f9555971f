//! Reads directories and the metadata of their entries, as fast as the kernel answers.
//!
//! Data flows in one direction. A [`read::Reader`] appends names and types to a [`batch::Batch`]. [`stat::fill`]
//! requests the other facts that consumers declared as [`needs`], by one of four strategies. [`owners`] maps ids to
//! names; [`sort`] makes a permutation. [`mod@scandir`] splits one directory with the fewest requests where `readdir`
//! returns no types; [`tree`] walks hierarchies, batch by batch. This crate knows no colour, terminal or environment,
//! starts no thread (see [`stat::Workers`]), and has no `unsafe`.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod batch;
pub mod bulk;
pub mod canonical;
pub mod deadline;
pub mod facts;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod lustre;
pub mod mounts;
pub mod needs;
pub mod owners;
pub mod path;
pub mod pattern;
pub mod prefetch;
pub mod read;
pub mod ring;
pub mod scandir;
pub mod sort;
pub mod stat;
pub mod team;
#[cfg(test)]
mod test_threads;
pub mod tree;

pub use dents_engine::crew::watchdog;
pub use dents_engine::lock;
pub use scandir::{readdirx, scandir};
