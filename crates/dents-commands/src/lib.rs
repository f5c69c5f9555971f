//! The commands of `dents` as functions: scans of whole trees. Each command is a module. They share the walk ([`walk`]), where entries
//! come from ([`source`]), and what belongs to one run ([`session`]): messages, what stops it, its result.
//!
//! The program `dents` runs a [`Command`]. Other programs run one by its words ([`table`], [`Scan`]): so there is one parser of options, and
//! one text for each error. Only the packages of this project may rely on these functions.

mod command;
pub mod consumer;
mod count;
mod counters;
mod details;
mod diff;
mod du;
mod embed;
pub mod entry;
pub mod filter;
pub mod inode;
mod io500;
mod locale;
pub mod message;
mod number;
pub mod output;
pub mod overlap;
mod owners;
mod report;
mod rows;
mod scan;
pub mod session;
mod sorter;
pub mod source;
mod stats;
pub mod time;
mod top;
pub mod walk;
mod words;

pub use command::{Command, with_short_options};
pub use embed::{Scan, is_run, run, table};
pub use rows::{Cell, Records, Type, Values};
pub use session::{Host, Message, Session, Status};
