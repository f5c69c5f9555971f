//! What the user said: argv in, [`Args`] out, nothing decided.
//!
//! The first stage of the flow (argv ─► **Args** ─► Plan ─► read …). One table, [`flags::TABLE`], defines every
//! option once: letter, long name, value, help. [`parse`] reads argv by that table as
//! getopt_long would; [`help::text`] prints it. Which of two conflicting flags wins, and what the environment and
//! the terminal have to say, is Plan's business: [`Args`] keeps what was said in the order it was said.
//!
//! Values are checked here, because GNU `ls` checks each one when its option is reached and the first mistake on
//! the command line is the one reported. The single exception is `--time-style`, which GNU looks at only for a
//! long listing: Plan calls [`time_style()`]. Having passed the check, a value's meaning is fetched with
//! [`words::lookup`] or a function of [`numbers`].
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
mod said;
mod time_style;
pub mod version;
pub mod words;

pub use columns::{changes, columns, is_change};
pub use error::UsageError;
pub use flags::{Definition, Flag};
pub use said::{Args, Said};
pub use time_style::time_style;

/// Reads `argv`, the arguments after the program's name, with getopt_long's rules.
///
/// With `posixly_correct` (the environment has POSIXLY_CORRECT, whatever its value) the first operand ends the
/// options; else options and operands may be mixed.
///
/// # Errors
/// The first mistake from left to right; what stands after it is not looked at.
pub fn parse<'a, I>(argv: I, posixly_correct: bool) -> Result<Args<'a>, UsageError<'a>>
where
    I: IntoIterator<Item = &'a CStr>,
{
    getopt::read(argv.into_iter(), posixly_correct)
}
