//! The C library of `dents`. The comments of the functions are also those of `dents.h`.
//!
//! The library is thin: `walk` passes on walks of the crate `dents`, and `scan` runs of `dents-arrow`. Without the feature `scan` the
//! library has walks alone. Each function catches panics, which must not unwind into C.

#![allow(non_camel_case_types, reason = "the types have the names that C knows")]

use std::ffi::{CStr, c_char};

pub mod entry;
pub mod walk;

// The last: cbindgen keeps this order.
#[cfg(feature = "scan")]
pub mod scan;

/// The strings of an array that ends with NULL; none if the array is NULL.
///
/// # Safety
/// `array` is NULL, or an array of pointers to strings, which ends with NULL.
unsafe fn strings<'a>(array: *const *const c_char) -> Vec<&'a CStr> {
    let mut strings = Vec::new();
    if array.is_null() {
        return strings;
    }
    // SAFETY: the array ends with NULL, and all pointers before it point to strings.
    unsafe {
        while !(*array.add(strings.len())).is_null() {
            strings.push(CStr::from_ptr(*array.add(strings.len())));
        }
    }
    strings
}

/// Returns the version of the library: "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn dents_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
