//! Directories to list, each removed when its owner is dropped. The richest one is [`crate::zoo`].

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A fresh directory, removed with all it holds on drop.
///
/// It stands alone in a directory of its own: `ls -a` shows `..` too, whose link count would change whenever
/// another test makes a directory beside it.
#[derive(Debug)]
pub struct TempDir {
    outer: PathBuf,
    path: PathBuf,
}

impl TempDir {
    /// A new empty directory under the system's temporary directory.
    pub fn new(label: &str) -> io::Result<TempDir> {
        TempDir::new_in(&std::env::temp_dir(), label)
    }

    /// A new empty directory in memory, if there is a file system for that: there blocks are allocated at once, and files may have holes of
    /// any size.
    pub fn in_memory(label: &str) -> io::Result<TempDir> {
        TempDir::new_in(Path::new("/dev/shm"), label).or_else(|_| TempDir::new(label))
    }

    /// A new empty directory under `parent`, which chooses the file system.
    pub fn new_in(parent: &Path, label: &str) -> io::Result<TempDir> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let parent = parent.canonicalize()?;
        loop {
            let n = NEXT.fetch_add(1, Ordering::Relaxed);
            let outer = parent.join(format!("dents-{}-{n}", std::process::id()));
            match fs::create_dir(&outer) {
                Ok(()) => {
                    let dir = TempDir { path: outer.join(label), outer };
                    // Also users without privileges list what is in it, whatever the umask.
                    fs::set_permissions(&dir.outer, fs::Permissions::from_mode(0o755))?;
                    fs::create_dir(&dir.path)?;
                    return Ok(dir);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is: absolute, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // An unprivileged user cannot empty a directory that he may not read: open those up first.
        if fs::remove_dir_all(&self.outer).is_err() {
            open_up(&self.outer);
            let _ = fs::remove_dir_all(&self.outer);
        }
    }
}

fn open_up(dir: &Path) {
    let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

/// Copies a program that will run, by `cp`. If this process had the copy open for writing, a child that another thread forks at that moment
/// would have it open too, until it executes its own program; and a file that is open for writing does not run (`ETXTBSY`).
///
/// # Panics
/// If `cp` fails.
pub fn copy_program(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg(from).arg(to).status().expect("cp runs");
    assert!(copied.success(), "cp {} {}", from.display(), to.display());
}

/// `count` empty files `f0000000`, `f0000001` … in a fresh directory under `parent`.
pub fn plain(parent: &Path, count: usize) -> io::Result<TempDir> {
    let dir = TempDir::new_in(parent, "plain")?;
    for n in 0..count {
        File::create(dir.path().join(format!("f{n:07}")))?;
    }
    Ok(dir)
}

/// `count` entries as a home directory mixes them: of every eight five files of different sizes (one of
/// them executable, one hidden), a directory, a link that leads somewhere and one that does not.
pub fn mix(parent: &Path, count: usize) -> io::Result<TempDir> {
    let dir = TempDir::new_in(parent, "mix")?;
    for n in 0..count {
        let path = |stem: &str| dir.path().join(format!("{stem}{n}"));
        match n % 8 {
            0 => fs::create_dir(path("dir"))?,
            1 => std::os::unix::fs::symlink(".", path("link"))?,
            2 => std::os::unix::fs::symlink("nowhere", path("dangling"))?,
            3 => {
                fs::write(path("run"), b"#!/bin/sh\n")?;
                fs::set_permissions(path("run"), fs::Permissions::from_mode(0o755))?;
            }
            4 => drop(File::create(path(".hidden"))?),
            _ => File::create(path("file"))?.set_len((n * 37) as u64)?,
        }
    }
    settle(dir.path())?;
    Ok(dir)
}

/// `count` entries, most of them plain files: of every twenty one is a directory, one a link to a file.
pub fn mostly_plain(parent: &Path, count: usize) -> io::Result<TempDir> {
    let dir = TempDir::new_in(parent, "plain")?;
    for n in 0..count {
        let path = dir.path().join(format!("e{n:07}"));
        match n % 20 {
            7 => fs::create_dir(path)?,
            13 => std::os::unix::fs::symlink("e0000000", path)?,
            _ => drop(File::create(path)?),
        }
    }
    Ok(dir)
}

/// A tree `depth` directories deep, each holding two files and two directories, one of which goes on.
pub fn deep(parent: &Path, depth: usize) -> io::Result<TempDir> {
    let dir = TempDir::new_in(parent, "deep")?;
    let mut at = dir.path().to_path_buf();
    for level in 0..depth {
        File::create(at.join("a"))?;
        File::create(at.join("z"))?;
        fs::create_dir(at.join("leaf"))?;
        at.push(format!("level{level}"));
        fs::create_dir(&at)?;
    }
    settle(dir.path())?;
    Ok(dir)
}

/// Reads every directory and link below `root` once, so that later readers find their access times
/// settled: with `relatime` only the first read after a change moves them, and the oracle reads first.
pub fn settle(root: &Path) -> io::Result<()> {
    // The file must be younger than the files made before by a tick of the kernel's coarse clock.
    std::thread::sleep(std::time::Duration::from_millis(10));
    read_all(root)
}

fn read_all(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            let _ = fs::read_link(entry.path());
        } else if kind.is_dir() {
            let _ = read_all(&entry.path());
        }
    }
    Ok(())
}
