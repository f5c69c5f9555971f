//! A temporary directory, removed with its contents.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) struct Playground(pub(crate) PathBuf);

impl Playground {
    /// An empty one.
    pub(crate) fn new() -> Playground {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("dents-walks-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Playground(path)
    }
}

impl Drop for Playground {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
