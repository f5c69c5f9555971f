//! Read directories and what the kernel knows of their entries, as fast as it can be asked.
//!
//! The flow has one direction: a [`read::Reader`] appends names and types to a [`batch::Batch`];
//! [`stat::fill`] answers whatever the consumers' [`needs`] leave open, by one of four strategies;
//! [`owners`] turn ids into names; [`sort`] makes a permutation. [`mod@scandir`] splits one directory with the fewest
//! questions where `readdir` tells no types; [`tree`] walks over whole hierarchies, batch by batch. This crate knows no colour, no terminal and no
//! environment, starts no thread by itself (see [`stat::Workers`]), and has no `unsafe`.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod batch;
pub mod canonical;
#[cfg(test)]
mod crews;
pub mod deadline;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
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
pub mod tree;

pub use dents_engine::crew::watchdog;
pub use dents_engine::lock;
pub use scandir::{readdirx, scandir};
