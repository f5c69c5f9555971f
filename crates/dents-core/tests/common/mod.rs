//! Helpers of this crate's tests and examples: std's threads as workers, and temporary directories.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test uses some of it")]

use dents_core::stat::Workers;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// std's scoped threads.
pub struct Threads;

impl Workers for Threads {
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for worker in 1..workers {
                // A thread that cannot be started is skipped.
                let _ = std::thread::Builder::new().spawn_scoped(scope, move || job(worker));
            }
            job(0);
        });
    }
}

/// A path as a C string.
pub fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("paths have no NUL")
}

/// A temporary directory, removed with its contents.
pub struct Playground(pub PathBuf);

impl Playground {
    pub fn new(name: &str) -> Playground {
        Self::within(&std::env::temp_dir(), name)
    }

    /// On a tmpfs, if one is writable.
    pub fn in_memory(name: &str) -> Playground {
        let shm = "/dev/shm";
        let writable = rustix::fs::access(shm, rustix::fs::Access::WRITE_OK).is_ok();
        if writable { Self::within(Path::new(shm), name) } else { Self::new(name) }
    }

    fn within(parent: &Path, name: &str) -> Playground {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("dents-tree-{name}-{}-{number}", std::process::id());
        let path = parent.join(name);
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Playground(path)
    }
}

impl Drop for Playground {
    fn drop(&mut self) {
        // rm, because std keeps one descriptor open for each level.
        let _ = std::process::Command::new("rm").arg("-rf").arg(&self.0).status();
    }
}

/// A small seeded generator (SplitMix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which must not be 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}
