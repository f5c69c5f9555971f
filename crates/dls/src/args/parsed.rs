//! The parsed command line.

use super::flags::{Definition, Flag};
use alloc::vec::Vec;
use core::ffi::CStr;

/// The parsed command line, in its order.
#[derive(Debug, Clone, Default)]
pub struct Args<'a> {
    /// The options. Only the last can be [`Flag::Help`] or [`Flag::Version`]: they act at once, so parsing stops
    /// there.
    pub said: Vec<Said<'a>>,
    /// The operands, in order. Each is the NUL-terminated string of argv itself, so the kernel gets it without a copy.
    pub operands: Vec<&'a CStr>,
    /// So many of the options, the first, are from a file: not from this command line.
    pub defaults: usize,
    /// Operands that follow one of our options and would be its value if `=` joined them.
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
