//! Helpers for the tests: a temporary directory, C strings from paths.
#![allow(dead_code, unreachable_pub)]
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A new directory below a given one. Dropping it removes it with its contents.
pub struct TempDir(pub PathBuf);

impl TempDir {
    pub fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    pub fn below(parent: &Path) -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("dents-sys-test-{}-{serial}", std::process::id()));
        std::fs::create_dir(&path).expect("a new directory");
        TempDir(path)
    }

    pub fn open(&self) -> dents_sys::OwnedFd {
        dents_sys::dir::open(dents_sys::CWD, &c(&self.0)).expect("just made")
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A path as a C string.
pub fn c(path: impl AsRef<Path>) -> CString {
    CString::new(path.as_ref().as_os_str().as_bytes()).expect("no NUL in a path")
}
