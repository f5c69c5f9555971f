//! What the user said.

use super::flags::{Definition, Flag};
use alloc::vec::Vec;
use core::ffi::CStr;

/// What the user said, in the order it was said.
#[derive(Debug, Clone, Default)]
pub struct Args<'a> {
    /// The options. A [`Flag::Help`] or [`Flag::Version`] can only be the last: reading stops there, as they act at once.
    pub said: Vec<Said<'a>>,
    /// The operands, in order. Each is the NUL-terminated string of argv itself, so opening one copies nothing.
    pub operands: Vec<&'a CStr>,
    /// So many of the options, the first, are from a file: not from this command line.
    pub defaults: usize,
    /// Operands that stand behind one of our options whose value they could be, had they been joined to it by `=`.
    pub apart: Vec<(&'a CStr, &'static Definition)>,
}

/// One option as given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said<'a> {
    /// The meaning: the letter and the long name of one option are the same flag.
    pub flag: Flag,
    /// Its value, attached or separate; `None` for a flag without one and for an optional one left out.
    pub value: Option<&'a [u8]>,
}
