//! The name of the program.

use core::ffi::CStr;

/// `argv[0]` in full: as getopt's messages, "Try …" and the texts of `--help` have it.
pub(crate) fn name<'a>(argv: &[&'a CStr]) -> &'a [u8] {
    let name = argv.first().map_or(&b""[..], |name| name.to_bytes());
    if name.is_empty() { b"dls" } else { name }
}

/// The last component, with which all other messages begin.
pub(crate) fn base(program: &[u8]) -> &[u8] {
    program.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// Whether the program is called as one of GNU's, and so has to behave as that.
pub(crate) fn is_drop_in(program: &[u8]) -> bool {
    matches!(base(program), b"ls" | b"dir" | b"vdir")
}
