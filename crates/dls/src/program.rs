//! The name of the program.

use core::ffi::CStr;

/// The name in messages: `argv[0]` in full, as for GNU.
pub(crate) fn name<'a>(argv: &[&'a CStr]) -> &'a [u8] {
    let name = argv.first().map_or(&b""[..], |name| name.to_bytes());
    if name.is_empty() { b"dls" } else { name }
}

/// Whether the program is called as one of GNU's, and so has to behave as that.
pub(crate) fn is_drop_in(program: &[u8]) -> bool {
    let name = program.rsplit(|byte| *byte == b'/').next();
    matches!(name, Some(b"ls" | b"dir" | b"vdir"))
}
