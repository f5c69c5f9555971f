//! The files of locales and catalogs, mapped into memory.

use alloc::ffi::CString;
use core::sync::atomic::AtomicU8;
use dents_locale::Files;
use dents_sys::file;

/// Maps files, for as long as the process lives.
pub(super) struct Mapped;

impl Files<'static> for Mapped {
    fn open(&mut self, path: &[u8]) -> Option<&'static [AtomicU8]> {
        file::map(&CString::new(path).ok()?).ok()
    }
}
