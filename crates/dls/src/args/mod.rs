//! The command line: argv in, [`Args`] out, without decisions.
//!
//! The first stage of the flow (argv ─► **Args** ─► Plan ─► read …). One table, [`flags::TABLE`], defines every option
//! once: letter, long name, value, help. [`parse`] reads argv by that table as getopt_long would; [`help::text`]
//! prints it. [`Args`] keeps the options in the order of the command line; Plan decides which of two conflicting
//! options wins, and considers the environment and the terminal.
//!
//! Values are checked here, because GNU `ls` checks each one when it reaches the option, and reports the first mistake
//! on the command line. The single exception is `--time-style`, which GNU checks only for a long listing: Plan calls
//! [`time_style()`]. After the check, [`words::lookup`] or a function of [`numbers`] gives the meaning of a value.
//!
//! Nothing here makes a system call. Everything is bytes: an argument need not be UTF-8.

use core::ffi::CStr;

mod bad_value;
mod columns;
mod error;
pub mod flags;
mod getopt;
pub mod help;
mod nearest;
pub mod numbers;
#[cfg(test)]
mod oracle;
mod parsed;
mod time_style;
pub mod version;
pub mod words;

pub use columns::{changes, columns, is_change};
pub use error::UsageError;
pub use flags::{Definition, Flag};
pub use parsed::{Args, Said};
pub use time_style::time_style;

/// Reads `argv`, the arguments after the program's name, with getopt_long's rules.
///
/// With `posixly_correct` (the environment has POSIXLY_CORRECT, whatever its value) the first operand ends the
/// options; otherwise options and operands may be mixed.
///
/// # Errors
/// The first mistake from left to right; the arguments after it are not read.
pub fn parse<'a, I>(argv: I, posixly_correct: bool) -> Result<Args<'a>, UsageError<'a>>
where
    I: IntoIterator<Item = &'a CStr>,
{
    getopt::read(argv.into_iter(), posixly_correct)
}
