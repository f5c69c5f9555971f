//! Several workers read what one reads, in its order; also while the directory changes.

use super::*;
use crate::needs::NeedsByKind;
use crate::pattern::Pattern;
use crate::read::Hidden;
use crate::test_threads::{Refused, Std};
use alloc::ffi::CString;
use dents_sys::CWD;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{format, fs, println};

/// So small that 4,000 entries take some thirty reads.
const SMALL_BUFFER: usize = 4096;

struct Huge(PathBuf);

impl Huge {
    /// Directories on the file systems at hand. Some files were renamed to an existing name, so they have old positions on
    /// tmpfs.
    fn each(name: &str, test: impl Fn(&Huge)) {
        for parent in [std::env::temp_dir(), "/dev/shm".into()].into_iter().filter(|parent| parent.is_dir()) {
            let path = parent.join(format!("dents-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("temporary directory");
            let huge = Huge(path);
            (0..4000).for_each(|nth| fs::write(huge.0.join(format!("keep{nth:04}")), "").expect("file"));
            for nth in (0..4000).step_by(300) {
                fs::write(huge.0.join("moved"), "").expect("file");
                fs::rename(huge.0.join("moved"), huge.0.join(format!("keep{nth:04}"))).expect("renames");
            }
            if Positions::of(&open(&huge.0)).is_none() {
                println!("{}: one worker reads directories there", parent.display());
            }
            test(&huge);
        }
    }

    /// The names, in reading order.
    fn names(&self, filter: &Filter, threads: usize, workers: &dyn Workers) -> Vec<String> {
        let mut batch = Batch::new(NeedsByKind::default());
        let mut reader = open(&self.0);
        let mut ended = Ok(());
        for _ in 0..2 {
            ended = ended.and_then(|()| reader.read(filter, &mut batch).map(drop));
        }
        let readers = Readers { workers, threads, watch: None };
        let ended = ended.and_then(|()| read(&mut reader, filter, &mut batch, &readers));
        assert_eq!(ended, Ok(()));
        batch.iter().map(|entry| String::from_utf8_lossy(entry.name()).into_owned()).collect()
    }
}

impl Drop for Huge {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn open(path: &Path) -> Reader {
    let path = CString::new(path.to_str().expect("UTF-8")).expect("no NUL");
    Reader::open(CWD, &path, true).expect("opens").with_buffer(vec![0; SMALL_BUFFER])
}

#[test]
fn several_workers_read_what_one_reads() {
    let all = Filter { hidden: Hidden::All, ..Filter::default() };
    let some = Filter { ignore: vec![Pattern::new(b"*[05]", false, true)], ..Filter::default() };
    Huge::each("several", |huge| {
        for filter in [&all, &some] {
            let alone = huge.names(filter, 1, &Std);
            for threads in [2, 3, 8] {
                for _ in 0..10 {
                    assert!(huge.names(filter, threads, &Std) == alone, "{threads} {}", huge.0.display());
                }
            }
            assert!(huge.names(filter, 3, &Refused) == alone, "one thread alone");
        }
    });
}

/// Creates, renames and removes files between those that stay, until it is told to end.
fn change(path: &Path, end: &AtomicBool) {
    for round in 0.. {
        let name = |label: &str, nth: usize| path.join(format!("{label}{round}-{nth}"));
        for nth in 0..50 {
            fs::write(name("new", nth), "").expect("file");
            fs::rename(name("new", nth), name("renamed", nth)).expect("renames");
        }
        (0..50).for_each(|nth| fs::remove_file(name("renamed", nth)).expect("removes"));
        if end.load(Ordering::Relaxed) {
            return;
        }
    }
}

#[test]
fn entries_that_stay_are_read_once_while_others_change() {
    let filter = Filter::default();
    Huge::each("changing", |huge| {
        let end = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| change(&huge.0, &end));
            for _ in 0..100 {
                let mut names = huge.names(&filter, 3, &Std);
                names.retain(|name| name.starts_with("keep"));
                names.sort();
                let expected = (0..4000).map(|nth| format!("keep{nth:04}"));
                let is_right = names.len() == 4000 && expected.eq(names.iter().cloned());
                if !is_right {
                    end.store(true, Ordering::Relaxed);
                }
                assert!(is_right, "{} names in {}", names.len(), huge.0.display());
            }
            end.store(true, Ordering::Relaxed);
        });
    });
}
